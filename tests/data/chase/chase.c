/*
 * chase: how long one load takes that must wait for the one before it.
 */
#include "../harness/harness.c"

static int mib = 64;

static const struct option_row rows[] = {
	{ 'm', "memory", "MIB", "MiB that the chain goes through (default: 64)", .count = &mib,
	  .least = 1, .most = 1 << 20 },
	{ 0 },
};

enum { CHAIN_BROKEN = REASONS };
static const struct reason reasons[] = {
	{ "chain-broken", WRONG, EITHER, "the chain leads elsewhere" }, { 0 }
};

static void write_own(const void *data)
{
	json_count("memory_mib", (unsigned)*(const int *)data);
}

static const struct program chase = {
	"chase", "Latency of memory, by a chain of loads.\n", rows, reasons, NULL, write_own, 0
};

int main(int argc, char **argv)
{
	double began, ns[5];
	size_t n, i, at = 0, *next;
	int turn;

	program_start(&chase, argc, argv);
	n = ((size_t)mib << 20) / sizeof(*next);
	next = (size_t *)map_memory(n * sizeof(*next), PAGES_DEFAULT);
	for (i = 0; i < n; i++) /* n is a power of 2 times mib: an odd step visits all */
		next[i] = (i + n / 2 + 12345 * 8 + 1) % n;
	program_measuring();
	for (turn = 0; turn < 5; turn++) {
		began = clock_now();
		for (i = 0; i < 1000000; i++)
			at = next[at];
		ns[turn] = (clock_now() - began) * 1e3;
		threads_sample();
	}
	program_measured();
	if (at >= n)
		verdict_invalid(CHAIN_BROKEN, "the chain ended at %zu of %zu", at, n);
	metric_samples("latency", ns, 5);
	metric("latency", median(ns, 5), "ns", LOWER);
	leave(program_end(&mib));
}
