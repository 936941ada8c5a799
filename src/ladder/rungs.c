#include "rungs.h"

#include "../harness/machine/line_size.h"

static const size_t LEAST = 4096, FEW_FROM = (size_t)2 * MIB, MOST_AT_LEAST = (size_t)256 * MIB;

/* A load from memory on a slow node, in seconds; two laps agree, some need a third. */
static const double LOAD_SECONDS = 2e-7, LAPS = 2.3;

void declared_read(struct declared *declared, int cpu, const struct cpuset *cpus)
{
	struct llc llc;

	memset(declared, 0, sizeof(*declared));
	declared->count = llc_levels(declared->bytes, cpu < 0 ? 0 : cpu);
	declared->last_levels = 1;
	if (!declared->count)
		return;
	llc_find(&llc, cpus, NULL);
	declared->last = declared->bytes[declared->count - 1];
	if (llc.bytes > declared->last)
		declared->last_levels = (double)llc.bytes / (double)declared->last;
}

size_t rungs_most(size_t last_level, size_t memory_begins)
{
	const size_t most = memory_begins && 2 * memory_begins < 8 * last_level ? 2 * memory_begins
										: 8 * last_level;

	return most > MOST_AT_LEAST ? most : MOST_AT_LEAST;
}

/* 4 KiB times 2^(eighths / 8); no line links libm. */
static size_t size_of(int eighths)
{
	static const double part[] = { 1.0000000000000000, 1.0905077326652577, 1.1892071150027210,
				       1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
				       1.6817928305074290, 1.8340080864093424 };

	return (size_t)((double)(LEAST << eighths / 8) * part[eighths % 8] / 512 + 0.5) * 512;
}

/* Within half an octave of a declared cache. */
static int is_near(const struct declared *declared, size_t bytes)
{
	int c;

	for (c = 0; c < declared->count; c++)
		if (10 * bytes > 7 * declared->bytes[c] && 10 * bytes < 15 * declared->bytes[c])
			return 1;
	return 0;
}

/* Eighths of an octave from one size to the next. */
static int step_at(const struct declared *declared, size_t bytes, int few)
{
	if (few)
		return bytes >= FEW_FROM ? 8 : is_near(declared, bytes) ? 2 : 4;
	if (is_near(declared, bytes))
		return 1;
	return bytes < FEW_FROM ? 2 : bytes < 2 * declared->last ? 4 : 8;
}

int rungs_choose(size_t bytes[RUNGS_MAX], const struct declared *declared, size_t most, int few)
{
	int count = 0, at = 0;

	while (size_of(at) <= most && count < RUNGS_MAX) {
		const int step = step_at(declared, size_of(at), few);

		bytes[count++] = size_of(at);
		at = (at / step + 1) * step;
	}
	return count;
}

size_t rungs_in_time(const size_t *bytes, int count, int rounds, double seconds)
{
	size_t most = bytes[0];
	int i;

	for (i = 0; i < count; i++) {
		seconds -= (double)bytes[i] / (double)line_bytes() * LOAD_SECONDS * LAPS * rounds;
		if (seconds < 0)
			break;
		most = bytes[i];
	}
	return most;
}
