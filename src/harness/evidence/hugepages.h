/*
 * hugepages: the pages that the kernel really gave the arrays, from smaps.
 */
#ifndef MEMBW_HUGEPAGES_H
#define MEMBW_HUGEPAGES_H

#include "../../stream/kernels/arrays.h"

struct hugepages {
	size_t page_kib; /* of the mapping itself: 4, 2048, 1048576 */
	size_t huge_kib; /* of the arrays in huge pages, transparent or reserved */
};

/* To be read after first touch; dies where '--pages thp' got next to
 * nothing (less than half). */
void hugepages_read(struct hugepages *got, const struct arrays *arrays, enum pages pages);

extern const char *const hugepages_names[PAGES_KINDS];

#endif
