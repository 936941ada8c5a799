#include "metrics.h"

#include "error.h"
#include "json.h"
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

struct metric {
	const char *name, *unit;
	double value, *samples;
	int count;
	enum better better;
};

static struct metric *metrics;
static int known;

/* The metric of that name, a new one where there is none. */
static struct metric *named(const char *name)
{
	int m;

	for (m = 0; m < known; m++)
		if (strcmp(metrics[m].name, name) == 0)
			return &metrics[m];
	metrics = realloc(metrics, (size_t)(known + 1) * sizeof(*metrics));
	if (!metrics)
		die("no memory for '%d' metrics", "free some memory", known + 1);
	memset(&metrics[known], 0, sizeof(*metrics));
	metrics[known].name = name;
	return &metrics[known++];
}

void metric(const char *name, double value, const char *unit, enum better better)
{
	struct metric *m = named(name);

	m->value = value;
	m->unit = unit;
	m->better = better;
}

void metric_samples(const char *name, const double *samples, int count)
{
	struct metric *m = named(name);

	m->samples = realloc(m->samples, (size_t)count * sizeof(*samples));
	if (!m->samples)
		die("no memory for '%d' samples", "ask for fewer", count);
	memcpy(m->samples, samples, (size_t)count * sizeof(*samples));
	m->count = count;
}

void judge_peak(const char *name, double value, const char *unit, double peak)
{
	if (peak > 0 && value > peak)
		verdict_invalid(TOO_GOOD,
				"%s reads %.1f %s, above the peak of %g %s (as given by --peak)",
				name, value, unit, peak, unit);
}

void metrics_judge(double peak, const char *unit)
{
	int m;

	for (m = 0; m < known; m++)
		if (unit && strcmp(metrics[m].unit, unit) == 0 && metrics[m].better == HIGHER)
			judge_peak(metrics[m].name, metrics[m].value, unit, peak);
}

void metrics_print(FILE *out)
{
	int m;

	for (m = 0; m < known; m++)
		fprintf(out, "%s: %.6g %s\n", metrics[m].name, metrics[m].value, metrics[m].unit);
}

static void write_metric(const struct metric *m)
{
	int i;

	json_open(m->name, '{');
	json_number("value", m->value);
	json_text("unit", m->unit);
	json_text("better", m->better == LOWER ? "lower" : "higher");
	if (m->count) {
		json_open("samples", '[');
		for (i = 0; i < m->count; i++)
			json_number(NULL, m->samples[i]);
		json_close(']');
	}
	json_close('}');
}

void metrics_write(void)
{
	int m;

	json_open("metrics", '{');
	for (m = 0; m < known; m++)
		write_metric(&metrics[m]);
	json_close('}');
}
