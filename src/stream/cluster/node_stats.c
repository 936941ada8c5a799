#include "node_stats.h"

#include "../../harness/deviation.h"
#include "../../harness/order_statistics.h"

#include <stdlib.h>
#include <string.h>

static const char *(*name_of_rank)(int rank);
static int kernel_sorted;
static int slowest_comes_first;

static int by_name(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;
	const int order = strcmp(a->name, b->name);

	return order ? order : a->rank - b->rank;
}

static void begin(struct unit *unit, const struct summary *s)
{
	memset(unit, 0, sizeof(*unit));
	unit->name = name_of_rank(s->rank);
	unit->rank = s->rank;
	unit->ranks = 1;
	unit->missing = !s->arrived;
	unit->threads = s->threads;
	unit->invalid = s->reasons[FOUND];
	memcpy(unit->mbs, s->mbs, sizeof(unit->mbs));
}

/* The ranks of one node lie side by side, sorted; the sum of what each reached
 * stands in where the node's own figure is not known. */
static void join(struct unit *node, const struct unit *rank)
{
	int k;

	node->ranks += rank->ranks;
	node->missing += rank->missing;
	node->threads += rank->threads;
	node->invalid |= rank->invalid;
	for (k = 0; k < KERNELS; k++)
		node->mbs[k] += rank->mbs[k];
}

static void take_own_figure(struct unit *node, const struct summary *summaries)
{
	const struct summary *s = &summaries[node->rank];

	if (s->arrived && s->node_mbs[0] > 0 && !node->missing)
		memcpy(node->mbs, s->node_mbs, sizeof(node->mbs));
}

int nodes_join(struct unit *units, const struct summary *summaries, int count, int by_rank,
	       const char *(*name_of)(int rank))
{
	int i, nodes = 0;

	name_of_rank = name_of;
	for (i = 0; i < count; i++)
		begin(&units[i], &summaries[i]);
	if (by_rank)
		return count;
	qsort(units, (size_t)count, sizeof(*units), by_name);
	for (i = 0; i < count; i++) {
		if (nodes > 0 && strcmp(units[nodes - 1].name, units[i].name) == 0)
			join(&units[nodes - 1], &units[i]);
		else
			units[nodes++] = units[i];
	}
	for (i = 0; i < nodes; i++)
		take_own_figure(&units[i], summaries);
	return nodes;
}

static int by_rate(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;
	const double p = a->mbs[kernel_sorted], q = b->mbs[kernel_sorted];

	if ((p > 0) != (q > 0))
		return p > 0 ? -1 : 1;
	if (p < q)
		return slowest_comes_first ? -1 : 1;
	if (p > q)
		return slowest_comes_first ? 1 : -1;
	return by_name(x, y);
}

void nodes_sort(struct unit *units, int count, int kernel, int slowest_first)
{
	kernel_sorted = kernel;
	slowest_comes_first = slowest_first;
	qsort(units, (size_t)count, sizeof(*units), by_rate);
}

/* 2: to be believed, 1: INVALID, 0: not all ranks are there, -1: no figure. */
static int quality(const struct unit *unit, int kernel)
{
	if (!(unit->mbs[kernel] > 0))
		return -1;
	return unit->missing ? 0 : unit->invalid ? 1 : 2;
}

void nodes_statistics(struct statistics *s, const struct unit *units, int count, int kernel,
		      double *scratch)
{
	int i, best = 0, threads = 0;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < count; i++)
		if (quality(&units[i], kernel) > best)
			best = quality(&units[i], kernel);
	for (i = 0; i < count; i++) {
		const double mbs = units[i].mbs[kernel];

		if (quality(&units[i], kernel) < best) {
			s->left_out += mbs > 0;
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
	if (!s->count)
		return;
	s->per_thread = threads ? s->average / threads : 0;
	s->average /= s->count;
	s->deviation = deviation(scratch, s->count);
	s->median = median(scratch, s->count);
	for (i = 0; i < s->count; i++)
		scratch[i] =
			scratch[i] > s->median ? scratch[i] - s->median : s->median - scratch[i];
	s->mad = median(scratch, s->count);
}
