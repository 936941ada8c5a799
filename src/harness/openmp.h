/*
 * openmp: omp.h, or one thread where it is compiled without OpenMP.
 */
#pragma once

#ifdef _OPENMP
#include <omp.h>
#define omp_variable(name) getenv(name)
/* Of libomp and libiomp5 alone, which alone read KMP_AFFINITY. */
extern int kmp_get_blocktime(void) __attribute__((weak));
#else
/* Without OpenMP the pragmas are meant to be passed over in silence. */
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#define omp_variable(name) NULL
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#define omp_get_max_threads() 1
#define omp_set_num_threads(count) ((void)(count))
#define omp_get_num_procs() 1
#define omp_set_dynamic(is) ((void)(is))
#define kmp_get_blocktime 0
#endif
