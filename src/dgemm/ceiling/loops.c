#include "loops.h"

#include "../../harness/machine/cpu_width.h"

/* Parallel chains: as many as hide a latency of 4 or 5 cycles at two per cycle (Arm: 4
 * at four). */
enum {
	LOOPS_MAX = 8,
	LANES_MAX = 8,
	NUMBERS = 32 * LANES_MAX,
	A_AT = NUMBERS,
	B_AT = NUMBERS + LANES_MAX
};

/* What the registers begin with, one after the other, as wide as they are; a and b are behind
 * them. */
static double loop_numbers[NUMBERS + 2 * LANES_MAX];

/* x = a x + b swings around b / 2, and decays in 2^40 steps. */
static void loop_numbers_start(void)
{
	int i;

	for (i = 0; i < NUMBERS; i++)
		loop_numbers[i] = 1 + i / 37.0;
	for (i = 0; i < LANES_MAX; i++) {
		loop_numbers[A_AT + i] = -(1 - 1 / 1099511627776.0);
		loop_numbers[B_AT + i] = 0.34567890123456789;
	}
}

#define EACH_7(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6)
#define EACH_12(M) EACH_7(M) M(7) M(8) M(9) M(10) M(11)
#define EACH_24(M) \
	EACH_12(M) \
	M(12) M(13) M(14) M(15) M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23)

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(__MIC__)

#define LOOP_ASM(text) text "\n"

/* Where the compiler marks what may be jumped to, so must this. */
#if defined(__CET__) && (__CET__ & 1)
#define LOOP_LANDING LOOP_ASM("endbr64")
#else
#define LOOP_LANDING
#endif

/*
 * In assembly, a function each: the same instructions whatever compiler and flags the rest is
 * built with.  The calling convention brings turns in rdi, the numbers in rsi; a and b lie 2048
 * and 2112 bytes behind them.
 */
/* clang-format off */
#define LOOP_X86(name, load, body, clear)             \
	void name(long turns, const double *numbers)  \
		__attribute__((visibility("hidden"))); \
	__asm__(LOOP_ASM(".pushsection .text")         \
		LOOP_ASM(".globl " #name)              \
		LOOP_ASM(".hidden " #name)             \
		LOOP_ASM(".type " #name ", @function") \
		LOOP_ASM(".p2align 5")                 \
		LOOP_ASM(#name ":")                    \
		LOOP_ASM(".cfi_startproc")             \
		LOOP_LANDING                           \
		load                                   \
		LOOP_ASM(".p2align 5")                 \
		LOOP_ASM("1:")                         \
		body                                   \
		LOOP_ASM("dec %rdi")                   \
		LOOP_ASM("jnz 1b")                     \
		LOOP_ASM(clear)                        \
		LOOP_ASM("ret")                        \
		LOOP_ASM(".cfi_endproc")               \
		LOOP_ASM(".size " #name ", .-" #name)  \
		LOOP_ASM(".popsection"));
/* clang-format on */

#define LOAD_ZMM(n) LOOP_ASM("vmovupd " #n "*64(%rsi), %zmm" #n)
#define LOAD_YMM(n) LOOP_ASM("vmovupd " #n "*32(%rsi), %ymm" #n)
#define LOAD_XMM(n) LOOP_ASM("movupd " #n "*16(%rsi), %xmm" #n)
#define LOAD_ZMM_AB LOOP_ASM("vmovupd 2048(%rsi), %zmm24") LOOP_ASM("vmovupd 2112(%rsi), %zmm25")
#define LOAD_YMM_AB LOOP_ASM("vmovupd 2048(%rsi), %ymm14") LOOP_ASM("vmovupd 2112(%rsi), %ymm15")
#define LOAD_XMM_AB LOOP_ASM("movupd 2048(%rsi), %xmm14") LOOP_ASM("movupd 2112(%rsi), %xmm15")

#define FMA_ZMM(n) LOOP_ASM("vfmadd213pd %zmm25, %zmm24, %zmm" #n)
#define FMA_YMM(n) LOOP_ASM("vfmadd213pd %ymm15, %ymm14, %ymm" #n)
/* Without FMA: products and sums, one of each per cycle. */
#define MUL_YMM(n) LOOP_ASM("vmulpd %ymm14, %ymm" #n ", %ymm" #n)
#define ADD_YMM(n) LOOP_ASM("vaddpd %ymm15, %ymm" #n ", %ymm" #n)
#define MUL_XMM(n) LOOP_ASM("mulpd %xmm14, %xmm" #n)
#define ADD_XMM(n) LOOP_ASM("addpd %xmm15, %xmm" #n)
#define PAIRS(MUL, ADD) \
	MUL(0)          \
	ADD(7)          \
	MUL(1)          \
	ADD(8) MUL(2) ADD(9) MUL(3) ADD(10) MUL(4) ADD(11) MUL(5) ADD(12) MUL(6) ADD(13)

LOOP_X86(dgemm_loop_avx512, EACH_24(LOAD_ZMM) LOAD_ZMM_AB, EACH_24(FMA_ZMM), "vzeroupper")
LOOP_X86(dgemm_loop_avx2, EACH_12(LOAD_YMM) LOAD_YMM_AB, EACH_12(FMA_YMM), "vzeroupper")
LOOP_X86(dgemm_loop_avx, EACH_12(LOAD_YMM) LOAD_YMM(12) LOAD_YMM(13) LOAD_YMM_AB,
	 PAIRS(MUL_YMM, ADD_YMM), "vzeroupper")
LOOP_X86(dgemm_loop_sse2, EACH_12(LOAD_XMM) LOAD_XMM(12) LOAD_XMM(13) LOAD_XMM_AB,
	 PAIRS(MUL_XMM, ADD_XMM), "")

static const struct loop LOOP_AVX512 = { "avx512", 8, 24 * 8 * 2, dgemm_loop_avx512 };
static const struct loop LOOP_AVX2 = { "avx2", 4, 12 * 4 * 2, dgemm_loop_avx2 };
static const struct loop LOOP_AVX = { "avx", 4, 14 * 4, dgemm_loop_avx };
static const struct loop LOOP_SSE2 = { "sse2", 2, 14 * 2, dgemm_loop_sse2 };

static int loops_of_this_cpu(const struct loop **list)
{
	const int width = cpu_width();
	int count = 0;

	if (width >= 512)
		list[count++] = &LOOP_AVX512;
	if (width >= 256)
		list[count++] = &LOOP_AVX2;
	else if (cpu_has_avx())
		list[count++] = &LOOP_AVX;
	list[count++] = &LOOP_SSE2;
	return count;
}

#elif defined(__aarch64__) && defined(__GNUC__)

/* v8 to v15 belong to the caller. */
#define EACH_NEON(M) \
	EACH_7(M)    \
	M(7)         \
	M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29)
#define LOAD_NEON(n) "ldr q" #n ", [%1, #" #n "*16]\n\t"
#define FMLA_NEON(n) "fmla v" #n ".2d, v30.2d, v31.2d\n\t"
#define FMLS_NEON(n) "fmls v" #n ".2d, v30.2d, v31.2d\n\t"
#define SPOILT_NEON(n) "v" #n,

static NOINLINE void run_neon(long turns, const double *numbers)
{
	__asm__ volatile(EACH_NEON(LOAD_NEON) "ldr q30, [%1, #2048]\n\t"
					      "ldr q31, [%1, #2112]\n\t"
					      "1:\n\t" EACH_NEON(FMLA_NEON)
						      EACH_NEON(FMLS_NEON) "subs %0, %0, #1\n\t"
									   "b.ne 1b"
			 : "+r"(turns)
			 : "r"(numbers)
			 : EACH_NEON(SPOILT_NEON) "v30", "v31", "cc", "memory");
}

static const struct loop LOOP_NEON = { "neon", 2, 2 * 22 * 2 * 2, run_neon };

#if __GNUC__ + 4 * defined(__clang__) >= 8
/* Assembly as above; each register begins with one number in all of its lanes.  hint 34: bti c. */
#define LOOP_ASM(text) text "\n"
#define LOAD_SVE(n) LOOP_ASM("ld1rd {z" #n ".d}, p0/z, [x1, #" #n "*8]")
#define FMLA_SVE(n) LOOP_ASM("fmla z" #n ".d, p0/m, z30.d, z31.d")
#define FMLS_SVE(n) LOOP_ASM("fmls z" #n ".d, p0/m, z30.d, z31.d")

void dgemm_loop_sve(long turns, const double *numbers) __attribute__((visibility("hidden")));
/* clang-format off */
__asm__(LOOP_ASM(".pushsection .text")
	LOOP_ASM(".arch_extension sve")
	LOOP_ASM(".globl dgemm_loop_sve")
	LOOP_ASM(".hidden dgemm_loop_sve")
	LOOP_ASM(".type dgemm_loop_sve, %function")
	LOOP_ASM(".p2align 5")
	LOOP_ASM("dgemm_loop_sve:")
	LOOP_ASM(".cfi_startproc")
	LOOP_ASM("hint #34")
	LOOP_ASM("ptrue p0.d")
	EACH_NEON(LOAD_SVE)
	LOOP_ASM("add x1, x1, #2048")
	LOOP_ASM("ld1rd {z30.d}, p0/z, [x1]")
	LOOP_ASM("ld1rd {z31.d}, p0/z, [x1, #64]")
	LOOP_ASM(".p2align 5")
	LOOP_ASM("1:")
	EACH_NEON(FMLA_SVE)
	EACH_NEON(FMLS_SVE)
	LOOP_ASM("subs x0, x0, #1")
	LOOP_ASM("b.ne 1b")
	LOOP_ASM("ret")
	LOOP_ASM(".cfi_endproc")
	LOOP_ASM(".size dgemm_loop_sve, .-dgemm_loop_sve")
	LOOP_ASM(".popsection"));
/* clang-format on */

/* Registers as wide as NEON's are no faster. */
static int loop_add_sve(const struct loop **list)
{
	static struct loop sve = { "sve", 0, 0, dgemm_loop_sve };

	sve.lanes = cpu_sve_bytes() / (int)sizeof(double);
	sve.flops = 2 * 22 * sve.lanes * 2;
	list[0] = &sve;
	return sve.lanes > LOOP_NEON.lanes;
}
#else
static int loop_add_sve(const struct loop **list)
{
	(void)list;
	return 0;
}
#endif

static int loops_of_this_cpu(const struct loop **list)
{
	const int count = loop_add_sve(list);

	list[count] = &LOOP_NEON;
	return count + 1;
}

#else

static int loops_of_this_cpu(const struct loop **list)
{
	(void)list;
	return 0;
}

#endif

/* What the compiler makes of it; never faster than the loops for this CPU. */
static NOINLINE void run_portable(long turns, const double *numbers)
{
	enum { CHAINS = 64 };
	volatile double sink; /* of this thread */
	const double a = numbers[A_AT], b = numbers[B_AT];
	double x[CHAINS], sum = 0;
	int i;

	for (i = 0; i < CHAINS; i++)
		x[i] = numbers[i];
	for (; turns > 0; turns--)
		for (i = 0; i < CHAINS; i++)
			x[i] = a * x[i] + b;
	for (i = 0; i < CHAINS; i++)
		sum += x[i];
	sink = sum;
	(void)sink;
}

static const struct loop LOOP_PORTABLE = { "portable", 1, 64 * 2, run_portable };

const struct loop *const *loops(int *count)
{
	static const struct loop *list[LOOPS_MAX];

	loop_numbers_start();
	*count = loops_of_this_cpu(list);
	list[(*count)++] = &LOOP_PORTABLE;
	return list;
}

void loop_run(const struct loop *loop, long turns)
{
	loop->run(turns, loop_numbers);
}
