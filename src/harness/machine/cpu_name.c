#include "cpu_name.h"

static const char *const fields[] = { "model name", "Model Name", "cpu\t", "uarch" };

/* By implementer and part, as in Linux, arch/arm64/include/asm/cputype.h. */
static const struct arm_core {
	unsigned long implementer, part;
	const char *name;
} arm_cores[] = {
	{ 0x41, 0xd08, "Cortex-A72" },	     { 0x41, 0xd0b, "Cortex-A76" },
	{ 0x41, 0xd0c, "Neoverse-N1" },	     { 0x41, 0xd40, "Neoverse-V1" },
	{ 0x41, 0xd49, "Neoverse-N2" },	     { 0x41, 0xd4f, "Neoverse-V2" },
	{ 0x43, 0x0af, "Cavium ThunderX2" }, { 0x46, 0x001, "Fujitsu A64FX" },
	{ 0x48, 0xd01, "HiSilicon TSV110" }, { 0xc0, 0xac3, "Ampere-1" },
};

static int arm_name(char name[SYSLINE_MAX])
{
	char implementer[SYSLINE_MAX], part[SYSLINE_MAX];
	size_t i;

	if (!sysfile_field(implementer, "/proc/cpuinfo", "CPU implementer") ||
	    !sysfile_field(part, "/proc/cpuinfo", "CPU part"))
		return 0;
	for (i = 0; i < sizeof(arm_cores) / sizeof(arm_cores[0]); i++)
		if (strtoul(implementer, NULL, 0) == arm_cores[i].implementer &&
		    strtoul(part, NULL, 0) == arm_cores[i].part) {
			strcpy(name, arm_cores[i].name);
			return 1;
		}
	snprintf(name, SYSLINE_MAX, "implementer %.20s part %.20s", implementer, part);
	return 1;
}

int cpu_name(char name[SYSLINE_MAX])
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (sysfile_field(name, "/proc/cpuinfo", fields[i]))
			return 1;
	return arm_name(name);
}
