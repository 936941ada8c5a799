#include "report.h"

#include "../../harness/error.h"
#include "../../harness/job/record_file.h"
#include "../../harness/options.h"
#include "../../harness/verdict.h"
#include "../health/floors.h"
#include "../limits/limits_record.h"
#include "record.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

int report(const struct run *run)
{
	size_t size;
	char *text = stream_record(run, &size);
	int recorded = !options_json();

	table_print(&run->measurement);
	table_repetitions(&run->measurement);
	table_peak(&run->measurement);
	table_validation(&run->validation, &run->arrays);
	if (run->limits)
		limits_print(run->limits);
	if (text)
		recorded = record_file_put(text, size);
	verdict_print(stdout);
	free(text);
	return floors_judge(run, recorded ? verdict_status() : EXIT_INVALID);
}
