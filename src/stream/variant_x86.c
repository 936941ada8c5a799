/* x86-64: SSE2, AVX2 and AVX-512F, whatever flags the file is compiled with. */
#include "variants.h"

#if defined(__x86_64__) && !defined(__MIC__) && ELEMENT_IS

#include "variant_family.h"

#include <immintrin.h>

/* icc takes every intrinsic everywhere; gcc and clang want the function marked. */
#if defined(__INTEL_COMPILER)
#define ATTRIBUTE_256
#define ATTRIBUTE_512
#else
#define ATTRIBUTE_256 __attribute__((target("avx2")))
#define ATTRIBUTE_512 __attribute__((target("avx512f")))
#endif
#define ATTRIBUTE_128

#if ELEMENT_IS == 8
#define SUFFIX(name) name##pd
#define VECTOR_128 __m128d
#define VECTOR_256 __m256d
#define VECTOR_512 __m512d
#else
#define SUFFIX(name) name##ps
#define VECTOR_128 __m128
#define VECTOR_256 __m256
#define VECTOR_512 __m512
#endif

#define BYTES_128 16
#define LOAD_128 SUFFIX(_mm_loadu_)
#define STORE_ordinary_128 SUFFIX(_mm_storeu_)
#define STORE_nt_128 SUFFIX(_mm_stream_)
#define ADD_128 SUFFIX(_mm_add_)
#define MUL_128 SUFFIX(_mm_mul_)
#define SPLAT_128 SUFFIX(_mm_set1_)

#define BYTES_256 32
#define LOAD_256 SUFFIX(_mm256_loadu_)
#define STORE_ordinary_256 SUFFIX(_mm256_storeu_)
#define STORE_nt_256 SUFFIX(_mm256_stream_)
#define ADD_256 SUFFIX(_mm256_add_)
#define MUL_256 SUFFIX(_mm256_mul_)
#define SPLAT_256 SUFFIX(_mm256_set1_)

#define BYTES_512 64
#define LOAD_512 SUFFIX(_mm512_loadu_)
#define STORE_ordinary_512 SUFFIX(_mm512_storeu_)
#define STORE_nt_512 SUFFIX(_mm512_stream_)
#define ADD_512 SUFFIX(_mm512_add_)
#define MUL_512 SUFFIX(_mm512_mul_)
#define SPLAT_512 SUFFIX(_mm512_set1_)

#define PREFETCH_nta(address) _mm_prefetch(address, _MM_HINT_NTA)
#define PREFETCH_t0(address) _mm_prefetch(address, _MM_HINT_T0)

/*
 * Not the whole product, whose 150 members take a compiler 5 s: whole lines of
 * each stream a turn (with less, no CPU was met that wins), nta for one stream
 * alone, and few with ordinary stores, which the compilers' own loops cover.
 */
#define EACH_NT(M)                      \
	EACH_PREFETCH(M, nt, 512, 1, 1) \
	M(nt, 512, 4, t0, 1)            \
	M(nt, 512, 1, none, 2)          \
	M(nt, 512, 1, t0, 2)            \
	M(nt, 512, 1, none, 4)          \
	M(nt, 512, 1, t0, 4)            \
	EACH_PREFETCH(M, nt, 256, 2, 1) \
	EACH_PREFETCH(M, nt, 256, 4, 1) \
	M(nt, 256, 2, none, 2)          \
	M(nt, 256, 2, t0, 2)            \
	M(nt, 256, 2, none, 4)          \
	M(nt, 256, 2, t0, 4)            \
	M(nt, 128, 4, none, 1)          \
	M(nt, 128, 4, t0, 1)            \
	M(nt, 128, 4, none, 2)          \
	M(nt, 128, 4, t0, 4)
#define EACH_ORDINARY(M)             \
	M(ordinary, 512, 1, none, 1) \
	M(ordinary, 512, 4, t0, 1)   \
	M(ordinary, 512, 1, t0, 2)   \
	M(ordinary, 256, 2, none, 1) \
	M(ordinary, 256, 4, t0, 1)   \
	M(ordinary, 256, 2, t0, 2)   \
	M(ordinary, 256, 2, t0, 4)   \
	M(ordinary, 128, 4, none, 1) \
	M(ordinary, 128, 4, t0, 1)   \
	M(ordinary, 128, 4, t0, 2)
#define EACH(M)    \
	EACH_NT(M) \
	EACH_ORDINARY(M)

EACH(FUNCTIONS)

static const struct member MEMBERS[] = { EACH(ROW) };

typedef SUMS_OF(16) SUMS_128;
typedef SUMS_OF(32) SUMS_256;
typedef SUMS_OF(64) SUMS_512;

#define LIMIT(M) \
	M(512)   \
	M(256)   \
	M(128)
#define LIMIT_FUNCTIONS(width)      \
	LIMIT_READ(width)           \
	LIMIT_FILL(ordinary, width) \
	LIMIT_FILL(nt, width)
#define LIMIT_ROW(width)      \
	{ WIDTH_##width,      \
	  LIMIT_STEP(width),  \
	  tuned_read_##width, \
	  { LIMIT_FILLED(ordinary, width), LIMIT_FILLED(nt, width) } },

LIMIT(LIMIT_FUNCTIONS)

static const struct limit_member LIMITS[] = { LIMIT(LIMIT_ROW) };

static void fence(void)
{
	_mm_sfence();
}

const struct family family_x86 = { MEMBERS, sizeof(MEMBERS) / sizeof(*MEMBERS), LIMITS,
				   sizeof(LIMITS) / sizeof(*LIMITS), fence };

#else

const struct family family_x86 = { NULL, 0, NULL, 0, NULL };

#endif
