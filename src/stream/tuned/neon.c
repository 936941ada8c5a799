/* aarch64: NEON, two registers at a time; non-temporal pairs (stnp). */
#include "variants.h"

#if defined(__aarch64__) && defined(__GNUC__) && ELEMENT_IS

#include "isa_kernels.h"

#include <arm_neon.h>

#if ELEMENT_IS == 8
#define OF_TYPE(name) name##f64
#define VECTOR_NEON float64x2_t
#else
#define OF_TYPE(name) name##f32
#define VECTOR_NEON float32x4_t
#endif

struct neon_pair {
	VECTOR_NEON low, high;
};

enum { HALF = 16 / sizeof(element) };

static __inline__ struct neon_pair neon_load(const element *from)
{
	struct neon_pair v;

	v.low = OF_TYPE(vld1q_)(from);
	v.high = OF_TYPE(vld1q_)(from + HALF);
	return v;
}

static __inline__ void neon_store(element *to, struct neon_pair v)
{
	OF_TYPE(vst1q_)(to, v.low);
	OF_TYPE(vst1q_)(to + HALF, v.high);
}

/* No intrinsic says so. */
static __inline__ void neon_store_non_temporal(element *to, struct neon_pair v)
{
	__asm__ volatile("stnp %q1, %q2, [%0]" : : "r"(to), "w"(v.low), "w"(v.high) : "memory");
}

static __inline__ struct neon_pair neon_add(struct neon_pair x, struct neon_pair y)
{
	x.low = OF_TYPE(vaddq_)(x.low, y.low);
	x.high = OF_TYPE(vaddq_)(x.high, y.high);
	return x;
}

static __inline__ struct neon_pair neon_multiply(struct neon_pair x, struct neon_pair y)
{
	x.low = OF_TYPE(vmulq_)(x.low, y.low);
	x.high = OF_TYPE(vmulq_)(x.high, y.high);
	return x;
}

static __inline__ struct neon_pair neon_splat(element s)
{
	struct neon_pair v;

	v.low = v.high = OF_TYPE(vdupq_n_)(s);
	return v;
}

#define ATTRIBUTE_128
#define VECTOR_128 struct neon_pair
#define BYTES_128 32 /* of a pair */
#define LOAD_128 neon_load
#define STORE_ordinary_128 neon_store
#define STORE_nt_128 neon_store_non_temporal
#define ADD_128 neon_add
#define MUL_128 neon_multiply
#define SPLAT_128 neon_splat

#define PREFETCH_nta(address) __builtin_prefetch(address, 0, 0)
#define PREFETCH_t0(address) __builtin_prefetch(address, 0, 3)

#define EACH_128(M, store)                 \
	EACH_PREFETCH(M, store, 128, 1, 1) \
	EACH_PREFETCH(M, store, 128, 2, 1) \
	EACH_PREFETCH(M, store, 128, 4, 1) \
	EACH_PREFETCH(M, store, 128, 2, 2) \
	EACH_PREFETCH(M, store, 128, 2, 4)
#define EACH_NEON(M)    \
	EACH_128(M, nt) \
	EACH_128(M, ordinary)

EACH_NEON(FUNCTIONS)

static const struct tuned_kernel NEON_KERNELS[] = { EACH_NEON(ROW) };

static void neon_fence(void)
{
	__asm__ volatile("dmb ishst" : : : "memory");
}

const struct isa_kernels isa_neon = { NEON_KERNELS, sizeof(NEON_KERNELS) / sizeof(*NEON_KERNELS),
				      neon_fence };

#else

const struct isa_kernels isa_neon = { NULL, 0, NULL };

#endif
