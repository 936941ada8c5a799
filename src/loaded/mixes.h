/*
 * mixes: what the generators do to memory: lines read and lines written, in which ratio.
 *
 * A chunk reads its lines by the widest loop of the CPU (wide.h), then writes the others.
 *
 * Counted bytes are those that the program reads and writes.  On most CPUs an ordinary store also
 * reads the line that it overwrites (write-allocate): `stream --explain` measures how often.
 */
#pragma once

#include "../harness/config.h"

#include <stdint.h>

/* A multiple of reads + writes of each mix, and what it reads of WIDE_READ_STEP. */
enum { CHUNK_LINES = 96, MIXES = 5 };

struct mix {
	const char *name; /* "3r1w": three lines read, one written */
	int reads, writes;
	int nontemporal;
	/* Reads and writes the lines of one chunk; the sum of all words read.  IN and OUT are
	 * the next lines; every word written is VALUE. */
	uint64_t (*chunk)(const uint64_t *in, uint64_t *out, uint64_t value);
};

extern const struct mix mixes[MIXES];

/* The mix of that name, -1 where there is none. */
int mix_named(const char *name, size_t length);

/* Whether this CPU and compiler have it: not all have non-temporal stores. */
int mix_is_here(const struct mix *mix);

/* Whether --quick has it. */
int mix_is_quick(const struct mix *mix);

/* Lines that a chunk reads, and writes. */
int mix_lines_read(const struct mix *mix);
int mix_lines_written(const struct mix *mix);
