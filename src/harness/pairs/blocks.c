#include "blocks.h"

#include "../clock.h"

#include <sys/resource.h>

/* A block: 20 us, and 20 ticks of the clock; the interval: 2 % of the median; two regimes: their
 * medians half as large again, one a fifth of the blocks at least. */
static const double BLOCK_SECONDS = 20e-6, BLOCK_TICKS = 20, AGREE = 0.02, GAP = 1.5;
/* Of the budget, what looking for the length of a block and warming up may take. */
static const double WARM_SHARE = 0.3;
/* Eleven blocks are a quarter of a millisecond: less than what a neighbour or a host takes. */
static const double LEAST_SHARE = 0.2;
/* Seconds: so long a block is long enough, whoever interrupted it. */
static const double SURELY_LONG = 0.1;

/* The shortest of three: a block that somebody interrupted is long for another reason. */
static double shortest_of_three(block_run *run, void *side, long trips)
{
	int i, lost;
	double shortest = run(side, trips, &lost);

	for (i = 1; i < 3 && shortest < SURELY_LONG; i++) {
		const double seconds = run(side, trips, &lost);

		shortest = seconds < shortest ? seconds : shortest;
	}
	return shortest;
}

/* Looked for once per thread: that takes as long as half a block. */
static double least_block(void)
{
	static __thread double least;

	if (!(least > 0)) {
		const double ticks = BLOCK_TICKS * clock_tick();

		least = ticks > BLOCK_SECONDS ? ticks : BLOCK_SECONDS;
	}
	return least;
}

static long long_enough(block_run *run, void *side, double until)
{
	long trips = 1;

	while (shortest_of_three(run, side, trips) < least_block() && trips < 1L << 30 &&
	       clock_now() < until)
		trips *= 2;
	return trips;
}

static int agree(double a, double b, double c)
{
	const double low = a < b ? (a < c ? a : c) : (b < c ? b : c);
	const double high = a > b ? (a > c ? a : c) : (b > c ? b : c);

	return high <= low * (1 + AGREE);
}

static int warm_up(block_run *run, void *side, long trips, double until)
{
	double last = 0, before = 0;
	int count = 0, lost;

	while (clock_now() < until) {
		const double now = run(side, trips, &lost);

		count++;
		if (count >= 3 && agree(now, last, before))
			break;
		before = last;
		last = now;
	}
	return count;
}

/* One pair per thread is measured at a time: a matrix's samples together would be gigabytes. */
static __thread double samples[BLOCKS_MAX], chosen[BLOCKS_MAX], sorted[BLOCKS_MAX];
static __thread char interrupted[BLOCKS_MAX];

static void run_one(struct blocks *b, block_run *run, void *side)
{
	int lost = 0;
	const double seconds = run(side, b->trips, &lost);

	if (!b->count || seconds < b->shortest)
		b->shortest = seconds;
	b->interrupted += lost;
	interrupted[b->count] = (char)lost;
	samples[b->count++] = seconds / (double)b->trips;
}

int blocks_lost(const struct blocks *b)
{
	return 2 * b->interrupted > b->count;
}

/* Of clean ones, where there are any to be had. */
static int has_enough(const struct blocks *b, double seconds)
{
	const int least = seconds > LONG_LOOK ? BLOCKS_FEWEST : BLOCKS_LEAST;

	return b->count - b->interrupted >= least || b->count >= 2 * least;
}

static void summarize(struct blocks *b)
{
	int i, count = 0;

	b->mean = 0;
	for (i = 0; i < b->count; i++) {
		b->mean += samples[i] / b->count;
		if (!interrupted[i] || blocks_lost(b))
			chosen[count++] = samples[i];
	}
	order_statistics_in_turn(&b->round_trip, chosen, sorted, count);
	regimes_find(&b->regimes, sorted, count, GAP);
	b->settled = order_statistics_spread(&b->round_trip) <= AGREE;
}

/* Interrupted blocks made it look as if short ones were long enough. */
static int begin_again_longer(struct blocks *b)
{
	const double block = b->round_trip.median * (double)b->trips;

	if (!(block > 0) || block >= least_block() / 2)
		return 0;
	b->trips = (long)((double)b->trips * least_block() / block) + 1;
	b->count = b->interrupted = 0;
	b->settled = 0;
	return 1;
}

void blocks_measure(struct blocks *b, block_run *run, void *side, double budget,
		    enum patience patience)
{
	const double start = clock_now();
	int next_look = BLOCKS_LEAST, is_over = 0, lost;
	double seconds;

	memset(b, 0, sizeof(*b));
	b->trips = long_enough(run, side, start + WARM_SHARE / 2 * budget);
	b->warm = warm_up(run, side, b->trips, start + WARM_SHARE * budget);
	while (b->count < BLOCKS_MAX && !is_over) {
		run_one(b, run, side);
		seconds = clock_now() - start;
		is_over = has_enough(b, seconds) && seconds > budget;
		if (b->count < next_look && !is_over)
			continue;
		summarize(b);
		if (begin_again_longer(b)) {
			next_look = BLOCKS_LEAST;
			is_over = 0;
			continue;
		}
		if (b->settled && patience == UNTIL_SETTLED &&
		    clock_now() - start >= LEAST_SHARE * budget)
			break;
		next_look = b->count + b->count / 4;
	}
	summarize(b);
	while (patience == WHOLE_BUDGET && clock_now() - start < budget)
		run(side, b->trips, &lost);
}

void blocks_widen(struct blocks *b, double median)
{
	struct order_statistics *const s = &b->round_trip;

	s->low = median < s->low ? median : s->low;
	s->high = median > s->high ? median : s->high;
	s->min = s->low < s->min ? s->low : s->min;
	s->max = s->high > s->max ? s->high : s->max;
	b->settled = order_statistics_spread(s) <= AGREE;
}

long thread_times_left(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}
