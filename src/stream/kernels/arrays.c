#include "arrays.h"

#include "../../harness/error.h"
#include "../../harness/sysfile.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Linux's numbers, for C libraries that are older than the kernel they meet. */
#ifndef MAP_HUGETLB
#define MAP_HUGETLB 0x40000
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE 14
#endif

/* 2 MiB: the arrays can be given huge pages from their first byte. */
static const size_t ALIGNMENT = (size_t)2 << 20;

static size_t stride_bytes(size_t size, size_t offset)
{
	return ((size + offset) * sizeof(element) + LINE - 1) / LINE * LINE;
}

size_t arrays_bytes(size_t size, size_t offset)
{
	return ARRAYS * stride_bytes(size, offset);
}

static const char NO_PAGES[] =
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
		die("'--pages %s': %zu such pages are not to be had: %s", NO_PAGES,
		    log2_page == 30 ? "1G" : "2M", whole / page, strerror(errno));
	return base;
}

static char *map_aligned(size_t bytes)
{
	char *base = mmap(NULL, bytes + ALIGNMENT, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		die("no address space for arrays of '%zu' bytes",
		    "ask for smaller arrays with '-n' or '-m'", bytes);
	return base + (ALIGNMENT - (uintptr_t)base % ALIGNMENT) % ALIGNMENT;
}

static char *map(size_t bytes, enum pages pages)
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
		die("'--pages thp': this kernel gives no transparent huge pages",
		    "as root: 'echo madvise > /sys/kernel/mm/transparent_hugepage/enabled'");
	return base;
}

void arrays_create(struct arrays *arrays, size_t size, size_t offset, enum pages pages)
{
	const size_t bytes = arrays_bytes(size, offset);
	char *base = map(bytes, pages);
	int k;

	for (k = 0; k < ARRAYS; k++)
		arrays->of[k] = (element *)(base + (size_t)k * stride_bytes(size, offset));
	arrays->size = size;
	arrays->offset = offset;
	arrays->scalar = SCALAR;
}

size_t arrays_alignment(const struct arrays *arrays, int array)
{
	const size_t address = (size_t)arrays->of[array], found = address & -address;

	return found < ALIGNMENT ? found : ALIGNMENT;
}
