/*
 * stream: the whole program as one file for the compiler, so that the
 * published lines build it as printed.
 *
 * The kernels are called through pointers that the compiler must read from
 * memory each time (kernels.c), so that it cannot see how they are called.
 */

#include "../harness/harness.c"

#include "array_size.c"
#include "cluster/cluster.c"
#include "cluster/job_summary.c"
#include "health/floors.c"
#include "kernels/arrays.c"
#include "kernels/expect.c"
#include "kernels/kernels.c"
#include "kernels/start_values.c"
#include "kernels/validate.c"
#include "looks/looks.c"
#include "looks/stores.c"
#include "main.c"
#include "measure.c"
#include "options.c"
#include "output/print.c"
#include "output/record.c"
