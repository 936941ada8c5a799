#include "search.h"

#include "../../harness/clock.h"
#include "../../harness/job/ranks.h"
#include "../../harness/plural.h"

#include <unistd.h>

/* A probe takes about so long: many times a parallel region's own cost. */
static const double PROBE_SECONDS = 4e-3;
/* Of a kernel's time, when steps 1 and 2 of search.h must end. */
static const double UNTIL_STORE_BEST = 0.45, UNTIL_STORES = 0.6;

enum { PARTS_MOST = 64, KEPT_MOST = 4, ANCHOR_EVERY = 2, LLC_TIMES = 2 };

struct search {
	const struct arrays *arrays;
	struct candidates tried;                /* of this kernel */
	struct variant anchor, anchors[STORES]; /* now; of the probes of each kind of store */
	int kernel, confirm, ran;               /* ran: candidates of this kernel, so far */
	size_t next;                            /* slice */
	size_t probe_parts, confirm_parts;      /* slices of a share */
	double budget_s, begun, last_shown;     /* seconds; clock */
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
	const size_t parts = s->confirm ? s->confirm_parts : s->probe_parts;
	double start;

	if (s->confirm)
		variants_run_slice(variant, s->kernel, s->arrays, s->next++ % parts, parts);
	start = clock_now();
	variants_run_slice(variant, s->kernel, s->arrays, s->next++ % parts, parts);
	start = clock_now() - start;
	return start > 1e-9 ? start : 1e-9;
}

/* In place on a terminal; elsewhere the line of each kernel's winner is enough. */
static void show_progress(struct search *s)
{
	const double now = clock_now();

	if (now - s->last_shown < 0.2 || ranks_me() > 0 || !isatty(STDERR_FILENO))
		return;
	s->last_shown = now;
	fprintf(stderr, "\rmembw: tuning %s, %d variants left, %.1f of %.0f s ",
		kernels[s->kernel].name, s->count, now - s->begun, s->budget_s);
	fflush(stderr);
}

static struct ratios *ratios_of(struct search *s, int index)
{
	struct candidate *candidate = &s->tried.of[index];

	return s->confirm ? &candidate->confirm : &candidate->probe;
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
		times[done] = time_slice(s, &s->tried.of[s->alive[done]].variant);
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

static void take_store(struct search *s, enum store store)
{
	int i;

	candidates_add_store(&s->tried, store);
	for (i = s->count = 0; i < s->tried.count; i++)
		if (s->tried.of[i].variant.compiled->store == store)
			s->alive[s->count++] = i;
}

/* Which one it is does not matter, as long as it stays: no prefetch, unrolled four times. */
static void choose_anchor(struct search *s)
{
	int i;

	s->anchor = s->tried.of[s->alive[0]].variant;
	for (i = 0; i < s->count; i++) {
		const struct variant *at = &s->tried.of[s->alive[i]].variant;

		if (at->compiled->unroll == 4 && at->compiled->streams == 1 && !at->ahead)
			s->anchor = *at;
	}
}

/* Step 1 for one store: the best of it in `best`, their number is the answer. */
static int best_of_store(struct search *s, enum store store, int best[KEPT_MOST], double deadline)
{
	take_store(s, store);
	if (!s->count)
		return 0;
	choose_anchor(s);
	s->anchors[store] = s->anchor;
	halve(s, KEPT_MOST, deadline);
	memcpy(best, s->alive, (size_t)s->count * sizeof(*best));
	return s->count;
}

/* Step 2: by confirming runs, is the best with ordinary stores faster than the best without? */
static int ordinary_wins(struct search *s, int nt, int ordinary, double deadline)
{
	const struct ratios *confirmed = &s->tried.of[ordinary].confirm;

	s->confirm = 1;
	s->anchor = s->tried.of[nt].variant;
	s->alive[0] = ordinary;
	s->count = 1;
	while (confirmed->rounds < ROUNDS_MOST && play_round(s, deadline))
		;
	s->confirm = 0;
	return confirmed->median > 1;
}

/* Step 3: what differs from the best in distance alone, halved to one. */
static int best_distance(struct search *s, const int best[KEPT_MOST], int kept, double deadline)
{
	const int from = s->tried.count;
	int i;

	for (i = 0; i < kept; i++)
		candidates_add_distances(&s->tried, s->tried.of[best[i]].variant);
	s->count = kept;
	memcpy(s->alive, best, (size_t)kept * sizeof(*best));
	for (i = from; i < s->tried.count; i++)
		s->alive[s->count++] = i;
	s->anchor = s->anchors[s->tried.of[best[0]].variant.compiled->store];
	halve(s, 1, deadline);
	return s->alive[0];
}

static int tune_kernel(struct search *s, double begun, double span)
{
	int best[STORES][KEPT_MOST], kept[STORES], store = STORE_nt;

	kept[STORE_nt] =
		best_of_store(s, STORE_nt, best[STORE_nt], begun + UNTIL_STORE_BEST / 2 * span);
	kept[STORE_ordinary] = best_of_store(s, STORE_ordinary, best[STORE_ordinary],
					     begun + UNTIL_STORE_BEST * span);
	if (!kept[STORE_nt] || ordinary_wins(s, best[STORE_nt][0], best[STORE_ordinary][0],
					     begun + UNTIL_STORES * span))
		store = STORE_ordinary;
	return best_distance(s, best[store], kept[store], begun + span);
}

static size_t clamp(double value, size_t most)
{
	if (value < 1)
		return 1;
	return value < (double)most ? (size_t)value : most;
}

/* How long a run is: by its time, and by what the caches hold. */
static void choose_parts(struct search *s, size_t llc_bytes)
{
	struct variant any;
	int i;
	const double moved = (double)s->arrays->size * sizeof(element) * 2;

	s->probe_parts = s->confirm_parts = 1;
	for (i = 0; !variants_runs_here(variants_compiled(i));)
		i++;
	any.compiled = variants_compiled(i);
	any.ahead = 0;
	for (s->kernel = 0; !variants_has(s->kernel);)
		s->kernel++;
	time_slice(s, &any);
	s->probe_parts = clamp(time_slice(s, &any) / PROBE_SECONDS, PARTS_MOST);
	s->confirm_parts = clamp(moved / (LLC_TIMES * (double)llc_bytes + 1), PARTS_MOST);
}

static void say_winner(const struct search *s, const struct candidate *winner, double seconds)
{
	char name[VARIANT_NAME_MAX], anchor[VARIANT_NAME_MAX];

	if (ranks_me() > 0)
		return;
	fprintf(stderr, "%smembw: tuned %s in %.1f s: %s, %.3f x %s in %d round%s, %d run%s\n",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", kernels[s->kernel].name, seconds,
		variants_name(&winner->variant, name), winner->probe.median,
		variants_name(&s->anchor, anchor), winner->probe.rounds,
		plural(winner->probe.rounds), s->ran, plural(s->ran));
}

void tune(struct kernel_choice *choice, const struct arrays *arrays, size_t llc_bytes,
	  double budget_s)
{
	static struct search s;
	int k, winner, count = 0;
	double start;

	s.arrays = arrays;
	s.begun = clock_now();
	s.budget_s = budget_s;
	choose_parts(&s, llc_bytes);
	for (k = 0; k < KERNELS; k++)
		count += variants_has(k);
	for (k = 0; k < KERNELS; k++) {
		const double left = s.begun + budget_s - clock_now();

		memset(&choice->of[k], 0, sizeof(choice->of[k]));
		if (!variants_has(k))
			continue;
		start = clock_now();
		s.kernel = k;
		s.tried.count = s.ran = 0;
		winner = tune_kernel(&s, start, left / count--);
		choice->of[k] = s.tried.of[winner].variant;
		say_winner(&s, &s.tried.of[winner], clock_now() - start);
	}
	choice->tuned = 1;
	choice->from = "search";
}
