/*
 * stream: the program around the kernels, all of it as one file for the
 * compiler, which takes a sixth of the time of 50.
 *
 * What goes over whole arrays comes first and is compiled as the preset says.
 * The rest (options, facts of the machine, records, verdicts) is never timed:
 * it asks for no optimization, where the compiler can be asked, so that a dozen
 * presets is built in seconds.
 * A file that is not named here is compiled by itself: the kernels, which the
 * compiler must not see called, and the tuned variants.
 */

/* Its wrappers (Ubuntu's gcc asks for them) want an optimizer to see through them. */
#undef _FORTIFY_SOURCE

#include "limit_kernels.c"
#include "validate.c"
#include "variants_run.c"

#if defined(__clang__)
#pragma clang optimize off
#elif defined(__GNUC__) && !defined(__INTEL_COMPILER)
#pragma GCC optimize("O0")
#endif

#include "agree.c"
#include "arrays.c"
#include "block.c"
#include "block_verdict.c"
#include "busy.c"
#include "caches.c"
#include "candidates.c"
#include "cgroup.c"
#include "channels.c"
#include "choice.c"
#include "clock.c"
#include "cluster.c"
#include "collect.c"
#include "cpu_width.c"
#include "cpuset.c"
#include "dmi.c"
#include "edac.c"
#include "error.c"
#include "facts.c"
#include "guard.c"
#include "hugepages.c"
#include "json.c"
#include "main.c"
#include "measure.c"
#include "median.c"
#include "memory.c"
#include "memory_side.c"
#include "nodes.c"
#include "options.c"
#include "options_mpi.c"
#include "options_tuned.c"
#include "peak.c"
#include "pinning.c"
#include "placement.c"
#include "ranks.c"
#include "record.c"
#include "record_file.c"
#include "record_layout.c"
#include "record_limits.c"
#include "record_tuning.c"
#include "report.c"
#include "siblings.c"
#include "size.c"
#include "sysfile.c"
#include "table.c"
#include "threads.c"
#include "topology.c"
#include "tune.c"
#include "variants.c"
#include "verdict.c"
