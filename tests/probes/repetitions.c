/*
 * repetitions: what measure.c says of times that a test made up.  A series is a line of the bytes
 * of caches and "TIME LOST" pairs in seconds, of 10^6 bytes each; the answer a line of how many
 * count, best rate, low and high.
 *
 * With an argument: how long a machine on which each repetition takes so many seconds, whatever
 * this one does meanwhile, is measured until it has settled, or for so long at most (the second);
 * repetitions, seconds, what ended it.  With a third, the time at which a hypervisor takes a tick
 * of 10 ms: before these how many runs of kernels have lost it.
 */
#include "../../src/harness/harness.c"

static double made_up_now, each_lasts, tick_at = -1;

static double made_up_clock(void)
{
	return made_up_now;
}

#define clock_now made_up_clock
#define threads_sample() ((void)0)
#define threads_lost_seconds() 0.0
#define interference_stolen() (tick_at >= 0 && made_up_now >= tick_at ? 0.01 : 0.0)

#include "../../src/stream/kernels/arrays.c"
#include "../../src/stream/kernels/expect.c"
#include "../../src/stream/kernels/kernels.c"
#include "../../src/stream/kernels/start_values.c"
/* a run of a kernel takes made-up time alone */
#define run(arrays) loads, (void)(arrays), made_up_now += each_lasts / KERNELS
#include "../../src/stream/measure.c"

static int runs_that_lost(const struct measurement *m)
{
	int n, lost = 0;

	for (n = 0; n < m->complete * KERNELS; n++)
		lost += m->kernel[n % KERNELS].lost[n / KERNELS] > 0;
	return lost;
}

static void settle(double seconds, double max_seconds)
{
	static struct measurement m = { .least = REPETITIONS_OF_INTERVAL };
	static const struct arrays none;

	each_lasts = seconds;
	m.max_seconds = max_seconds;
	measure(&m, &none);
	if (tick_at >= 0)
		printf("%d ", runs_that_lost(&m));
	printf("%d %.6g %s\n", m.complete, made_up_now, measure_ended(&m));
}

enum { SERIES_MAX = 100000 };

static double times[SERIES_MAX], lost[SERIES_MAX];

static int read_series(double *caches)
{
	char end = ' ';
	int count = 0;

	if (scanf("%lf", caches) != 1)
		return 0;
	while (end != '\n' && count < SERIES_MAX &&
	       scanf("%lf %lf%c", &times[count], &lost[count], &end) == 3)
		count++;
	return count;
}

int main(int argc, char **argv)
{
	double caches;
	int count;

	if (argc > 1) {
		if (argc > 3)
			tick_at = strtod(argv[3], NULL);
		settle(strtod(argv[1], NULL), argc > 2 ? strtod(argv[2], NULL) : 30);
		return 0;
	}
	while ((count = read_series(&caches)) > 0) {
		struct timing t;

		memset(&t, 0, sizeof(t));
		t.times = times;
		t.lost = lost;
		t.before = &t;
		t.before_back = 1;
		measure_timing(&t, count, 1e6, (size_t)caches);
		printf("%d %.6g %.6g %.6g\n", t.rate.counted, t.best_mbs, 1e-6 * t.rate.low,
		       1e-6 * t.rate.high);
	}
	return 0;
}
