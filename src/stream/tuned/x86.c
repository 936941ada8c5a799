/*
 * x86-64: SSE2, AVX2 and AVX-512F, in assembly: the tuned kernels are the same
 * instructions whatever compiler and flags the rest is built with, and cost a
 * compiler nothing.
 */
#include "variants.h"

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(__MIC__) && ELEMENT_IS

#include "isa_kernels.h"

/* "pd" and "ps" end the names of instructions; the binary logarithm of an element's size. */
#if ELEMENT_IS == 8
#define TYPE "d"
#define SIZE_LOG "3"
#define SPLAT_SSE "unpcklpd %xmm0, %xmm0"
#else
#define TYPE "s"
#define SIZE_LOG "2"
#define SPLAT_SSE "shufps $0, %xmm0, %xmm0"
#endif

/* Registers of a width; AVX's instructions begin with a v, name where the result goes, and want
 * the upper halves cleared behind them. */
#define BYTES_128 16
#define BYTES_256 32
#define BYTES_512 64
#define REGISTER_128(n) "%xmm" #n
#define REGISTER_256(n) "%ymm" #n
#define REGISTER_512(n) "%zmm" #n
#define V_128
#define V_256 "v"
#define V_512 "v"
#define RESULT_128(n)
#define RESULT_256(n) ", %ymm" #n
#define RESULT_512(n) ", %zmm" #n
#define SPLAT_128 ASM(SPLAT_SSE)
#define SPLAT_256 ASM("vbroadcasts" TYPE " %xmm0, %ymm0")
#define SPLAT_512 ASM("vbroadcasts" TYPE " %xmm0, %zmm0")
#define CLEAR_128
#define CLEAR_256 ASM("vzeroupper")
#define CLEAR_512 ASM("vzeroupper")

/*
 * The calling convention brings out in rdi, x in rsi, y in rdx, s in xmm0, part
 * in rcx, ahead in r8.  Further: rcx in bytes, r9 three parts, rax the end of
 * out's first part, r10 and r11 what is `ahead` of x and of y.
 */
#define OUT "rdi"
#define X "rsi"
#define Y "rdx"
#define AHEAD_OF_X "r10"
#define AHEAD_OF_Y "r11"
#define STREAM_AT_0(array) "(%" array ")"
#define STREAM_AT_1(array) "(%" array ",%rcx)"
#define STREAM_AT_2(array) "(%" array ",%rcx,2)"
#define STREAM_AT_3(array) "(%" array ",%r9)"
#define VECTOR_AT(array, width, stream, turn) \
	#turn "*" TEXT(BYTES_##width) STREAM_AT_##stream(array)

#define LOAD(array, width, stream, turn, n) \
	ASM(V_##width "movup" TYPE          \
		      " " VECTOR_AT(array, width, stream, turn) ", " REGISTER_##width(n))
/* register m = m op n */
#define OPERATE(op, width, n, m)                                                   \
	ASM(V_##width op "p" TYPE " " REGISTER_##width(n) ", " REGISTER_##width(m) \
		    RESULT_##width(m))
#define MOVE_ordinary "movup"
#define MOVE_nt "movntp"
#define STORE(store, width, stream, turn, n) \
	ASM(V_##width MOVE_##store TYPE      \
	    " " REGISTER_##width(n) ", " VECTOR_AT(OUT, width, stream, turn))

#define COPY_X86(store, width, stream, turn) \
	LOAD(X, width, stream, turn, 1) STORE(store, width, stream, turn, 1)
#define SCALE_X86(store, width, stream, turn) \
	LOAD(X, width, stream, turn, 1)       \
	OPERATE("mul", width, 0, 1) STORE(store, width, stream, turn, 1)
#define ADD_X86(store, width, stream, turn) \
	LOAD(X, width, stream, turn, 1)     \
	LOAD(Y, width, stream, turn, 2)     \
	OPERATE("add", width, 2, 1) STORE(store, width, stream, turn, 1)
#define TRIAD_X86(store, width, stream, turn) \
	LOAD(Y, width, stream, turn, 2)       \
	OPERATE("mul", width, 0, 2)           \
	LOAD(X, width, stream, turn, 1)       \
	OPERATE("add", width, 2, 1) STORE(store, width, stream, turn, 1)

/* Once a line of 64 bytes, where it begins. */
#define FETCH(instruction, array, width, stream, turn)     \
	ASM(".if " #turn "*" TEXT(BYTES_##width) "%64==0") \
	ASM(instruction " " VECTOR_AT(array, width, stream, turn)) ASM(".endif")
#define FETCH_none(array, width, stream, turn)
#define FETCH_nta(array, width, stream, turn) FETCH("prefetchnta", array, width, stream, turn)
#define FETCH_t0(array, width, stream, turn) FETCH("prefetcht0", array, width, stream, turn)
#define FETCH_X(prefetch, width, stream, turn) FETCH_##prefetch(AHEAD_OF_X, width, stream, turn)
#define FETCH_Y(prefetch, width, stream, turn) FETCH_##prefetch(AHEAD_OF_Y, width, stream, turn)
#define FETCHES(unroll, prefetch, streams, width, FETCH_ARRAY) \
	STREAM_##streams(REPEAT_##unroll, FETCH_ARRAY, prefetch, width)

#define ADVANCE(width, unroll, array) ASM("add $" #unroll "*" TEXT(BYTES_##width) ", %" array)

/* What one and what two arrays read ask of a turn of the loop. */
#define FETCHES_1(unroll, prefetch, streams, width) \
	FETCHES(unroll, prefetch, streams, width, FETCH_X)
#define FETCHES_2(unroll, prefetch, streams, width) \
	FETCHES_1(unroll, prefetch, streams, width) \
	FETCHES(unroll, prefetch, streams, width, FETCH_Y)
#define ADVANCE_1(width, unroll)    \
	ADVANCE(width, unroll, OUT) \
	ADVANCE(width, unroll, X)   \
	ADVANCE(width, unroll, AHEAD_OF_X)
#define ADVANCE_2(width, unroll)  \
	ADVANCE_1(width, unroll)  \
	ADVANCE(width, unroll, Y) \
	ADVANCE(width, unroll, AHEAD_OF_Y)

/* Where the compiler marks what may be jumped to, so must this. */
#if defined(__CET__) && (__CET__ & 1)
#define LANDING ASM("endbr64")
#else
#define LANDING
#endif

/* An instruction a line. */
/* clang-format off */

/* Not local: with -flto only the linker sees its callers. */
#define PROLOGUE(name)                   \
	ASM(".pushsection .text")        \
	ASM(".globl " name)              \
	ASM(".hidden " name)             \
	ASM(".type " name ", @function") \
	ASM(".p2align 5")                \
	ASM(name ":")                    \
	ASM(".cfi_startproc")            \
	LANDING
#define EPILOGUE(name)                 \
	ASM("ret")                     \
	ASM(".cfi_endproc")            \
	ASM(".size " name ", .-" name) \
	ASM(".popsection")

#define FUNCTION_X86(name, ONE, reads, store, width, unroll, prefetch, streams) \
	PROLOGUE(name)                                                         \
	SPLAT_##width                                                          \
	ASM("shl $" SIZE_LOG ", %rcx")                                         \
	ASM("lea (%rcx,%rcx,2), %r9")                                          \
	ASM("lea (%rdi,%rcx), %rax")                                           \
	ASM("lea (%rsi,%r8), %r10")                                            \
	ASM("lea (%rdx,%r8), %r11")                                            \
	ASM("jmp 2f")                                                          \
	ASM(".p2align 5")                                                      \
	ASM("1:")                                                              \
	FETCHES_##reads(unroll, prefetch, streams, width)                      \
	STREAM_##streams(REPEAT_##unroll, ONE, store, width)                   \
	ADVANCE_##reads(width, unroll)                                         \
	ASM("2:")                                                              \
	ASM("cmp %rax, %rdi")                                                  \
	ASM("jb 1b")                                                           \
	CLEAR_##width                                                          \
	EPILOGUE(name)

/* clang-format on */

#define ASSEMBLED_X86(store, width, unroll, prefetch, streams) \
	ASSEMBLED_KERNELS(X86, store, width, unroll, prefetch, streams)

/*
 * Not the whole product of 150 members: whole lines of each stream a turn (with
 * less, no CPU was met that wins), nta for one stream alone, and few with
 * ordinary stores, which the compilers' own loops cover.
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
#define EACH_X86(M) \
	EACH_NT(M)  \
	EACH_ORDINARY(M)

EACH_X86(ASSEMBLED_X86)

static const struct tuned_kernel X86_KERNELS[] = { EACH_X86(ROW) };

static void x86_fence(void)
{
	__asm__ volatile("sfence" : : : "memory");
}

const struct isa_kernels isa_x86 = { X86_KERNELS, sizeof(X86_KERNELS) / sizeof(*X86_KERNELS),
				     x86_fence };

#else

const struct isa_kernels isa_x86 = { NULL, 0, NULL };

#endif
