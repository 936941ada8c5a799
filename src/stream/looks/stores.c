#include "stores.h"

enum { STORES_BLOCK = 64 / sizeof(element) };

/* A loop over whole blocks: a in %0, on a border between blocks, up to %4, b in %1, c in %2, s in
 * all elements of what %3 points to. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__MIC__) && ELEMENT_IS
#if ELEMENT_IS == 8
#define STORES_OF(operation) operation "pd"
#else
#define STORES_OF(operation) operation "ps"
#endif
#define STORES_PART(move, at)                                                           \
	"movups " at "(%2), %%xmm0\n\t"                                                 \
	"movups " at "(%1), %%xmm1\n\t" STORES_OF("mul") " (%3), %%xmm0\n\t" STORES_OF( \
		"add") " %%xmm1, %%xmm0\n\t" move " %%xmm0, " at "(%0)\n\t"
#define STORES_LOOP(move)                                                               \
	"1:\n\t" STORES_PART(move, "0") STORES_PART(move, "16") STORES_PART(move, "32") \
		STORES_PART(move, "48") "add $64, %0\n\tadd $64, %1\n\tadd $64, %2\n\t" \
					"cmp %4, %0\n\tjb 1b"
#define STORES_ORDINARY STORES_LOOP("movups")
#define STORES_NT STORES_LOOP("movntps")
#define STORES_USED "xmm0", "xmm1", "memory", "cc"
#define STORES_FENCE "sfence"
#elif defined(__aarch64__) && defined(__GNUC__) && ELEMENT_IS
#if ELEMENT_IS == 8
#define STORES_FMLA(n, m) "fmla v" n ".2d, v" m ".2d, v4.2d\n\t"
#else
#define STORES_FMLA(n, m) "fmla v" n ".4s, v" m ".4s, v4.4s\n\t"
#endif
#define STORES_PART(move, at)                                                            \
	"ldp q0, q1, [%1, #" at "]\n\t"                                                  \
	"ldp q2, q3, [%2, #" at "]\n\t" STORES_FMLA("0", "2") STORES_FMLA("1", "3") move \
		" q0, q1, [%0, #" at "]\n\t"
#define STORES_LOOP(move)                                                               \
	"ldr q4, [%3]\n1:\n\t" STORES_PART(move, "0") STORES_PART(                      \
		move, "32") "add %0, %0, #64\n\tadd %1, %1, #64\n\tadd %2, %2, #64\n\t" \
			    "cmp %0, %4\n\tb.lo 1b"
#define STORES_ORDINARY STORES_LOOP("stp")
#define STORES_NT STORES_LOOP("stnp")
#define STORES_USED "v0", "v1", "v2", "v3", "v4", "memory", "cc"
#define STORES_FENCE "dmb ishst"
#endif

int stores_has(enum store store)
{
#ifdef STORES_NT
	return store < STORES;
#else
	return store == STORE_ordinary;
#endif
}

static void stores_plain(element *a, const element *b, const element *c, element s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = b[i] + s * c[i];
}

#ifdef STORES_NT
#define STORES_RUN(loop)                              \
	__asm__ volatile(loop                         \
			 : "+r"(to), "+r"(x), "+r"(y) \
			 : "r"(factor), "r"(a + end)  \
			 : STORES_USED)

NOINLINE void stores_triad(enum store store, element *a, const element *b, const element *c,
			   element s, size_t n)
{
	const size_t past = (size_t)a / sizeof(element) % STORES_BLOCK;
	const size_t most = past ? STORES_BLOCK - past : 0, i = most < n ? most : n;
	const size_t whole = (n - i) / STORES_BLOCK * STORES_BLOCK, end = i + whole;
	element *to = a + i, factor[16 / sizeof(element)] __attribute__((aligned(16)));
	const element *x = b + i, *y = c + i;
	size_t k;

	for (k = 0; k < sizeof(factor) / sizeof(*factor); k++)
		factor[k] = s;
	stores_plain(a, b, c, s, i);
	stores_plain(a + end, b + end, c + end, s, n - end);
#ifdef __AVX__ /* what the compiler left in the upper halves would slow these down */
	__asm__ volatile("vzeroupper"
			 :
			 :
			 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			   "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
	if (whole && store == STORE_nt)
		STORES_RUN(STORES_NT);
	else if (whole)
		STORES_RUN(STORES_ORDINARY);
	__asm__ volatile(STORES_FENCE : : : "memory");
}
#else
NOINLINE void stores_triad(enum store store, element *a, const element *b, const element *c,
			   element s, size_t n)
{
	(void)store;
	stores_plain(a, b, c, s, n);
}
#endif
