/*
 * residency: what its rule says of rates that a test made up: of lines "DECLARED THREADS AT
 * RATES", in MiB and GB/s. The sizes are 64 MiB, 128, 256 ..., one for each rate; AT is one of
 * these, too.
 */
#include "../../src/harness/residency/residency.c"

enum { FIRST = 64 };

int main(void)
{
	struct residency_curve curve = { 0 };
	size_t declared, size;
	int threads, at;
	char end;

	while (scanf("%zu %d %zu", &declared, &threads, &size) == 3) {
		for (at = 0; FIRST << at < (int)size; at++)
			;
		curve.count = 0;
		do {
			curve.bytes[curve.count] = (size_t)FIRST * MIB << curve.count;
		} while (scanf("%lf%c", &curve.gbs[curve.count++], &end) == 2 && end != '\n');
		printf("%s\n", residency_word(residency_at(
				       &curve, at, residency_reach(declared * MIB, threads))));
	}
	return 0;
}
