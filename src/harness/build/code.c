#include "code.h"

#include "../machine/cpu_width.h"
#include "../sysfile.h"
#include "../verdict.h"

#if defined(__x86_64__)
#define CODE_FOR "x86_64"
#elif defined(__aarch64__)
#define CODE_FOR "aarch64"
#elif defined(__powerpc64__)
#define CODE_FOR "ppc64"
#elif defined(__riscv)
#define CODE_FOR "riscv64"
#elif defined(__s390x__)
#define CODE_FOR "s390x"
#else
#define CODE_FOR NULL
#endif

/* What the kernel of one machine alone has: a line of /proc/cpuinfo, and the name of its clock. */
static const struct {
	const char *machine, *field, *clock;
} code_signs[] = {
	{ "x86_64", "flags", "tsc" },
	{ "x86_64", "flags", "kvm-clock" },
	{ "aarch64", "CPU implementer", "arch_sys_counter" },
	{ "ppc64", "timebase", "timebase" },
	{ "riscv64", "hart", "riscv_clocksource" },
	{ "s390x", "bogomips per cpu", "tod" },
};

/* The machine that the kernel runs on, by another sign than this program's; NULL: it has none. */
static const char *code_other_machine(void)
{
	char value[SYSLINE_MAX], clock[SYSLINE_MAX];
	size_t i;

	sysfile_line(clock, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	for (i = 0; CODE_FOR && i < sizeof(code_signs) / sizeof(*code_signs); i++)
		if (strcmp(code_signs[i].machine, CODE_FOR) != 0 &&
		    (sysfile_field(value, "/proc/cpuinfo", code_signs[i].field) ||
		     strcmp(clock, code_signs[i].clock) == 0))
			return code_signs[i].machine;
	return NULL;
}

#if defined(__x86_64__) && !defined(__MIC__)

/* Family and model by CPUID, as the kernel reads them. */
static int code_is_of_another_cpu(void)
{
	char family[SYSLINE_MAX], model[SYSLINE_MAX];
	unsigned reg[4], by_code[2];

	if (!sysfile_field(family, "/proc/cpuinfo", "cpu family") ||
	    !sysfile_field(model, "/proc/cpuinfo", "model"))
		return 0;
	cpu_id(1, 0, reg);
	by_code[0] = reg[0] >> 8 & 15;
	by_code[1] = (reg[0] >> 4 & 15) |
		     (by_code[0] == 6 || by_code[0] == 15 ? reg[0] >> 12 & 0xf0 : 0);
	by_code[0] += by_code[0] == 15 ? reg[0] >> 20 & 255 : 0;
	return strtoul(family, NULL, 10) != by_code[0] || strtoul(model, NULL, 10) != by_code[1];
}

#else

static int code_is_of_another_cpu(void)
{
	return 0;
}

#endif

#ifdef __has_feature
#define CODE_HAS(sanitizer) __has_feature(sanitizer)
#else
#define CODE_HAS(sanitizer) 0
#endif

/* What made it slow; NULL: nothing that is known here.  Some compilers have no __OPTIMIZE__. */
static const char *code_slow(void)
{
#if defined(__SANITIZE_ADDRESS__) || CODE_HAS(address_sanitizer)
	return "AddressSanitizer";
#elif defined(__SANITIZE_THREAD__) || CODE_HAS(thread_sanitizer)
	return "ThreadSanitizer";
#elif CODE_HAS(memory_sanitizer)
	return "MemorySanitizer";
#elif defined(__GNUC__) && !defined(__OPTIMIZE__) && !defined(__NVCOMPILER) && \
	!defined(__INTEL_COMPILER) && !defined(__FCC_version__)
	return "no optimization (-O0)";
#else
	return NULL;
#endif
}

void code_judge(void)
{
	const char *const other = code_other_machine();

	if (other)
		verdict_invalid(TRANSLATED, "code for %s on a CPU of %s: an emulator runs it",
				CODE_FOR, other);
	else if (code_is_of_another_cpu())
		verdict_invalid(TRANSLATED,
				"CPUID and the kernel name two CPUs: an emulator runs it");
	if (code_slow())
		verdict_warn(SLOW_BUILD, "built with %s: the code limits the rates", code_slow());
}
