#include "hugepages.h"

#include "../error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hugepages_names[PAGES_KINDS] = { "default", "thp", "2M", "1G" };

static size_t value_of(const char *line, const char *key)
{
	return strncmp(line, key, strlen(key)) == 0 ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* A mapping may lie in smaps as several, each with its own figures. */
static int overlaps(const char *line, const struct arrays *arrays, int *here)
{
	const size_t first = (size_t)arrays->of[0];
	const size_t last = first + arrays_bytes(arrays->size, arrays->offset);
	unsigned long long from, to;

	if (sscanf(line, "%llx-%llx ", &from, &to) != 2)
		return 0;
	*here = from < last && to > first;
	return 1;
}

void hugepages_read(struct hugepages *got, const struct arrays *arrays, enum pages pages)
{
	const size_t all = arrays_bytes(arrays->size, arrays->offset) / 1024;
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[1024];
	int here = 0;

	memset(got, 0, sizeof(*got));
	while (file && fgets(line, sizeof(line), file)) {
		if (overlaps(line, arrays, &here) || !here)
			continue;
		got->huge_kib += value_of(line, "AnonHugePages:");
		got->huge_kib += value_of(line, "Private_Hugetlb:");
		if (value_of(line, "KernelPageSize:") > got->page_kib)
			got->page_kib = value_of(line, "KernelPageSize:");
	}
	if (file)
		fclose(file);
	if (pages == PAGES_THP && got->huge_kib * 2 < all)
		die("'--pages thp': only %zu of %zu KiB came in huge pages",
		    "free memory (as root: 'echo 1 > /proc/sys/vm/compact_memory'), "
		    "or give arrays of many times 2 MiB",
		    got->huge_kib, all);
}
