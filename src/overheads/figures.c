#include "figures.h"

#include "../harness/clock.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/plural.h"
#include "team.h"

/* In parts of the construct's own time.  A reference is no better known than the second: a call
 * more or less, another alignment of a loop. */
static const double UNSTABLE_SPREAD = 0.10, COMPARABLE = 0.02;

const char *figure_name(const struct construct *c, int threads)
{
	return c->bytes ? metric_name("%s_%zu_t%d", c->name, c->bytes, threads)
			: metric_name("%s_t%d", c->name, threads);
}

static double mean_of(const double *values, int count)
{
	double sum = 0;
	int i;

	for (i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

/* common.c of EPCC's suite, v3.1: the difference of the means, +- 1.96 (sd of the construct + sd
 * of the reference). */
static void as_epcc(struct figure *f, const struct overhead *o)
{
	f->mean = 1e6 * (mean_of(o->with, o->count) - mean_of(o->without, o->count));
	f->half_width =
		1e6 * 1.96 * (deviation(o->with, o->count) + deviation(o->without, o->count));
}

void figure_of(struct figure *f, const struct overhead *o)
{
	double room[PAIRS_MAX];
	int i;

	memset(f, 0, sizeof(*f));
	if (!o->count)
		return;
	for (i = 0; i < o->count; i++)
		room[i] = 1e6 * (o->with[i] - o->without[i]);
	order_statistics(&f->overhead, room, o->count);
	memcpy(room, o->with, (size_t)o->count * sizeof(*room));
	f->with = 1e6 * median(room, o->count);
	memcpy(room, o->without, (size_t)o->count * sizeof(*room));
	f->without = 1e6 * median(room, o->count);
	as_epcc(f, o);
	f->break_even = f->overhead.median > 0 ? f->overhead.median / 0.10 : 0;
}

int figure_is_steady(const struct figure *f, const struct overhead *o)
{
	return o->count >= INTERVAL_SAMPLES && 2 * o->count >= o->played &&
	       order_statistics_reach(&f->overhead) <= UNSTABLE_SPREAD * f->with;
}

void figure_judge(const struct figure *f, const struct overhead *o)
{
	if (f->overhead.count < INTERVAL_SAMPLES)
		return;
	if (o->shortest < 20 * clock_tick())
		verdict_invalid(TOO_SHORT, "%s: a block took %s, under 20 ticks of the clock",
				o->name, seconds_text(o->shortest));
	if (f->overhead.high < -COMPARABLE * f->without)
		verdict_invalid(NEGATIVE_OVERHEAD,
				"%s: %s to %s us: the reference (%s us) takes longer than "
				"the construct",
				o->name, number_text(f->overhead.low, 3),
				number_text(f->overhead.high, 3), number_text(f->without, 3));
}

void figure_write(const struct figure *f, const struct overhead *o)
{
	json_open(NULL, '{');
	json_text("metric", o->name);
	json_text("construct", o->construct->name);
	json_count("bytes", o->construct->bytes);
	json_count("threads", (unsigned)o->threads);
	json_number("overhead_us", f->overhead.median);
	json_number("low_us", f->overhead.low);
	json_number("high_us", f->overhead.high);
	json_number("construct_us", f->with);
	json_number("reference_us", f->without);
	json_number("mean_us", f->mean);
	json_number("half_width_us", f->half_width);
	json_number("break_even_us", f->break_even);
	json_count("repetitions", (unsigned long long)o->repetitions);
	json_count("pairs", (unsigned)o->count);
	json_count("pairs_played", (unsigned)o->played);
	json_truth("steady", figure_is_steady(f, o));
	json_close('}');
}

void figures_print_head(int threads)
{
	printf("%d thread%-2s us          bytes   overhead     95 %% interval        EPCC's mean "
	       "+-1.96 sd  10 %% of a kernel of\n",
	       threads, threads == 1 ? "," : "s,");
}

void figure_print(const struct figure *f, const struct overhead *o)
{
	char bytes[24] = "";

	if (o->construct->bytes)
		snprintf(bytes, sizeof(bytes), "%zu", o->construct->bytes);
	if (!o->count) {
		printf("  %-16s %8s          -\n", o->construct->name, bytes);
		return;
	}
	printf("  %-16s %8s %10s%c%10s .. %-10s %10s +-%-10s %10s\n", o->construct->name, bytes,
	       number_text(f->overhead.median, 4), figure_is_steady(f, o) ? ' ' : '*',
	       number_text(f->overhead.low, 4), number_text(f->overhead.high, 4),
	       number_text(f->mean, 4), number_text(f->half_width, 3),
	       number_text(f->break_even, 4));
}
