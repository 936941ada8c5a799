#include "chase.h"

#include "../machine/line_size.h"
#include "map.h"

#include <stdint.h>

char *chase_memory(size_t bytes, enum chase_pages pages)
{
	char *const memory = map_memory(bytes, PAGES_DEFAULT);

	/* a kernel without huge pages refuses: chase_memory_has() sees what there is */
	(void)!madvise(memory, bytes, pages == CHASE_2M ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory, 0, bytes);
	return memory;
}

int chase_memory_has(const char *memory, size_t bytes, enum chase_pages pages)
{
	struct hugepages got;
	size_t huge;

	hugepages_read(&got, memory, bytes, PAGES_DEFAULT);
	huge = got.huge_kib << 10;
	return pages == CHASE_2M ? huge >= bytes / 10 * 9 : huge <= bytes / 10;
}

/* Each step is a bijection of the numbers below a power of two; what leaves the cycle's numbers
 * goes through it again, until it is back. */
size_t chase_line(const struct chase *chase, size_t turn)
{
	const uint64_t odd[] = { 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb };
	uint64_t mask = CHASE_STEP - 1, line = turn;
	int bits = 3, i;

	for (; mask < chase->lines - 1; bits++)
		mask = mask << 1 | 1;
	do {
		for (i = 0; i < 3; i++) {
			line = (line + chase->seed) * odd[i] & mask;
			line ^= line >> (bits / 2);
		}
	} while (line >= chase->lines);
	return (size_t)line;
}

static const void **chase_address_of(const struct chase *chase, size_t line)
{
	return (const void **)(void *)(chase->memory + chase->line * line);
}

void chase_build(struct chase *chase, char *memory, size_t bytes, size_t seed)
{
	const void **line;
	size_t turn;

	chase->memory = memory;
	chase->line = line_bytes();
	chase->lines = bytes / chase->line / CHASE_STEP * CHASE_STEP;
	chase->seed = seed;
	chase->loads = 0;
	chase->at = line = chase_address_of(chase, chase_line(chase, 0));
	for (turn = 1; turn < chase->lines; turn++) {
		const void **const next = chase_address_of(chase, chase_line(chase, turn));

		*line = next;
		line = next;
	}
	*line = chase->at;
}

NOINLINE void chase_walk(struct chase *chase, size_t loads)
{
	const void **at = chase->at;
	size_t i;

	for (i = 0; i < loads; i += CHASE_STEP) {
		at = (const void **)*at;
		at = (const void **)*at;
		at = (const void **)*at;
		at = (const void **)*at;
		at = (const void **)*at;
		at = (const void **)*at;
		at = (const void **)*at;
		at = (const void **)*at;
	}
	chase->at = at;
	chase->loads += loads;
}

int chase_is_right(const struct chase *chase)
{
	return chase->at ==
	       chase_address_of(chase, chase_line(chase, chase->loads % chase->lines));
}
