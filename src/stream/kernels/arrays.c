#include "arrays.h"

#include "../../harness/evidence/threads.h"
#include "../../harness/machine/line_size.h"

size_t share_unit = LINE / sizeof(element);

static size_t stride_bytes(size_t size, size_t offset)
{
	const size_t line = line_bytes();

	return ((size + offset) * sizeof(element) + line - 1) / line * line;
}

size_t arrays_bytes(size_t size, size_t offset)
{
	return ARRAYS * stride_bytes(size, offset);
}

void arrays_create(struct arrays *arrays, size_t size, size_t offset, enum pages pages)
{
	const size_t bytes = arrays_bytes(size, offset);
	char *base = map_memory(bytes, pages);
	int k;

	for (k = 0; k < ARRAYS; k++)
		arrays->of[k] = (element *)(base + (size_t)k * stride_bytes(size, offset));
	share_unit = line_bytes() / sizeof(element);
	arrays->size = size;
	arrays->offset = offset;
	arrays->scalar = SCALAR;
}

size_t arrays_alignment(const struct arrays *arrays, int array)
{
	const size_t address = (size_t)arrays->of[array], multiple = address & -address;

	return multiple < MAP_ALIGNMENT ? multiple : MAP_ALIGNMENT;
}

void arrays_place(struct placement *placement, const struct arrays *arrays, const char *when)
{
	int array, t;

	placement_begin(placement);
	for (t = 0; t < threads_count(); t++) {
		const struct share share =
			share_of(arrays->size, (size_t)t, (size_t)threads_count());

		for (array = 0; array < ARRAYS; array++)
			placement_sample(placement, arrays->of[array] + share.first,
					 share.size * sizeof(element), &threads_seen(t)->affinity);
	}
	placement_judge(placement, when);
}
