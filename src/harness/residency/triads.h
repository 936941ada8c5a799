/*
 * triads: finds by measuring from what size on arrays lie in memory, and chooses a size.
 *
 * Triad of all threads (wide.h), each in memory of its own and in large pages, at sizes that
 * double until they reach what a proof takes (residency.h), and on while Triad still falls; memory
 * and some seconds may end it before.  All sizes are in turn, and the best of the windows of some
 * ms counts in which no thread lost time: other processes only slow it down.
 *
 * The size chosen is four times the first size of the plateau, and that of the rule, four times
 * the declared caches, if that is more, but not more than a proof takes.  Without a plateau it is
 * the rule's, by the same condition, else the largest that was timed.
 *
 * The launches of one session find it once: where MEMBW_RESIDENCY names a file, a finding that
 * is proven or declared goes there, and the next launch takes it, if it is of this boot, of these
 * CPUs, and of the same request.  Its record says so.
 */
#pragma once

#include "residency.h"

struct residency_request {
	size_t rule;     /* bytes of the three arrays of all threads by the rule */
	size_t given;    /* by the user; 0: choose */
	size_t declared; /* of the caches, 0: not known */
	size_t most;     /* that may be taken; 0: nothing is timed */
	double seconds;  /* of the whole run: a third of them is spent at most */
};

struct residency_found {
	enum residency known;
	size_t bytes;            /* given or chosen */
	size_t begins;           /* the first size of the plateau, 0: none */
	size_t largest;          /* timed, 0: nothing was */
	double gbs, largest_gbs; /* at BYTES (0: not timed), and at the largest */
	double seconds;          /* that it took */
	int is_earlier;          /* an earlier launch found it */
};

LOCAL void triads_find(struct residency_found *found, const struct residency_request *request);

/* Whether it is proven or declared. */
LOCAL int triads_is_known(const struct residency_found *found);

/* Whether memory ended the search, as twice the size does not fit; else time did. */
LOCAL int triads_lacked_memory(const struct residency_found *found,
			       const struct residency_request *request);

/* Finds array-too-small or not-proven; WHAT: "arrays of 128.0 MiB". */
LOCAL void triads_judge(const struct residency_found *found,
			const struct residency_request *request, const char *what);

/* "proven", "not proven beyond 360 MiB: a larger cache may hold them"; good for one call. */
LOCAL const char *triads_text(const struct residency_found *found);

/* Writes "residency" of the record. */
LOCAL void triads_write(const struct residency_found *found);
