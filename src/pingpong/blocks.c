#include "blocks.h"

#include "../harness/clock.h"
#include "../harness/elementary.h"

/* A block: 20 us, and 20 ticks of the clock; the interval: 2 % of the median. */
static const double BLOCK_SECONDS = 20e-6, BLOCK_TICKS = 20, BLOCK_AGREE = 0.02;
/* Of the budget, what looking for the length of a block and warming up may take. */
static const double BLOCK_WARM_SHARE = 0.3;
/* Eleven blocks are a quarter of a millisecond: less than what a neighbour or a host takes. */
static const double BLOCK_LEAST_SHARE = 0.2;
/* Seconds: so long a block is long enough, whoever interrupted it. */
static const double BLOCK_SURELY_LONG = 0.1;

/* The shortest of three: a block that somebody interrupted is long for another reason. */
static double block_shortest_of_three(block_run *run, void *side, long trips)
{
	int i, lost;
	double shortest = run(side, trips, &lost);

	for (i = 1; i < 3 && shortest < BLOCK_SURELY_LONG; i++) {
		const double seconds = run(side, trips, &lost);

		shortest = seconds < shortest ? seconds : shortest;
	}
	return shortest;
}

/* Looked for once per thread: that takes as long as half a block. */
static double block_shortest(void)
{
	static __thread double least;

	if (!is_positive(least)) {
		const double ticks = BLOCK_TICKS * clock_tick();

		least = ticks > BLOCK_SECONDS ? ticks : BLOCK_SECONDS;
	}
	return least;
}

static long block_long_enough(block_run *run, void *side, double until)
{
	long trips = 1;

	while (block_shortest_of_three(run, side, trips) < block_shortest() && trips < 1L << 30 &&
	       clock_now() < until)
		trips *= 2;
	return trips;
}

static int block_agree(double a, double b, double c)
{
	const double low = a < b ? (a < c ? a : c) : (b < c ? b : c);
	const double high = a > b ? (a > c ? a : c) : (b > c ? b : c);

	return high <= low * (1 + BLOCK_AGREE);
}

static int block_warm_up(block_run *run, void *side, long trips, double until)
{
	double last = 0, before = 0;
	int count = 0, lost;

	while (clock_now() < until) {
		const double now = run(side, trips, &lost);

		count++;
		if (count >= 3 && block_agree(now, last, before))
			break;
		before = last;
		last = now;
	}
	return count;
}

/* One pair per thread is measured at a time: a matrix's samples together would be gigabytes. */
static __thread double block_samples[BLOCKS_MAX], block_chosen[BLOCKS_MAX],
	block_sorted[BLOCKS_MAX];
static __thread char block_interrupted[BLOCKS_MAX];

static void block_run_one(struct blocks *b, block_run *run, void *side)
{
	int lost = 0;
	const double seconds = run(side, b->trips, &lost);

	if (!b->count || seconds < b->shortest)
		b->shortest = seconds;
	b->interrupted += lost;
	block_interrupted[b->count] = (char)lost;
	block_samples[b->count++] = seconds / (double)b->trips;
}

int blocks_lost(const struct blocks *b)
{
	return 2 * b->interrupted > b->count;
}

/* Of clean ones, if there are any. */
static int block_has_enough(const struct blocks *b, double seconds)
{
	const int least = seconds > LONG_LOOK ? BLOCKS_FEWEST : BLOCKS_LEAST;

	return b->count - b->interrupted >= least || b->count >= 2 * least;
}

static void block_summarize(struct blocks *b)
{
	int i, count = 0;

	b->mean = 0;
	for (i = 0; i < b->count; i++) {
		b->mean += block_samples[i] / b->count;
		if (!block_interrupted[i] || blocks_lost(b))
			block_chosen[count++] = block_samples[i];
	}
	order_statistics_in_turn(&b->round_trip, block_chosen, block_sorted, count);
	b->settled = order_statistics_spread(&b->round_trip) <= BLOCK_AGREE;
}

/* Interrupted blocks made it look as if short ones were long enough. */
static int block_begin_again_longer(struct blocks *b)
{
	const double block = b->round_trip.median * (double)b->trips;

	if (!is_positive(block) || block >= block_shortest() / 2)
		return 0;
	b->trips = (long)((double)b->trips * block_shortest() / block) + 1;
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
	b->trips = block_long_enough(run, side, start + BLOCK_WARM_SHARE / 2 * budget);
	b->warm = block_warm_up(run, side, b->trips, start + BLOCK_WARM_SHARE * budget);
	while (b->count < BLOCKS_MAX && !is_over) {
		block_run_one(b, run, side);
		seconds = clock_now() - start;
		is_over = block_has_enough(b, seconds) && seconds > budget;
		if (b->count < next_look && !is_over)
			continue;
		block_summarize(b);
		if (block_begin_again_longer(b)) {
			next_look = BLOCKS_LEAST;
			is_over = 0;
			continue;
		}
		if (b->settled && patience == UNTIL_SETTLED &&
		    clock_now() - start >= BLOCK_LEAST_SHARE * budget)
			break;
		next_look = b->count + b->count / 4;
	}
	block_summarize(b);
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
	b->settled = order_statistics_spread(s) <= BLOCK_AGREE;
}
