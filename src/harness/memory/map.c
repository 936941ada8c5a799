#include "map.h"

#include "../error.h"
#include "../json.h"
#include "../sysfile.h"

#include <errno.h>
#include <stdint.h>

#ifndef MAP_HUGETLB
#define MAP_HUGETLB 0x40000
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

const char *const pages_names[PAGES_KINDS] = { "default", "thp", "2M", "1G" };

static const char MAP_NO_PAGES[] =
	"have them reserved, as root: 'sysctl vm.nr_hugepages=N', or "
	"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages; or give '--pages thp'";

static char *map_huge(size_t bytes, int log2_page)
{
	const size_t page = (size_t)1 << log2_page;
	const size_t whole = (bytes + page - 1) / page * page;
	char *base = mmap(NULL, whole, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | log2_page << MAP_HUGE_SHIFT,
			  -1, 0);

	if (base == MAP_FAILED)
		die("'--pages %s': %zu of these pages are not available: %s", MAP_NO_PAGES,
		    log2_page == 30 ? "1G" : "2M", whole / page, strerror(errno));
	return base;
}

static char *map_aligned(size_t bytes)
{
	char *base = mmap(NULL, bytes + MAP_ALIGNMENT, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		die("no address space for '%zu' bytes",
		    "use smaller arrays, or raise 'ulimit -v' and 'ulimit -d'", bytes);
	return base + (MAP_ALIGNMENT - (uintptr_t)base % MAP_ALIGNMENT) % MAP_ALIGNMENT;
}

char *map_memory(size_t bytes, enum pages pages)
{
	char line[SYSLINE_MAX];
	char *base;

	if (pages == PAGES_2M || pages == PAGES_1G)
		return map_huge(bytes, pages == PAGES_1G ? 30 : 21);
	base = map_aligned(bytes);
	if (pages != PAGES_THP)
		return base;
	sysfile_line(line, "/sys/kernel/mm/transparent_hugepage/enabled");
	if (madvise(base, bytes, MADV_HUGEPAGE) != 0 || !*line || strstr(line, "[never]"))
		die("'--pages thp': transparent huge pages are not enabled",
		    "as root: 'echo madvise > /sys/kernel/mm/transparent_hugepage/enabled'");
	return base;
}

static size_t map_value_of(const char *line, const char *key)
{
	return strncmp(line, key, strlen(key)) == 0 ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* The head of a mapping: does it overlap?  One piece of memory may lie in smaps as several, each
 * with figures of its own. */
static int map_is_head(const char *line, const void *memory, size_t bytes, int *overlaps)
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
	FILE *const file = sysfile_open("/proc/self/smaps");
	char line[1024];
	int overlaps = 0;

	memset(got, 0, sizeof(*got));
	while (sysfile_next(file, line, sizeof(line))) {
		if (map_is_head(line, memory, bytes, &overlaps) || !overlaps)
			continue;
		got->huge_kib += map_value_of(line, "AnonHugePages:");
		got->huge_kib += map_value_of(line, "Private_Hugetlb:");
		if (map_value_of(line, "KernelPageSize:") > got->page_kib)
			got->page_kib = map_value_of(line, "KernelPageSize:");
	}
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
