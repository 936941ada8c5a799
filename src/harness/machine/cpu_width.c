#include "cpu_width.h"

#include <sys/prctl.h>

#if defined(__x86_64__) && !defined(__MIC__)

void cpu_id(unsigned leaf, unsigned subleaf, unsigned reg[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(reg[0]), "=b"(reg[1]), "=c"(reg[2]), "=d"(reg[3])
			 : "a"(leaf), "c"(subleaf));
}

/* The registers that the operating system saves and restores (XCR0). */
static unsigned cpu_width_saved_state(void)
{
	unsigned low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

/* Intel's manual, volume 1, 14.3 and 15.2: OSXSAVE, then XCR0, then leaf 7. */
int cpu_width(void)
{
	enum { OSXSAVE = 1 << 27, AVX2 = 1 << 5, AVX512F = 1 << 16 };
	enum { YMM_SAVED = 0x06, ZMM_SAVED = 0xe6 };
	unsigned most[4], one[4], seven[4];

	cpu_id(0, 0, most);
	cpu_id(1, 0, one);
	if (most[0] < 7 || !(one[2] & OSXSAVE))
		return 128;
	cpu_id(7, 0, seven);
	if ((cpu_width_saved_state() & ZMM_SAVED) == ZMM_SAVED && seven[1] & AVX512F)
		return 512;
	if ((cpu_width_saved_state() & YMM_SAVED) == YMM_SAVED && seven[1] & AVX2)
		return 256;
	return 128;
}

int cpu_has_avx(void)
{
	enum { OSXSAVE = 1 << 27, AVX = 1 << 28, YMM_SAVED = 0x06 };
	unsigned one[4];

	cpu_id(1, 0, one);
	return one[2] & OSXSAVE && one[2] & AVX &&
	       (cpu_width_saved_state() & YMM_SAVED) == YMM_SAVED;
}

#else

#if defined(__aarch64__)
enum { NATIVE_BITS = 128 }; /* NEON belongs to the architecture */
#else
enum { NATIVE_BITS = 0 };
#endif

int cpu_width(void)
{
	return NATIVE_BITS;
}

int cpu_has_avx(void)
{
	return 0;
}

#endif

/* linux/prctl.h: PR_SVE_GET_VL, PR_SVE_VL_LEN_MASK; refused where there is no SVE. */
int cpu_sve_bytes(void)
{
#if defined(__aarch64__)
	const int length = prctl(51, 0, 0, 0, 0);

	return length > 0 ? length & 0xffff : 0;
#else
	return 0;
#endif
}
