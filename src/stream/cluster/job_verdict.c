#include "job_summary.h"

#include "../../harness/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A verdict names so many nodes; the list and the records have them all. */
enum { NAMED_MAX = 16 };

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
		for (r = 0; r < verdict_reasons(); r++)
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

void block_findings(const struct summary *summaries, int count, const char *(*name_of)(int))
{
	say_missing(summaries, count, name_of);
	print_findings(summaries, count, name_of);
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
	block_reasons(found);
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
