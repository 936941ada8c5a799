#include "wide.h"

#include "../machine/cpu_width.h"
#include "../openmp.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__MIC__) && !defined(__INTEL_COMPILER)
/* Looked up once, by whichever threads come first: the instruction takes microseconds on a virtual
 * machine. */
static int wide_width(void)
{
	static int width;
	int known;

#pragma omp atomic read
	known = width;
	if (known)
		return known;
	known = cpu_width();
#pragma omp atomic write
	width = known;
	return known;
}

#define BITS 512
#define TARGET __attribute__((target("avx512f")))
#include "wide_of.h"
#define BITS 256
#define TARGET __attribute__((target("avx2")))
#include "wide_of.h"
#define WIDE(bits, wide, narrow) (wide_width() >= bits ? (wide) : (narrow))
#else
#define WIDE(bits, wide, narrow) (narrow)
#endif
#define BITS 128
#define TARGET
#include "wide_of.h"

#include "wide_sve.h"

int wide_bits(void)
{
	if (wide_sve())
		return 8 * (int)wide_sve();
	return WIDE(512, 512, WIDE(256, 256, 128));
}

uint64_t wide_read(const void *memory, size_t bytes, size_t passes)
{
	if (wide_sve())
		return wide_read_sve(memory, bytes, passes);
	return WIDE(512, wide_read_512, WIDE(256, wide_read_256, wide_read_128))(memory, bytes,
										 passes);
}

void wide_triad(void *a, const void *b, const void *c, size_t bytes, size_t passes)
{
	if (wide_sve()) {
		wide_triad_sve(a, b, c, bytes, passes);
		return;
	}
	WIDE(512, wide_triad_512, WIDE(256, wide_triad_256, wide_triad_128))(a, b, c, bytes,
									     passes);
}
