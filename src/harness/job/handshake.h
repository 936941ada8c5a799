/*
 * agree: every rank tells rank 0 that it is ready, or why it refuses.
 *
 * One message each and one answer, so that an error on one rank or on all is
 * printed once, names the nodes, and ends every rank with the right status;
 * and so that a rank that never came is named.  ranks.h has the functions.
 */
#ifndef MEMBW_AGREE_H
#define MEMBW_AGREE_H

#include "ranks.h"

#ifdef MEMBW_MPI
/* Receives one message from every other rank until all are in or the time is
 * up, or other ranks' giving up counts and happens; returns how many came.
 * EACH is told of every message. */
int agree_hear(enum tag tag, void *buffer, int size, double seconds,
	       void (*each)(int rank, const char *message, int length));

/* Tells every rank but this one, without waiting for it. */
void agree_tell_all(enum tag tag, const int *word);
#endif

#endif
