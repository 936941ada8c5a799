#include "messages.h"

#include "../harness/error.h"
#include "../harness/options.h"

size_t message_sizes[SIZES_MAX] = {
	0,    1,    2,    4,     8,     16,    32,     64,     128,    256,     512,     1024,
	2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304
};
int message_sizes_count = 24;

static int take_size(const char *text, size_t length)
{
	const size_t size = option_list_number(text, length, SIZE_MOST);

	if (size > SIZE_MOST || message_sizes_count == SIZES_MAX)
		return 0;
	message_sizes[message_sizes_count++] = size;
	return 1;
}

static int by_size(const void *left, const void *right)
{
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;

	return (a > b) - (a < b);
}

void message_sizes_read(const char *option, const char *text)
{
	static const char hint[] =
		"bytes of a message with commas between them, as 0,8,4194304; at most 64 "
		"sizes, 1 GiB each";
	int i, kept = 0;

	message_sizes_count = 0;
	option_list(option, text, take_size, hint);
	qsort(message_sizes, (size_t)message_sizes_count, sizeof(*message_sizes), by_size);
	for (i = 0; i < message_sizes_count; i++)
		if (!kept || message_sizes[i] != message_sizes[kept - 1])
			message_sizes[kept++] = message_sizes[i];
	message_sizes_count = kept;
}

#ifdef MEMBW_MPI

#include "../harness/clock.h"
#include "../harness/evidence/lost_time.h"
#include "../harness/job/ranks.h"

#include <sched.h>

typedef unsigned long long word;

/* Every block is checked, too; of messages from so many bytes on one trip is enough. */
enum { TRIPS_CHECKED = 4 };
#ifndef LARGE_MESSAGE /* a test cannot wait for it */
#define LARGE_MESSAGE (64 * MIB)
#endif

/* In a block of large messages other processes get the CPU for moments: less than this of its
 * time does it no harm. */
static const double LOST_SHARE = 0.01;

enum kind { BLOCK, CHECK_FIRST, CHECK_LAST, END };

/* From the rank that leads to the one that follows. */
struct order {
	enum kind kind;
	struct pair pair;
	size_t size;
	long trips;
	word number; /* of the block */
};

/* Back, after each order. */
struct report {
	word checked, wrong, wrong_at;
	int seen, left;
	struct cpuset mask;
};

static struct rank_side {
	char *sent, *received; /* words of eight bytes, the last one perhaps in part */
	int cpu;               /* -1: not pinned yet */
	int other;             /* the rank at the other end */
	struct lost_time lost_time;
	struct report report;
} own = { NULL, NULL, -1, -1, { 0 }, { 0, 0, 0, -1, 0, { { { { 0 } } } } } };

static word block_number; /* of those that this rank has led */

/* What word number W of a message is: who sends it, in which pair, size, block and trip. */
static word message_word(const struct order *order, int from, long trip, size_t w)
{
	const word place = (order->number << 20) + ((word)trip << 1) + (word)from;
	const word who = ((word)order->pair.cpu[0] << 13) + (word)order->pair.cpu[1];

	return (place * 0x9e3779b97f4a7c15ULL) ^ (who << 32) ^ ((word)order->size << 3) ^
	       ((word)w * 0xc2b2ae3d27d4eb4fULL);
}

static void fill(const struct order *order, int me, long trip)
{
	const size_t words = (order->size + 7) / 8;
	size_t w;

	for (w = 0; w < words; w++) {
		const word value = message_word(order, me, trip, w);

		memcpy(own.sent + 8 * w, &value, sizeof(value));
	}
}

static void check(const struct order *order, int me, long trip)
{
	size_t at;

	for (at = 0; at < order->size; at += 8) {
		const size_t bytes = order->size - at < 8 ? order->size - at : 8;
		const word value = message_word(order, !me, trip, at / 8);

		own.report.checked++;
		if (memcmp(own.received + at, &value, bytes) != 0 && !own.report.wrong++)
			own.report.wrong_at = at;
	}
}

/* Fresh memory for each size and pair, touched by its own rank. */
static void renew_buffers(size_t size)
{
	const size_t room = (size + 7) / 8 * 8 + 8;

	free(own.sent);
	free(own.received);
	if (posix_memalign((void **)&own.sent, 4096, room) != 0 ||
	    posix_memalign((void **)&own.received, 4096, room) != 0)
		die("no memory for messages of %zu bytes", "leave out the largest of '--sizes'",
		    size);
	memset(own.sent, 0, room);
	memset(own.received, 0, room);
}

static void look(int cpu)
{
	const int now = sched_getcpu();

	if (now != cpu)
		own.report.seen = now < 0 ? SEEN_NOWHERE : now;
}

static void be_ready(const struct order *order, int me)
{
	const int cpu = order->pair.cpu[me];

	if (own.cpu < 0)
		lost_time_start(&own.lost_time);
	if (own.cpu != cpu)
		cpuset_pin(cpu);
	own.cpu = cpu;
	cpuset_of_thread(&own.report.mask);
	if (order->kind == CHECK_FIRST)
		renew_buffers(order->size);
	look(cpu);
}

static void trip(size_t size, int me)
{
	if (me == 0) {
		ranks_send(own.sent, size, own.other);
		ranks_receive(own.received, size, own.other, POLLING);
	} else {
		ranks_receive(own.received, size, own.other, POLLING);
		ranks_send(own.sent, size, own.other);
	}
}

/* Since the last call. */
static int lost_too_much(void)
{
	const double began = own.lost_time.wall;

	lost_time_note(&own.lost_time);
	return own.lost_time.lost > LOST_SHARE * (own.lost_time.wall - began);
}

static double play_block(const struct order *order, int me)
{
	const int is_large = order->size >= LARGE_MESSAGE;
	double start;
	long i, left;

	fill(order, me, 0);
	trip(order->size, me);
	left = lost_time_switches();
	if (is_large)
		lost_too_much();
	trip(order->size, me);
	start = clock_now();
	for (i = 0; i < order->trips; i++)
		trip(order->size, me);
	start = clock_now() - start;
	own.report.left = lost_time_switches() != left && (!is_large || lost_too_much());
	check(order, me, 0);
	return start;
}

static double play_checks(const struct order *order, int me)
{
	long i;

	for (i = 0; i < order->trips; i++) {
		fill(order, me, i + 1);
		trip(order->size, me);
		check(order, me, i + 1);
	}
	return 0;
}

static double play(const struct order *order, int me)
{
	double seconds;

	be_ready(order, me);
	seconds = order->kind == BLOCK ? play_block(order, me) : play_checks(order, me);
	look(order->pair.cpu[me]);
	return seconds;
}

static void note(struct exchange *e, const struct report *r, int side)
{
	e->checked += r->checked;
	if (r->wrong && !e->wrong)
		e->wrong_at = r->wrong_at;
	e->wrong += r->wrong;
	e->mask[side] = r->mask;
	if (r->seen != SEEN_AT_HOME)
		e->seen[side] = r->seen;
}

static void clear_report(void)
{
	memset(&own.report, 0, sizeof(own.report));
	own.report.seen = SEEN_AT_HOME;
}

static double give_order(struct exchange *e, enum kind kind, long trips, int *interrupted)
{
	struct order order;
	struct report other;
	double seconds;

	memset(&order, 0, sizeof(order));
	order.kind = kind;
	order.pair = e->pair;
	order.size = e->size;
	order.trips = trips;
	order.number = ((word)ranks_me() << 24) + ++block_number;
	clear_report();
	ranks_send(&order, sizeof(order), own.other);
	seconds = play(&order, 0);
	ranks_receive(&other, sizeof(other), own.other, POLLING);
	note(e, &own.report, 0);
	note(e, &other, 1);
	*interrupted = own.report.left || other.left;
	return seconds;
}

static double run_exchange(void *data, long trips, int *interrupted)
{
	return give_order(data, BLOCK, trips, interrupted);
}

static void look_at(struct exchange *e, struct blocks *blocks, double budget,
		    enum patience patience)
{
	const long trips = e->size < LARGE_MESSAGE ? TRIPS_CHECKED : 1;
	int lost;

	give_order(e, CHECK_FIRST, trips, &lost);
	blocks_measure(blocks, run_exchange, e, budget, patience);
	give_order(e, CHECK_LAST, trips, &lost);
}

void messages_exchange(struct exchange *e, int other, double budget, enum patience patience)
{
	own.other = other;
	e->seen[0] = e->seen[1] = SEEN_AT_HOME;
	e->seconds = clock_now();
	look_at(e, &e->blocks, budget, patience);
	e->seconds = clock_now() - e->seconds;
}

void messages_look_again(struct exchange *e, int other, double budget)
{
	struct blocks later;

	own.other = other;
	e->again = 0;
	if (e->seconds > LONG_LOOK)
		return;
	look_at(e, &later, budget, UNTIL_SETTLED);
	e->again = later.round_trip.median;
	blocks_widen(&e->blocks, e->again);
}

void messages_end(int other)
{
	struct order order;

	memset(&order, 0, sizeof(order));
	order.kind = END;
	ranks_send(&order, sizeof(order), other);
}

void messages_follow(int other)
{
	struct order order;

	own.other = other;
	ranks_receive(&order, sizeof(order), other, ASLEEP);
	while (order.kind != END) {
		clear_report();
		play(&order, 1);
		ranks_send(&own.report, sizeof(own.report), other);
		ranks_receive(&order, sizeof(order), other, POLLING);
	}
}

#endif
