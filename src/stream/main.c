/*
 * stream: a STREAM-compatible measurement of memory bandwidth that says
 * whether its figures may be believed.
 */
#include "caches.h"
#include "error.h"
#include "pinning.h"
#include "record.h"
#include "size.h"
#include "table.h"
#include "threads.h"
#include "verdict.h"

int main(int argc, char **argv)
{
	static struct run run;
	char note[256];
	int recorded;

	run.options = options_read(argc, argv);
	threads_start();
	run.llc_bytes = caches_llc_bytes(threads_cpus());
	size_choose(&run.options, run.llc_bytes, note);
	record_open(run.options.json);
	peak_find(&run.peak, run.options.peak_gbs);
	size_judge(run.options.size, run.llc_bytes);
	arrays_create(&run.arrays, run.options.size, run.options.offset, run.options.pages);
	table_banner(&run.options, run.llc_bytes, note);

	kernels_first_touch(&run.arrays);
	hugepages_read(&run.pages, &run.arrays, run.options.pages);
	placement_check(&run.before, &run.arrays, "before the runs");
	busy_start(&run.busy, threads_cpus());
	measure(&run.measurement, &run.arrays, run.options.ntimes);
	busy_stop(&run.busy, threads_cpus());
	placement_check(&run.after, &run.arrays, "after the runs");
	measure_judge(&run.measurement, &run.peak);
	pinning_judge();
	validate_arrays(&run.validation, &run.arrays, run.options.ntimes);

	table_print(&run.measurement);
	table_peak(&run.measurement, &run.peak);
	table_validation(&run.validation, &run.arrays);
	recorded = record_write(&run);
	verdict_print(stdout);
	return verdict_is_valid() && recorded ? EXIT_VALID : EXIT_INVALID;
}
