/* One function for each way a store can be made: what test_codegen.py tells apart. */
#include <immintrin.h>
#include <stddef.h>

void stream_128(double *restrict a, const double *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i += 4) {
		_mm_prefetch((const char *)(b + i) + 1024, _MM_HINT_T0);
		_mm_stream_pd(a + i, _mm_load_pd(b + i));
		_mm_stream_pd(a + i + 2, _mm_load_pd(b + i + 2));
	}
}
__attribute__((target("avx"))) void stream_256(double *restrict a, const double *restrict b,
					       size_t n)
{
	for (size_t i = 0; i < n; i += 4)
		_mm256_stream_pd(a + i, _mm256_load_pd(b + i));
}
__attribute__((target("avx512f"))) void stream_512(double *restrict a, const double *restrict b,
						   size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		_mm512_stream_pd(a + i, _mm512_load_pd(b + i));
}
void integers(long long *restrict a, const long long *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		_mm_stream_si64(a + i, b[i]);
}
void both(double *restrict a, const double *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i += 4) {
		_mm_stream_pd(a + i, _mm_load_pd(b + i));
		_mm_store_pd(a + i + 2, _mm_load_pd(b + i + 2));
	}
}
void string(double *a, const double *b, size_t n)
{
	__asm__ volatile("rep movsq" : "+D"(a), "+S"(b), "+c"(n) : : "memory");
}
void update(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] *= 3;
}
double only_read(const double *a, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += a[i];
	return sum;
}
void fill(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] = 1.5;
}
void line_up_then_stream(double *restrict a, const double *restrict b, size_t n)
{
	size_t i = 0;
	for (; ((size_t)(a + i) & 15) && i < n; i++)
		a[i] = b[i];
	for (; i + 4 <= n; i += 4) {
		_mm_stream_pd(a + i, _mm_loadu_pd(b + i));
		_mm_stream_pd(a + i + 2, _mm_loadu_pd(b + i + 2));
	}
	for (; i < n; i++)
		a[i] = b[i];
}

/* In optimised code rbp holds an address like any other register. */
__asm__(".text\n.globl rbp_is_no_frame\n.type rbp_is_no_frame, @function\n"
	"rbp_is_no_frame:\n\tpush %rbp\n\tlea 128(%rdi), %rbp\n"
	"1:\tmovapd (%rsi), %xmm0\n\tmovntpd %xmm0, -128(%rbp)\n"
	"\tadd $16, %rbp\n\tadd $16, %rsi\n\tsub $2, %rdx\n\tja 1b\n"
	"\tpop %rbp\n\tret\n.size rbp_is_no_frame, . - rbp_is_no_frame\n");
