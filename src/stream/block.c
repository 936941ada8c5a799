#include "block.h"

#include "error.h"
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A verdict names so many nodes; the list and the records have them all. */
enum { NAMED_MAX = 16 };

static const char *const CAPITALS[KERNELS] = { "COPY", "SCALE", "ADD", "TRIAD" };
enum { TRIAD = KERNELS - 1 };

struct names {
	const char *list[NAMED_MAX];
	const char *last; /* the ranks of a node mostly come one after the other */
	int listed, more;
};

static void add_name(struct names *names, const char *name)
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

static void print_names(FILE *out, const struct names *names)
{
	int i;

	for (i = 0; i < names->listed; i++)
		fprintf(out, "%s%s", i ? ", " : "", names->list[i]);
	if (names->more)
		fprintf(out, " and %d more", names->more);
}

static void print_reasons(unsigned found)
{
	const char *before = "";
	int r;

	for (r = 0; r < REASONS; r++) {
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
		print_reasons(u->found);
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
	int i;

	nodes_sort(units, count, kernel, o->slowest_first);
	printf("%c%s Rate (MB/s):\n", CAPITALS[kernel][0], kernels[kernel].name + 1);
	for (i = 0; i < count; i++)
		print_unit(&units[i], kernel, by_rank);
	putchar('\n');
}

static void print_statistics(const char *name, const struct statistics *s)
{
	char label[32];
	const size_t room = sizeof(label);

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

	printf("Slowest %s: ", what);
	if (by_rank)
		printf("%d on ", s->smallest_rank);
	printf("%s, Triad %.1f MB/s, %.1f %% below the median of %d %ss\n", s->smallest_on,
	       s->smallest, 100 * (1 - s->smallest / s->median), s->count, what);
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
			print_statistics(CAPITALS[k], &s);
	}
	printf("==========END SUMMARY==========\n\n");
	if (s.left_out)
		printf("Left out of the summary, because INVALID or incomplete: %d of %d %ss\n",
		       s.left_out, s.left_out + s.count, what[by_rank]);
	if (s.count > 1)
		print_slowest(&s, by_rank);
	else if (!s.count)
		printf("No rank has a figure: fewer than 2 iterations were complete\n");
}

static const char *detail_of(const struct summary *summaries, int count, int reason)
{
	int i;

	for (i = 0; i < count; i++)
		if (summaries[i].arrived && summaries[i].detail_of == reason &&
		    *summaries[i].detail)
			return summaries[i].detail;
	if (verdict_finding((enum reason)reason) != NOT_FOUND)
		return verdict_detail((enum reason)reason);
	return "the records say more";
}

/* A reason in one line, with the nodes and ranks that it was found on. */
static void print_finding(const char *word, int reason, const struct summary *summaries,
			  const unsigned *set_of, int count, const char *(*name_of)(int))
{
	struct names names = { { 0 }, NULL, 0, 0 };
	int i, ranks = 0, first = -1;

	for (i = 0; i < count; i++) {
		if (!(set_of[i] >> reason & 1))
			continue;
		ranks++;
		if (first < 0)
			first = summaries[i].rank;
		add_name(&names, name_of(summaries[i].rank));
	}
	if (!ranks)
		return;
	printf("%s: %s: ", word, reason_name((enum reason)reason));
	if (ranks == count)
		printf("on all %d ranks", ranks);
	else
		print_names(stdout, &names);
	if (ranks < count && ranks > 1)
		printf(" (%d ranks, first %d)", ranks, first);
	else if (ranks < count)
		printf(" (rank %d)", first);
	printf(": %s\n", detail_of(summaries, count, reason));
}

static void print_findings(const struct summary *summaries, int count, const char *(*name_of)(int))
{
	static const char *const word[] = { "invalid", "allowed", "warning" };
	unsigned *set_of = calloc((size_t)count, sizeof(*set_of));
	int kind, i, r;

	for (kind = 0; kind < 3 && set_of; kind++) {
		for (i = 0; i < count; i++)
			set_of[i] = kind == 0   ? summaries[i].found
				    : kind == 1 ? summaries[i].allowed
						: summaries[i].warned;
		for (r = 0; r < REASONS; r++)
			print_finding(word[kind], r, summaries, set_of, count, name_of);
	}
	free(set_of);
}

static void print_missing(FILE *out, const struct summary *summaries, int count,
			  const char *(*name_of)(int))
{
	const char *before = "";
	int i;

	for (i = 0; i < count; i++) {
		if (summaries[i].arrived)
			continue;
		fprintf(out, "%s%s (rank %d)", before, name_of(summaries[i].rank),
			summaries[i].rank);
		before = ", ";
	}
	putc('\n', out);
}

static void say_missing(const struct summary *summaries, int count, const char *(*name_of)(int))
{
	int i, missing = 0;

	for (i = 0; i < count; i++)
		missing += !summaries[i].arrived;
	if (!missing)
		return;
	printf("missing: %d of %d ranks: ", missing, count);
	print_missing(stdout, summaries, count, name_of);
	fprintf(stderr, "membw: no result of '%d' of %d ranks: ", missing, count);
	print_missing(stderr, summaries, count, name_of);
	fprintf(stderr, "hint: look at those nodes; what the others measured is reported\n");
}

static int fewest_iterations(const struct summary *summaries, int count)
{
	int i, fewest = -1;

	for (i = 0; i < count; i++)
		if (summaries[i].arrived && (fewest < 0 || summaries[i].iterations < fewest))
			fewest = summaries[i].iterations;
	return fewest;
}

int block_verdict(const struct summary *summaries, int count, const struct options *o,
		  const char *(*name_of)(int), const char *gave_up)
{
	struct names names = { { 0 }, NULL, 0, 0 };
	const int fewest = fewest_iterations(summaries, count);
	int i, incomplete = gave_up != NULL || fewest < o->ntimes, bad = 0;
	unsigned found = 0;

	for (i = 0; i < count; i++) {
		incomplete |= !summaries[i].arrived;
		found |= summaries[i].found;
		if (!summaries[i].arrived || summaries[i].found) {
			bad++;
			add_name(&names, name_of(summaries[i].rank));
		}
	}
	if (!incomplete && !found) {
		printf("Verdict: VALID\n");
		return 1;
	}
	if (incomplete)
		printf("invalid: incomplete: %d of %d iterations were measured on all that "
		       "answered: %s\n",
		       fewest, o->ntimes, gave_up ? gave_up : "a rank did not answer");
	printf("Verdict: INVALID (");
	print_reasons(found);
	printf("%s%s)", found && incomplete ? ", " : "", incomplete ? "incomplete" : "");
	if (bad == count)
		printf(" on all %d ranks", count);
	else if (bad)
		printf(" on ");
	if (bad && bad < count)
		print_names(stdout, &names);
	putchar('\n');
	return 0;
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
		if ((o->list ? o->list : 1u << TRIAD) >> k & 1)
			print_list(units, n, k, o, by_rank);
	print_summary(units, n, scratch, by_rank);
	say_missing(summaries, count, name_of);
	print_findings(summaries, count, name_of);
	free(units);
	free(scratch);
}
