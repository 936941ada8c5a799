#include "facts.h"

#include "../json.h"
#include "../sysfile.h"
#include "cgroup.h"
#include "dmi.h"
#include "edac.h"
#include "line_size.h"
#include "memory_available.h"
#include "topology.h"

#include <sys/utsname.h>

/* x86 has a `model name`, POWER, RISC-V and LoongArch have other words for it, and Arm two
 * numbers. */
static const char *const fact_cpu_fields[] = { "model name", "Model Name", "cpu\t", "uarch" };

/* By implementer and part, as in Linux, arch/arm64/include/asm/cputype.h; newer ones by the names
 * of lscpu (util-linux 2.41). */
static const struct {
	unsigned long implementer, part;
	const char *name;
} fact_arm_cores[] = {
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

/* "": /proc/cpuinfo names no CPU. */
static void fact_cpu_name(char name[SYSLINE_MAX])
{
	char implementer[SYSLINE_MAX], part[SYSLINE_MAX];
	size_t i;

	for (i = 0; i < sizeof(fact_cpu_fields) / sizeof(*fact_cpu_fields); i++)
		if (sysfile_field(name, "/proc/cpuinfo", fact_cpu_fields[i]))
			return;
	if (!sysfile_field(implementer, "/proc/cpuinfo", "CPU implementer") ||
	    !sysfile_field(part, "/proc/cpuinfo", "CPU part"))
		return;
	snprintf(name, SYSLINE_MAX, "implementer %.20s part %.20s", implementer, part);
	for (i = 0; i < sizeof(fact_arm_cores) / sizeof(*fact_arm_cores); i++)
		if (strtoul(implementer, NULL, 0) == fact_arm_cores[i].implementer &&
		    strtoul(part, NULL, 0) == fact_arm_cores[i].part)
			strcpy(name, fact_arm_cores[i].name);
}

static void fact_line(const char *key, const char *path)
{
	char line[SYSLINE_MAX];

	json_text(key, sysfile_line(line, "%s", path) ? line : NULL);
}

static void fact_field(const char *key, const char *path, const char *field)
{
	char value[SYSLINE_MAX];

	json_text(key, sysfile_field(value, path, field) ? value : NULL);
}

/* The word in brackets: "always [madvise] never". */
static void fact_choice(const char *key, const char *path)
{
	char line[SYSLINE_MAX];
	char *word = sysfile_line(line, "%s", path) ? strchr(line, '[') : NULL;

	if (word)
		word[1 + strcspn(word + 1, "]")] = '\0';
	json_text(key, word ? word + 1 : NULL);
}

static void fact_system(void)
{
	struct utsname name;
	const int is_known = uname(&name) == 0;

	json_text("kernel", is_known ? name.release : NULL);
	json_text("architecture", is_known ? name.machine : NULL);
}

static void fact_cpus(const struct cpuset *online)
{
	json_count("cpus", (unsigned)cpuset_count(online));
	json_count("cores", (unsigned)topology_cores(online));
	json_positive("sockets", topology_sockets(online));
	fact_line("smt", "/sys/devices/system/cpu/smt/control");
}

/* The caches of CPU 0, as "L2 2048K shared by 0". */
static void fact_caches(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu0/cache/index%d/%s";
	char level[SYSLINE_MAX], type[SYSLINE_MAX], size[SYSLINE_MAX], sharers[SYSLINE_MAX];
	char text[256];
	int i;

	json_count("line_bytes", line_bytes());
	json_open("caches", '[');
	for (i = 0; sysfile_line(level, path, i, "level"); i++) {
		sysfile_line(type, path, i, "type");
		sysfile_line(size, path, i, "size");
		sysfile_line(sharers, path, i, "shared_cpu_list");
		snprintf(text, sizeof(text), "L%.4s %.16s %.16s shared by CPUs %.128s", level,
			 type, size, sharers);
		json_text(NULL, text);
	}
	json_close(']');
}

/* Per NUMA domain: its CPUs, its memory and the distances to all domains. */
static void fact_numa(void)
{
	char line[SYSLINE_MAX], name[16];
	struct cpuset online;
	int node;

	topology_all_domains(&online);
	json_count("numa_nodes", cpuset_count(&online) ? (unsigned)cpuset_count(&online) : 1);
	json_open("numa", '{');
	EACH_OF_SET (node, &online) {
		if (!sysfile_line(line, "/sys/devices/system/node/node%d/distance", node))
			continue;
		snprintf(name, sizeof(name), "%d", node);
		json_open(name, '{');
		json_text("distances", line);
		sysfile_line(line, "/sys/devices/system/node/node%d/cpulist", node);
		json_text("cpus", line);
		json_close('}');
	}
	json_close('}');
}

static void fact_limit(const char *key, size_t bytes)
{
	if (bytes == (size_t)-1)
		json_text(key, NULL);
	else
		json_number(key, (double)bytes / MIB);
}

static void fact_module(const struct module *m)
{
	json_open(NULL, '{');
	json_text("locator", m->locator);
	json_text("bank", m->bank);
	json_text("type", m->is_ddr ? "DDR" : NULL);
	json_positive("size_mib", m->size_mib);
	json_positive("rated_mts", m->rated_mts);
	json_positive("configured_mts", m->configured_mts);
	json_positive("width_bits", m->width_bits);
	json_close('}');
}

/* The memory modules that are plugged, by the firmware, else by the kernel's driver; the channels
 * that have one, by the driver, which knows them, else by the firmware's names. */
static void fact_dimms(int sockets)
{
	static struct modules by_firmware, by_driver;
	int channels = edac_read(&by_driver), is_dmi = dmi_read(&by_firmware), i;
	const struct modules *modules = is_dmi ? &by_firmware : &by_driver;

	if (!channels && !by_firmware.is_virtual)
		channels = dmi_channels(&by_firmware, sockets);

	json_text("dimms_source", is_dmi ? "dmi" : by_driver.slots ? "edac" : "none");
	json_truth("dimms_are_virtual", modules->is_virtual);
	json_open("dimms", '[');
	for (i = 0; i < modules->slots; i++)
		if (modules->of[i].is_plugged)
			fact_module(&modules->of[i]);
	json_close(']');
	json_positive("memory_channels", channels);
	json_positive("memory_sockets", is_dmi && !modules->is_virtual ? dmi_sockets(modules) : 0);
}

static void fact_memory(void)
{
	json_positive("mem_total_mib", (double)sysfile_kib("/proc/meminfo", "MemTotal") / MIB);
	fact_limit("mem_available_mib", memory_available());
	fact_limit("cgroup_mem_mib", memory_cgroup_limit());
	json_positive("cgroup_cpus", cgroup_cpu_quota());
	fact_field("hugepages_total", "/proc/meminfo", "HugePages_Total");
	fact_field("hugepages_free", "/proc/meminfo", "HugePages_Free");
}

int facts_has_host(void)
{
	char flags[SYSLINE_MAX];

	sysfile_field(flags, "/proc/cpuinfo", "flags");
	return strstr(flags, " hypervisor") != NULL;
}

/* What systems/facts/cpus.yaml recognises a CPU by, as the kernel writes it; x86 has the first
 * four, Arm the next two.  Everybody may read who made the machine, not its serial number; one
 * without DMI is named by its device tree. */
static void fact_identity(void)
{
	static const char dmi[] = "/sys/class/dmi/id/product_name";
	char name[SYSLINE_MAX];

	json_open("cpu_id", '{');
	fact_field("vendor", "/proc/cpuinfo", "vendor_id");
	fact_field("family", "/proc/cpuinfo", "cpu family");
	fact_field("model", "/proc/cpuinfo", "model");
	fact_field("stepping", "/proc/cpuinfo", "stepping");
	fact_field("implementer", "/proc/cpuinfo", "CPU implementer");
	fact_field("part", "/proc/cpuinfo", "CPU part");
	fact_line("machine_vendor", "/sys/class/dmi/id/sys_vendor");
	fact_line("machine", sysfile_line(name, "%s", dmi) ? dmi : "/proc/device-tree/model");
	json_truth("hypervisor", facts_has_host());
	json_close('}');
}

void facts_write(void)
{
	struct cpuset online;
	char name[SYSLINE_MAX];

	cpuset_online(&online);
	json_open("facts", '{');
	fact_cpu_name(name);
	json_text("cpu_model", name);
	fact_identity();
	fact_field("microcode", "/proc/cpuinfo", "microcode");
	fact_line("board_vendor", "/sys/class/dmi/id/board_vendor");
	fact_line("board_name", "/sys/class/dmi/id/board_name");
	fact_line("bios_version", "/sys/class/dmi/id/bios_version");
	fact_line("bios_date", "/sys/class/dmi/id/bios_date");
	fact_system();
	/* one machine under two names has one, two machines under one name have two */
	fact_line("boot_id", "/proc/sys/kernel/random/boot_id");
	fact_choice("thp", "/sys/kernel/mm/transparent_hugepage/enabled");
	fact_line("clock_source", "/sys/devices/system/clocksource/clocksource0/"
				  "current_clocksource");
	fact_line("numa_balancing", "/proc/sys/kernel/numa_balancing");
	fact_line("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	fact_line("freq_min_khz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq");
	fact_line("freq_max_khz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
	fact_cpus(&online);
	fact_caches();
	fact_numa();
	fact_memory();
	fact_dimms(topology_sockets(&online));
	json_close('}');
}
