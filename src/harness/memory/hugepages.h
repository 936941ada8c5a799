/*
 * hugepages: the pages that the kernel really gave a piece of memory, from smaps.
 */
#pragma once

#include "map.h"

struct hugepages {
	size_t page_kib; /* of the mapping itself: 4, 2048, 1048576 */
	size_t huge_kib; /* in huge pages, transparent or reserved */
};

/* To be read after first touch; dies where '--pages thp' got next to nothing (less than half). */
LOCAL void hugepages_read(struct hugepages *got, const void *memory, size_t bytes,
			  enum pages pages);

/* Writes "pages" of the record. */
LOCAL void hugepages_write(const struct hugepages *got, enum pages pages);
