#include "shape.h"

#include "../harness/error.h"
#include "../harness/json.h"

enum {
	LOCALS = 5,
	GROUPS = 3,
	SHAPES_MOST = LOCALS * WIDTHS * GROUPS,
	SHAPES_KEPT = 3,
	SHAPES_PART = 16
};
/* So many times as long as the best is no shape to try with all elements. */
static const double SHAPES_FAR = 2;

static const size_t locals[LOCALS] = { 64, 128, 256, 512, 1024 };
static const int groups[GROUPS] = { 0, 8, 32 };

struct tried {
	struct shape shape;
	double seconds;
};

static int shapes_all(struct tried all[SHAPES_MOST], size_t most, int local, int width)
{
	int l, w, g, count = 0;

	for (l = 0; l < LOCALS; l++)
		for (w = 1; w <= 1 << (WIDTHS - 1); w *= 2)
			for (g = 0; g < GROUPS; g++) {
				if (locals[l] > most || (local && (size_t)local != locals[l]) ||
				    (width && width != w))
					continue;
				all[count].shape.local = locals[l];
				all[count].shape.width = w;
				all[count].shape.groups = groups[g];
				all[count++].seconds = 0;
			}
	return count;
}

static int shapes_order(const void *one, const void *other)
{
	const double a = ((const struct tried *)one)->seconds,
		     b = ((const struct tried *)other)->seconds;

	return (a > b) - (a < b);
}

/* Seconds of a launch with N elements, the first, which may compile, not counted; 0: the device
 * does not take this shape. */
static double shapes_time(struct arrays *arrays, int kernel, const struct shape *shape, size_t n)
{
	const size_t all = arrays->n;
	double seconds;

	arrays->n = n;
	seconds = kernels_run(arrays, kernel, shape, 0).host;
	if (seconds > 0)
		seconds = kernels_run(arrays, kernel, shape, 0).host;
	arrays->n = all;
	return seconds;
}

/* The best first, by a part of the arrays and then by all of them: some shape takes a hundred
 * times as long.  Returns how many the device takes. */
static int shapes_try(struct arrays *arrays, int kernel, struct tried *all, int count)
{
	const size_t part = arrays->n / SHAPES_PART / 4096 * 4096;
	int s, kept = 0;

	for (s = 0; s < count; s++) {
		all[kept].shape = all[s].shape;
		all[kept].seconds =
			shapes_time(arrays, kernel, &all[s].shape, part ? part : arrays->n);
		kept += all[kept].seconds > 0;
	}
	qsort(all, (size_t)kept, sizeof(*all), shapes_order);
	for (s = kept - 1; s >= 0; s--)
		all[s].seconds = all[s].seconds > SHAPES_FAR * all[0].seconds
					 ? SHAPES_PART * all[s].seconds
					 : shapes_time(arrays, kernel, &all[s].shape, arrays->n);
	qsort(all, (size_t)kept, sizeof(*all), shapes_order);
	return kept;
}

void shapes_find(struct shapes *shapes, struct arrays *arrays, int local, int width)
{
	struct tried of_triad[SHAPES_MOST], of_other[SHAPES_MOST];
	const int count = shapes_all(of_triad, arrays->card->local_most, local, width);
	int k, kept, tried;

	kernels_begin(arrays);
	shapes->tried = shapes_try(arrays, TRIAD, of_triad, count);
	if (!shapes->tried)
		die("'%s' takes none of the work-groups that were tried",
		    "give another '--local': 64, 128, 256, 512 or 1024", arrays->card->name);
	shapes->triad_gbs[0] =
		1e-9 * kernels_bytes(arrays, TRIAD) / of_triad[shapes->tried - 1].seconds;
	shapes->triad_gbs[1] = 1e-9 * kernels_bytes(arrays, TRIAD) / of_triad[0].seconds;
	for (k = 0; k < KERNELS; k++) {
		kept = k == READ || shapes->tried < SHAPES_KEPT ? shapes->tried : SHAPES_KEPT;
		memcpy(of_other, of_triad, (size_t)kept * sizeof(*of_other));
		tried = shapes_try(arrays, k, of_other, kept);
		shapes->of[k] = tried ? of_other[0].shape : of_triad[0].shape;
	}
}

void shapes_write(const struct shapes *shapes)
{
	int k;

	json_open("launch_shapes", '{');
	for (k = 0; k < KERNELS; k++) {
		json_open(kernel_names[k], '{');
		json_count("local", shapes->of[k].local);
		json_count("width", (unsigned)shapes->of[k].width);
		json_count("groups_per_unit", (unsigned)shapes->of[k].groups);
		json_close('}');
	}
	json_close('}');
	json_count("shapes_tried", (unsigned)shapes->tried);
	json_positive("worst_shape_triad_gbs", shapes->triad_gbs[0]);
	json_positive("best_shape_triad_gbs", shapes->triad_gbs[1]);
}
