#include "metrics.h"

#include "error.h"
#include "json.h"
#include "plural.h"
#include "signs.h"
#include "verdict.h"

#include <fnmatch.h>
#include <stdarg.h>

static const char *const metric_axes[AXES] = {
	[AT_BYTES] = "bytes",
	[AT_THREADS] = "threads",
	[AT_CPU] = "cpu",
	[AT_OTHER_CPU] = "other_cpu",
	[AT_CPU_DOMAIN] = "cpu_domain",
	[AT_MEMORY_DOMAIN] = "memory_domain",
	[AT_READ_SHARE] = "read_share",
	[AT_M] = "m",
	[AT_N] = "n",
	[AT_K] = "k",
};

struct metric {
	const char *name, *unit, *series, *level;
	double at[AXES];
	unsigned is_at; /* a bit per axis */
	double value, *samples;
	double low, high;
	int has_interval, count;
	const char *bound; /* "lower", "upper", "unknown": both; NULL: none */
	enum better better;
};

static struct metric *metric_list;
static int metric_total;

const char *metric_name(const char *format, ...)
{
	va_list rest;
	char *name;
	int size;

	va_start(rest, format);
	size = vasprintf(&name, format, rest);
	va_end(rest);
	if (size < 0)
		die("no memory for the name of a metric", "free some memory");
	return name;
}

/* The metric of that name, a new one where there is none. */
static struct metric *metric_named(const char *name)
{
	int m;

	for (m = 0; m < metric_total; m++)
		if (strcmp(metric_list[m].name, name) == 0)
			return &metric_list[m];
	metric_list = realloc(metric_list, (size_t)(metric_total + 1) * sizeof(*metric_list));
	if (!metric_list)
		die("no memory for '%d' metrics", "free some memory", metric_total + 1);
	memset(&metric_list[metric_total], 0, sizeof(*metric_list));
	metric_list[metric_total].name = name;
	return &metric_list[metric_total++];
}

void metric(const char *name, double value, const char *unit, enum better better)
{
	struct metric *m = metric_named(name);

	m->value = value;
	m->unit = unit;
	m->better = better;
}

void metric_interval(const char *name, double low, double high)
{
	struct metric *m = metric_named(name);

	m->low = low;
	m->high = high;
	m->has_interval = 1;
}

void metric_too_good(const char *name)
{
	struct metric *m = metric_named(name);

	m->has_interval = 0;
	m->bound = m->bound ? "unknown" : m->better == HIGHER ? "upper" : "lower";
}

void metric_disturbed(const char *name)
{
	struct metric *m = metric_named(name);

	m->has_interval = 0;
	m->bound = verdict_flatters() ? "unknown" : m->better == HIGHER ? "lower" : "upper";
}

void metric_unknown(const char *name)
{
	metric_named(name)->bound = "unknown";
}

void metric_rate(const char *name, const struct rate *rate, double scale, const char *unit)
{
	metric(name, rate->value / scale, unit, HIGHER);
	if (!rate->is_bound && !rate->is_upper)
		metric_interval(name, rate->low / scale, rate->high / scale);
	metric_named(name)->bound = !rate_may_be_high(rate) ? (rate->is_bound ? "lower" : NULL)
				    : rate->is_bound        ? "unknown"
							    : "upper";
}

void metric_at(const char *name, const char *series, enum axis axis, double value)
{
	struct metric *m = metric_named(name);

	m->series = series;
	m->at[axis] = value;
	m->is_at |= 1U << axis;
}

void metric_at_level(const char *name, const char *series, const char *level)
{
	struct metric *m = metric_named(name);

	m->series = series;
	m->level = level;
}

void metric_samples(const char *name, const double *samples, int count)
{
	struct metric *m = metric_named(name);

	free(m->samples);
	m->samples = room_for((size_t)count, sizeof(*samples), "samples", "ask for fewer");
	memcpy(m->samples, samples, (size_t)count * sizeof(*samples));
	m->count = count;
}

void judge_peak(const char *name, double value, const char *unit, double peak)
{
	if (peak > 0 && value > peak)
		verdict_invalid(TOO_GOOD,
				"%s reads %.1f %s, above the peak of %s %s (as given by --peak)",
				name, value, unit, number_text(peak, 6), unit);
}

void metrics_judge(double peak, const char *unit)
{
	int m;

	if (!metric_total && verdict_is_valid())
		verdict_invalid(INCOMPLETE, "no figure: nothing was measured that is above 0");
	for (m = 0; m < metric_total; m++)
		if (unit && strcmp(metric_list[m].unit, unit) == 0 &&
		    metric_list[m].better == HIGHER)
			judge_peak(metric_list[m].name, metric_list[m].value, unit, peak);
}

const char *metrics_headline(const char *pattern)
{
	int m = metric_total - 1;

	while (m > 0 && !(pattern && fnmatch(pattern, metric_list[m].name, 0) == 0))
		m--;
	return m < 0 ? NULL : metric_list[m].name;
}

void metrics_print(FILE *out)
{
	int m;

	for (m = 0; m < metric_total; m++) {
		const char *const bound = metric_list[m].bound;

		fprintf(out, "%s: %s%s%s %s", metric_list[m].name,
			!bound                        ? ""
			: strcmp(bound, "lower") == 0 ? sign(AT_LEAST)
			: strcmp(bound, "upper") == 0 ? sign(AT_MOST)
						      : "~",
			bound ? " " : "", number_text(metric_list[m].value, 6),
			metric_list[m].unit);
		if (metric_list[m].has_interval)
			fprintf(out, " (%s to %s)", number_text(metric_list[m].low, 6),
				number_text(metric_list[m].high, 6));
		putc('\n', out);
	}
}

static void metric_write(const struct metric *m)
{
	int axis;

	json_open(m->name, '{');
	if (m->series) {
		json_text("series", m->series);
		json_open("at", '{');
		if (m->level)
			json_text("level", m->level);
		for (axis = 0; axis < AXES; axis++)
			if (m->is_at >> axis & 1)
				json_number(metric_axes[axis], m->at[axis]);
		json_close('}');
	}
	json_number("value", m->value);
	if (m->has_interval) {
		json_number("low", m->low);
		json_number("high", m->high);
	}
	if (m->bound)
		json_text("bound", m->bound);
	json_text("unit", m->unit);
	json_text("better", m->better == LOWER ? "lower" : "higher");
	if (m->count)
		json_numbers("samples", m->samples, m->count);
	json_close('}');
}

void metrics_write(void)
{
	int m;

	json_open("metrics", '{');
	for (m = 0; m < metric_total; m++)
		metric_write(&metric_list[m]);
	json_close('}');
}
