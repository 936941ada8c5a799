/* A stand-in for Intel's runtime: the names that `nm -D` shows in libintlc.so.5 and libirc.so
   of 2026.2.0, nothing of their code.  Built twice: the library, and kernels that call it. */
#include <stddef.h>

void *_intel_fast_memcpy(void *to, const void *from, size_t bytes);
void *__intel_avx_rep_memcpy(void *to, const void *from, size_t bytes);
void __libirc_nontemporal_store(void *to, double value);
void __libirc_nontemporal_store_256(void *to, const double *value);
void __libirc_nontemporal_store_dynamic_512(void *to, const double *value);

#ifdef LIBRARY
#define COPY(name)                                           \
	void *name(void *to, const void *from, size_t bytes) \
	{                                                    \
		return (void)from, (void)bytes, to;          \
	}
#define STORE(name, type, value)       \
	void name(void *to, type from) \
	{                              \
		*(double *)to = value; \
	}
COPY(_intel_fast_memcpy)
COPY(__intel_avx_rep_memcpy)
STORE(__libirc_nontemporal_store, double, from)
STORE(__libirc_nontemporal_store_256, const double *, *from)
STORE(__libirc_nontemporal_store_dynamic_512, const double *, *from)
#else
void fast(double *restrict a, const double *restrict b, size_t n)
{
	_intel_fast_memcpy(a, b, n * sizeof(*a));
}
void avx_rep(double *restrict a, const double *restrict b, size_t n)
{
	__intel_avx_rep_memcpy(a, b, n * sizeof(*a));
}
void streamed(double *restrict a, const double *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__libirc_nontemporal_store(a + i, 2 * b[i]);
}
void streamed_256(double *restrict a, const double *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i += 4)
		__libirc_nontemporal_store_256(a + i, b + i);
}
void chosen(double *restrict a, const double *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		__libirc_nontemporal_store_dynamic_512(a + i, b + i);
}
void with_a_rest(double *restrict a, const double *restrict b, size_t n)
{
	size_t i;

	for (i = 0; i + 4 <= n; i += 4)
		__libirc_nontemporal_store_256(a + i, b + i);
	for (; i < n; i++)
		a[i] = 3 * b[i];
}
#endif
