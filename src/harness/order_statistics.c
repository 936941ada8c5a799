#include "order_statistics.h"

#include "elementary.h"
#include "json.h"

static int order_statistics_by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double order_statistics_middle(const double *sorted, int count)
{
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), order_statistics_by_value);
	return order_statistics_middle(values, count);
}

/* The largest rank, from 1, with P(Binomial(n, 1/2) < rank) of 2.5 % at most; 0: there is none.
 * Above a thousand 2^-n is too small for a double, and the normal law is close enough. */
static int order_statistics_interval_rank(int n)
{
	double term = 1, sum = 0;
	int i, rank = 0;

	if (n > 1000)
		return (n - 2 * (int)square_root(n)) / 2;
	for (i = 0; i < n; i++)
		term /= 2;
	for (i = 0; i < n; i++) {
		sum += term;
		if (sum > 0.025)
			break;
		rank = i + 1;
		term *= (double)(n - i) / (i + 1);
	}
	return rank;
}

void order_statistics(struct order_statistics *s, double *values, int count)
{
	const int rank = order_statistics_interval_rank(count);

	qsort(values, (size_t)count, sizeof(*values), order_statistics_by_value);
	s->count = count;
	s->min = values[0];
	s->max = values[count - 1];
	s->p10 = values[(count - 1) / 10];
	s->p90 = values[count - 1 - (count - 1) / 10];
	s->median = order_statistics_middle(values, count);
	s->low = rank ? values[rank - 1] : s->min;
	s->high = rank ? values[count - rank] : s->max;
}

/* Of a measurement; one of fewer values says nothing of its own. */
enum { TURN_PARTS = 6, TURN_PART_LEAST = 4 };

/* Which part of these is above the middle; those that equal it count half. */
static double order_statistics_share_above(const double *values, int count,
					   double order_statistics_middle)
{
	double sum = 0;
	int i;

	for (i = 0; i < count; i++)
		sum += values[i] > order_statistics_middle   ? 1
		       : values[i] < order_statistics_middle ? 0
							     : 0.5;
	return sum / count;
}

/* How much further from the middle than of independent values the ends of the interval are: by
 * how far the shares of the parts lie apart, which of independent ones is half / root(length). */
static double order_statistics_dependence(const double *values, int count,
					  double order_statistics_middle)
{
	const int length = count / TURN_PARTS;
	double shares[TURN_PARTS], factor;
	int i;

	if (length < TURN_PART_LEAST)
		return 1;
	for (i = 0; i < TURN_PARTS; i++)
		shares[i] = order_statistics_share_above(values + i * length, length,
							 order_statistics_middle);
	factor = deviation(shares, TURN_PARTS) * 2 * square_root(length) *
		 student(TURN_PARTS - 1) / 1.960;
	return factor > 1 ? factor : 1;
}

void order_statistics_in_turn(struct order_statistics *s, const double *values, double *room,
			      int count)
{
	const double half = (count + 1) / 2.0;
	double rank;

	memcpy(room, values, (size_t)count * sizeof(*room));
	order_statistics(s, room, count);
	rank = half - order_statistics_dependence(values, count, s->median) *
			      (half - order_statistics_interval_rank(count));
	s->low = room[rank >= 1 ? (int)rank - 1 : 0];
	s->high = room[rank >= 1 ? count - (int)rank : count - 1];
}

void order_statistics_write(const struct order_statistics *s, double scale, const char *unit)
{
	const struct {
		const char *name;
		double value;
	} members[] = { { "median", s->median }, { "low", s->low }, { "high", s->high },
			{ "min", s->min },       { "p10", s->p10 }, { "p90", s->p90 },
			{ "max", s->max } };
	char key[32];
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		snprintf(key, sizeof(key), "%s_%s", members[i].name, unit);
		json_number(key, scale * members[i].value);
	}
}

double order_statistics_reach(const struct order_statistics *s)
{
	const double above = s->high - s->median, below = s->median - s->low;

	return above > below ? above : below;
}

double order_statistics_spread(const struct order_statistics *s)
{
	return s->count < INTERVAL_SAMPLES || !is_positive(s->median)
		       ? 1
		       : order_statistics_reach(s) / s->median;
}

double deviation(const double *values, int count)
{
	double mean = 0, squares = 0;
	int i;

	for (i = 0; i < count; i++)
		mean += values[i] / count;
	for (i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return count > 1 ? square_root(squares / (count - 1)) : 0;
}

double student(int freedom)
{
	static const double table[STUDENT_FREEDOM] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
						       2.365,  2.306, 2.262, 2.228, 2.201 };

	return table[freedom - 1];
}
