#include "job_summary.h"

#include "../../harness/error.h"
#include "../../harness/verdict.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void block_reasons(unsigned found)
{
	const char *before = "";
	int r;

	for (r = 0; r < verdict_reasons(); r++) {
		if (!(found >> r & 1))
			continue;
		printf("%s%s", before, reason_name((enum reason)r));
		before = ", ";
	}
}

/* MPI_STREAM's line is the name and the rate; the rest comes only where there
 * is something to say. */
static void print_unit(const struct unit *u, int kernel, int by_rank)
{
	printf("%s\t\t%f", u->name, u->mbs[kernel]);
	if (by_rank)
		printf("\trank %d", u->rank);
	else if (u->ranks > 1)
		printf("\t%d ranks", u->ranks);
	if (u->found) {
		printf("\tINVALID: ");
		block_reasons(u->found);
	}
	if (u->missing && u->ranks > 1)
		printf("\tMISSING: %d of %d ranks", u->missing, u->ranks);
	else if (u->missing)
		printf("\tMISSING");
	putchar('\n');
}

static void print_list(struct unit *units, int count, int kernel, const struct options *o,
		       int by_rank)
{
	char title[KERNEL_TITLE_MAX];
	int i;

	nodes_sort(units, count, kernel, o->slowest_first);
	printf("%s Rate (MB/s):\n", kernel_title(&kernels[kernel], title));
	for (i = 0; i < count; i++)
		print_unit(&units[i], kernel, by_rank);
	putchar('\n');
}

static void print_statistics(int kernel, const struct statistics *s)
{
	char name[KERNEL_TITLE_MAX], *letter;
	char label[32];
	const size_t room = sizeof(label);

	kernel_title(&kernels[kernel], name);
	for (letter = name; *letter; letter++)
		*letter = (char)toupper((unsigned char)*letter);
	snprintf(label, room, "%s_MAX", name);
	printf("%-18s = %f\t\t MB/s on %s\n", label, s->largest, s->largest_on);
	snprintf(label, room, "%s_MIN", name);
	printf("%-18s = %f\t\t MB/s on %s\n", label, s->smallest, s->smallest_on);
	snprintf(label, room, "%s_AVG", name);
	printf("%-18s = %f\t\t MB/s\n", label, s->average);
	snprintf(label, room, "%s_AVG_per_proc", name);
	printf("%-18s = %f\t\t MB/s\n", label, s->per_thread);
	snprintf(label, room, "%s_STDD", name);
	printf("%-18s = %f\t\t MB/s\n", label, s->deviation);
	snprintf(label, room, "%s_MEDIAN", name);
	printf("%-18s = %f\t\t MB/s\n", label, s->median);
	snprintf(label, room, "%s_MAD", name);
	printf("%-18s = %f\t\t MB/s\n", label, s->mad);
	putchar('\n');
}

static void print_slowest(const struct statistics *s, int by_rank)
{
	const char *what = by_rank ? "rank" : "node";
	char title[KERNEL_TITLE_MAX];

	printf("Slowest %s: ", what);
	if (by_rank)
		printf("%d on ", s->smallest_rank);
	printf("%s, %s %.1f MB/s, %.1f %% below the median of %d %ss\n", s->smallest_on,
	       kernel_title(&kernels[KERNEL_triad], title), s->smallest,
	       100 * (1 - s->smallest / s->median), s->count, what);
}

static void print_summary(const struct unit *units, int count, double *scratch, int by_rank)
{
	static const char *const what[] = { "node", "rank" };
	struct statistics s;
	int k;

	printf("============SUMMARY============\n\n");
	for (k = 0; k < KERNELS; k++) {
		nodes_statistics(&s, units, count, k, scratch);
		if (s.count)
			print_statistics(k, &s);
	}
	nodes_statistics(&s, units, count, KERNEL_triad, scratch);
	printf("==========END SUMMARY==========\n\n");
	if (s.left_out)
		printf("Left out of the summary, because INVALID or incomplete: %d of %d %ss\n",
		       s.left_out, s.left_out + s.count, what[by_rank]);
	if (s.count > 1)
		print_slowest(&s, by_rank);
	else if (!s.count)
		printf("No rank has a figure: fewer than 2 iterations were complete\n");
}

void block_print(const struct summary *summaries, int count, const struct options *o,
		 const char *(*name_of)(int rank))
{
	struct unit *units = calloc((size_t)count, sizeof(*units));
	double *scratch = calloc((size_t)count, sizeof(*scratch));
	int by_rank = o->by == BY_RANK, k, n;

	if (!units || !scratch) {
		fprintf(stderr, "membw: no memory to list '%d' ranks\nhint: free some\n", count);
		return;
	}
	n = nodes_join(units, summaries, count, by_rank, name_of);
	if (o->by == BY_AUTO && n == 1) {
		by_rank = 1;
		n = nodes_join(units, summaries, count, by_rank, name_of);
	}
	printf("%d ranks; by bandwidth, slowest %s\n", count, o->slowest_first ? "first" : "last");
	for (k = 0; k < KERNELS; k++)
		if ((o->list ? o->list : 1u << KERNEL_triad) >> k & 1)
			print_list(units, n, k, o, by_rank);
	print_summary(units, n, scratch, by_rank);
	block_findings(summaries, count, name_of);
	free(units);
	free(scratch);
}
