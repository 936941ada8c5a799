#include "triads.h"

#include "../clock.h"
#include "../error.h"
#include "../evidence/threads.h"
#include "../json.h"
#include "../memory/map.h"
#include "../memory/wide.h"
#include "../openmp.h"
#include "../rate.h"
#include "../sysfile.h"
#include "../verdict.h"

#include <unistd.h>

enum { TRIADS_ARRAYS = 3, TRIADS_ROUNDS_LEAST = 3, TRIADS_ROUNDS = 8, TRIADS_WINDOWS_LEAST = 6 };

/* Shares of the run's time. */
static const double TRIADS_TOUCH = 0.1, TRIADS_TOUCH_LONG = 0.3, TRIADS_MEASURE = 0.1;
static const size_t TRIADS_WINDOW = (size_t)48 * MIB, TRIADS_WINDOW_OF_THREAD = (size_t)3 * MIB,
		    TRIADS_LEAST = (size_t)24 * MIB, TRIADS_UNTIMED = (size_t)64 * MIB;

/* A thread's part of each array, for the largest size. */
struct triads_part {
	char *of[TRIADS_ARRAYS];
	struct lost_time lost_time;
	char apart[LINES_APART];
};

static struct {
	struct triads_part *parts;
	size_t threads, apart; /* bytes from one array of a part to the next */
	size_t touched;        /* bytes of an array of a part */
	double touch_seconds;
	struct residency_curve curve;
	int windows[RESIDENCY_SIZES]; /* undisturbed */
} triads;

/* Bytes of one thread's part of one array. */
static size_t triads_part_of(size_t bytes)
{
	return bytes / TRIADS_ARRAYS / triads.threads / WIDE_TRIAD_STEP * WIDE_TRIAD_STEP;
}

/* Bytes FROM to TO of each thread's parts; GB/s of all, from the first start to the last end; 0: a
 * thread lost time. */
static double triads_rate(size_t from, size_t to)
{
	double began = 1e300, ended = 0, lost = 0;

#pragma omp parallel reduction(min : began) reduction(max : ended, lost)
	{
		struct triads_part *const mine = &triads.parts[omp_get_thread_num()];

#pragma omp barrier
		lost_time_note(&mine->lost_time);
		began = clock_now();
		wide_triad(mine->of[0] + from, mine->of[1] + from, mine->of[2] + from, to - from,
			   1);
		ended = clock_now();
		lost_time_note(&mine->lost_time);
		lost = mine->lost_time.lost;
	}
	if (ended <= began || !rate_counts(lost / (ended - began)))
		return 0;
	return 1e-9 * (double)(TRIADS_ARRAYS * (to - from) * triads.threads) / (ended - began);
}

/* The best of the windows of the upper half: smaller sizes, timed before, do not reach into it.
 * What a cache could hold is passed over once before: REACH bytes and more it cannot. */
static void triads_time(int at, size_t reach)
{
	const size_t bytes = triads.curve.bytes[at], mine = triads_part_of(bytes);
	const size_t half = mine / 2 / WIDE_TRIAD_STEP * WIDE_TRIAD_STEP;
	const size_t of_threads = TRIADS_WINDOW_OF_THREAD * triads.threads,
		     of_all = of_threads > TRIADS_WINDOW ? of_threads : TRIADS_WINDOW,
		     window = triads_part_of(of_all);
	const int passes = (int)(of_all / bytes) + 1;
	double now;
	size_t from;
	int pass;

	if (bytes < reach)
		triads_rate(0, mine);
	for (pass = 0; pass < passes; pass++) {
		if (half)
			triads_rate(0, half);
		for (from = half; from < mine; from += window) {
			now = triads_rate(from, from + window < mine ? from + window : mine);
			if (now > triads.curve.gbs[at])
				triads.curve.gbs[at] = now;
			triads.windows[at] += now > 0;
			if (from + 2 * window > mine)
				break;
		}
	}
}

/* Room for BYTES: each part in large pages, its arrays another third of a page apart, so that
 * their lines are not of the same sets. */
static void triads_map(size_t bytes)
{
	size_t t;
	int k;

	triads.apart = (triads_part_of(bytes) / 4096 + 1) * 4096 + 1344;
	triads.parts = room_for(triads.threads, sizeof(*triads.parts), "threads",
				"set OMP_NUM_THREADS to less");
	for (t = 0; t < triads.threads; t++) {
		char *const memory = map_memory(TRIADS_ARRAYS * triads.apart, PAGES_DEFAULT);

		(void)!madvise(memory, TRIADS_ARRAYS * triads.apart, MADV_HUGEPAGE);
		for (k = 0; k < TRIADS_ARRAYS; k++)
			triads.parts[t].of[k] = memory + (size_t)k * triads.apart;
	}
#pragma omp parallel
	lost_time_start(&triads.parts[omp_get_thread_num()].lost_time);
}

static void triads_unmap(void)
{
	size_t t;

	for (t = 0; t < triads.threads; t++) {
		munmap(triads.parts[t].of[0], TRIADS_ARRAYS * triads.apart);
		if (triads.parts[t].lost_time.file >= 0)
			close(triads.parts[t].lost_time.file);
	}
	free(triads.parts);
}

/* By all threads, up to a size; 0 where that would take longer than SECONDS in all. */
static int triads_touch(size_t bytes, double seconds)
{
	const size_t to = triads_part_of(bytes), from = triads.touched;
	const double began = clock_now();
	int k;

	if (from && triads.touch_seconds * (double)to > seconds * (double)from)
		return 0;
#pragma omp parallel private(k)
	for (k = 0; k < TRIADS_ARRAYS; k++)
		memset(triads.parts[omp_get_thread_num()].of[k] + from, 0, to - from);
	triads.touched = to;
	triads.touch_seconds += clock_now() - began;
	return 1;
}

/* Sizes that double, one of which is ANCHOR, to the first of REACH bytes; returns which it is. */
static int triads_sizes(struct residency_curve *curve, size_t anchor, size_t reach, size_t most)
{
	size_t size = anchor;
	int below = 0;

	while (size / 2 >= TRIADS_LEAST && below < RESIDENCY_SIZES / 2) {
		size /= 2;
		below++;
	}
	memset(curve, 0, sizeof(*curve));
	for (; size <= most && curve->count < RESIDENCY_SIZES; size *= 2) {
		curve->bytes[curve->count] = curve->count == below ? anchor : size;
		curve->count++;
		if (size >= reach)
			break;
	}
	return below;
}

/* Too few undisturbed windows end the row. */
static void triads_shorten(struct residency_curve *curve)
{
	while (curve->count && triads.windows[curve->count - 1] < TRIADS_WINDOWS_LEAST)
		curve->count--;
}

static int triads_has_plateau(void)
{
	struct residency_curve curve = triads.curve;

	triads_shorten(&curve);
	return residency_plateau(&curve) >= 0;
}

static void triads_measure(size_t reach, double seconds)
{
	const double began = clock_now();
	int round, i;

	for (round = 0; round < TRIADS_ROUNDS; round++) {
		if (round && clock_now() - began > seconds)
			break;
		if (round >= TRIADS_ROUNDS_LEAST && triads_has_plateau())
			break;
		for (i = triads.curve.count - 1; i >= 0; i--)
			triads_time(i, reach);
	}
}

/* Maps and touches more; 0, and nothing is done, where that would take too long. */
static int triads_enlarge(size_t bytes, double seconds)
{
	if (triads.touch_seconds * (double)triads_part_of(bytes) >
	    seconds * (double)triads.touched)
		return 0;
	triads_unmap();
	triads_map(bytes);
	triads.touched = 0;
	return triads_touch(bytes, seconds);
}

/* Touches and times all sizes, and larger ones while Triad still falls. */
static void triads_grow(const struct residency_request *r, size_t reach)
{
	/* where the declared size will do, little time is spent on a proof */
	const int will_do = r->declared && r->rule < reach && (!r->given || r->given >= r->rule);
	const double share = will_do ? TRIADS_TOUCH : TRIADS_TOUCH_LONG,
		     seconds = share * r->seconds;
	struct residency_curve *const curve = &triads.curve;
	const int planned = curve->count;
	size_t next;

	triads_map(curve->bytes[planned - 1]);
	for (curve->count = 0; curve->count < planned; curve->count++)
		if (!triads_touch(curve->bytes[curve->count], seconds))
			break;
	if (curve->count > 2)
		triads_measure(reach, TRIADS_MEASURE * r->seconds);
	while (curve->count > 2 && curve->count < RESIDENCY_SIZES && !triads_has_plateau()) {
		next = 2 * curve->bytes[curve->count - 1];
		if (next > r->most || next > 8 * reach || !triads_enlarge(next, seconds))
			break;
		curve->bytes[curve->count++] = next;
		triads_measure(reach, TRIADS_MEASURE * r->seconds);
	}
	triads_shorten(curve);
	triads_unmap();
}

/* Whether there is memory for the rule's size, and it takes no longer than a proof would. */
static int triads_rule_fits(const struct residency_request *r, size_t reach)
{
	return r->declared && r->rule <= r->most && r->rule <= reach;
}

/* The place of the chosen size; -1: the rule's, untimed. */
static int triads_choose(const struct residency_request *r, int of_rule, size_t reach)
{
	const struct residency_curve *const curve = &triads.curve;
	const int last = curve->count - 1, plateau = residency_plateau(curve);
	const int is_timed = r->declared && of_rule <= last && r->rule <= reach;

	if (plateau < 0 && is_timed)
		return residency_still_falls(curve, of_rule) ? last : of_rule;
	if (plateau >= 0 && is_timed && of_rule > plateau + 2)
		return of_rule;
	if (plateau >= 0 && (is_timed || curve->bytes[last] >= reach))
		return plateau + 2;
	return triads_rule_fits(r, reach) ? -1 : last;
}

static enum residency triads_by_declared(const struct residency_request *r, size_t bytes)
{
	return r->declared && bytes >= r->rule ? RESIDENCY_DECLARED : RESIDENCY_UNKNOWN;
}

/* Measured, then declared, which is not believed where Triad still falls. Memory or time ended
 * before an automatic size was proven. */
static enum residency triads_known(const struct residency_request *r, int at, size_t reach)
{
	const struct residency_curve *const curve = &triads.curve;
	const int place = at < 0 ? curve->count : at;
	const enum residency measured = residency_at(curve, place, reach);
	const size_t bytes = r->given ? r->given : at < 0 ? r->rule : curve->bytes[at];

	if (measured == RESIDENCY_PROVEN || measured == RESIDENCY_CONTRADICTED)
		return measured;
	if (triads_by_declared(r, bytes) == RESIDENCY_DECLARED)
		return residency_still_falls(curve, place) ? RESIDENCY_NOT_PROVEN
							   : RESIDENCY_DECLARED;
	return r->declared && !r->given ? RESIDENCY_NOT_PROVEN : measured;
}

/* Other processes left too little time to measure: the rule's size, else all that was touched. */
static void triads_untimed(struct residency_found *found, const struct residency_request *r,
			   size_t reach)
{
	found->bytes = triads_rule_fits(r, reach)
			       ? r->rule
			       : TRIADS_ARRAYS * triads.threads * triads.touched;
	found->known = triads_by_declared(r, found->bytes);
	if (found->known == RESIDENCY_UNKNOWN && r->declared)
		found->known = RESIDENCY_NOT_PROVEN;
}

/* --- of an earlier launch ----------------------------------------------------------------- */

enum { TRIADS_KEY_MAX = CPU_LIST_MAX + 256 };

static const char TRIADS_EARLIER[] = "%d %zu %zu %zu %lf %lf\n";

/* What has to be the same. */
static void triads_key(char key[TRIADS_KEY_MAX], const struct residency_request *r)
{
	char boot[SYSLINE_MAX] = "", cpus[CPU_LIST_MAX];

	sysfile_line(boot, "/proc/sys/kernel/random/boot_id");
	snprintf(key, TRIADS_KEY_MAX, "%.40s %s %d %zu %zu %zu\n", boot,
		 cpuset_format(threads_cpus(), cpus), threads_count(), r->rule, r->given,
		 r->declared);
}

int triads_is_known(const struct residency_found *found)
{
	return found->known == RESIDENCY_PROVEN || found->known == RESIDENCY_DECLARED;
}

static int triads_take(struct residency_found *found, const struct residency_request *r)
{
	const char *const path = getenv("MEMBW_RESIDENCY");
	FILE *const file = path ? fopen(path, "r") : NULL;
	char key[TRIADS_KEY_MAX], line[TRIADS_KEY_MAX] = "";
	int known = RESIDENCY_UNKNOWN;

	if (!file)
		return 0;
	triads_key(key, r);
	found->is_earlier = fgets(line, sizeof(line), file) && strcmp(line, key) == 0 &&
			    fscanf(file, TRIADS_EARLIER, &known, &found->bytes, &found->begins,
				   &found->largest, &found->gbs, &found->largest_gbs) == 6 &&
			    found->bytes <= r->most;
	fclose(file);
	found->known = (enum residency)known;
	return found->is_earlier = found->is_earlier && triads_is_known(found);
}

static void triads_leave(const struct residency_found *found, const struct residency_request *r)
{
	const char *const path = getenv("MEMBW_RESIDENCY");
	FILE *const file = path && triads_is_known(found) ? fopen(path, "w") : NULL;
	char key[TRIADS_KEY_MAX];

	if (!file)
		return;
	triads_key(key, r);
	fputs(key, file);
	fprintf(file, TRIADS_EARLIER, (int)found->known, found->bytes, found->begins,
		found->largest, found->gbs, found->largest_gbs);
	fclose(file);
}

static void triads_search(struct residency_found *found, const struct residency_request *r)
{
	const size_t reach = residency_reach(r->declared, threads_count());
	const size_t anchor = r->given ? r->given : r->rule;
	int at;

	memset(found, 0, sizeof(*found));
	triads.threads = (size_t)threads_count();
	found->bytes = r->given || !r->most || anchor < r->most ? anchor : r->most;
	found->known = triads_by_declared(r, found->bytes);
	if (!r->most)
		return;
	at = triads_sizes(&triads.curve, anchor, reach, r->most);
	if (anchor < TRIADS_UNTIMED || triads.curve.count < 3)
		return;
	triads_grow(r, reach);
	if (triads.curve.count < 3 && !r->given)
		triads_untimed(found, r, reach);
	if (triads.curve.count > 2) {
		at = r->given ? at : triads_choose(r, at, reach);
		found->known = triads_known(r, at, reach);
		found->largest = triads.curve.bytes[triads.curve.count - 1];
		found->largest_gbs = triads.curve.gbs[triads.curve.count - 1];
		if (residency_plateau(&triads.curve) >= 0)
			found->begins = triads.curve.bytes[residency_plateau(&triads.curve)];
		if (at >= 0 && at < triads.curve.count) {
			found->bytes = triads.curve.bytes[at];
			found->gbs = triads.curve.gbs[at];
		}
	}
}

void triads_find(struct residency_found *found, const struct residency_request *r)
{
	const double began = clock_now();

	memset(found, 0, sizeof(*found));
	memset(&triads, 0, sizeof(triads));
	if (!r->most || !triads_take(found, r)) {
		triads_search(found, r);
		triads_leave(found, r);
	}
	found->seconds = clock_now() - began;
}

/* Bytes of the three arrays up to which it is known. */
static size_t triads_proven(const struct residency_found *found)
{
	return found->largest ? found->largest : found->bytes;
}

int triads_lacked_memory(const struct residency_found *found, const struct residency_request *r)
{
	return triads_proven(found) > r->most / 2;
}

void triads_judge(const struct residency_found *found, const struct residency_request *r,
		  const char *what)
{
	const double largest = (double)found->largest / MIB;
	const double proven = (double)triads_proven(found) / MIB;
	/* whoever allows arrays in caches has nothing timed */
	const int unknown = verdict_allows(ARRAY_TOO_SMALL) ? ARRAY_TOO_SMALL : NOT_PROVEN;

	if (found->known == RESIDENCY_CONTRADICTED)
		verdict_invalid(ARRAY_TOO_SMALL,
				"%s lie in a cache: with three arrays of %.0f MiB together triad "
				"falls to %.0f %%",
				what, largest, 100 * found->largest_gbs / found->gbs);
	else if (found->known == RESIDENCY_NOT_PROVEN)
		verdict_invalid(NOT_PROVEN,
				"%s are not proven to lie in memory beyond %.0f MiB, where %s "
				"ended: a larger cache may hold them",
				what, proven, triads_lacked_memory(found, r) ? "memory" : "time");
	else if (found->known == RESIDENCY_UNKNOWN && !r->declared)
		verdict_invalid(unknown,
				"%s are not proven to lie in memory, and the size of the "
				"last-level caches is not known",
				what);
	else if (found->known == RESIDENCY_UNKNOWN && found->largest && !found->begins)
		verdict_invalid(unknown,
				"%s are not proven to lie in memory: triad still falls at three "
				"arrays of %.0f MiB together",
				what, largest);
	else if (found->known == RESIDENCY_UNKNOWN)
		verdict_invalid(unknown,
				"%s are not proven to lie in memory, and the last-level caches "
				"used hold %.1f MiB",
				what, (double)r->declared / MIB);
}

const char *triads_text(const struct residency_found *found)
{
	static char text[80];

	snprintf(text, sizeof(text), "%s", residency_word(found->known));
	if (found->known == RESIDENCY_NOT_PROVEN)
		snprintf(text, sizeof(text), "%s beyond %.0f MiB: a larger cache may hold them",
			 residency_word(found->known), (double)triads_proven(found) / MIB);
	return text;
}

void triads_write(const struct residency_found *found)
{
	int i;

	json_open("residency", '{');
	json_text("known", residency_word(found->known));
	json_count("bytes", found->bytes);
	json_count("plateau_from_bytes", found->begins);
	json_count("largest_bytes", found->largest);
	json_positive("triad_gbs", found->gbs);
	json_positive("largest_triad_gbs", found->largest_gbs);
	json_open("readings", '[');
	for (i = 0; i < triads.curve.count; i++) {
		json_open(NULL, '{');
		json_count("bytes", triads.curve.bytes[i]);
		json_positive("triad_gbs", triads.curve.gbs[i]);
		json_close('}');
	}
	json_close(']');
	json_number("seconds", found->seconds);
	json_truth("earlier", found->is_earlier);
	json_close('}');
}
