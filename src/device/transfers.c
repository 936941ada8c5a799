#include "transfers.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/json.h"
#include "../harness/machine/memory_available.h"
#include "../harness/machine/memory_policy.h"
#include "../harness/memory/map.h"
#include "../harness/verdict.h"

/* PAGE: words of 4 KiB. */
enum { PAGE = 512 };
static const size_t TRANSFER_BYTES = (size_t)256 * MIB;

const char *const way_names[WAYS] = { "h2d_pinned", "d2h_pinned", "h2d_pageable", "d2h_pageable" };

typedef unsigned long long word;

static word word_at(size_t i, int turn)
{
	return i % PAGE ? i * 0x9E3779B97F4A7C15ULL : i + (word)turn;
}

static void fill(word *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		words[i] = word_at(i, 0);
}

static void stamp(word *words, size_t count, int turn)
{
	size_t i;

	for (i = 0; i < count; i += PAGE)
		words[i] = word_at(i, turn);
}

static int arrived(const word *words, size_t count, int turn, size_t step)
{
	size_t i, wrong = 0;

	for (i = 0; i < count; i += step)
		wrong += words[i] != word_at(i, turn);
	return !wrong;
}

static double put(cl_queue queue, cl_mem into, const word *from, size_t bytes)
{
	const double began = clock_now();

	opencl_check(cl.EnqueueWriteBuffer(queue, into, 0, 0, bytes, from, 0, NULL, NULL),
		     "EnqueueWriteBuffer");
	opencl_check(cl.Finish(queue), "Finish");
	return clock_now() - began;
}

static double get(cl_queue queue, cl_mem from, word *into, size_t bytes)
{
	const double began = clock_now();

	opencl_check(cl.EnqueueReadBuffer(queue, from, 0, 0, bytes, into, 0, NULL, NULL),
		     "EnqueueReadBuffer");
	opencl_check(cl.Finish(queue), "Finish");
	return clock_now() - began;
}

/* There and back, from one memory and into another, one time more than counts. */
static void there_and_back(struct transfers *t, const struct arrays *arrays, struct path *path,
			   int way, word *memory)
{
	const size_t bytes = t->bytes, count = bytes / sizeof(word);
	word *const from = memory, *const into = memory + count;
	const cl_queue queue = arrays->card->queue;
	double seconds[2];
	int turn;

	fill(from, count);
	memset(into, 0, bytes);
	for (turn = 0; turn <= TRANSFERS; turn++) {
		stamp(from, count, turn + 1);
		stamp(into, count, -1);
		seconds[0] = put(queue, arrays->of[A], from, bytes);
		seconds[1] = get(queue, arrays->of[A], into, bytes);
		t->wrong += !arrived(into, count, turn + 1, turn == TRANSFERS ? 1 : PAGE);
		if (!turn)
			continue;
		path->gbs[way][turn - 1] = 1e-9 * (double)bytes / seconds[0];
		path->gbs[way + 1][turn - 1] = 1e-9 * (double)bytes / seconds[1];
	}
}

static void pinned(struct transfers *t, const struct arrays *arrays, struct path *path)
{
	const cl_queue queue = arrays->card->queue;
	const cl_mem buffer =
		card_buffer(arrays->card->context, CL_MEM_ALLOC_HOST_PTR, 2 * t->bytes);
	int status;
	word *memory;

	if (!buffer)
		die("no pinned memory of %zu MiB on this node", "raise 'ulimit -l'",
		    2 * t->bytes / MIB);
	memory = cl.EnqueueMapBuffer(queue, buffer, 1, CL_MAP_READ_WRITE, 0, 2 * t->bytes, 0, NULL,
				     NULL, &status);
	opencl_check(status, "EnqueueMapBuffer");
	there_and_back(t, arrays, path, TO_PINNED, memory);
	opencl_check(cl.EnqueueUnmapMemObject(queue, buffer, memory, 0, NULL, NULL),
		     "EnqueueUnmapMemObject");
	opencl_check(cl.Finish(queue), "Finish");
	cl.ReleaseMemObject(buffer);
}

static void pageable(struct transfers *t, const struct arrays *arrays, struct path *path,
		     const struct cpuset *cpus)
{
	word *const memory = (word *)(void *)map_memory(2 * t->bytes, PAGES_DEFAULT);

	there_and_back(t, arrays, path, TO_PAGEABLE, memory);
	placement_begin(&path->placement);
	placement_sample(&path->placement, memory, 2 * t->bytes, cpus);
	munmap(memory, 2 * t->bytes);
}

static void from_domain(struct transfers *t, const struct arrays *arrays, struct path *path,
			int is_only)
{
	struct cpuset own;
	int cpu, refusal = 0;

	cpuset_clear(&own);
	EACH_OF_SET (cpu, threads_cpus())
		if (topology_is_in(cpu, path->to))
			cpuset_add(&own, cpu);
	cpuset_bind(&own);
	if (!is_only)
		refusal = memory_policy_bind(path->to);
	if (refusal)
		placement_refused(path->to, refusal);
	pinned(t, arrays, path);
	pageable(t, arrays, path, &own);
	if (!is_only)
		memory_policy_bind(-1);
	cpuset_bind(threads_cpus());
}

/* --- from card to card --------------------------------------------------------------------- */

/* The buffer was last written on this card, and is copied by the other one into its own memory:
 * by which way, is the driver's choice, as for any program. */
static void to_peer(struct transfers *t, const struct card *card, const struct card *other,
		    struct path *path)
{
	const cl_device both[2] = { card->device, other->device };
	const cl_context context = card_context(both, 2);
	const cl_queue here = card_queue(context, card->device),
		       there = card_queue(context, other->device);
	const cl_mem from = card_buffer(context, 0, t->bytes),
		     into = card_buffer(context, 0, t->bytes);
	const size_t count = t->bytes / sizeof(word);
	word *const words = room_for(count, sizeof(word), "words", "free some memory");
	double began;
	int turn;

	if (!from || !into)
		die("no memory for a transfer from card %d to card %d", "free some memory",
		    card->index, other->index);
	path->to = other->index;
	for (turn = 0; turn <= TRANSFERS; turn++) {
		fill(words, count);
		stamp(words, count, turn + 1);
		put(here, from, words, t->bytes);
		memset(words, 0, t->bytes);
		put(there, into, words, t->bytes);
		began = clock_now();
		opencl_check(
			cl.EnqueueCopyBuffer(there, from, into, 0, 0, t->bytes, 0, NULL, NULL),
			"EnqueueCopyBuffer");
		opencl_check(cl.Finish(there), "Finish");
		if (turn)
			path->gbs[0][turn - 1] = 1e-9 * (double)t->bytes / (clock_now() - began);
		get(there, into, words, t->bytes);
		t->wrong += !arrived(words, count, turn + 1, 1);
	}
	free(words);
	cl.ReleaseMemObject(from);
	cl.ReleaseMemObject(into);
	cl.ReleaseCommandQueue(here);
	cl.ReleaseCommandQueue(there);
	cl.ReleaseContext(context);
}

static void to_peers(struct transfers *t, const struct card *card)
{
	static struct card cards[CARDS_MAX];
	const int count = card_all(cards, card_is_cpu(card));
	int c;

	for (c = 0; c < count; c++)
		if (c != card->index && cards[c].platform == card->platform &&
		    cards[c].is_available)
			to_peer(t, card, &cards[c], &t->peer[t->peers++]);
}

void transfers_measure(struct transfers *t, const struct arrays *arrays)
{
	const size_t own = arrays->room * arrays->element, host = memory_available() / 8;
	struct cpuset domains;
	int d;

	memset(t, 0, sizeof(*t));
	t->bytes = own < TRANSFER_BYTES ? own : TRANSFER_BYTES;
	t->bytes = (t->bytes < host ? t->bytes : host) / 4096 * 4096;
	topology_domains(&domains, threads_cpus());
	EACH_OF_SET (d, &domains) {
		if (t->count == PATHS_MAX)
			break;
		t->of[t->count].to = d;
		from_domain(t, arrays, &t->of[t->count++], cpuset_count(&domains) == 1);
	}
	to_peers(t, arrays->card);
}

void transfers_judge(struct transfers *t)
{
	int p, way;

	if (t->wrong)
		verdict_invalid(NOT_VALIDATED, "%d transfers did not bring what was sent",
				t->wrong);
	for (p = 0; p < t->count; p++) {
		placement_judge(&t->of[p].placement, "during the transfers");
		for (way = 0; way < WAYS; way++)
			rate_of(&t->of[p].rates[way], t->of[p].gbs[way], NULL, TRANSFERS);
	}
	for (p = 0; p < t->peers; p++)
		rate_of(&t->peer[p].rates[0], t->peer[p].gbs[0], NULL, TRANSFERS);
}

void transfers_write(const struct transfers *t)
{
	int p;

	json_count("transfer_bytes", t->bytes);
	json_open("transfers_from", '[');
	for (p = 0; p < t->count; p++) {
		json_open(NULL, '{');
		json_count("domain", (unsigned)t->of[p].to);
		placement_write("placement", &t->of[p].placement);
		json_close('}');
	}
	json_close(']');
}
