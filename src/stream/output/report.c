#include "report.h"

#include "../../harness/error.h"
#include "../../harness/job/record_file.h"
#include "../../harness/verdict.h"
#include "record_limits.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

int report(const struct run *run)
{
	size_t size;
	char *text = record_text(run, &size);
	int recorded = !run->options.json;

	table_print(&run->measurement);
	table_peak(&run->measurement, &run->peak);
	table_validation(&run->validation, &run->arrays);
	if (run->limits)
		table_limits(run->limits);
	if (text)
		recorded = record_file_put(text, size);
	verdict_print(stdout);
	free(text);
	return verdict_is_valid() && recorded ? EXIT_VALID : EXIT_INVALID;
}
