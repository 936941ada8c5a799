/*
 * stores: Triad by ordinary and by non-temporal stores, one loop of each, the same whatever
 * compiler and flags the rest is built with.
 *
 * Registers of 16 bytes, which each CPU of x86-64 and Arm has: a line at a time, in assembly, is
 * more than a core gets from memory.  Elsewhere there is the ordinary loop alone, in C.
 */
#pragma once

#include "../macros.h"

enum store { STORE_ordinary, STORE_nt, STORES };

/* Whether there is such a loop. */
int stores_has(enum store store);

/* a = b + s c over n elements at any address, by the calling thread, which sees it afterwards as
 * others do. */
void stores_triad(enum store store, element *a, const element *b, const element *c, element s,
		  size_t n);
