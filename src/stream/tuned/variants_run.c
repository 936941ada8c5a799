#include "variants.h"

#include "../kernels/thread_range.h"

enum { LINE_ELEMENTS = LINE / sizeof(element) };

static const struct {
	int out, x, y;
} ARRAYS_OF[KERNELS] = { { 2, 0, 0 }, { 1, 2, 2 }, { 2, 0, 1 }, { 0, 1, 2 } };

/* What lies before the first line's begin and behind the last whole step. */
static void edge(int kernel, element *out, const element *x, const element *y, element s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (kernel == 0)
			out[i] = x[i];
		else if (kernel == 1)
			out[i] = s * x[i];
		else if (kernel == 2)
			out[i] = x[i] + y[i];
		else
			out[i] = x[i] + s * y[i];
	}
}

static size_t least(size_t x, size_t y)
{
	return x < y ? x : y;
}

void variants_span(const struct variant *v, int kernel, element *out, const element *x,
		   const element *y, element s, size_t n)
{
	const struct member *m = v->member;
	const size_t streams = (size_t)m->streams;
	const size_t unit = m->step > LINE_ELEMENTS ? m->step : LINE_ELEMENTS;
	const size_t past = (size_t)out % LINE / sizeof(element);
	const size_t head = least(n, past ? LINE_ELEMENTS - past : 0);
	const size_t part = (n - head) / streams / unit * unit;
	const size_t done = head + streams * part;

	edge(kernel, out, x, y, s, head);
	m->run[kernel](out + head, x + head, y + head, s, part, v->ahead);
	edge(kernel, out + done, x + done, y + done, s, n - done);
}

/* One read a line brings it into the nearest cache. */
static void load(const element *from, size_t n)
{
	const volatile element *at = from;
	size_t i;

	for (i = 0; i < n; i += LINE_ELEMENTS)
		(void)at[i];
}

/* Elements [first, first + size), by the calling thread. */
static void span_of(const struct variant *v, int kernel, const struct arrays *arrays, size_t first,
		    size_t size)
{
	const element *x = arrays->of[ARRAYS_OF[kernel].x] + first;
	const element *y = arrays->of[ARRAYS_OF[kernel].y] + first;

	if (v->split == SPLIT_loaded) {
		load(x, size);
		if (y != x)
			load(y, size);
	}
	variants_span(v, kernel, arrays->of[ARRAYS_OF[kernel].out] + first, x, y, arrays->scalar,
		      size);
}

/* Blocks of [first, first + size): the calling thread's of `threads` in turn. */
static void blocks_of(const struct variant *v, int kernel, const struct arrays *arrays,
		      struct share all, size_t me, size_t threads)
{
	const size_t block = v->block / sizeof(element);
	size_t done;

	for (done = me * block; done < all.size; done += threads * block)
		span_of(v, kernel, arrays, all.first + done, least(block, all.size - done));
}

/* To be called in a parallel region, by every thread. */
static void run_thread(const struct variant *v, int kernel, const struct arrays *arrays,
		       size_t index, size_t parts)
{
	const size_t me = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
	const struct share whole = { 0, arrays->size };
	const struct share mine = share_within(
		v->split == SPLIT_dealt ? whole : share_of_thread(arrays->size), index, parts);

	if (v->split == SPLIT_whole)
		span_of(v, kernel, arrays, mine.first, mine.size);
	else if (v->split == SPLIT_dealt)
		blocks_of(v, kernel, arrays, mine, me, threads);
	else
		blocks_of(v, kernel, arrays, mine, 0, 1);
	variants_fence(v);
}

NOINLINE void variants_run_slice(const struct variant *v, int kernel, const struct arrays *arrays,
				 size_t index, size_t parts)
{
#pragma omp parallel
	run_thread(v, kernel, arrays, index, parts);
}

void variants_run(const struct variant *v, int kernel, const struct arrays *arrays)
{
	variants_run_slice(v, kernel, arrays, 0, 1);
}
