#include "program.h"

#include "build/build.h"
#include "build/code.h"
#include "clock.h"
#include "error.h"
#include "evidence/interference.h"
#include "evidence/pinning.h"
#include "evidence/threads.h"
#include "job/ranks.h"
#include "job/record_file.h"
#include "job/watchdog.h"
#include "metrics.h"
#include "record.h"
#include "verdict.h"

static const struct program *program_this;

void program_join(int *argc, char ***argv)
{
	ranks_start(argc, argv);
	error_hooks(ranks_refuse, ranks_leave);
}

void program_start(const struct program *program, int argc, char **argv)
{
	program_this = program;
	options_read(program_this, argc, argv);
	watchdog_heed_ends();
	clock_tick(); /* by one that stands still no loop would end */
	threads_start();
	code_judge();
	record_file_open(options_json());
}

void program_measuring(void)
{
	threads_sample();
	interference_run_start();
}

void program_measured(void)
{
	interference_run_stop(ranks_sum_on_host, ranks_count());
	interference_judge();
	if (program_this->pins_itself)
		return;
	threads_sample();
	pinning_judge();
}

int program_end(const void *data)
{
	size_t size = 0;
	char *text;
	int recorded = 1;

	metrics_judge(options_peak(), program_this->peak_unit);
	if (!program_this->has_table)
		metrics_print(stdout);
	text = options_json() ? record_text(program_this, data, &size) : NULL;
	if (text) {
		build_print(stdout);
		recorded = record_file_put(text, size);
	}
	verdict_print(stdout);
	free(text);
	return recorded ? verdict_status() : EXIT_INVALID;
}
