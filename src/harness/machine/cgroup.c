#include "cgroup.h"

#include "../sysfile.h"

/* v1 writes "no limit" as the largest page-aligned number. */
static const size_t NO_LIMIT_V1 = (size_t)1 << 62;

static int lists_controller(const char *controllers, const char *controller)
{
	char list[SYSLINE_MAX], word[64];

	snprintf(list, sizeof(list), ",%.*s,", (int)strcspn(controllers, ":"), controllers);
	snprintf(word, sizeof(word), ",%s,", controller);
	return strstr(list, word) != NULL;
}

/* The folder of this process's group: v1's of the controller, else v2's. */
static void group_folder(char folder[SYSLINE_MAX], const char *controller)
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
		if (path > controllers + 1 && lists_controller(controllers + 1, controller)) {
			snprintf(folder, SYSLINE_MAX, "/sys/fs/cgroup/%s%s", controller, path + 1);
			break;
		}
	}
	if (file)
		fclose(file);
}

/* The group above; 0 at the root of the hierarchy. */
static int group_above(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (!slash || strlen(folder) <= strlen("/sys/fs/cgroup"))
		return 0;
	*slash = '\0';
	return 1;
}

static size_t number_in(const char *folder, const char *file)
{
	char line[SYSLINE_MAX];

	if (!sysfile_line(line, "%s/%s", folder, file) || line[0] < '0' || line[0] > '9')
		return (size_t)-1;
	return strtoull(line, NULL, 10);
}

size_t cgroup_smallest(const char *controller, const char *file, const char *used)
{
	char folder[SYSLINE_MAX];
	size_t smallest = (size_t)-1;

	group_folder(folder, controller);
	do {
		size_t limit = number_in(folder, file);
		const size_t taken = used ? number_in(folder, used) : 0;

		if (limit >= NO_LIMIT_V1)
			continue;
		if (taken != (size_t)-1)
			limit -= taken < limit ? taken : limit;
		if (limit < smallest)
			smallest = limit;
	} while (group_above(folder));
	return smallest;
}

double cgroup_cpu_quota(void)
{
	char folder[SYSLINE_MAX], line[SYSLINE_MAX];
	double smallest = 0.0;

	group_folder(folder, "cpu");
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
	} while (group_above(folder));
	return smallest;
}
