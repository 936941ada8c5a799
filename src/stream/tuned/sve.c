/*
 * aarch64: SVE, as wide as the CPU's registers, in assembly: not all compilers take SVE's types in
 * a program that is built for every Arm CPU.
 */
#include "variants.h"

#if defined(__aarch64__) && defined(__GNUC__) && __GNUC__ + 4 * defined(__clang__) >= 8 && \
	ELEMENT_IS

#include "isa_kernels.h"

/* Of elements: the letter of registers, of loads and stores; the binary logarithm of the size. */
#if ELEMENT_IS == 8
#define SVE_TYPE "d"
#define SVE_MEMORY "d"
#define SVE_LOG "3"
#else
#define SVE_TYPE "s"
#define SVE_MEMORY "w"
#define SVE_LOG "2"
#endif

#define BYTES_sve 256 /* the longest register that the architecture allows, in powers of two */
#define SVE_REGISTER(n) "z" #n "." SVE_TYPE
#define SVE_AT(array, turn) "[" array ", #" #turn ", mul vl]"
#define SVE_LOAD(array, turn, n) \
	ASM("ld1" SVE_MEMORY " {" SVE_REGISTER(n) "}, p0/z, " SVE_AT(array, turn))
#define SVE_MOVE_ordinary "st1"
#define SVE_MOVE_nt "stnt1"
#define SVE_STORE(store, turn, n) \
	ASM(SVE_MOVE_##store SVE_MEMORY " {" SVE_REGISTER(n) "}, p0, " SVE_AT("x0", turn))
/* register m = m op n */
#define SVE_OPERATE(op, n, m) ASM(op " " SVE_REGISTER(m) ", " SVE_REGISTER(m) ", " SVE_REGISTER(n))

#define COPY_SVE(store, width, stream, turn) SVE_LOAD("x1", turn, 1) SVE_STORE(store, turn, 1)
#define SCALE_SVE(store, width, stream, turn) \
	SVE_LOAD("x1", turn, 1) SVE_OPERATE("fmul", 31, 1) SVE_STORE(store, turn, 1)
#define ADD_SVE(store, width, stream, turn) \
	SVE_LOAD("x1", turn, 1)             \
	SVE_LOAD("x2", turn, 2) SVE_OPERATE("fadd", 2, 1) SVE_STORE(store, turn, 1)
#define TRIAD_SVE(store, width, stream, turn) \
	SVE_LOAD("x2", turn, 2)               \
	SVE_OPERATE("fmul", 31, 2)            \
	SVE_LOAD("x1", turn, 1) SVE_OPERATE("fadd", 2, 1) SVE_STORE(store, turn, 1)

/* A register's lines. */
#define SVE_FETCH_none(array, turn)
#define SVE_FETCH_nta(array, turn) ASM("prfd pldl1strm, p0, " SVE_AT(array, turn))
#define SVE_FETCH_t0(array, turn) ASM("prfd pldl1keep, p0, " SVE_AT(array, turn))
#define SVE_FETCH_X(prefetch, width, stream, turn) SVE_FETCH_##prefetch("x6", turn)
#define SVE_FETCH_Y(prefetch, width, stream, turn) SVE_FETCH_##prefetch("x7", turn)
#define SVE_FETCHES_1(unroll, prefetch) REPEAT_##unroll(SVE_FETCH_X, prefetch, sve, 0)
#define SVE_FETCHES_2(unroll, prefetch) \
	SVE_FETCHES_1(unroll, prefetch) REPEAT_##unroll(SVE_FETCH_Y, prefetch, sve, 0)

#define SVE_NEXT(array, unroll) ASM("addvl " array ", " array ", #" #unroll)

/* The calling convention brings out in x0, x in x1, y in x2, s in z0, part in x3, ahead in x4; x5
 * is out's end, x6 and x7 are what is `ahead` of x and of y. Not local: with -flto only the linker
 * sees its callers. hint 34: bti c. */
/* clang-format off */
#define FUNCTION_SVE(name, ONE, reads, store, width, unroll, prefetch, streams)         \
	ASM(".pushsection .text")                                                       \
	ASM(".arch_extension sve")                                                      \
	ASM(".globl " name)                                                             \
	ASM(".hidden " name)                                                            \
	ASM(".type " name ", %function")                                                \
	ASM(".p2align 5")                                                               \
	ASM(name ":")                                                                   \
	ASM(".cfi_startproc")                                                           \
	ASM("hint #34")                                                                 \
	ASM("ptrue p0." SVE_TYPE)                                                       \
	ASM("dup z31." SVE_TYPE ", z0." SVE_TYPE "[0]")                                 \
	ASM("add x5, x0, x3, lsl #" SVE_LOG)                                            \
	ASM("add x6, x1, x4")                                                           \
	ASM("add x7, x2, x4")                                                           \
	ASM("b 2f")                                                                     \
	ASM("1:")                                                                       \
	SVE_FETCHES_##reads(unroll, prefetch)                                           \
	REPEAT_##unroll(ONE, store, sve, 0)                                             \
	SVE_NEXT("x0", unroll) SVE_NEXT("x1", unroll)                                   \
	SVE_NEXT("x2", unroll) SVE_NEXT("x6", unroll)                                   \
	SVE_NEXT("x7", unroll)                                                          \
	ASM("2:")                                                                       \
	ASM("cmp x0, x5")                                                               \
	ASM("b.lo 1b")                                                                  \
	ASM("ret")                                                                      \
	ASM(".cfi_endproc")                                                             \
	ASM(".size " name ", .-" name)                                                  \
	ASM(".popsection")
/* clang-format on */

#define ASSEMBLED_SVE(store, width, unroll, prefetch, streams) \
	ASSEMBLED_KERNELS(SVE, store, width, unroll, prefetch, streams)

/* One stream alone: an address of SVE is a register and registers' lengths. */
#define EACH_SVE(M)                           \
	EACH_PREFETCH(M, nt, sve, 4, 1)       \
	M(nt, sve, 1, none, 1)                \
	EACH_PREFETCH(M, ordinary, sve, 4, 1) \
	M(ordinary, sve, 1, none, 1)

EACH_SVE(ASSEMBLED_SVE)

static const struct tuned_kernel SVE_KERNELS[] = { EACH_SVE(ROW) };

/* NEON's fence is that of all stores. */
const struct isa_kernels isa_sve = { SVE_KERNELS, sizeof(SVE_KERNELS) / sizeof(*SVE_KERNELS),
				     NULL };

#else

const struct isa_kernels isa_sve = { NULL, 0, NULL };

#endif
