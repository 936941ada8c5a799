/*
 * stream: a STREAM-compatible measurement of memory bandwidth that says
 * whether its figures may be believed.
 */
#include "caches.h"
#include "error.h"
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
	size_judge(run.options.size, run.llc_bytes);
	arrays_create(&run.arrays, run.options.size, run.options.offset);
	table_banner(&run.options, run.llc_bytes, note);

	kernels_first_touch(&run.arrays);
	measure(&run.measurement, &run.arrays, run.options.ntimes);
	validate_arrays(&run.validation, &run.arrays, run.options.ntimes);

	table_print(&run.measurement);
	table_validation(&run.validation, &run.arrays);
	recorded = record_write(&run);
	verdict_print(stdout);
	return verdict_is_valid() && recorded ? EXIT_VALID : EXIT_INVALID;
}
