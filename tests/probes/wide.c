/*
 * wide: the widest loops on this CPU, and the loops of dgemm's ceiling.
 *
 * Prints the bits of the vectors, how many of some working sets came out wrong, and each loop as
 * name:lanes:flops, after some turns of it.
 */
#include "../../src/harness/harness.c"

#include "../../src/dgemm/ceiling/loops.c"
#include "../../src/ladder/kernels.c"

static int is_wrong(enum kernel kernel, size_t bytes, size_t passes)
{
	char *const memory = map_memory(kernel_bytes_needed(bytes), PAGES_DEFAULT);
	uint64_t got;

	kernel_fill(kernel, memory, bytes);
	got = kernel_run(kernel, memory, bytes, passes);
	return !kernel_is_right(kernel, memory, bytes, passes, got);
}

int main(void)
{
	static const size_t bytes[] = { 512, 4096, 99 * 512, 1 << 20, (3 << 20) + 512 };
	const struct loop *const *list;
	int i, count, wrong = 0;

	for (i = 0; i < 5; i++) {
		wrong += is_wrong(KERNEL_READ, bytes[i], 1) + is_wrong(KERNEL_READ, bytes[i], 3);
		if (i)
			wrong += is_wrong(KERNEL_TRIAD, bytes[i], 2);
	}
	printf("%d %d", wide_bits(), wrong);
	list = loops(&count);
	for (i = 0; i < count; i++) {
		loop_run(list[i], 100);
		printf(" %s:%d:%d", list[i]->name, list[i]->lanes, list[i]->flops);
	}
	putchar('\n');
	return 0;
}
