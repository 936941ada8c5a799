#include "line_size.h"

#include "../sysfile.h"

#include <unistd.h>

static const char LINE_SIZE_SYSFS[] =
	"/sys/devices/system/cpu/cpu0/cache/index%d/coherency_line_size";

static size_t line_size_by_sysfs(void)
{
	char text[SYSLINE_MAX];
	size_t most = 0;
	int index;

	for (index = 0; sysfile_line(text, LINE_SIZE_SYSFS, index); index++)
		if (strtoull(text, NULL, 10) > most)
			most = strtoull(text, NULL, 10);
	return most;
}

static size_t line_size_by_sysconf(void)
{
#ifdef _SC_LEVEL1_DCACHE_LINESIZE
	const long bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

	return bytes > 0 ? (size_t)bytes : 0;
#else
	return 0;
#endif
}

/* Arm's CTR_EL0, which everybody may read: DminLine, words of 4 bytes in powers of 2. */
static size_t line_size_by_cpu(void)
{
#if defined(__aarch64__) && defined(__GNUC__)
	size_t type;

	__asm__("mrs %0, ctr_el0" : "=r"(type));
	return (size_t)4 << (type >> 16 & 0xf);
#else
	return 0;
#endif
}

size_t line_bytes(void)
{
	const size_t said[] = { line_size_by_sysfs(), line_size_by_sysconf(), line_size_by_cpu() };
	size_t i, most = LINE;

	for (i = 0; i < sizeof(said) / sizeof(*said); i++)
		if (said[i] > most && said[i] <= LINES_APART && !(said[i] & (said[i] - 1)))
			most = said[i];
	return most;
}
