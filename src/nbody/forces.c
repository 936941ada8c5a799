#include "../harness/config.h"

#include "forces.h"

#include <string.h>

/* 1 / sqrt(x) of what is above 0, by Newton's method from a guess of its bits (C. Lomont, Fast
 * Inverse Square Root, 2003): sqrt() needs -lm, and no compiler makes vectors of a call that may
 * set errno.  The guess is off by 3.5 % at most, and 1.5 e^2 remains of e after each step. */
static __inline__ float inverse_root_float(float x)
{
	const float half = 0.5f * x;
	unsigned int bits;
	float y;

	memcpy(&bits, &x, sizeof(bits));
	bits = 0x5f375a86u - (bits >> 1);
	memcpy(&y, &bits, sizeof(y));
	y = y * (1.5f - half * y * y);
	y = y * (1.5f - half * y * y);
	return y * (1.5f - half * y * y);
}

static __inline__ double inverse_root_double(double x)
{
	const double half = 0.5 * x;
	unsigned long long bits;
	double y;

	memcpy(&bits, &x, sizeof(bits));
	bits = 0x5fe6eb50c7b537a9ULL - (bits >> 1);
	memcpy(&y, &bits, sizeof(y));
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	return y * (1.5 - half * y * y);
}

/* The loop over the GROUP is the one that becomes vectors: its sums are side by side. */
#define FORCES(real)                                                                            \
	void forces_##real(const struct bodies_##real *b, long first, long last)                \
	{                                                                                       \
		long group, j;                                                                  \
		int k;                                                                          \
                                                                                                \
		for (group = first; group < last; group++) {                                    \
			const real *const x = b->x + group * GROUP;                             \
			const real *const y = b->y + group * GROUP;                             \
			const real *const z = b->z + group * GROUP;                             \
			real ax[GROUP] = { 0 }, ay[GROUP] = { 0 }, az[GROUP] = { 0 };           \
                                                                                                \
			for (j = 0; j < b->count; j++) {                                        \
				const real xj = b->x[j], yj = b->y[j], zj = b->z[j];            \
				const real mj = b->m[j];                                        \
                                                                                                \
				for (k = 0; k < GROUP; k++) {                                   \
					const real dx = xj - x[k];                              \
					const real dy = yj - y[k];                              \
					const real dz = zj - z[k];                              \
					const real r = inverse_root_##real(                     \
						dx * dx + dy * dy + dz * dz + (real)SOFTENING); \
					const real f = mj * r * r * r;                          \
                                                                                                \
					ax[k] += f * dx;                                        \
					ay[k] += f * dy;                                        \
					az[k] += f * dz;                                        \
				}                                                               \
			}                                                                       \
			memcpy(b->ax + group * GROUP, ax, sizeof(ax));                          \
			memcpy(b->ay + group * GROUP, ay, sizeof(ay));                          \
			memcpy(b->az + group * GROUP, az, sizeof(az));                          \
		}                                                                               \
	}

FORCES(float)
FORCES(double)
