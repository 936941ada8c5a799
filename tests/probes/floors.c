/*
 * floors: the line of `stream --at-least triad=FLOOR` for a rate that a test made up: of lines
 * "VALUE LOW HIGH BOUND FLOOR", in GB/s, BOUND none, lower, upper or unknown.
 *
 * With an argument: that of a run which passes and would end with this status; ends as it does.
 */
#include "../../src/harness/harness.c"

#include "../../src/stream/health/floors.c"
#include "../../src/stream/kernels/arrays.c"
#include "../../src/stream/kernels/kernels.c"

static int judge(int status)
{
	static struct measurement m;
	static struct looks looks;

	line = stdout;
	floors[KERNEL_triad] = 19;
	m.kernel[KERNEL_triad].rate.value = 20e9;
	return floors_judge(&m, &looks, status);
}

int main(int argc, char **argv)
{
	struct rate rate = { 0 }, *const rates[FLOORS] = { [KERNEL_triad] = &rate };
	char bound[16];

	if (argc > 1)
		return judge(atoi(argv[1]));
	line = stdout;
	while (scanf("%lf %lf %lf %15s %lf", &rate.value, &rate.low, &rate.high, bound,
		     &floors[KERNEL_triad]) == 5) {
		rate.value *= 1e9;
		rate.low *= 1e9;
		rate.high *= 1e9;
		rate.is_bound = strcmp(bound, "lower") == 0 || strcmp(bound, "unknown") == 0;
		rate.is_upper = strcmp(bound, "upper") == 0 || strcmp(bound, "unknown") == 0;
		tell_figures((const struct rate *const *)rates);
	}
	return 0;
}
