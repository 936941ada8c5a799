#include "in_memory.h"

#include "../harness/clock.h"
#include "../harness/evidence/threads.h"
#include "../harness/job/ranks.h"
#include "../harness/json.h"
#include "../harness/machine/memory_available.h"
#include "../harness/openmp.h"
#include "../harness/room.h"
#include "../harness/verdict.h"
#include "kernels/arrays.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE 14
#endif

enum {
	SIZES_MAX = 24,
	ROUNDS_LEAST = 3,
	ROUNDS = 8,
	WINDOWS_LEAST = 6,
	CACHES_PROVEN = 8,
	TIMES_LARGEST = 8
};

static const double TOUCH_SECONDS = 0.9, ALL_SECONDS = 1.9, MEBIBYTE = 1048576.0,
		    LOST_SHARE = 0.02;
static const size_t WINDOW_BYTES = (size_t)48 << 20, LARGEST_LEAST = (size_t)512 << 20;

/* A thread's part of each array, for the largest size. */
struct part {
	element *of[ARRAYS];
	double began, ended;
	struct lost_time lost_time;
	char apart[LINES_APART];
};

/* Sizes in elements of an array, rising by doubling. */
struct sizes {
	int count, at; /* AT: the arrays' own */
	size_t of[SIZES_MAX];
	double best[SIZES_MAX]; /* GB/s */
	int windows[SIZES_MAX]; /* undisturbed */
};

static struct part *parts;

static size_t bytes_of(size_t size)
{
	return ARRAYS * size * sizeof(element);
}

static void triad_of_part(element *__restrict a, const element *__restrict b,
			  const element *__restrict c, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		a[i] = b[i] + SCALAR * c[i];
}

/* Elements FROM to TO of each thread's part; GB/s of all, from the first start to the last end; 0:
 * a thread lost time. */
static double part_rate(size_t from, size_t to)
{
	double began, ended, lost = 0;
	int t;

#pragma omp parallel
	{
		struct part *const mine = &parts[omp_get_thread_num()];

#pragma omp barrier
		lost_time_note(&mine->lost_time);
		mine->began = clock_now();
		triad_of_part(mine->of[0] + from, mine->of[1] + from, mine->of[2] + from,
			      to - from);
		mine->ended = clock_now();
		lost_time_note(&mine->lost_time);
	}
	began = parts[0].began;
	ended = parts[0].ended;
	for (t = 0; t < threads_count(); t++) {
		began = parts[t].began < began ? parts[t].began : began;
		ended = parts[t].ended > ended ? parts[t].ended : ended;
		lost = parts[t].lost_time.lost > lost ? parts[t].lost_time.lost : lost;
	}
	if (lost > LOST_SHARE * (ended - began) || !(ended > began))
		return 0;
	return 1e-9 * (double)(bytes_of(to - from) * (size_t)threads_count()) / (ended - began);
}

/* The best of the windows of the upper half: smaller sizes, timed before, do not reach into it.
 * A window is short enough that some are undisturbed on a busy node.  What a cache could hold is
 * passed over once before: PROOF bytes and more it cannot. */
static double best_rate(size_t size, size_t proof, int *windows)
{
	const size_t threads = (size_t)threads_count(), mine = size / threads;
	const size_t half = mine / 2, window = WINDOW_BYTES / bytes_of(threads);
	const int passes = (int)(WINDOW_BYTES / bytes_of(size)) + 1;
	double best = 0, now;
	size_t from;
	int pass;

	if (bytes_of(size) < proof)
		part_rate(0, mine);
	for (pass = 0; pass < passes; pass++) {
		if (half)
			part_rate(0, half);
		for (from = half; from < mine; from += window) {
			now = part_rate(from, from + window < mine ? from + window : mine);
			best = now > best ? now : best;
			*windows += now > 0;
			if (from + 2 * window > mine)
				break;
		}
	}
	return best;
}

static void map_parts(size_t size)
{
	const size_t threads = (size_t)threads_count();
	/* another third of a page for each array: their lines are not of the same sets */
	const size_t apart = (size / threads * sizeof(element) / 4096 + 1) * 4096 + 1344;
	size_t t;
	int k;

	parts = room_for(threads, sizeof(*parts), "threads", "set OMP_NUM_THREADS to less");
	for (t = 0; t < threads; t++) {
		char *const memory = map_memory(ARRAYS * apart, PAGES_DEFAULT);

		(void)!madvise(memory, ARRAYS * apart, MADV_HUGEPAGE);
		for (k = 0; k < ARRAYS; k++)
			parts[t].of[k] = (element *)(void *)(memory + (size_t)k * apart);
	}
#pragma omp parallel
	lost_time_start(&parts[omp_get_thread_num()].lost_time);
}

static void unmap_parts(size_t size)
{
	const size_t apart =
		(size / (size_t)threads_count() * sizeof(element) / 4096 + 1) * 4096 + 1344;
	int t;

	for (t = 0; t < threads_count(); t++) {
		munmap(parts[t].of[0], ARRAYS * apart);
		if (parts[t].lost_time.file >= 0)
			close(parts[t].lost_time.file);
	}
	free(parts);
	parts = NULL;
}

/* Size after size, while there is time for the next one; returns how many. */
static int touch_sizes(const struct sizes *sizes)
{
	const double began = clock_now();
	size_t done = 0;
	int i, k;

	for (i = 0; i < sizes->count; i++) {
		const size_t mine = sizes->of[i] / (size_t)threads_count();
		const double seconds = clock_now() - began;

		if (i &&
		    seconds * (double)(sizes->of[i]) > TOUCH_SECONDS * (double)sizes->of[i - 1])
			break;
#pragma omp parallel private(k)
		for (k = 0; k < ARRAYS; k++)
			memset(parts[omp_get_thread_num()].of[k] + done, 0,
			       (mine - done) * sizeof(element));
		done = mine;
	}
	return i;
}

/* From half the size, or for an automatic one from far below it, to what a proof takes. */
static void choose_sizes(struct sizes *sizes, const struct options *o, size_t proof, size_t most)
{
	size_t size = o->size / 2;
	int below = 1;

	while (o->size_from == FROM_AUTO && size > LEAST_ELEMENTS && below < SIZES_MAX / 2) {
		size /= 2;
		below++;
	}
	memset(sizes, 0, sizeof(*sizes));
	sizes->at = below;
	for (; sizes->count < SIZES_MAX && bytes_of(size) <= most; size *= 2) {
		sizes->of[sizes->count] = sizes->count == below ? o->size : size;
		sizes->count++;
		if (size >= TIMES_LARGEST * o->size && bytes_of(size) >= proof)
			break;
	}
}

/* Two sizes above are slower: one alone may be what other processes left of it. */
static int falls_above(const struct sizes *s, int at)
{
	const int last = s->count - 1;

	return last > at + 1 && residency_falls(s->best[at], s->best[last - 1]);
}

static int is_proven(const struct sizes *s, int at, size_t proof)
{
	return at > 0 && at + 1 < s->count && bytes_of(s->of[s->count - 1]) >= proof &&
	       bytes_of(s->of[at]) >= proof / CACHES_PROVEN && !falls_above(s, at) &&
	       residency_agrees(s->best[at], s->best[at - 1]) &&
	       residency_agrees(s->best[at], s->best[at + 1]) &&
	       residency_agrees(s->best[at], s->best[s->count - 1]);
}

static enum residency by_declared(size_t size, size_t llc_bytes, enum llc_from from)
{
	return from != LLC_UNKNOWN && size >= CACHES_PER_ARRAY * llc_bytes / sizeof(element)
		       ? RESIDENCY_DECLARED
		       : RESIDENCY_UNKNOWN;
}

/* The smallest proven size from FIRST on, -1: none. */
static int smallest_proven(const struct sizes *s, int first, size_t proof)
{
	int i;

	for (i = first; i < s->count; i++)
		if (s->of[i] >= LEAST_ELEMENTS && is_proven(s, i, proof))
			return i;
	return -1;
}

/* A larger size cannot be faster, so the best of a size is at least that of each larger one: what
 * it reads less is what other processes took.  Too few undisturbed windows end the row. */
static void correct(struct sizes *sizes)
{
	int i;

	while (sizes->count && sizes->windows[sizes->count - 1] < WINDOWS_LEAST)
		sizes->count--;
	for (i = sizes->count - 2; i >= 0; i--)
		if (sizes->best[i] < sizes->best[i + 1])
			sizes->best[i] = sizes->best[i + 1];
}

static int is_proven_already(struct sizes sizes, size_t proof)
{
	correct(&sizes);
	return sizes.at < sizes.count && is_proven(&sizes, sizes.at, proof);
}

static void measure_sizes(struct sizes *sizes, double began, size_t proof)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		if (round && clock_now() - began > ALL_SECONDS)
			break;
		if (round >= ROUNDS_LEAST && is_proven_already(*sizes, proof))
			break;
		for (i = sizes->count - 1; i >= 0; i--) {
			const double rate = best_rate(sizes->of[i], proof, &sizes->windows[i]);

			sizes->best[i] = rate > sizes->best[i] ? rate : sizes->best[i];
		}
	}
	correct(sizes);
}

/* Another size in place of an automatic one that is contradicted or was not reached. */
static void choose_again(struct options *o, struct sizes *s, size_t proof)
{
	const int is_reached = s->at + 1 < s->count;
	const int chosen = is_reached && !falls_above(s, s->at)
				   ? -1
				   : smallest_proven(s, is_reached ? s->at + 1 : 0, proof);

	if (o->size_from != FROM_AUTO || chosen < 0)
		return;
	o->size = s->of[chosen];
	s->at = chosen;
}

static void time_sizes(struct in_memory *in_memory, struct options *o, size_t llc_bytes,
		       enum llc_from from, size_t proof)
{
	const double began = clock_now();
	struct sizes sizes;
	size_t most;

	choose_sizes(&sizes, o, proof, memory_available() / 5 * 4);
	if (sizes.count < 3)
		return;
	most = sizes.of[sizes.count - 1];
	map_parts(most);
	sizes.count = touch_sizes(&sizes);
	if (sizes.count > 2 && (sizes.at + 1 < sizes.count || o->size_from == FROM_AUTO)) {
		measure_sizes(&sizes, began, proof);
		choose_again(o, &sizes, proof);
		in_memory->residency = by_declared(o->size, llc_bytes, from);
		if (sizes.at < sizes.count) {
			in_memory->largest = sizes.of[sizes.count - 1];
			in_memory->gbs = sizes.best[sizes.at];
			in_memory->largest_gbs = sizes.best[sizes.count - 1];
			if (falls_above(&sizes, sizes.at))
				in_memory->residency = RESIDENCY_CONTRADICTED;
			else if (is_proven(&sizes, sizes.at, proof))
				in_memory->residency = RESIDENCY_PROVEN;
		}
	}
	unmap_parts(most);
}

void in_memory_find(struct in_memory *in_memory, struct options *o, size_t llc_bytes,
		    enum llc_from from, char note[256])
{
	const double began = clock_now();
	const size_t known = from == LLC_UNKNOWN ? 0 : llc_bytes, by_rule = o->size;
	const size_t eight = CACHES_PROVEN * known;
	const size_t proof = eight > LARGEST_LEAST ? eight : LARGEST_LEAST;

	memset(in_memory, 0, sizeof(*in_memory));
	in_memory->residency = by_declared(o->size, llc_bytes, from);
	if (ranks_count() > 1 || verdict_allows(ARRAY_TOO_SMALL))
		return;
	if (o->size_from != FROM_AUTO && in_memory->residency == RESIDENCY_UNKNOWN &&
	    bytes_of(o->size) < proof / CACHES_PROVEN)
		return;
	time_sizes(in_memory, o, llc_bytes, from, proof);
	if (o->size_from == FROM_AUTO && in_memory->residency == RESIDENCY_CONTRADICTED) {
		o->size = in_memory->largest;
		time_sizes(in_memory, o, llc_bytes, from, proof);
	}
	if (o->size != by_rule)
		snprintf(note, 256,
			 "%zu elements by the rule of %d times the caches; %zu in their place: %s",
			 by_rule, CACHES_PER_ARRAY, o->size, residency_word(in_memory->residency));
	in_memory->seconds = clock_now() - began;
}

void in_memory_judge(const struct in_memory *in_memory, const struct options *o, size_t llc_bytes,
		     enum llc_from from)
{
	const double mib = (double)(o->size * sizeof(element)) / MEBIBYTE;

	if (o->size < LEAST_ELEMENTS)
		verdict_invalid(ARRAY_TOO_SMALL, "%zu elements per array, at least %d are needed",
				o->size, LEAST_ELEMENTS);
	if (in_memory->residency == RESIDENCY_CONTRADICTED)
		verdict_invalid(
			ARRAY_TOO_SMALL,
			"arrays of %.1f MiB lie in a cache: Triad reads %.1f GB/s, but %.1f "
			"with arrays of %.1f MiB; give a larger '-n'",
			mib, in_memory->gbs, in_memory->largest_gbs,
			(double)(in_memory->largest * sizeof(element)) / MEBIBYTE);
	else if (in_memory->residency == RESIDENCY_UNKNOWN && from == LLC_UNKNOWN)
		verdict_invalid(ARRAY_TOO_SMALL,
				"arrays of %.1f MiB are not proven to lie in memory, and the size "
				"of the last-level caches is not known",
				mib);
	else if (in_memory->residency == RESIDENCY_UNKNOWN)
		verdict_invalid(ARRAY_TOO_SMALL,
				"arrays of %.1f MiB are not proven to lie in memory, and the "
				"last-level caches used hold %.1f MiB; the rule is -n %zu",
				mib, (double)llc_bytes / MEBIBYTE,
				CACHES_PER_ARRAY * llc_bytes / sizeof(element));
}

void in_memory_print(const struct in_memory *in_memory)
{
	printf("Arrays lie in memory: %s", residency_word(in_memory->residency));
	if (in_memory->largest)
		printf("; Triad %.1f GB/s, and %.1f with arrays of %.0f MiB", in_memory->gbs,
		       in_memory->largest_gbs,
		       (double)(in_memory->largest * sizeof(element)) / MEBIBYTE);
	putchar('\n');
}

void in_memory_write(const struct in_memory *in_memory)
{
	json_open("residency", '{');
	json_text("known", residency_word(in_memory->residency));
	json_count("largest_array_size", in_memory->largest);
	json_positive("triad_gbs", in_memory->gbs);
	json_positive("largest_triad_gbs", in_memory->largest_gbs);
	json_number("seconds", in_memory->seconds);
	json_close('}');
}
