#include "output.h"

#include "../harness/elementary.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/plural.h"
#include "../harness/signs.h"
#include "../harness/verdict.h"

static const char *const titles[FIGURES] = { "Latency, ns", "Read, GB/s", "Triad, GB/s" };

static double output_declared(const struct tier *p, int figure)
{
	return figure == 0 ? p->declared.read_ns : figure == 1 ? p->declared.read_gbs : 0;
}

int output_differs(const struct tier *p, int figure)
{
	const double measured = p->figures[figure].value, declared = output_declared(p, figure);

	if (!is_positive(measured) || !is_positive(declared))
		return 0;
	return measured > MUCH * declared ||
	       (declared > MUCH * measured && !p->figures[figure].is_bound);
}

/* How many times the latency of its own memory this is: measured, and by the distances; 0: not
 * known. */
static double output_farther(const struct matrix *matrix, const struct tier *p, double *declared)
{
	const struct tier *const own = matrix_pair(matrix, p->cpus, p->cpus);

	if (!own || own == p || !is_positive(own->figures[0].value) || !p->declared.distance ||
	    !p->declared.local)
		return 0;
	*declared = (double)p->declared.distance / p->declared.local;
	return p->figures[0].value / own->figures[0].value;
}

/* One line on the pairs where latency and distance disagree; the one that does most is named. */
static void output_distances(const struct matrix *matrix)
{
	const struct tier *worst = NULL;
	double most = MUCH, of_worst[2] = { 0, 0 };
	int i, count = 0;

	for (i = 0; i < matrix->count; i++) {
		double declared = 0, off;
		const double measured = output_farther(matrix, &matrix->pairs[i], &declared);

		if (!is_positive(measured))
			continue;
		off = measured > declared ? measured / declared : declared / measured;
		if (off <= MUCH)
			continue;
		count++;
		if (off > most) {
			most = off;
			worst = &matrix->pairs[i];
			of_worst[0] = measured;
			of_worst[1] = declared;
		}
	}
	if (worst)
		printf("note: distances (SLIT) differ by more than 20 %% from the latencies of %d "
		       "pair%s; "
		       "CPUs of %d, memory %d: %.2g times local memory, declared %.2g\n",
		       count, plural(count), worst->cpus, worst->memory, of_worst[0], of_worst[1]);
}

static void output_cell(const struct tier *p, int figure)
{
	const struct rate *const f = &p->figures[figure];
	char text[64], *c;
	int wide = 13;

	if (!p->visits)
		snprintf(text, sizeof(text), "-");
	else if (f->is_bound || (figure && f->is_upper) || f->low > 0)
		snprintf(text, sizeof(text), "%s%s", rate_text(f, 1),
			 output_differs(p, figure) ? "!" : "");
	else
		snprintf(text, sizeof(text), "%s %.1f%s",
			 verdict_finding(NOT_PROVEN) != NOT_FOUND ? "~" : sign(AT_MOST), f->value,
			 output_differs(p, figure) ? "!" : "");
	/* in columns, not in bytes: of a sign in UTF-8 the first byte counts */
	for (c = text; *c; c++)
		wide += ((unsigned char)*c & 0xC0) == 0x80;
	printf(" %*s", wide, text);
}

/* Of each memory what firmware declares for its best CPUs; no line where it declares nothing. */
static void output_declared_row(const struct matrix *matrix, int figure)
{
	double of[TIERS_MAX] = { 0 };
	int i, t, any = 0;

	for (t = 0; t < matrix->to_count; t++)
		for (i = 0; i < matrix->count; i++)
			if (matrix->pairs[i].memory == matrix->to[t] &&
			    output_declared(&matrix->pairs[i], figure) > 0) {
				of[t] = output_declared(&matrix->pairs[i], figure);
				any = 1;
			}
	if (!any)
		return;
	printf("%-11s", "declared");
	for (t = 0; t < matrix->to_count; t++)
		if (of[t] > 0)
			printf(" %13.4g", of[t]);
		else
			printf(" %13s", "-");
	printf("\n");
}

void output_print(const struct matrix *matrix)
{
	int figure, f, t;

	for (figure = 0; figure < FIGURES; figure++) {
		printf("%-11s", titles[figure]);
		for (t = 0; t < matrix->to_count; t++)
			printf(" %8s %4d", "memory", matrix->to[t]);
		printf("\n");
		for (f = 0; f < matrix->from_count; f++) {
			printf("CPUs of %-3d", matrix->from[f]);
			for (t = 0; t < matrix->to_count; t++)
				output_cell(matrix_pair(matrix, matrix->from[f], matrix->to[t]),
					    figure);
			printf("\n");
		}
		output_declared_row(matrix, figure);
	}
	output_distances(matrix);
}

void output_metrics(const struct matrix *matrix)
{
	int i, figure;

	for (i = 0; i < matrix->count; i++)
		for (figure = 0; figure < FIGURES; figure++) {
			const struct tier *const p = &matrix->pairs[i];
			const struct rate *const f = &p->figures[figure];
			const char *const name =
				!p->visits ? NULL
					   : metric_name("%s_%d_%d", figure_names[figure], p->cpus,
							 p->memory);

			if (!name)
				continue;
			metric_at(name, figure_names[figure], AT_CPU_DOMAIN, p->cpus);
			metric_at(name, figure_names[figure], AT_MEMORY_DOMAIN, p->memory);
			if (figure) {
				metric_rate(name, f, 1, "GB/s");
				continue;
			}
			metric(name, f->value, "ns", LOWER);
			if (f->low > 0)
				metric_interval(name, f->low, f->high);
			else
				metric_disturbed(name);
			if (verdict_finding(NOT_PROVEN) != NOT_FOUND)
				metric_too_good(name);
		}
}

static void output_write_pair(const struct tier *p)
{
	json_open(NULL, '{');
	json_count("cpus", (unsigned)p->cpus);
	json_count("memory", (unsigned)p->memory);
	json_numbers("ns", p->ns, p->visits);
	json_numbers("ns_lost_share", p->ns_lost, p->visits);
	json_numbers("read_gbs", p->gbs[CELL_READ], p->visits * CELL_PASSES);
	json_numbers("triad_gbs", p->gbs[CELL_TRIAD], p->visits * CELL_PASSES);
	json_positive("declared_ns", p->declared.read_ns);
	json_positive("declared_gbs", p->declared.read_gbs);
	json_positive("distance", p->declared.distance);
	json_count("migrated_pages", p->migrated);
	placement_write("placement_before", &p->last.before);
	placement_write("placement_after", &p->last.after);
	json_close('}');
}

void output_write(const void *data)
{
	const struct matrix *const matrix = data;
	int i;

	json_count("array_bytes", matrix->array_bytes);
	json_count("chain_bytes", matrix->chain_bytes);
	triads_write(&matrix->residency);
	json_open("pairs_of_domains", '[');
	for (i = 0; i < matrix->count; i++)
		if (matrix->pairs[i].visits)
			output_write_pair(&matrix->pairs[i]);
	json_close(']');
}
