#include "job_summary.h"

#include "../../harness/error.h"
#include "../../harness/order_statistics.h"

#include <ctype.h>

/* One line of the list: a node, or one rank. */
struct unit {
	const char *name;
	int rank; /* the first */
	int ranks, threads;
	unsigned invalid; /* a bit per reason */
	double mbs[KERNELS];
};

struct statistics {
	int count, left_out; /* units counted; INVALID ones */
	double average, per_thread, deviation, median, mad;
	const struct unit *largest, *smallest;
};

static int by_name(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;
	const int order = strcmp(a->name, b->name);

	return order ? order : a->rank - b->rank;
}

static void begin(struct unit *unit, const struct summary *s)
{
	memset(unit, 0, sizeof(*unit));
	unit->name = s->node;
	unit->rank = s->rank;
	unit->ranks = 1;
	unit->threads = s->threads;
	unit->invalid = s->reasons[FOUND];
	memcpy(unit->mbs, s->mbs, sizeof(unit->mbs));
}

/* Each rank for itself, or the ranks of each node together; returns how many units. */
static int nodes_apart(struct unit *units, const struct summary *summaries, int count)
{
	int i;

	for (i = 0; i < count; i++)
		begin(&units[i], &summaries[i]);
	return count;
}

static int nodes_join(struct unit *units, const struct summary *summaries, int count)
{
	int i, nodes = 0;

	nodes_apart(units, summaries, count);
	qsort(units, (size_t)count, sizeof(*units), by_name);
	for (i = 0; i < count; i++) {
		struct unit *const node = &units[nodes - 1];

		if (nodes == 0 || strcmp(node->name, units[i].name) != 0) {
			units[nodes] = units[i];
			memcpy(units[nodes].mbs, summaries[units[i].rank].node_mbs,
			       sizeof(units[nodes].mbs));
			nodes++;
			continue;
		}
		node->ranks++;
		node->threads += units[i].threads;
		node->invalid |= units[i].invalid;
	}
	return nodes;
}

/* By Triad, the slowest last. */
static int by_rate(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;
	const double p = a->mbs[KERNEL_triad], q = b->mbs[KERNEL_triad];

	return p > q ? -1 : p < q ? 1 : by_name(x, y);
}

/* Over the VALID units, else over all; SCRATCH has room for COUNT. */
static void nodes_statistics(struct statistics *s, const struct unit *units, int count, int kernel,
			     double *scratch)
{
	int i, valid = 0, threads = 0;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < count; i++)
		valid += !units[i].invalid;
	for (i = 0; i < count; i++) {
		const double mbs = units[i].mbs[kernel];

		if (valid && units[i].invalid) {
			s->left_out++;
			continue;
		}
		if (!s->largest || mbs > s->largest->mbs[kernel])
			s->largest = &units[i];
		if (!s->smallest || mbs < s->smallest->mbs[kernel])
			s->smallest = &units[i];
		scratch[s->count++] = mbs;
		s->average += mbs;
		threads += units[i].threads;
	}
	s->per_thread = threads ? s->average / threads : 0;
	s->average /= s->count;
	s->deviation = deviation(scratch, s->count);
	s->median = median(scratch, s->count);
	for (i = 0; i < s->count; i++)
		scratch[i] =
			scratch[i] > s->median ? scratch[i] - s->median : s->median - scratch[i];
	s->mad = median(scratch, s->count);
}

/* MPI_STREAM's line is the name and the rate; the rest comes only where there is something to
 * say. */
static void print_unit(const struct unit *u, int by_rank)
{
	printf("%s\t\t%f", u->name, u->mbs[KERNEL_triad]);
	if (by_rank)
		printf("\trank %d", u->rank);
	else if (u->ranks > 1)
		printf("\t%d ranks", u->ranks);
	if (u->invalid) {
		printf("\t%s: ", verdict_word(u->invalid));
		reasons_print(stdout, u->invalid);
	}
	putchar('\n');
}

static void print_list(struct unit *units, int count, int by_rank)
{
	char title[KERNEL_TITLE_MAX];
	int i;

	qsort(units, (size_t)count, sizeof(*units), by_rate);
	printf("%s Rate (MB/s):\n", kernels_title(&kernels[KERNEL_triad], title));
	for (i = 0; i < count; i++)
		print_unit(&units[i], by_rank);
	putchar('\n');
}

static void print_figure(const char *kernel, const char *figure, double mbs, const char *node)
{
	char label[32];
	int i;

	snprintf(label, sizeof(label), "%s_%s", kernel, figure);
	for (i = 0; kernel[i] && label[i]; i++)
		label[i] = (char)toupper(label[i]);
	printf("%-18s = %f\t\t MB/s%s%s\n", label, mbs, node ? " on " : "", node ? node : "");
}

static void print_statistics(const char *kernel, int k, const struct statistics *s)
{
	print_figure(kernel, "MAX", s->largest->mbs[k], s->largest->name);
	print_figure(kernel, "MIN", s->smallest->mbs[k], s->smallest->name);
	print_figure(kernel, "AVG", s->average, NULL);
	print_figure(kernel, "AVG_per_proc", s->per_thread, NULL);
	print_figure(kernel, "STDD", s->deviation, NULL);
	print_figure(kernel, "MEDIAN", s->median, NULL);
	print_figure(kernel, "MAD", s->mad, NULL);
	putchar('\n');
}

static void print_slowest(const struct statistics *s, int by_rank)
{
	const char *what = by_rank ? "rank" : "node";
	char title[KERNEL_TITLE_MAX];
	const double mbs = s->smallest->mbs[KERNEL_triad];

	printf("Slowest %s: ", what);
	if (by_rank)
		printf("%d on ", s->smallest->rank);
	printf("%s, %s %.1f MB/s, %.1f %% below the median of %d %ss\n", s->smallest->name,
	       kernels_title(&kernels[KERNEL_triad], title), mbs, 100 * (1 - mbs / s->median),
	       s->count, what);
}

static void print_summary(const struct unit *units, int count, double *scratch, int by_rank)
{
	struct statistics s;
	int k;

	printf("============SUMMARY============\n\n");
	for (k = 0; k < KERNELS; k++) {
		nodes_statistics(&s, units, count, k, scratch);
		print_statistics(kernels[k].name, k, &s);
	}
	printf("==========END SUMMARY==========\n\n");
	nodes_statistics(&s, units, count, KERNEL_triad, scratch);
	if (s.left_out)
		printf("Left out of the summary, because INVALID: %d of %d %ss\n", s.left_out,
		       s.left_out + s.count, by_rank ? "rank" : "node");
	if (s.count > 1)
		print_slowest(&s, by_rank);
}

static const char *detail_of(const struct summary *summaries, int count, int reason)
{
	int i;

	for (i = 0; i < count; i++)
		if (summaries[i].detail_of == reason)
			return summaries[i].detail;
	return verdict_finding(reason) != NOT_FOUND ? verdict_detail(reason)
						    : "the records say more";
}

/* A reason in one line; which units it is of the list says. */
static void print_finding(enum finding kind, int reason, const struct summary *summaries,
			  int count)
{
	int i, ranks = 0, first = 0;

	for (i = count - 1; i >= 0; i--) {
		if (!(summaries[i].reasons[kind] >> reason & 1))
			continue;
		first = i;
		ranks++;
	}
	if (!ranks)
		return;
	printf("%s: %s: ", finding_word(kind, reason), reason_name(reason));
	if (ranks > 1)
		printf("%d of %d ranks, first ", ranks, count);
	printf("%s (rank %d): %s\n", summaries[first].node, first,
	       detail_of(summaries, count, reason));
}

static void print_findings(const struct summary *summaries, int count)
{
	static const enum finding kinds[] = { FOUND, ALLOWED, WARNED };
	int kind, r;

	for (kind = 0; kind < 3; kind++)
		for (r = 0; r < verdict_reasons(); r++)
			print_finding(kinds[kind], r, summaries, count);
}

void summary_print(const struct summary *summaries, int count)
{
	static const char hint[] = "start fewer";
	struct unit *units = room_for((size_t)count, sizeof(*units), "ranks", hint);
	double *scratch = room_for((size_t)count, sizeof(*scratch), "ranks", hint);
	int n, by_rank;

	n = nodes_join(units, summaries, count);
	by_rank = n == 1;
	if (by_rank)
		n = nodes_apart(units, summaries, count);
	printf("%d ranks; by bandwidth, slowest last\n", count);
	print_list(units, n, by_rank);
	print_summary(units, n, scratch, by_rank);
	print_findings(summaries, count);
	free(units);
	free(scratch);
}

unsigned summary_found(const struct summary *summaries, int count)
{
	unsigned found = 0;
	int i;

	for (i = 0; i < count; i++)
		found |= summaries[i].reasons[FOUND];
	return found;
}

int summary_verdict(const struct summary *summaries, int count)
{
	const unsigned invalid = summary_found(summaries, count);
	int i, bad = 0, first = 0;

	for (i = count - 1; i >= 0; i--) {
		if (!summaries[i].reasons[FOUND])
			continue;
		first = i;
		bad++;
	}
	if (!bad) {
		printf("Verdict: VALID\n");
		return 1;
	}
	printf("Verdict: %s (", verdict_word(invalid));
	reasons_print(stdout, invalid);
	printf(") on %d of %d ranks, first %s\n", bad, count, summaries[first].node);
	return 0;
}
