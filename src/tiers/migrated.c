#include "migrated.h"

#include "../harness/sysfile.h"

static const char *const migrated_counts[] = { "pgmigrate_success",   "numa_pages_migrated",
					       "pgdemote_kswapd",     "pgdemote_direct",
					       "pgdemote_khugepaged", "pgdemote_proactive" };

unsigned long long migrated_pages(void)
{
	unsigned long long most = 0, count;
	char value[SYSLINE_MAX];
	size_t i;

	for (i = 0; i < sizeof(migrated_counts) / sizeof(*migrated_counts); i++)
		if (sysfile_field(value, "/proc/vmstat", migrated_counts[i])) {
			count = strtoull(value, NULL, 10);
			most = count > most ? count : most;
		}
	return most;
}
