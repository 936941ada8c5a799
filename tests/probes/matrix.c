/*
 * matrix: how long the matrix of a recorded machine takes where no figure ever settles.
 *
 * matrix CPUS ONE_WAY SET_UP  built from changed sources; ns of a message, ns that a meeting
 * takes besides its blocks.  Prints cores, figures, seconds, least blocks.
 * matrix moment               one pair in 0.1 s, of 2430 ns for 5 ms and of 1310 ns from then on.
 * matrix busy PERCENT         one pair in 0.1 s, 900 to 1100 ns; in so many of its blocks another
 *                             has the CPU for 0.1 ms.  Prints median, low, high, blocks_lost(),
 * mean, trips per block.
 *
 * The clock is made up: it goes on by what a block takes, from half to twice what was asked for.
 */
#define _GNU_SOURCE

#include <time.h>

static long long now_ns;

static int made_up_clock(clockid_t clock, struct timespec *t)
{
	(void)clock;
	now_ns += 25;
	t->tv_sec = now_ns / 1000000000;
	t->tv_nsec = now_ns % 1000000000;
	return 0;
}

#define clock_gettime made_up_clock

#include "../../src/harness/harness.c"

#include "../../src/pingpong/matrix_time.c"

/* 0 to 1 */
static double uniform(void)
{
	static unsigned long long state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(state >> 33) / (double)(1ULL << 31);
}

static double play(void *one_way, long trips, int *interrupted)
{
	const double factor = 0.5 + 1.5 * uniform();

	*interrupted = 0;
	now_ns += (long long)(*(double *)one_way * 2 * (double)trips * factor);
	return 1e-9 * *(double *)one_way * 2 * (double)trips * factor;
}

static double play_after_moment(void *data, long trips, int *interrupted)
{
	const double ns = (now_ns < 5000000 ? 2430 : 1310) * 2 * (double)trips;

	(void)data;
	*interrupted = 0;
	now_ns += (long long)ns;
	return 1e-9 * ns;
}

static double play_beside(void *percent, long trips, int *interrupted)
{
	double ns = (900 + 200 * uniform()) * 2 * (double)trips;

	*interrupted = 100 * uniform() < *(double *)percent;
	ns += *interrupted ? 1e5 : 0;
	now_ns += (long long)ns;
	return 1e-9 * ns;
}

static int busy(double percent)
{
	struct blocks b;

	blocks_measure(&b, play_beside, &percent, 0.1, UNTIL_SETTLED);
	printf("%.0f %.0f %.0f %d %.0f %ld\n", 5e8 * b.round_trip.median, 5e8 * b.round_trip.low,
	       5e8 * b.round_trip.high, blocks_lost(&b), 5e8 * b.mean, b.trips);
	return 0;
}

static int moment(void)
{
	struct blocks blocks;

	blocks_measure(&blocks, play_after_moment, NULL, 0.1, UNTIL_SETTLED);
	printf("%.0f %d %.4f\n", 5e8 * blocks.round_trip.median, blocks.settled,
	       1e-9 * (double)now_ns);
	return 0;
}

int main(int argc, char **argv)
{
	static int first[CPUS_MAX + 1];
	double one_way = argc > 3 ? atof(argv[2]) : 0;
	struct pairs pairs = { NULL, 0 };
	struct blocks blocks;
	struct cpuset cpus;
	double end;
	int figures, i, rounds, least = BLOCKS_MAX;

	if (argc == 2)
		return moment();
	if (argc == 3)
		return busy(atof(argv[2]));
	cpuset_parse(&cpus, argv[1]);
	rounds = pairs_all(&pairs, &cpus, first);
	figures = pairs.count * METHODS * 2;
	end = clock_now() + matrix_seconds(figures);
	for (i = 0; i < figures; i++) {
		now_ns += atoll(argv[3]);
		blocks_measure(&blocks, play, &one_way,
			       matrix_share(end - clock_now(), figures - i), UNTIL_SETTLED);
		least = blocks.count < least ? blocks.count : least;
	}
	printf("%d %d %.3f %d\n", rounds + 1, figures, 1e-9 * (double)now_ns, least);
	return 0;
}
