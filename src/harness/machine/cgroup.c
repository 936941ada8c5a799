#include "cgroup.h"

#include "../sysfile.h"

/* v1 writes "no limit" as the largest page-aligned number. */
static const size_t CGROUP_NO_LIMIT_V1 = (size_t)1 << 62;

static int cgroup_lists_controller(const char *controllers, const char *controller)
{
	char list[SYSLINE_MAX], word[64];

	snprintf(list, sizeof(list), ",%.*s,", (int)strcspn(controllers, ":"), controllers);
	snprintf(word, sizeof(word), ",%s,", controller);
	return strstr(list, word) != NULL;
}

/* The folder of this process's group: v1's of the controller, else v2's. */
static void cgroup_folder_of(char folder[SYSLINE_MAX], const char *controller)
{
	char line[SYSLINE_MAX - 64];
	FILE *file = sysfile_open("/proc/self/cgroup");

	strcpy(folder, "/sys/fs/cgroup/");
	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (path == controllers + 1)
			snprintf(folder, SYSLINE_MAX, "/sys/fs/cgroup%s", path + 1);
		if (path > controllers + 1 &&
		    cgroup_lists_controller(controllers + 1, controller)) {
			snprintf(folder, SYSLINE_MAX, "/sys/fs/cgroup/%s%s", controller, path + 1);
			break;
		}
	}
	if (file)
		fclose(file);
}

/* The group above; 0 at the root of the hierarchy. */
static int cgroup_above(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (!slash || strlen(folder) <= strlen("/sys/fs/cgroup"))
		return 0;
	*slash = '\0';
	return 1;
}

static size_t cgroup_number_in(const char *folder, const char *file)
{
	char line[SYSLINE_MAX];

	if (!sysfile_line(line, "%s/%s", folder, file) || line[0] < '0' || line[0] > '9')
		return (size_t)-1;
	return strtoull(line, NULL, 10);
}

/* What the kernel drops before it kills somebody: the files that the group read or wrote. */
static size_t cgroup_page_cache_of(const char *folder)
{
	static const char *const keys[2][2] = { { "total_active_file", "total_inactive_file" },
						{ "active_file", "inactive_file" } };
	char path[SYSLINE_MAX + 16];
	size_t sum = 0;
	int version, i;

	snprintf(path, sizeof(path), "%s/memory.stat", folder);
	for (version = 0; version < 2 && sum == 0; version++) /* v1 has both: its own, and total */
		for (i = 0; i < 2; i++)
			sum += sysfile_number(path, keys[version][i]);
	return sum;
}

static size_t cgroup_taken_of(const char *folder, const char *used)
{
	const size_t taken = used ? cgroup_number_in(folder, used) : (size_t)-1;
	const size_t cache = taken != (size_t)-1 ? cgroup_page_cache_of(folder) : 0;

	return taken == (size_t)-1 ? 0 : taken - (cache < taken ? cache : taken);
}

size_t cgroup_smallest(const char *controller, const char *file, const char *used)
{
	char folder[SYSLINE_MAX];
	size_t smallest = (size_t)-1;

	cgroup_folder_of(folder, controller);
	do {
		size_t limit = cgroup_number_in(folder, file);
		size_t taken;

		if (limit >= CGROUP_NO_LIMIT_V1)
			continue;
		taken = cgroup_taken_of(folder, used);
		limit -= taken < limit ? taken : limit;
		if (limit < smallest)
			smallest = limit;
	} while (cgroup_above(folder));
	return smallest;
}

double cgroup_cpu_quota(void)
{
	char folder[SYSLINE_MAX], line[SYSLINE_MAX];
	double smallest = 0.0;

	cgroup_folder_of(folder, "cpu");
	do {
		double quota = 0.0, period = 0.0;

		if (sysfile_line(line, "%s/cpu.max", folder)) {
			sscanf(line, "%lf %lf", &quota, &period);
		} else if (sysfile_line(line, "%s/cpu.cfs_quota_us", folder)) {
			quota = atof(line);
			if (sysfile_line(line, "%s/cpu.cfs_period_us", folder))
				period = atof(line);
		}
		if (quota > 0 && period > 0 && (smallest == 0 || quota / period < smallest))
			smallest = quota / period;
	} while (cgroup_above(folder));
	return smallest;
}

int cgroup_whole_cpus(void)
{
	const double quota = cgroup_cpu_quota() + 0.01;

	return quota < 0.011 ? 0 : quota < 2 ? 1 : quota < 1e6 ? (int)quota : 0;
}

double cgroup_throttled(void)
{
	char folder[SYSLINE_MAX], path[SYSLINE_MAX + 16], value[SYSLINE_MAX];
	double most = 0.0;

	cgroup_folder_of(folder, "cpu");
	do { /* each group counts what its own quota did */
		double seconds = 0.0;

		snprintf(path, sizeof(path), "%s/cpu.stat", folder);
		if (sysfile_field(value, path, "throttled_usec"))
			seconds = 1e-6 * atof(value);
		else if (sysfile_field(value, path, "throttled_time"))
			seconds = 1e-9 * atof(value);
		if (seconds > most)
			most = seconds;
	} while (cgroup_above(folder));
	return most;
}
