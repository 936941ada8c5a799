#include "config.h"

#include "facts.h"

#include "json.h"
#include "sysfile.h"
#include "cpuset.h"

#include <string.h>
#include <sys/utsname.h>

static void line_of(const char *key, const char *path)
{
	char line[SYSLINE_MAX];

	json_text(key, sysfile_line(line, "%s", path) ? line : NULL);
}

static void field_of(const char *key, const char *path, const char *field)
{
	char value[SYSLINE_MAX];

	json_text(key, sysfile_field(value, path, field) ? value : NULL);
}

/* The word in brackets: "always [madvise] never". */
static void choice_of(const char *key, const char *path)
{
	char line[SYSLINE_MAX];
	char *word = sysfile_line(line, "%s", path) ? strchr(line, '[') : NULL;

	if (word)
		word[1 + strcspn(word + 1, "]")] = '\0';
	json_text(key, word ? word + 1 : NULL);
}

static void kernel_release(void)
{
	struct utsname name;

	json_text("kernel", uname(&name) == 0 ? name.release : NULL);
}

static void numa_nodes(void)
{
	char line[SYSLINE_MAX];
	struct cpuset nodes;

	sysfile_line(line, "/sys/devices/system/node/online");
	cpuset_parse(&nodes, line);
	json_count("numa_nodes", cpuset_count(&nodes) ? (unsigned)cpuset_count(&nodes) : 1);
}

void facts_write(void)
{
	json_open("facts", '{');
	field_of("cpu_model", "/proc/cpuinfo", "model name");
	field_of("microcode", "/proc/cpuinfo", "microcode");
	kernel_release();
	choice_of("thp", "/sys/kernel/mm/transparent_hugepage/enabled");
	line_of("numa_balancing", "/proc/sys/kernel/numa_balancing");
	line_of("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	numa_nodes();
	json_close('}');
}
