/*
 * pairs: what the ping-pong's own code makes of samples and of a recorded machine.
 *
 * pairs statistics          reads numbers, prints their order statistics
 * pairs classes CPUS        the default pairs of these CPUs, built from changed sources
 * pairs rounds CPUS         every pair of cores, a line per round
 * pairs curve               reads "bytes time" lines: latency, bandwidth, half, knees
 * pairs together A B        two meetings of CPUs A and B at the same time
 */
#include "../../src/harness/harness.c"

#include "../../src/pingpong/blocks.c"
#include "../../src/pingpong/curve.c"
#include "../../src/pingpong/pairs.c"
#include "../../src/pingpong/shared_line.c"

static void print_statistics(void)
{
	static double values[100000];
	struct order_statistics s;
	int count = 0;

	while (count < 100000 && scanf("%lf", &values[count]) == 1)
		count++;
	order_statistics(&s, values, count);
	printf("%.17g %.17g %.17g %.17g %.17g\n", s.min, s.median, s.max, s.low, s.high);
}

static void print_curve(void)
{
	static size_t sizes[64];
	static double times[64];
	struct curve c;
	int count = 0, i;

	while (count < 64 && scanf("%zu %lf", &sizes[count], &times[count]) == 2)
		count++;
	curve_fit(&c, sizes, times, count);
	printf("%.17g %.17g %.17g", c.latency, c.bandwidth, c.n_half);
	for (i = 0; i < c.knees_count; i++)
		printf(" %zu", c.knees[i]);
	printf("\n");
}

static void print_pair(const struct pair *pair)
{
	printf("%s:%d-%d ", pair_class_names[pair->class], pair->cpu[0], pair->cpu[1]);
}

/* More threads than CPUs: slow, and nothing may be lost. */
static void meet_twice(int one, int other)
{
	static struct meeting meetings[2];
	struct meeting *at_once[2] = { &meetings[0], &meetings[1] };
	int i;

	for (i = 0; i < 2; i++) {
		meetings[i].pair.cpu[0] = i ? other : one;
		meetings[i].pair.cpu[1] = i ? one : other;
		meetings[i].method = METHOD_LINES;
		meetings[i].home = i;
	}
	shared_lines_meet(at_once, 2, 0.2);
	for (i = 0; i < 2; i++)
		printf("%d %d %llu %llu %d %d\n", meetings[i].blocks.round_trip.count,
		       meetings[i].blocks.count, meetings[i].turns, meetings[i].wrong,
		       meetings[i].seen[0], meetings[i].seen[1]);
}

int main(int argc, char **argv)
{
	static int first[CPUS_MAX + 1];
	struct pairs pairs = { NULL, 0 };
	struct cpuset cpus;
	int rounds, round, i;

	if (argc == 2 && strcmp(argv[1], "curve") == 0) {
		print_curve();
		return 0;
	}
	if (argc < 3) {
		print_statistics();
		return 0;
	}
	if (strcmp(argv[1], "together") == 0) {
		meet_twice(atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	cpuset_parse(&cpus, argv[2]);
	if (strcmp(argv[1], "classes") == 0) {
		pairs_default(&pairs, &cpus);
		for (i = 0; i < pairs.count; i++)
			print_pair(&pairs.list[i]);
		return 0;
	}
	rounds = pairs_all(&pairs, &cpus, first);
	for (round = 0; round < rounds; round++) {
		for (i = first[round]; i < first[round + 1]; i++)
			print_pair(&pairs.list[i]);
		printf("\n");
	}
	return 0;
}
