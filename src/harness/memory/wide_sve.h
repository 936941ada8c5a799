/*
 * wide_sve: the loops of wide_of.h in SVE, for wide.c alone.  In assembly, as not all compilers
 * take SVE's types in a program that is built for every Arm CPU.
 *
 * Registers of 32 and 64 bytes: one of 16 is NEON's, and the loops' steps are no multiple of more.
 */
#if defined(__aarch64__) && defined(__GNUC__) && __GNUC__ + 4 * defined(__clang__) >= 8

/* v8 to v15 belong to the caller; hint 34: bti c. */
/* clang-format off */
#define WIDE_ASM(text) text "\n"
#define WIDE_SVE(name, body)                           \
	__asm__(WIDE_ASM(".pushsection .text")         \
		WIDE_ASM(".arch_extension sve")        \
		WIDE_ASM(".globl " #name)              \
		WIDE_ASM(".hidden " #name)             \
		WIDE_ASM(".type " #name ", %function") \
		WIDE_ASM(".p2align 4")                 \
		WIDE_ASM(#name ":")                    \
		WIDE_ASM(".cfi_startproc")             \
		WIDE_ASM("hint #34")                   \
		WIDE_ASM("ptrue p0.d")                 \
		body                                   \
		WIDE_ASM("ret")                        \
		WIDE_ASM(".cfi_endproc")               \
		WIDE_ASM(".size " #name ", .-" #name)  \
		WIDE_ASM(".popsection"))
#define WIDE_LOAD(n, from, place) \
	WIDE_ASM("ld1d {z" #n ".d}, p0/z, [" #from ", #" #place ", mul vl]")
#define WIDE_STORE(n, to, place) \
	WIDE_ASM("st1d {z" #n ".d}, p0, [" #to ", #" #place ", mul vl]")
#define WIDE_ZERO(n) WIDE_ASM("dup z" #n ".d, #0")
#define WIDE_ADD(n, m) WIDE_ASM("add z" #n ".d, z" #n ".d, z" #m ".d")
#define WIDE_FMLA(n, m) WIDE_ASM("fmla z" #n ".d, p0/m, z" #m ".d, z31.d")
#define WIDE_NEXT_PASS WIDE_ASM("subs x4, x4, #1") WIDE_ASM("b.ne 1b")

/* x5 from V to END and x6 from W in steps of STEP bytes, four registers at each. */
uint64_t membw_wide_read_sve(const char *v, const char *w, const char *end, size_t step,
			     size_t passes) __attribute__((visibility("hidden")));
WIDE_SVE(membw_wide_read_sve,
	WIDE_ZERO(0) WIDE_ZERO(1) WIDE_ZERO(2) WIDE_ZERO(3)
	WIDE_ZERO(4) WIDE_ZERO(5) WIDE_ZERO(6) WIDE_ZERO(7)
	WIDE_ASM("1: mov x5, x0")
	WIDE_ASM("mov x6, x1")
	WIDE_ASM("2:")
	WIDE_LOAD(16, x5, 0) WIDE_LOAD(17, x5, 1) WIDE_LOAD(18, x5, 2) WIDE_LOAD(19, x5, 3)
	WIDE_LOAD(20, x6, 0) WIDE_LOAD(21, x6, 1) WIDE_LOAD(22, x6, 2) WIDE_LOAD(23, x6, 3)
	WIDE_ADD(0, 16) WIDE_ADD(1, 17) WIDE_ADD(2, 18) WIDE_ADD(3, 19)
	WIDE_ADD(4, 20) WIDE_ADD(5, 21) WIDE_ADD(6, 22) WIDE_ADD(7, 23)
	WIDE_ASM("add x5, x5, x3")
	WIDE_ASM("add x6, x6, x3")
	WIDE_ASM("cmp x5, x2")
	WIDE_ASM("b.lo 2b")
	WIDE_NEXT_PASS
	WIDE_ADD(0, 1) WIDE_ADD(2, 3) WIDE_ADD(4, 5) WIDE_ADD(6, 7)
	WIDE_ADD(0, 2) WIDE_ADD(4, 6) WIDE_ADD(0, 4)
	WIDE_ASM("uaddv d0, p0, z0.d")
	WIDE_ASM("fmov x0, d0"));

void membw_wide_triad_sve(char *a, const char *b, const char *c, size_t bytes, size_t passes)
	__attribute__((visibility("hidden")));
WIDE_SVE(membw_wide_triad_sve,
	WIDE_ASM("fdup z31.d, #3.0")
	WIDE_ASM("1: mov x5, x0")
	WIDE_ASM("mov x6, x1")
	WIDE_ASM("mov x7, x2")
	WIDE_ASM("add x8, x0, x3")
	WIDE_ASM("2:")
	WIDE_LOAD(0, x6, 0) WIDE_LOAD(1, x6, 1) WIDE_LOAD(2, x6, 2) WIDE_LOAD(3, x6, 3)
	WIDE_LOAD(4, x7, 0) WIDE_LOAD(5, x7, 1) WIDE_LOAD(6, x7, 2) WIDE_LOAD(7, x7, 3)
	WIDE_FMLA(0, 4) WIDE_FMLA(1, 5) WIDE_FMLA(2, 6) WIDE_FMLA(3, 7)
	WIDE_STORE(0, x5, 0) WIDE_STORE(1, x5, 1) WIDE_STORE(2, x5, 2) WIDE_STORE(3, x5, 3)
	WIDE_ASM("addvl x5, x5, #4")
	WIDE_ASM("addvl x6, x6, #4")
	WIDE_ASM("addvl x7, x7, #4")
	WIDE_ASM("cmp x5, x8")
	WIDE_ASM("b.lo 2b")
	WIDE_NEXT_PASS);
/* clang-format on */

/* Bytes of the registers, 0: not these loops. */
static size_t wide_sve(void)
{
	static int bytes = -1;

	if (bytes < 0)
		bytes = cpu_sve_bytes();
	return bytes == 32 || bytes == 64 ? (size_t)bytes : 0;
}

static __attribute__((unused)) uint64_t wide_read_sve(const char *memory, size_t bytes,
						      size_t passes)
{
	const size_t at_once = wide_sve() * (bytes < WIDE_HALVES ? 8 : 4);
	const char *const end = memory + (bytes < WIDE_HALVES ? bytes : bytes / 2);
	const char *const other = bytes < WIDE_HALVES ? memory + at_once / 2 : end;

	return bytes && passes ? membw_wide_read_sve(memory, other, end, at_once, passes) : 0;
}

static __attribute__((unused)) void wide_triad_sve(char *a, const char *b, const char *c,
						   size_t bytes, size_t passes)
{
	if (bytes && passes)
		membw_wide_triad_sve(a, b, c, bytes, passes);
}

#else
#define wide_sve() ((size_t)0)
#define wide_read_sve(memory, bytes, passes) ((uint64_t)0)
#define wide_triad_sve(a, b, c, bytes, passes) ((void)0)
#endif
