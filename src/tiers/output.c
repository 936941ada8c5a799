#include "output.h"

#include "../harness/json.h"
#include "../harness/metrics.h"

static const char *const titles[FIGURES] = { "Latency, ns", "Read, GB/s", "Triad, GB/s" };

int output_differs(double measured, double declared)
{
	if (!(measured > 0) || !(declared > 0))
		return 0;
	return measured > 1.2 * declared || declared > 1.2 * measured;
}

/* By HMAT where it says something of the pair. */
static int output_off(const struct tier *p, int figure)
{
	if (figure == 0)
		return output_differs(p->figures[0].median, p->declared.read_ns);
	return figure == 1 && output_differs(p->figures[1].median, p->declared.read_gbs);
}

static double output_declared(const struct tier *p, int figure)
{
	return figure == 0 ? p->declared.read_ns : figure == 1 ? p->declared.read_gbs : 0;
}

static void output_cell(const struct tier *p, int figure)
{
	char text[48];

	if (output_declared(p, figure) > 0)
		snprintf(text, sizeof(text), "%.4g (%.4g)%s", p->figures[figure].median,
			 output_declared(p, figure), output_off(p, figure) ? "!" : "");
	else
		snprintf(text, sizeof(text), "%.4g", p->figures[figure].median);
	printf(" %13s", text);
}

void output_print(const struct matrix *matrix)
{
	int figure, f, t;

	for (figure = 0; figure < FIGURES; figure++) {
		printf("%-13s", titles[figure]);
		for (t = 0; t < matrix->to_count; t++)
			printf("  %6s %4d", "memory", matrix->to[t]);
		printf("\n");
		for (f = 0; f < matrix->from_count; f++) {
			printf("CPUs of %-4d", matrix->from[f]);
			for (t = 0; t < matrix->to_count; t++)
				output_cell(matrix_pair(matrix, matrix->from[f], matrix->to[t]),
					    figure);
			printf("\n");
		}
	}
	printf("In parentheses what firmware declares (HMAT); !: it differs by more than a "
	       "fifth.\n");
}

void output_metrics(const struct matrix *matrix)
{
	static const char *const units[FIGURES] = { "ns", "GB/s", "GB/s" };
	int i, figure;

	for (i = 0; i < matrix->count; i++)
		for (figure = 0; figure < FIGURES; figure++) {
			const struct tier *const p = &matrix->pairs[i];
			const struct figure *const value = &p->figures[figure];
			const char *const name =
				metric_name("%s_%d_%d", figure_names[figure], p->cpus, p->memory);

			metric(name, value->median, units[figure], figure ? HIGHER : LOWER);
			metric_interval(name, value->low, value->high);
		}
}

static void output_write_pair(const struct tier *p)
{
	json_open(NULL, '{');
	json_count("cpus", (unsigned)p->cpus);
	json_count("memory", (unsigned)p->memory);
	json_numbers("ns", p->values[0], p->visits);
	json_numbers("read_gbs", p->values[1], p->visits);
	json_numbers("triad_gbs", p->values[2], p->visits);
	json_positive("declared_ns", p->declared.read_ns);
	json_positive("declared_gbs", p->declared.read_gbs);
	json_positive("distance", p->declared.distance);
	json_count("migrated_pages", p->migrated);
	json_number("lost_share", p->lost);
	placement_write("placement_before", &p->last.before);
	placement_write("placement_after", &p->last.after);
	json_close('}');
}

void output_write(const struct matrix *matrix)
{
	int i;

	json_count("array_bytes", matrix->array_bytes);
	json_count("chain_bytes", matrix->chain_bytes);
	json_open("pairs_of_domains", '[');
	for (i = 0; i < matrix->count; i++)
		output_write_pair(&matrix->pairs[i]);
	json_close(']');
}
