#include "node_stats.h"

#include "../../harness/deviation.h"
#include "../../harness/order_statistics.h"

static int by_name(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;
	const int order = strcmp(a->name, b->name);

	return order ? order : a->rank - b->rank;
}

static void begin(struct unit *unit, const struct summary *s)
{
	memset(unit, 0, sizeof(*unit));
	unit->name = s->node;
	unit->rank = s->rank;
	unit->ranks = 1;
	unit->threads = s->threads;
	unit->invalid = s->reasons[FOUND];
	memcpy(unit->mbs, s->mbs, sizeof(unit->mbs));
}

int nodes_apart(struct unit *units, const struct summary *summaries, int count)
{
	int i;

	for (i = 0; i < count; i++)
		begin(&units[i], &summaries[i]);
	return count;
}

int nodes_join(struct unit *units, const struct summary *summaries, int count)
{
	int i, nodes = 0;

	nodes_apart(units, summaries, count);
	qsort(units, (size_t)count, sizeof(*units), by_name);
	for (i = 0; i < count; i++) {
		struct unit *const node = &units[nodes - 1];

		if (nodes == 0 || strcmp(node->name, units[i].name) != 0) {
			units[nodes] = units[i];
			memcpy(units[nodes].mbs, summaries[units[i].rank].node_mbs,
			       sizeof(units[nodes].mbs));
			nodes++;
			continue;
		}
		node->ranks++;
		node->threads += units[i].threads;
		node->invalid |= units[i].invalid;
	}
	return nodes;
}

static int by_rate(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;
	const double p = a->mbs[KERNEL_triad], q = b->mbs[KERNEL_triad];

	return p > q ? -1 : p < q ? 1 : by_name(x, y);
}

void nodes_sort(struct unit *units, int count)
{
	qsort(units, (size_t)count, sizeof(*units), by_rate);
}

void nodes_statistics(struct statistics *s, const struct unit *units, int count, int kernel,
		      double *scratch)
{
	int i, valid = 0, threads = 0;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < count; i++)
		valid += !units[i].invalid;
	for (i = 0; i < count; i++) {
		const double mbs = units[i].mbs[kernel];

		if (valid && units[i].invalid) {
			s->left_out++;
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
	s->per_thread = threads ? s->average / threads : 0;
	s->average /= s->count;
	s->deviation = deviation(scratch, s->count);
	s->median = median(scratch, s->count);
	for (i = 0; i < s->count; i++)
		scratch[i] =
			scratch[i] > s->median ? scratch[i] - s->median : s->median - scratch[i];
	s->mad = median(scratch, s->count);
}
