#include "arrays.h"

#include "error.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64 };

/* 2 MiB: the arrays can be given huge pages from their first byte. */
static const size_t ALIGNMENT = (size_t)2 << 20;

static size_t stride_bytes(size_t size, size_t offset)
{
	return ((size + offset) * sizeof(element) + LINE - 1) / LINE * LINE;
}

size_t arrays_bytes(size_t size, size_t offset)
{
	return ARRAYS * stride_bytes(size, offset);
}

void arrays_create(struct arrays *arrays, size_t size, size_t offset)
{
	const size_t bytes = arrays_bytes(size, offset);
	char *base = mmap(NULL, bytes + ALIGNMENT, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int k;

	if (base == MAP_FAILED)
		ask_again("ask for smaller arrays with '-n' or '-m'",
			  "no address space for arrays of '%zu' elements", size);
	base += ALIGNMENT - (uintptr_t)base % ALIGNMENT;
	for (k = 0; k < ARRAYS; k++)
		arrays->of[k] = (element *)(base + (size_t)k * stride_bytes(size, offset));
	arrays->size = size;
	arrays->offset = offset;
	arrays->scalar = 2;
}

element arrays_start_value(void)
{
	if (sizeof(element) == sizeof(float))
		return (element)(1.0 + 0x4A5A5 / 2097152.0);              /* 21 of 23 bits */
	return (element)(1.0 + (double)0x4B4B4B4B4B4BLL / 562949953421312.0); /* 49 of 52 */
}

void arrays_expect(element expected[ARRAYS], int iterations)
{
	const element s = 2;
	element a = arrays_start_value(), b = 2, c = 0;
	int i;

	for (i = (iterations - 1) / RESCALE_EVERY * RESCALE_EVERY; i < iterations; i++) {
		c = a;
		b = s * c;
		c = a + b;
		a = b + s * c;
	}
	expected[0] = a;
	expected[1] = b;
	expected[2] = c;
}
