/* Each line is set to zero, which reads nothing, before it is written: as fcc -Kzfill does. */
#include <stddef.h>
void zeroed(double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		__asm__ volatile("dc zva, %0" : : "r"(a + i + 512) : "memory");
		a[i] = b[i];
		a[i + 1] = b[i + 1];
	}
}
