/*
 * messages: the ping-pong of two ranks of MPI, size by size.  One leads, the other follows.
 *
 * Both ranks pin themselves to the CPUs of a pair, the one that leads to the first.  A block is
 * the order, a fresh payload on both sides, two untimed round trips, then those that
 * count; after it both check every byte that they hold.  Before and after the blocks of a size
 * some round trips have a payload of their own each, checked one by one.
 *
 * A figure is one of its moment.  A second look, with other memory and after all other sizes, is
 * compared with it.
 */
#pragma once

#include "../harness/options.h"
#include "blocks.h"
#include "pairs.h"

struct exchange {
	struct pair pair;
	size_t size; /* bytes of a message */
	struct blocks blocks;
	double seconds;                    /* that the first look took */
	double again;                      /* s, median of a second look; 0: there was none */
	struct cpuset mask[2];             /* of each rank, read back */
	int seen[2];                       /* a CPU that it was on in place of its own, or SEEN_ */
	unsigned long long checked, wrong; /* words of eight bytes that were looked at, by both */
	unsigned long long wrong_at;       /* offset in bytes of the first wrong one */
};

/* IMB's: 0, then the powers of two up to 4 MiB. */
enum { SIZE_MOST = 1 << 30 };
extern struct numbers message_sizes;

#ifdef MEMBW_MPI

/* Leads: measures one size of one pair with that rank, at most so many seconds. */
void messages_exchange(struct exchange *exchange, int other, double budget,
		       enum patience patience);

/* Leads: once more, later, with fresh memory; the interval gets as wide as both together.  Not
 * after a long look. */
void messages_look_again(struct exchange *exchange, int other, double budget);

/* Leads: the other may go. */
void messages_end(int other);

/* Follows: does what the other asks, until it may go. */
void messages_follow(int other);

#endif
