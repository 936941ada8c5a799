#include "job_summary.h"

#include "../../harness/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line names so many nodes; the list and the records have them all. */
enum { NAMED_MAX = 16 };

struct names {
	const char *list[NAMED_MAX];
	const char *last; /* the ranks of a node mostly come one after the other */
	int listed, more;
};

static void names_add(struct names *names, const char *name)
{
	const char *last = names->last;
	int i;

	names->last = name;
	if (last && strcmp(last, name) == 0)
		return;
	for (i = 0; i < names->listed; i++)
		if (strcmp(names->list[i], name) == 0)
			return;
	if (names->listed < NAMED_MAX)
		names->list[names->listed++] = name;
	else
		names->more++;
}

static void names_print(const struct names *names)
{
	int i;

	for (i = 0; i < names->listed; i++)
		printf("%s%s", i ? ", " : "", names->list[i]);
	if (names->more)
		printf(" and %d more", names->more);
}

static void print_reasons(unsigned set)
{
	const char *before = "";
	int r;

	for (r = 0; r < verdict_reasons(); r++) {
		if (!(set >> r & 1))
			continue;
		printf("%s%s", before, reason_name(r));
		before = ", ";
	}
}

/* MPI_STREAM's line is the name and the rate; the rest comes only where there is something to
 * say. */
static void print_unit(const struct unit *u, int kernel, int by_rank)
{
	printf("%s\t\t%f", u->name, u->mbs[kernel]);
	if (by_rank)
		printf("\trank %d", u->rank);
	else if (u->ranks > 1)
		printf("\t%d ranks", u->ranks);
	if (u->invalid) {
		printf("\tINVALID: ");
		print_reasons(u->invalid);
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
	       kernel_title(&kernels[KERNEL_triad], title), mbs, 100 * (1 - mbs / s->median),
	       s->count, what);
}

static void print_summary(const struct unit *units, int count, double *scratch, int by_rank)
{
	struct statistics s;
	int k;

	printf("============SUMMARY============\n\n");
	for (k = 0; k < KERNELS; k++) {
		nodes_statistics(&s, units, count, k, scratch);
		if (s.count)
			print_statistics(kernels[k].name, k, &s);
	}
	printf("==========END SUMMARY==========\n\n");
	nodes_statistics(&s, units, count, KERNEL_triad, scratch);
	if (s.left_out)
		printf("Left out of the summary, because INVALID or incomplete: %d of %d %ss\n",
		       s.left_out, s.left_out + s.count, by_rank ? "rank" : "node");
	if (s.count > 1)
		print_slowest(&s, by_rank);
	else if (!s.count)
		printf("No rank has a figure: fewer than 2 iterations were complete\n");
}

static void print_missing(const struct summary *summaries, int count, const char *(*name_of)(int))
{
	const char *before = "";
	int i, missing = 0;

	for (i = 0; i < count; i++)
		missing += !summaries[i].arrived;
	if (!missing)
		return;
	printf("missing: %d of %d ranks: ", missing, count);
	for (i = 0; i < count; i++) {
		if (summaries[i].arrived)
			continue;
		printf("%s%s (rank %d)", before, name_of(i), i);
		before = ", ";
	}
	putchar('\n');
	fflush(stdout);
	fprintf(stderr,
		"membw: no result of '%d' of %d ranks\n"
		"hint: look at the nodes named as missing; what the others measured is reported\n",
		missing, count);
}

static const char *detail_of(const struct summary *summaries, int count, int reason)
{
	int i;

	for (i = 0; i < count; i++)
		if (summaries[i].arrived && summaries[i].detail_of == reason &&
		    *summaries[i].detail)
			return summaries[i].detail;
	if (verdict_finding(reason) != NOT_FOUND)
		return verdict_detail(reason);
	return "the records say more";
}

/* A reason in one line, with the nodes and ranks that it was found on. */
static void print_finding(enum finding kind, int reason, const struct summary *summaries,
			  int count, const char *(*name_of)(int))
{
	static const char *const word[] = { "", "warning", "invalid", "allowed" };
	struct names names = { { 0 }, NULL, 0, 0 };
	int i, ranks = 0, first = -1;

	for (i = 0; i < count; i++) {
		if (!(summaries[i].reasons[kind] >> reason & 1))
			continue;
		first = ranks++ ? first : i;
		names_add(&names, name_of(i));
	}
	if (!ranks)
		return;
	printf("%s: %s: ", word[kind], reason_name(reason));
	if (ranks == count)
		printf("on all %d ranks", ranks);
	else
		names_print(&names);
	if (ranks < count && ranks > 1)
		printf(" (%d ranks, first %d)", ranks, first);
	else if (ranks < count)
		printf(" (rank %d)", first);
	printf(": %s\n", detail_of(summaries, count, reason));
}

static void print_findings(const struct summary *summaries, int count, const char *(*name_of)(int))
{
	static const enum finding kinds[] = { FOUND, ALLOWED, WARNED };
	int kind, r;

	for (kind = 0; kind < 3; kind++)
		for (r = 0; r < verdict_reasons(); r++)
			print_finding(kinds[kind], r, summaries, count, name_of);
}

void summary_print(const struct summary *summaries, int count, const struct options *o,
		   const char *(*name_of)(int rank))
{
	struct unit *units = calloc((size_t)count, sizeof(*units));
	double *scratch = calloc((size_t)count, sizeof(*scratch));
	int by_rank = o->by == BY_RANK, k, n;

	if (!units || !scratch)
		die("no memory to list '%d' ranks", "free some", count);
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
	print_missing(summaries, count, name_of);
	print_findings(summaries, count, name_of);
	free(units);
	free(scratch);
}

int summary_verdict(const struct summary *summaries, int count, const struct options *o,
		    const char *(*name_of)(int), const char *gave_up)
{
	struct names names = { { 0 }, NULL, 0, 0 };
	int i, fewest = o->ntimes, missing = 0, bad = 0, incomplete;
	unsigned invalid = 0;

	for (i = 0; i < count; i++) {
		const struct summary *s = &summaries[i];

		missing += !s->arrived;
		if (s->arrived && s->iterations < fewest)
			fewest = s->iterations;
		invalid |= s->reasons[FOUND];
		if (s->arrived && !s->reasons[FOUND])
			continue;
		bad++;
		names_add(&names, name_of(i));
	}
	incomplete = gave_up || missing || fewest < o->ntimes;
	if (!incomplete && !invalid) {
		printf("Verdict: VALID\n");
		return 1;
	}
	if (incomplete)
		printf("invalid: incomplete: %d of %d iterations were measured on all that "
		       "answered: %s\n",
		       fewest, o->ntimes, gave_up ? gave_up : "a rank did not answer");
	printf("Verdict: INVALID (");
	print_reasons(invalid);
	printf("%s%s)", invalid && incomplete ? ", " : "", incomplete ? "incomplete" : "");
	if (bad == count)
		printf(" on all %d ranks", count);
	else if (bad)
		printf(" on ");
	if (bad && bad < count)
		names_print(&names);
	putchar('\n');
	return 0;
}
