/*
 * single: without MPI nobody is waited for.
 */
#ifndef MEMBW_SINGLE_H
#define MEMBW_SINGLE_H

#define ONE static __inline__ __attribute__((unused))

/* clang-format off */
ONE int ranks_together(void) { return 0; }
ONE int ranks_on_node(void) { return 1; }
ONE int ranks_least_of_two(size_t *one, size_t *other) { return one != other; }
ONE int ranks_barrier(double own_step) { return own_step >= 0; }
ONE size_t ranks_largest(size_t value) { return value; }
ONE size_t ranks_smallest(size_t value) { return value; }
/* clang-format on */

#define ranks_sum_on_our_cpus NULL
#define ranks_refuse NULL
#define ranks_leave NULL

#endif
