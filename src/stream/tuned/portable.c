/* Any CPU, any compiler: plain C, as wide as the compiler likes. */
#include "variants.h"

#include "isa_kernels.h"

#define ATTRIBUTE_any
#define VECTOR_any element
#define BYTES_any sizeof(element)
#define LOAD_any(from) (*(from))
#define STORE_ordinary_any(to, value) (*(to) = (value))
#define ADD_any(x, y) ((x) + (y))
#define MUL_any(x, y) ((x) * (y))
#define SPLAT_any(s) (s)

#if defined(__GNUC__)
#define PREFETCH_nta(address) __builtin_prefetch(address, 0, 0)
#define PREFETCH_t0(address) __builtin_prefetch(address, 0, 3)
#else
#define PREFETCH_nta PREFETCH_none
#define PREFETCH_t0 PREFETCH_none
#endif

#define EACH_PORTABLE(M)             \
	M(ordinary, any, 1, none, 1) \
	M(ordinary, any, 8, t0, 1)   \
	M(ordinary, any, 1, none, 2) \
	M(ordinary, any, 1, none, 4)

EACH_PORTABLE(FUNCTIONS)

static const struct tuned_kernel PORTABLE_KERNELS[] = { EACH_PORTABLE(ROW) };

const struct isa_kernels isa_portable = { PORTABLE_KERNELS,
					  sizeof(PORTABLE_KERNELS) / sizeof(*PORTABLE_KERNELS),
					  NULL };
