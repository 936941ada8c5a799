/*
 * map: memory for what is measured, in pages of the kind that was requested, and which pages the
 * kernel really gave it, from smaps.
 */
#pragma once

#include "../config.h"

#include <sys/mman.h>

/* Linux's numbers, for C libraries that are older than the kernel they meet. */
#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE 14
#endif
#ifndef MADV_NOHUGEPAGE
#define MADV_NOHUGEPAGE 15
#endif

enum pages { PAGES_DEFAULT, PAGES_THP, PAGES_2M, PAGES_1G, PAGES_KINDS };

extern const char *const pages_names[PAGES_KINDS];

/* Begins at a multiple of this: it can be given huge pages from its first byte. */
static const size_t MAP_ALIGNMENT = (size_t)2 * MIB;

/* Maps memory without touching it; dies where there are no such pages. */
LOCAL char *map_memory(size_t bytes, enum pages pages);

struct hugepages {
	size_t page_kib; /* of the mapping itself: 4, 2048, 1048576 */
	size_t huge_kib; /* in huge pages, transparent or reserved */
};

/* To be read after first touch; dies where '--pages thp' got next to nothing (less than half). */
LOCAL void hugepages_read(struct hugepages *got, const void *memory, size_t bytes,
			  enum pages pages);

/* Writes "pages" of the record. */
LOCAL void hugepages_write(const struct hugepages *got, enum pages pages);
