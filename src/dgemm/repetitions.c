#include "repetitions.h"

/* KNOWN_WITHIN: points; a node that is 2 % low would not be seen. */
static const double KNOWN_WITHIN = 2, SAME_CEILING = 0.02, PER_CYCLE = 0.03;

static double most_per_cycle(const struct shape *s)
{
	double most = 0;
	int i;

	for (i = 0; i < s->count; i++)
		if (s->repetitions[i].ceiling.per_cycle > most)
			most = s->repetitions[i].ceiling.per_cycle;
	return most;
}

/* Of its time; all of it where its threads could do less before or after it. */
static double lost_share(const struct repetition *r, double per_cycle)
{
	const int is_same = r->moved <= SAME_CEILING && r->moved >= -SAME_CEILING &&
			    r->ceiling.per_cycle >= (1 - PER_CYCLE) * per_cycle;

	return is_same ? r->workers.ready / r->workers.wall : 1;
}

static int is_clean(const struct repetition *r, double per_cycle)
{
	return rate_counts(lost_share(r, per_cycle));
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
static int figures_that_count(double *values, const struct shape *s,
			      double (*figure_of)(const struct repetition *))
{
	const double per_cycle = most_per_cycle(s);
	const int count_all = repetitions_clean(s) == 0;
	int i, count = 0;

	for (i = 0; i < s->count; i++)
		if (count_all || is_clean(&s->repetitions[i], per_cycle))
			values[count++] = figure_of(&s->repetitions[i]);
	return count;
}

static double percent_of(const struct repetition *r)
{
	return r->percent;
}

void repetitions_share(struct order_statistics *share, const struct shape *s)
{
	static double values[REPETITIONS_MAX];

	order_statistics(share, values, figures_that_count(values, s, percent_of));
}

int repetitions_share_is_known(const struct shape *s)
{
	struct order_statistics share;

	repetitions_share(&share, s);
	return repetitions_clean(s) >= INTERVAL_SAMPLES &&
	       order_statistics_reach(&share) <= KNOWN_WITHIN;
}

void repetitions_rate(struct rate *rate, const struct shape *s)
{
	static double rates[REPETITIONS_MAX], lost[REPETITIONS_MAX];
	const double per_cycle = most_per_cycle(s);
	int i;

	for (i = 0; i < s->count; i++) {
		rates[i] = s->repetitions[i].gflops;
		lost[i] = lost_share(&s->repetitions[i], per_cycle);
	}
	rate_of(rate, rates, lost, s->count);
}

double repetitions_median(const struct shape *s, double (*figure_of)(const struct repetition *))
{
	static double values[REPETITIONS_MAX];

	return median(values, figures_that_count(values, s, figure_of));
}
