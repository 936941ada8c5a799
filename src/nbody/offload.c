#include "offload.h"

#include "forces.h"

#include "../harness/openmp.h"

#if defined(_OPENMP) && _OPENMP >= 201307

int offload_devices(void)
{
	return omp_get_num_devices();
}

/* One body after the other: a device has threads enough for each. */
#define ONE_BODY(real)                                                                   \
	do {                                                                             \
		real sx = 0, sy = 0, sz = 0;                                             \
		long j;                                                                  \
                                                                                         \
		for (j = 0; j < count; j++) {                                            \
			const real dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i]; \
			const real r = inverse_root_##real(dx * dx + dy * dy + dz * dz + \
							   (real)SOFTENING);             \
			const real f = m[j] * r * r * r;                                 \
                                                                                         \
			sx += f * dx;                                                    \
			sy += f * dy;                                                    \
			sz += f * dz;                                                    \
		}                                                                        \
		ax[i] = sx;                                                              \
		ay[i] = sy;                                                              \
		az[i] = sz;                                                              \
	} while (0)

#define PRAGMA_OF(text) _Pragma(#text)
#define OFFLOAD(real)                                                                           \
	static int offload_##real(const struct bodies *b, int threads)                          \
	{                                                                                       \
		const real *const x = b->x[0], *const y = b->x[1], *const z = b->x[2];          \
		const real *const m = b->m;                                                     \
		real *const ax = b->a[0], *const ay = b->a[1], *const az = b->a[2];             \
		const long count = b->count;                                                    \
		int on_host = 1;                                                                \
		long i;                                                                         \
                                                                                                \
		PRAGMA_OF(omp target data map(to : x[:count], y[:count], z[:count], m[:count])  \
				  map(from : ax[:count], ay[:count], az[:count]))               \
		{                                                                               \
			PRAGMA_OF(omp target map(from : on_host))                               \
			on_host = omp_is_initial_device();                                      \
			if (threads) {                                                          \
				PRAGMA_OF(omp target teams distribute parallel for num_teams(1)   \
						  thread_limit(threads) num_threads(threads))   \
				for (i = 0; i < count; i++)                                     \
					ONE_BODY(real);                                         \
			} else {                                                                \
				PRAGMA_OF(omp target teams distribute parallel for)             \
				for (i = 0; i < count; i++)                                     \
					ONE_BODY(real);                                         \
			}                                                                       \
		}                                                                               \
		return !on_host;                                                                \
	}

OFFLOAD(float)
OFFLOAD(double)

int offload_forces(const struct bodies *b, int threads)
{
	return (b->precision == SINGLE ? offload_float : offload_double)(b, threads);
}

#else

int offload_devices(void)
{
	return -1;
}

int offload_forces(const struct bodies *b, int threads)
{
	(void)threads;
	bodies_forces(b, 0, b->count / GROUP);
	return 0;
}

#endif
