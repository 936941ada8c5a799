/*
 * workers: which threads of this process worked, whoever started them, and for how long.
 *
 * A library's threads are its own: the kernel knows them all, by /proc/self/task.  One that waits
 * by spinning looks as if it worked, so WORKERS_SPIN names what makes them do that.
 */
#pragma once

#include "../config.h"

struct workers {
	int count;    /* threads that ran, or were ready to and kept off their CPU, for more than
			 half as long as the one that did so longest; 0: the kernel does not say */
	double wall;  /* seconds from start to stop */
	double most;  /* CPU seconds of the busiest */
	double all;   /* of all together */
	double ready; /* the longest that one of them was ready to run, but did not */
};

LOCAL void workers_start(void);

/* What happened since then.  The kernel keeps its books from tick to tick, every 1 to 4 ms. */
LOCAL void workers_stop(struct workers *workers);

/* "OMP_WAIT_POLICY=ACTIVE", or what else makes a thread that waits look busy; NULL: nothing. */
LOCAL const char *workers_spin(void);
