#include "cpu_name.h"

static const char *const cpu_name_fields[] = { "model name", "Model Name", "cpu\t", "uarch" };

/* By implementer and part, as in Linux, arch/arm64/include/asm/cputype.h; newer ones by the names
 * of lscpu (util-linux 2.41). */
static const struct arm_core {
	unsigned long implementer, part;
	const char *name;
} cpu_name_arm[] = {
	{ 0x41, 0xd08, "Cortex-A72" },       { 0x41, 0xd0b, "Cortex-A76" },
	{ 0x41, 0xd0c, "Neoverse-N1" },      { 0x41, 0xd40, "Neoverse-V1" },
	{ 0x41, 0xd49, "Neoverse-N2" },      { 0x41, 0xd4f, "Neoverse-V2" },
	{ 0x43, 0x0af, "Cavium ThunderX2" }, { 0x46, 0x001, "Fujitsu A64FX" },
	{ 0x48, 0xd01, "HiSilicon TSV110" }, { 0xc0, 0xac3, "Ampere-1" },
	{ 0x41, 0xd84, "Neoverse-V3" },      { 0x41, 0xd85, "Cortex-X925" },
	{ 0x41, 0xd8e, "Neoverse-N3" },      { 0x46, 0x003, "MONAKA" },
	{ 0x48, 0xd02, "TaiShan-v120" },     { 0x4e, 0x010, "Olympus" },
	{ 0x6d, 0xd49, "Azure-Cobalt-100" }, { 0x70, 0x862, "FTC862" },
	{ 0xc0, 0xac4, "Ampere-1a" },
};

static int cpu_name_of_arm(char name[SYSLINE_MAX])
{
	char implementer[SYSLINE_MAX], part[SYSLINE_MAX];
	size_t i;

	if (!sysfile_field(implementer, "/proc/cpuinfo", "CPU implementer") ||
	    !sysfile_field(part, "/proc/cpuinfo", "CPU part"))
		return 0;
	for (i = 0; i < sizeof(cpu_name_arm) / sizeof(cpu_name_arm[0]); i++)
		if (strtoul(implementer, NULL, 0) == cpu_name_arm[i].implementer &&
		    strtoul(part, NULL, 0) == cpu_name_arm[i].part) {
			strcpy(name, cpu_name_arm[i].name);
			return 1;
		}
	snprintf(name, SYSLINE_MAX, "implementer %.20s part %.20s", implementer, part);
	return 1;
}

int cpu_name(char name[SYSLINE_MAX])
{
	size_t i;

	for (i = 0; i < sizeof(cpu_name_fields) / sizeof(cpu_name_fields[0]); i++)
		if (sysfile_field(name, "/proc/cpuinfo", cpu_name_fields[i]))
			return 1;
	return cpu_name_of_arm(name);
}
