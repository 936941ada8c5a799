/*
 * pairs: what the ping-pong's own code makes of samples and of a recorded machine.
 *
 * pairs statistics          reads numbers, prints their order statistics
 * pairs turn                the same, of numbers that were measured in turn
 * pairs classes CPUS        the default pairs of these CPUs, built from changed sources
 * pairs all CPUS            every pair of cores
 * pairs rounds N            every pair of N players, a line per round
 */
#include "../../src/harness/harness.c"

#include "../../src/pingpong/blocks.c"
#include "../../src/pingpong/pairs.c"

static void print_statistics(int in_turn)
{
	static double values[100000], room[100000];
	struct order_statistics s;
	int count = 0;

	while (count < 100000 && scanf("%lf", &values[count]) == 1)
		count++;
	if (in_turn)
		order_statistics_in_turn(&s, values, room, count);
	else
		order_statistics(&s, values, count);
	printf("%.17g %.17g %.17g %.17g %.17g\n", s.min, s.median, s.max, s.low, s.high);
}

static void print_pair(const struct pair *pair)
{
	printf("%s:%d-%d ", pair_class_names[pair->class], pair->cpu[0], pair->cpu[1]);
}

static void print_rounds(int count)
{
	int round, one;

	for (round = 0; round < pairs_rounds(count); round++) {
		for (one = 0; one < count; one++)
			if (pairs_partner(count, round, one) > one)
				printf("%d-%d ", one, pairs_partner(count, round, one));
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct pairs pairs = { NULL, 0 };
	struct cpuset cpus;
	int i;

	if (argc < 3) {
		print_statistics(argc > 1 && strcmp(argv[1], "turn") == 0);
		return 0;
	}
	if (strcmp(argv[1], "rounds") == 0) {
		print_rounds(atoi(argv[2]));
		return 0;
	}
	cpuset_parse(&cpus, argv[2]);
	if (strcmp(argv[1], "classes") == 0)
		pairs_default(&pairs, &cpus);
	else
		pairs_all(&pairs, &cpus);
	for (i = 0; i < pairs.count; i++)
		print_pair(&pairs.list[i]);
	return 0;
}
