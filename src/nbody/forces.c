#include "forces.h"

/* The loop over the GROUP is the one that becomes vectors: its sums are side by side. */
#define FORCES(real)                                                                            \
	static void forces_##real(const struct bodies *b, long first, long last)                \
	{                                                                                       \
		const real *const bx = b->x[0], *const by = b->x[1], *const bz = b->x[2];       \
		const real *const bm = b->m;                                                    \
		long group, j;                                                                  \
		int k;                                                                          \
                                                                                                \
		for (group = first; group < last; group++) {                                    \
			const real *const x = bx + group * GROUP;                               \
			const real *const y = by + group * GROUP;                               \
			const real *const z = bz + group * GROUP;                               \
			real ax[GROUP] = { 0 }, ay[GROUP] = { 0 }, az[GROUP] = { 0 };           \
                                                                                                \
			for (j = 0; j < b->count; j++) {                                        \
				const real xj = bx[j], yj = by[j], zj = bz[j], mj = bm[j];      \
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
			memcpy((real *)b->a[0] + group * GROUP, ax, sizeof(ax));                \
			memcpy((real *)b->a[1] + group * GROUP, ay, sizeof(ay));                \
			memcpy((real *)b->a[2] + group * GROUP, az, sizeof(az));                \
		}                                                                               \
	}

FORCES(float)
FORCES(double)

void bodies_forces(const struct bodies *b, long first, long last)
{
	(b->precision == SINGLE ? forces_float : forces_double)(b, first, last);
}
