#include "variants.h"

#include "../kernels/thread_range.h"

enum { LINE_ELEMENTS = LINE / sizeof(element) };

static element edge_value(const struct kernel *kernel, wide x, wide y, wide s)
{
	const wide read[] = { x, y };

	return (element)kernel->value(read, s);
}

/* What lies before the first line's begin and behind the last whole step. */
static void edge(const struct kernel *kernel, element *out, const element *x, const element *y,
		 element s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = edge_value(kernel, x[i], y[i], s);
}

static size_t least(size_t x, size_t y)
{
	return x < y ? x : y;
}

void variants_span(const struct variant *v, int kernel, element *out, const element *x,
		   const element *y, element s, size_t n)
{
	const struct tuned_kernel *m = v->compiled;
	const size_t streams = (size_t)m->streams;
	const size_t unit = m->step > LINE_ELEMENTS ? m->step : LINE_ELEMENTS;
	const size_t past = (size_t)out % LINE / sizeof(element);
	const size_t head = least(n, past ? LINE_ELEMENTS - past : 0);
	const size_t part = (n - head) / streams / unit * unit;
	const size_t done = head + streams * part;

	edge(&kernels[kernel], out, x, y, s, head);
	m->run[kernel](out + head, x + head, y + head, s, part, v->ahead);
	edge(&kernels[kernel], out + done, x + done, y + done, s, n - done);
}

/* To be called in a parallel region, by every thread. */
static void run_thread(const struct variant *v, int kernel, const struct arrays *arrays,
		       size_t index, size_t parts)
{
	const struct kernel *k = &kernels[kernel];
	const struct share mine = share_within(share_of_thread(arrays->size), index, parts);

	variants_span(v, kernel, arrays->of[k->writes] + mine.first,
		      arrays->of[k->reads[0]] + mine.first,
		      arrays->of[k->reads[k->loads - 1]] + mine.first, arrays->scalar, mine.size);
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
