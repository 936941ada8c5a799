#include "hugepages.h"

#include "../error.h"
#include "../json.h"
#include "../sysfile.h"

static size_t hugepages_value_of(const char *line, const char *key)
{
	return strncmp(line, key, strlen(key)) == 0 ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* The head of a mapping: does it overlap?  One piece of memory may lie in smaps as several, each
 * with figures of its own. */
static int hugepages_is_head(const char *line, const void *memory, size_t bytes, int *overlaps)
{
	const size_t first = (size_t)memory, last = first + bytes;
	unsigned long long from, to;

	if (sscanf(line, "%llx-%llx ", &from, &to) != 2)
		return 0;
	*overlaps = from < last && to > first;
	return 1;
}

void hugepages_read(struct hugepages *got, const void *memory, size_t bytes, enum pages pages)
{
	FILE *file = sysfile_open("/proc/self/smaps");
	char line[1024];
	int overlaps = 0;

	memset(got, 0, sizeof(*got));
	while (file && fgets(line, sizeof(line), file)) {
		if (hugepages_is_head(line, memory, bytes, &overlaps) || !overlaps)
			continue;
		got->huge_kib += hugepages_value_of(line, "AnonHugePages:");
		got->huge_kib += hugepages_value_of(line, "Private_Hugetlb:");
		if (hugepages_value_of(line, "KernelPageSize:") > got->page_kib)
			got->page_kib = hugepages_value_of(line, "KernelPageSize:");
	}
	if (file)
		fclose(file);
	if (pages == PAGES_THP && got->huge_kib * 2 < bytes / 1024)
		die("'--pages thp': only %zu of %zu KiB are in huge pages",
		    "free memory (as root: 'echo 1 > /proc/sys/vm/compact_memory'), "
		    "or use arrays of many times 2 MiB",
		    got->huge_kib, bytes / 1024);
}

void hugepages_write(const struct hugepages *got, enum pages pages)
{
	json_open("pages", '{');
	json_text("requested", pages_names[pages]);
	json_count("page_kib", got->page_kib);
	json_number("huge_mib", (double)got->huge_kib / 1024);
	json_close('}');
}
