#include "search.h"

#include "../../harness/clock.h"
#include "../../harness/job/ranks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A brief run takes about so long: many times a parallel region's own cost. */
static const double BRIEF_SECONDS = 4e-3;
/* Of a kernel's time, when steps 1 and 2 of tune.h must end. */
static const double UNTIL_MEMBERS = 0.45, UNTIL_STORES = 0.6;

enum { PARTS_MOST = 64, KEPT_MOST = 4, ANCHOR_EVERY = 2, LLC_TIMES = 2 };

struct search {
	struct tuning *tuning;
	const struct arrays *arrays;
	struct candidates *tried;
	struct variant anchor;
	int kernel, full, ran; /* ran: candidates of this kernel, so far */
	size_t next;           /* slice */
	double begun, told;    /* clock */
	int alive[CANDIDATES_MOST], count;
	unsigned long long random;
};

static int random_below(struct search *s, int n)
{
	s->random = s->random * 6364136223846793005ULL + 1442695040888963407ULL; /* Knuth's */
	return (int)((s->random >> 33) % (unsigned)n);
}

static double time_slice(struct search *s, const struct variant *variant)
{
	const size_t parts = s->full ? s->tuning->full_parts : s->tuning->brief_parts;
	double start;

	if (s->full)
		variants_run_slice(variant, s->kernel, s->arrays, s->next++ % parts, parts);
	start = clock_now();
	variants_run_slice(variant, s->kernel, s->arrays, s->next++ % parts, parts);
	start = clock_now() - start;
	return start > 1e-9 ? start : 1e-9;
}

/* In place on a terminal; elsewhere tune_kernel's one line a kernel is enough. */
static void show_progress(struct search *s)
{
	const double now = clock_now();

	if (now - s->told < 0.2 || ranks_me() > 0 || !isatty(STDERR_FILENO))
		return;
	s->told = now;
	fprintf(stderr, "\rmembw: tuning %s, %d variants left, %.1f of %.0f s ",
		kernels[s->kernel].name, s->count, now - s->begun, s->tuning->budget_s);
	fflush(stderr);
}

static struct ratios *ratios_of(const struct search *s, int index)
{
	struct candidate *candidate = &s->tried->of[index];

	return s->full ? &candidate->full : &candidate->brief;
}

static void shuffle(struct search *s)
{
	int i;

	for (i = s->count - 1; i > 0; i--) {
		const int other = random_below(s, i + 1), index = s->alive[i];

		s->alive[i] = s->alive[other];
		s->alive[other] = index;
	}
}

/* The anchor's time around a candidate: the least of the eight nearest.  Others who
 * take a CPU only ever make a run longer, so one that was left alone is enough. */
static double anchor_near(const double *anchors, int count, int at)
{
	double least = anchors[at];
	int i;

	for (i = at - 3; i <= at + 4; i++)
		if (i >= 0 && i < count && anchors[i] < least)
			least = anchors[i];
	return least;
}

/* One run of each that is alive, the anchor before and after each pair; 0: out of time,
 * but one at least of a kernel is run. */
static int play_round(struct search *s, double deadline)
{
	static double anchors[CANDIDATES_MOST + 2], times[CANDIDATES_MOST];
	int i, done, count = 0;

	shuffle(s);
	for (done = 0; done < s->count && (!s->ran || clock_now() < deadline); done++) {
		if (done % ANCHOR_EVERY == 0)
			anchors[count++] = time_slice(s, &s->anchor);
		times[done] = time_slice(s, &s->tried->of[s->alive[done]].variant);
		s->ran++;
		show_progress(s);
	}
	if (done)
		anchors[count++] = time_slice(s, &s->anchor);
	for (i = 0; i < done; i++)
		ratios_add(ratios_of(s, s->alive[i]),
			   anchor_near(anchors, count, i / ANCHOR_EVERY) / times[i]);
	return done == s->count;
}

/* Best first; those never run last. */
static void sort(struct search *s)
{
	int i, j;

	for (i = 1; i < s->count; i++) {
		const int index = s->alive[i];
		const double median = ratios_of(s, index)->median;

		for (j = i; j > 0 && ratios_of(s, s->alive[j - 1])->median < median; j--)
			s->alive[j] = s->alive[j - 1];
		s->alive[j] = index;
	}
}

/* Rounds until the deadline; in levels of equal time, after each of which the
 * better half goes on, until `keep` are left. */
static void halve(struct search *s, int keep, double deadline)
{
	int levels = 1, n, more;

	for (n = s->count; n > keep; n = n / 2 > keep ? n / 2 : keep)
		levels++;
	for (; levels > 0; levels--) {
		const double now = clock_now();
		const double until = now + (deadline - now) / levels;

		do {
			more = play_round(s, deadline);
		} while (more && clock_now() < until &&
			 ratios_of(s, s->alive[0])->rounds < ROUNDS_MOST);
		sort(s);
		if (s->count > keep)
			s->count = more && s->count / 2 > keep ? s->count / 2 : keep;
		if (!more)
			break;
	}
}

static void members_alive(struct search *s, enum store store)
{
	int i;

	candidates_add_members(s->tried, store);
	for (i = s->count = 0; i < s->tried->count; i++)
		if (s->tried->of[i].variant.member->store == store)
			s->alive[s->count++] = i;
}

/* Which one it is does not matter, as long as it stays: no prefetch, unrolled four times. */
static void choose_anchor(struct search *s)
{
	int i;

	s->anchor = s->tried->of[s->alive[0]].variant;
	for (i = 0; i < s->count; i++) {
		const struct variant *at = &s->tried->of[s->alive[i]].variant;

		if (at->member->unroll == 4 && at->member->streams == 1 && !at->ahead)
			s->anchor = *at;
	}
}

/* Step 1 for one store: the best of it in `best`, their number is the answer. */
static int best_members(struct search *s, enum store store, int best[KEPT_MOST], double deadline)
{
	members_alive(s, store);
	if (!s->count)
		return 0;
	choose_anchor(s);
	s->tuning->kernel[s->kernel].anchor[store] = s->anchor;
	halve(s, KEPT_MOST, deadline);
	memcpy(best, s->alive, (size_t)s->count * sizeof(*best));
	return s->count;
}

/* Step 2: by full runs, is the best with ordinary stores faster than the best without? */
static int ordinary_wins(struct search *s, int nt, int ordinary, double deadline)
{
	const struct ratios *full = &s->tried->of[ordinary].full;

	s->full = 1;
	s->anchor = s->tried->of[nt].variant;
	s->alive[0] = ordinary;
	s->count = 1;
	while (full->rounds < ROUNDS_MOST && play_round(s, deadline))
		;
	s->full = 0;
	return full->median > 1;
}

/* Step 3: what differs from the best in distance or split alone, halved to one. */
static int best_neighbour(struct search *s, const int best[KEPT_MOST], int kept, double deadline)
{
	const int from = s->tried->count;
	int i;

	for (i = 0; i < kept; i++)
		candidates_add_neighbours(s->tried, s->tried->of[best[i]].variant);
	s->count = kept;
	memcpy(s->alive, best, (size_t)kept * sizeof(*best));
	for (i = from; i < s->tried->count; i++)
		s->alive[s->count++] = i;
	s->anchor =
		s->tuning->kernel[s->kernel].anchor[s->tried->of[best[0]].variant.member->store];
	halve(s, 1, deadline);
	return s->alive[0];
}

static int tune_kernel(struct search *s, double begun, double span)
{
	int best[STORES][KEPT_MOST], kept[STORES], store = STORE_nt;

	kept[STORE_nt] =
		best_members(s, STORE_nt, best[STORE_nt], begun + UNTIL_MEMBERS / 2 * span);
	kept[STORE_ordinary] = best_members(s, STORE_ordinary, best[STORE_ordinary],
					    begun + UNTIL_MEMBERS * span);
	if (!kept[STORE_nt] || ordinary_wins(s, best[STORE_nt][0], best[STORE_ordinary][0],
					     begun + UNTIL_STORES * span))
		store = STORE_ordinary;
	return best_neighbour(s, best[store], kept[store], begun + span);
}

static size_t clamp(double value, size_t most)
{
	return value<1 ? 1 : value>(double) most ? most : (size_t)value;
}

/* How long a run is: by its time, and by what the caches hold. */
static void choose_parts(struct search *s, size_t llc_bytes)
{
	struct tuning *t = s->tuning;
	struct variant first = { NULL, 0, SPLIT_whole, 0 };
	const double moved = (double)s->arrays->size * sizeof(element) * 2;

	t->brief_parts = t->full_parts = 1;
	first.member = variants_member(0);
	while (!variants_runs_here(first.member))
		first.member++;
	first.ahead = first.member->prefetch == PREFETCHED_none ? 0 : 1024;
	time_slice(s, &first);
	t->brief_parts = clamp(time_slice(s, &first) / BRIEF_SECONDS, PARTS_MOST);
	t->full_parts = clamp(moved / (LLC_TIMES * (double)llc_bytes + 1), PARTS_MOST);
}

static void say_winner(const struct search *s, const struct candidate *winner, double seconds)
{
	char name[VARIANT_NAME_MAX], anchor[VARIANT_NAME_MAX];

	if (ranks_me() > 0)
		return;
	fprintf(stderr, "%smembw: tuned %s in %.1f s: %s, %.3f x %s in %d rounds, %d runs\n",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", kernels[s->kernel].name, seconds,
		variants_name(&winner->variant, name), winner->brief.median,
		variants_name(&s->anchor, anchor), winner->brief.rounds, s->ran);
}

void tune(struct tuning *t, struct choice *choice, const struct arrays *arrays, size_t llc_bytes,
	  double budget_s)
{
	static struct search s;
	double start;

	s.tuning = t;
	s.arrays = arrays;
	s.begun = clock_now();
	t->budget_s = budget_s;
	choose_parts(&s, llc_bytes);
	for (s.kernel = 0; s.kernel < KERNELS; s.kernel++) {
		const double left = s.begun + budget_s - clock_now();
		int winner;

		start = clock_now();
		s.tried = &t->kernel[s.kernel].tried;
		s.ran = 0;
		winner = tune_kernel(&s, start, left / (KERNELS - s.kernel));
		choice->of[s.kernel] = s.tried->of[winner].variant;
		t->kernel[s.kernel].winner = winner;
		say_winner(&s, &s.tried->of[winner], clock_now() - start);
	}
	choice->tuned = 1;
	choice->from = "search";
	t->seconds = clock_now() - s.begun;
}
