/*
 * variants: the tuned kernels and the grammar of their names.
 *
 *   STORE-WIDTH-uUNROLL-PREFETCH-sSTREAMS      nt-256-u4-t0x1024-s1
 *
 * STORE     ordinary, or nt: non-temporal, past the caches: no write-allocate
 * WIDTH     128, 256 or 512 bits a register; sve: as Arm's CPU has; any: what the compiler makes
 *           of plain C
 * UNROLL    registers (pairs of them on aarch64) of one stream that a turn of the loop takes
 * PREFETCH  none, or kind x distance in bytes: t0x1024 into all caches, ntax1024 into the
 *           nearest alone; once a line, of the arrays that are read
 * STREAMS   each thread works so many parts of its share at once
 *
 * All but the distance of PREFETCH is compiled in; that is a number of the run.  A kernel need
 * not have a variant: where there is none its Standard loop runs.
 */
#pragma once

#include "../kernels/kernels.h"

enum store { STORE_ordinary, STORE_nt, STORES };
enum width { WIDTH_any, WIDTH_128, WIDTH_256, WIDTH_512, WIDTH_sve, WIDTHS };
enum prefetch { PREFETCHED_none, PREFETCHED_nta, PREFETCHED_t0, PREFETCHES };

enum { VARIANT_NAME_MAX = 64, STREAMS_MOST = 4 };

/* out[i] = f(x[i], y[i]) for whole steps of STREAMS parts, `part` elements one
 * behind the other; prefetches `ahead` bytes ahead. */
typedef void stream_part(element *out, const element *x, const element *y, element s, size_t part,
			 size_t ahead);

/* What is compiled: a function of each kernel, and the elements that they take in one step. */
struct tuned_kernel {
	enum store store;
	enum width width;
	int unroll;
	enum prefetch prefetch;
	int streams;
	size_t step;               /* elements of each stream */
	stream_part *run[KERNELS]; /* NULL where a kernel has none */
};

struct variant {
	const struct tuned_kernel *compiled; /* NULL: the Standard kernel */
	size_t ahead;                        /* bytes, 0 without prefetch */
};

/* What there is for one instruction set, each in a file of its own. */
struct isa_kernels {
	const struct tuned_kernel *kernels;
	int count;
	void (*fence)(void); /* makes a thread's non-temporal stores visible */
};

extern const struct isa_kernels isa_x86, isa_sve, isa_neon, isa_portable;

/* All that is compiled in, native instruction sets first; NULL past the last. */
const struct tuned_kernel *variants_compiled(int index);

/* Whether this CPU has what it needs. */
int variants_runs_here(const struct tuned_kernel *compiled);

/* Whether a kernel has a variant at all. */
int variants_has(int kernel);

/* Reads a name, or "standard"; 0 where it is none of the grammar or not compiled in. */
int variants_parse(struct variant *variant, const char *name);

const char *variants_name(const struct variant *variant, char name[VARIANT_NAME_MAX]);

/* Prints every name with its distance left open, and which run here. */
void variants_list(void);

extern const char VARIANTS_HINT[];

/* Makes this thread's non-temporal stores visible, if the variant has any. */
void variants_fence(const struct variant *variant);

/* Runs one kernel over the arrays with it, in one parallel region. */
void variants_run(const struct variant *variant, int kernel, const struct arrays *arrays);

/* The same over part `index` of `parts` equal ones of each thread's share. */
void variants_run_slice(const struct variant *variant, int kernel, const struct arrays *arrays,
			size_t index, size_t parts);

/* out = f(x, y) over n elements at any address, by the calling thread alone. */
void variants_span(const struct variant *variant, int kernel, element *out, const element *x,
		   const element *y, element s, size_t n);
