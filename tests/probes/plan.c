/*
 * plan: its lines at given times: arguments are DONE of 10, the PART of the work, seconds since
 * the start; nothing begins after 52 s.
 */
#include "../../src/harness/plan.c"

#include <stdlib.h>

static double now;

double clock_now(void)
{
	return now;
}

int main(int argc, char **argv)
{
	int i;

	plan_done("sizes", 0, 10);
	for (i = 1; i + 2 < argc; i += 3) {
		now = atof(argv[i + 2]);
		plan_done_part("sizes", atoi(argv[i]), 10, atof(argv[i + 1]), 52);
	}
	now += 100;
	plan_done("points", 9, 10);
	plan_end();
	return 0;
}
