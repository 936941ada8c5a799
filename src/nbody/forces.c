#include "forces.h"

#include "inverse_root.h"

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
