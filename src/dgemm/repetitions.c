#include "repetitions.h"

static const double KEPT_OFF_SHARE = 0.01, SAME_CEILING = 0.02, PER_CYCLE = 0.03;

static double most_per_cycle(const struct shape *s)
{
	double most = 0;
	int i;

	for (i = 0; i < s->count; i++)
		if (s->repetitions[i].ceiling.per_cycle > most)
			most = s->repetitions[i].ceiling.per_cycle;
	return most;
}

static int is_clean(const struct repetition *r, double per_cycle)
{
	return r->workers.ready <= KEPT_OFF_SHARE * r->workers.wall && r->moved <= SAME_CEILING &&
	       r->moved >= -SAME_CEILING && r->ceiling.per_cycle >= (1 - PER_CYCLE) * per_cycle;
}

int repetition_is_clean(const struct shape *s, int i)
{
	return is_clean(&s->repetitions[i], most_per_cycle(s));
}

int repetitions_clean(const struct shape *s)
{
	const double per_cycle = most_per_cycle(s);
	int i, clean = 0;

	for (i = 0; i < s->count; i++)
		clean += is_clean(&s->repetitions[i], per_cycle);
	return clean;
}

/* Into VALUES, of REPETITIONS_MAX; returns how many. */
static int ask_those_that_count(double *values, const struct shape *s,
				double (*ask)(const struct repetition *))
{
	const double per_cycle = most_per_cycle(s);
	const int count_all = repetitions_clean(s) == 0;
	int i, count = 0;

	for (i = 0; i < s->count; i++)
		if (count_all || is_clean(&s->repetitions[i], per_cycle))
			values[count++] = ask(&s->repetitions[i]);
	return count;
}

static double percent_of(const struct repetition *r)
{
	return r->percent;
}

static double rate_of(const struct repetition *r)
{
	return r->gflops;
}

void repetitions_share(struct order_statistics *share, const struct shape *s)
{
	static double values[REPETITIONS_MAX];

	order_statistics(share, values, ask_those_that_count(values, s, percent_of));
}

double repetitions_half_width(const struct order_statistics *share)
{
	const double above = share->high - share->median, below = share->median - share->low;

	return above > below ? above : below;
}

double repetitions_gflops(const struct shape *s)
{
	static double values[REPETITIONS_MAX];
	const int count = ask_those_that_count(values, s, rate_of);
	double best = 0;
	int i;

	for (i = 0; i < count; i++)
		best = values[i] > best ? values[i] : best;
	return best;
}

double repetitions_median(const struct shape *s, double (*ask)(const struct repetition *))
{
	static double values[REPETITIONS_MAX];

	return median(values, ask_those_that_count(values, s, ask));
}
