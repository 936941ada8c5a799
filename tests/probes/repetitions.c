/*
 * repetitions: what measure.c says of times that somebody made up.  A series is a line of
 * "TIME LOST" pairs in seconds; the answer a line of how many count, best rate, low and high.
 */
#include "../../src/harness/harness.c"

#include "../../src/stream/kernels/arrays.c"
#include "../../src/stream/kernels/expect.c"
#include "../../src/stream/kernels/kernels.c"
#include "../../src/stream/kernels/start_values.c"
#include "../../src/stream/measure.c"

void choice_run(const struct kernel_choice *choice, int k, const struct arrays *arrays)
{
	(void)choice, (void)k, (void)arrays;
}

enum { SERIES_MAX = 100000 };

static double times[SERIES_MAX], lost[SERIES_MAX];

static int read_series(void)
{
	char end = ' ';
	int count = 0;

	while (end != '\n' && count < SERIES_MAX &&
	       scanf("%lf %lf%c", &times[count], &lost[count], &end) == 3)
		count++;
	return count;
}

int main(void)
{
	int count;

	while ((count = read_series()) > 0) {
		struct timing t;

		memset(&t, 0, sizeof(t));
		t.times = times;
		t.lost = lost;
		t.before = &t;
		t.before_back = 1;
		measure_timing(&t, count, 1e6);
		printf("%d %.6g %.6g %.6g\n", t.counted, t.best_mbs, t.low_mbs, t.high_mbs);
	}
	return 0;
}
