#include "rate.h"

#include "elementary.h"
#include "evidence/interference.h"
#include "order_statistics.h"
#include "signs.h"
#include "verdict.h"

/* PARTS: of a run, for its interval; PART_REPETITIONS: in each, where there are enough for three
 * parts. */
enum { RATE_PARTS = STUDENT_FREEDOM + 1, RATE_PARTS_LEAST = 3, RATE_PART_REPETITIONS = 3 };

static const double RATE_LOST_MOST = 0.05, RATE_LOST_MOST_ALONE = 0.02;
static const double RATE_INTERVAL_LEAST = 0.02, RATE_INTERVAL_FACTOR = 1.3,
		    RATE_INTERVAL_SAYS_NOTHING = 0.5;

int rate_counts(double lost_share)
{
	return lost_share <= RATE_LOST_MOST;
}

int rate_counts_alone(double lost_share)
{
	return lost_share <= RATE_LOST_MOST_ALONE;
}

/* The place of the best that counts of FROM .. TO - 1; -1: none counts. */
static int rate_best(const double *rates, const double *lost, int from, int to)
{
	int i, best = -1;

	for (i = from; i < to; i++)
		if ((!lost || rate_counts(lost[i])) && (best < 0 || rates[i] > rates[best]))
			best = i;
	return best;
}

static int rate_parts_of(int counted)
{
	const int parts = counted / RATE_PART_REPETITIONS;

	return parts > RATE_PARTS         ? RATE_PARTS
	       : parts < RATE_PARTS_LEAST ? RATE_PARTS_LEAST
					  : parts;
}

static void rate_interval(struct rate *rate, const double *rates, const double *lost, int count)
{
	const int parts = rate_parts_of(rate->counted);
	double of_part[RATE_PARTS], half;
	int part, known = 0;

	for (part = 0; part < parts && count >= parts; part++) {
		const int best =
			rate_best(rates, lost, part * count / parts, (part + 1) * count / parts);

		if (best >= 0)
			of_part[known++] = rates[best] / rate->value;
	}
	if (known < 2)
		return;
	half = RATE_INTERVAL_FACTOR * student(known - 1) * deviation(of_part, known);
	half = half > RATE_INTERVAL_LEAST ? half : RATE_INTERVAL_LEAST;
	if (half > RATE_INTERVAL_SAYS_NOTHING)
		return;
	rate->low = rate->value * (1 - half);
	rate->high = rate->value * (1 + half + (lost ? lost[rate->best] : 0));
}

void rate_of(struct rate *rate, const double *rates, const double *lost_shares, int count)
{
	int i;

	memset(rate, 0, sizeof(*rate));
	rate->is_upper = verdict_finding(NOT_PROVEN) != NOT_FOUND;
	for (i = 0; i < count; i++)
		rate->counted += !lost_shares || rate_counts(lost_shares[i]);
	if (rate->counted) {
		rate->best = rate_best(rates, lost_shares, 0, count);
		rate->value = rates[rate->best];
		rate_interval(rate, rates, lost_shares, count);
	}
	rate->best_of = rate->counted;
	rate->is_bound = !is_positive(rate->high) || interference_is_loud();
	if (!rate->is_bound || !count)
		return;
	rate->best = rate_best(rates, NULL, 0, count);
	rate->value = rates[rate->best];
	rate->low = rate->high = 0;
	rate->best_of = count;
}

int rate_may_be_high(const struct rate *rate)
{
	return rate->is_upper || (rate->is_bound && verdict_flatters());
}

const char *rate_bound(const struct rate *rate)
{
	return rate_may_be_high(rate) ? "a bound on neither side" : "a lower bound";
}

const char *rate_text(const struct rate *rate, double scale)
{
	static char text[4][64];
	static int turn;
	const double above = rate->high - rate->value, below = rate->value - rate->low;
	char *const room = text[turn = (turn + 1) % 4];

	if (rate->is_bound || rate->is_upper)
		snprintf(room, sizeof(text[0]), "%s %.1f",
			 !rate_may_be_high(rate) ? sign(AT_LEAST)
			 : rate->is_bound        ? "~"
						 : sign(AT_MOST),
			 rate->value / scale);
	else
		snprintf(room, sizeof(text[0]), "%.1f %s%.1f", rate->value / scale,
			 sign(PLUS_MINUS), (above > below ? above : below) / scale);
	return room;
}
