/* Non-temporal pairs, as no compiler makes them by itself. */
#include <stddef.h>
void pairs(double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i += 4)
		__asm__ volatile("prfm pldl1strm, [%0, #512]\n"
				 "ldp q0, q1, [%0]\n"
				 "stnp q0, q1, [%1]"
				 :
				 : "r"(b + i), "r"(a + i)
				 : "v0", "v1", "memory");
}
