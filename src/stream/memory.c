#include "memory.h"

#include "cgroup.h"
#include "ranks.h"
#include "sysfile.h"

#include <stdlib.h>

static size_t smaller(size_t x, size_t y)
{
	return x < y ? x : y;
}

/* For tests: -DMEMBW_PLANT_MEMORY=BYTES is what is available, on the rank with a fault. */
static size_t mem_available(void)
{
	char value[SYSLINE_MAX];

#ifdef MEMBW_PLANT_MEMORY
	if (ranks_has_fault())
		return MEMBW_PLANT_MEMORY;
#endif

	if (!sysfile_field(value, "/proc/meminfo", "MemAvailable") &&
	    !sysfile_field(value, "/proc/meminfo", "MemFree"))
		return (size_t)-1;
	return strtoull(value, NULL, 10) << 10;
}

size_t memory_cgroup_limit(void)
{
	return smaller(cgroup_smallest("memory", "memory.max", NULL),
		       cgroup_smallest("memory", "memory.limit_in_bytes", NULL));
}

size_t memory_available(void)
{
	const size_t v2 = cgroup_smallest("memory", "memory.max", "memory.current");
	const size_t v1 =
		cgroup_smallest("memory", "memory.limit_in_bytes", "memory.usage_in_bytes");

	return smaller(mem_available(), smaller(v1, v2));
}
