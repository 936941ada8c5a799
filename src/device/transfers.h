/*
 * transfers: from the host's memory to the card and back, and from this card to the others.
 *
 * From each NUMA domain that has CPUs: the thread and its memory are bound there.  Pinned memory
 * is the driver's (CL_MEM_ALLOC_HOST_PTR, mapped), pageable memory is ours, with an ordinary
 * mmap(). Each transfer brings other contents: one word of each page is looked at after each,
 * every byte after the last.  By the host's clock.
 */
#pragma once

#include "kernels.h"

#include "../harness/memory/placement.h"
#include "../harness/rate.h"

enum { TO_PINNED, FROM_PINNED, TO_PAGEABLE, FROM_PAGEABLE, WAYS };
enum { TRANSFERS = 9, PATHS_MAX = 64 };

extern const char *const way_names[WAYS];

struct path {
	int to; /* the NUMA domain, or the number of another card */
	double gbs[WAYS][TRANSFERS];
	struct rate rates[WAYS];
	struct placement placement; /* of the pageable memory */
};

struct transfers {
	size_t bytes;
	int count, peers, wrong; /* wrong: transfers of which not all arrived */
	struct path of[PATHS_MAX], peer[CARDS_MAX];
};

void transfers_measure(struct transfers *transfers, const struct arrays *arrays);

/* Rates, and what is wrong with them; after program_measured(). */
void transfers_judge(struct transfers *transfers);

void transfers_write(const struct transfers *transfers);
