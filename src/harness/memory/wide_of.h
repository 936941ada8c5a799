/*
 * wide_of: read and Triad in vectors of BITS for TARGET; wide.c includes this once per
 * width.
 *
 * Eight sums, so that an addition of a cycle or two keeps no load waiting.  The two halves of much
 * memory are read side by side: in pages of 4 KiB one thread reads some 10 % more than by one
 * stream, as a prefetcher stops at the end of a page.  Of a few pages two streams read half as
 * fast as one.
 */
#if defined(__GNUC__) && !defined(__INTEL_COMPILER)
#define VECTOR __attribute__((vector_size(BITS / 8), may_alias))
/* The compiler must assume writes between two passes. */
#define NEXT_PASS() __asm__ volatile("" ::: "memory")
#else
#define VECTOR
#define NEXT_PASS() ((void)0)
#endif
#define JOIN(name, bits) name##_##bits
#define NAMED(name, bits) JOIN(name, bits)
#define WORDS NAMED(wide_words, BITS)
#define DOUBLES NAMED(wide_doubles, BITS)

typedef uint64_t WORDS VECTOR;
typedef double DOUBLES VECTOR;

static TARGET NOINLINE __attribute__((unused)) uint64_t NAMED(wide_read, BITS)(const char *memory,
									       size_t bytes,
									       size_t passes)
{
	const WORDS *const start = (const WORDS *)(const void *)memory, *v, *w;
	const size_t count = bytes / sizeof(WORDS), step = bytes < WIDE_HALVES ? 8 : 4;
	const WORDS *const end = start + count * step / 8;
	const WORDS zero = { 0 };
	WORDS s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero, s6 = zero,
	      s7 = zero;
	uint64_t words[sizeof(WORDS) / sizeof(uint64_t)], sum = 0;
	size_t i;

	for (; passes; passes--) {
		w = bytes < WIDE_HALVES ? start + 4 : end;
		for (v = start; v < end; v += step) {
			s0 += v[0];
			s1 += v[1];
			s2 += v[2];
			s3 += v[3];
			s4 += w[0];
			s5 += w[1];
			s6 += w[2];
			s7 += w[3];
			w += step;
		}
		NEXT_PASS();
	}
	s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
	memcpy(words, &s0, sizeof(s0));
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		sum += words[i];
	return sum;
}

static TARGET NOINLINE __attribute__((unused)) void
NAMED(wide_triad, BITS)(char *to, const char *from, const char *times_3, size_t bytes,
			size_t passes)
{
	DOUBLES *const a = (DOUBLES *)(void *)to;
	const DOUBLES *const b = (const DOUBLES *)(const void *)from;
	const DOUBLES *const c = (const DOUBLES *)(const void *)times_3;
	size_t i;

	for (; passes; passes--) {
		for (i = 0; i < bytes / sizeof(*a); i += 4) {
			const DOUBLES r0 = b[i] + 3.0 * c[i], r1 = b[i + 1] + 3.0 * c[i + 1];
			const DOUBLES r2 = b[i + 2] + 3.0 * c[i + 2],
				      r3 = b[i + 3] + 3.0 * c[i + 3];

			a[i] = r0;
			a[i + 1] = r1;
			a[i + 2] = r2;
			a[i + 3] = r3;
		}
		NEXT_PASS();
	}
}

#undef BITS
#undef TARGET
#undef VECTOR
#undef NEXT_PASS
#undef JOIN
#undef NAMED
#undef WORDS
#undef DOUBLES
