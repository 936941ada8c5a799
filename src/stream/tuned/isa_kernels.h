/*
 * isa_kernels: the tuned kernels of one instruction set, by macros.
 *
 * The file that includes this one says, for each width W, how to do the
 * elementary things: VECTOR_W a type, BYTES_W its size, LOAD_W(from),
 * STORE_ordinary_W(to, v), STORE_nt_W(to, v), ADD_W, MUL_W, SPLAT_W(s), and
 * ATTRIBUTE_W for functions of that width; PREFETCH_nta and PREFETCH_t0.  Then
 * EACH(FUNCTIONS) defines the kernels and EACH(ROW) is their table, where
 * EACH(M) is the list of M(store, width, unroll, prefetch, streams) that the
 * file chose.  To add a variant is to add a line to that list.  (x86-64 and SVE
 * have their functions in assembly: ASSEMBLED_KERNELS.)
 *
 * Each row is four functions of its own name, as tuned_triad_nt_256_u4_t0_s2,
 * never inlined, that work on whole steps alone: `unroll` vectors of each of
 * `streams` parts, which lie `part` elements one behind the other.
 */
#pragma once

#include "variants.h"

#define EACH_PREFETCH(M, store, width, unroll, streams) \
	M(store, width, unroll, none, streams)          \
	M(store, width, unroll, nta, streams)           \
	M(store, width, unroll, t0, streams)

#define REPEAT_1(M, x, y, z) M(x, y, z, 0)
#define REPEAT_2(M, x, y, z) REPEAT_1(M, x, y, z) M(x, y, z, 1)
#define REPEAT_4(M, x, y, z) REPEAT_2(M, x, y, z) M(x, y, z, 2) M(x, y, z, 3)
#define REPEAT_8(M, x, y, z) \
	REPEAT_4(M, x, y, z) M(x, y, z, 4) M(x, y, z, 5) M(x, y, z, 6) M(x, y, z, 7)
#define STREAM_1(R, M, x, y) R(M, x, y, 0)
#define STREAM_2(R, M, x, y) STREAM_1(R, M, x, y) R(M, x, y, 1)
#define STREAM_4(R, M, x, y) STREAM_2(R, M, x, y) R(M, x, y, 2) R(M, x, y, 3)

#define LANES(width) (BYTES_##width / sizeof(element))
#define AT(width, stream, turn) (i + (stream) * part + (turn) * LANES(width))

/* Once a line of 64 bytes, where it begins. */
#define PREFETCH_none(address) (void)(address)
#define PREFETCH_ONE(prefetch, in, width, stream, turn) \
	if ((turn) * BYTES_##width % 64 == 0)           \
		PREFETCH_##prefetch((const char *)((in) + AT(width, stream, turn)) + ahead);
#define PREFETCH_X(prefetch, width, stream, turn) PREFETCH_ONE(prefetch, x, width, stream, turn)
#define PREFETCH_Y(prefetch, width, stream, turn) PREFETCH_ONE(prefetch, y, width, stream, turn)

#define X_OF(width, stream, turn) LOAD_##width(x + AT(width, stream, turn))
#define Y_OF(width, stream, turn) LOAD_##width(y + AT(width, stream, turn))
#define WRITE(store, width, stream, turn, value) \
	STORE_##store##_##width(out + AT(width, stream, turn), value);

#define COPY(store, width, stream, turn) \
	WRITE(store, width, stream, turn, X_OF(width, stream, turn))
#define SCALE(store, width, stream, turn) \
	WRITE(store, width, stream, turn, MUL_##width(factor, X_OF(width, stream, turn)))
#define ADD(store, width, stream, turn)   \
	WRITE(store, width, stream, turn, \
	      ADD_##width(X_OF(width, stream, turn), Y_OF(width, stream, turn)))
#define TRIAD(store, width, stream, turn)            \
	WRITE(store, width, stream, turn,            \
	      ADD_##width(X_OF(width, stream, turn), \
			  MUL_##width(factor, Y_OF(width, stream, turn))))

#define NAME(kernel, store, width, unroll, prefetch, streams) \
	tuned_##kernel##_##store##_##width##_u##unroll##_##prefetch##_s##streams

#define FUNCTION(kernel, ONE, reads, store, width, unroll, prefetch, streams)                  \
	static NOINLINE ATTRIBUTE_##width void NAME(kernel, store, width, unroll, prefetch,    \
						    streams)(element * out, const element *x,  \
							     const element *y, element s,      \
							     size_t part, size_t ahead)        \
	{                                                                                      \
		const VECTOR_##width factor = SPLAT_##width(s);                                \
		size_t i;                                                                      \
                                                                                               \
		(void)y, (void)ahead, (void)factor;                                            \
		for (i = 0; i < part; i += (unroll) * LANES(width)) {                          \
			STREAM_##streams(REPEAT_##unroll, PREFETCH_X, prefetch,                \
					 width) if ((reads) == 2){                             \
				STREAM_##streams(REPEAT_##unroll, PREFETCH_Y, prefetch, width) \
			} STREAM_##streams(REPEAT_##unroll, ONE, store, width)                 \
		}                                                                              \
	}

#define FUNCTIONS(store, width, unroll, prefetch, streams)                 \
	FUNCTION(copy, COPY, 1, store, width, unroll, prefetch, streams)   \
	FUNCTION(scale, SCALE, 1, store, width, unroll, prefetch, streams) \
	FUNCTION(add, ADD, 2, store, width, unroll, prefetch, streams)     \
	FUNCTION(triad, TRIAD, 2, store, width, unroll, prefetch, streams)

/* The same in assembly: FUNCTION_isa is the text of one, COPY_isa and the others its loop. */
#define ASM(text) text "\n"
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#define ASSEMBLED(isa, kernel, ONE, reads, store, width, unroll, prefetch, streams)              \
	__attribute__((visibility("hidden"))) stream_part NAME(kernel, store, width, unroll,     \
							       prefetch, streams);               \
	__asm__(FUNCTION_##isa(TEXT(NAME(kernel, store, width, unroll, prefetch, streams)), ONE, \
			       reads, store, width, unroll, prefetch, streams));
#define ASSEMBLED_KERNELS(isa, store, width, unroll, prefetch, streams)                \
	ASSEMBLED(isa, copy, COPY_##isa, 1, store, width, unroll, prefetch, streams)   \
	ASSEMBLED(isa, scale, SCALE_##isa, 1, store, width, unroll, prefetch, streams) \
	ASSEMBLED(isa, add, ADD_##isa, 2, store, width, unroll, prefetch, streams)     \
	ASSEMBLED(isa, triad, TRIAD_##isa, 2, store, width, unroll, prefetch, streams)

#define ROW(store, width, unroll, prefetch, streams)                               \
	{ STORE_##store,                                                           \
	  WIDTH_##width,                                                           \
	  unroll,                                                                  \
	  PREFETCHED_##prefetch,                                                   \
	  streams,                                                                 \
	  (unroll) * LANES(width),                                                 \
	  { [KERNEL_copy] = NAME(copy, store, width, unroll, prefetch, streams),   \
	    [KERNEL_scale] = NAME(scale, store, width, unroll, prefetch, streams), \
	    [KERNEL_add] = NAME(add, store, width, unroll, prefetch, streams),     \
	    [KERNEL_triad] = NAME(triad, store, width, unroll, prefetch, streams) } },
