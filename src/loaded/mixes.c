#include "mixes.h"

#include "../harness/memory/wide.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE_WORDS = LINE / 8 };

static inline void mix_write_line(uint64_t *line, uint64_t value)
{
	int i;

	for (i = 0; i < LINE_WORDS; i++)
		line[i] = value;
}

static inline void mix_stream_line(uint64_t *line, uint64_t value)
{
#ifdef __SSE2__
	const __m128i both = _mm_set1_epi64x((long long)value);
	int i;

	for (i = 0; i < LINE_WORDS; i += 2)
		_mm_stream_si128((__m128i *)(void *)(line + i), both);
#else
	mix_write_line(line, value);
#endif
}

/* One function per mix, so that its counts are constants of the loop. */
#define CHUNK(NAME, READS, WRITES, PUT)                                                  \
	static NOINLINE uint64_t NAME(const uint64_t *in, uint64_t *out, uint64_t value) \
	{                                                                                \
		const int reads = CHUNK_LINES * (READS) / ((READS) + (WRITES));          \
		const uint64_t sum = wide_read(in, (size_t)reads * LINE, 1);             \
		int line;                                                                \
                                                                                         \
		for (line = reads; line < CHUNK_LINES; line++, out += LINE_WORDS)        \
			PUT(out, value);                                                 \
		return sum;                                                              \
	}

CHUNK(mix_1r0w, 1, 0, mix_write_line)
CHUNK(mix_3r1w, 3, 1, mix_write_line)
CHUNK(mix_2r1w, 2, 1, mix_write_line)
CHUNK(mix_1r1w, 1, 1, mix_write_line)
CHUNK(mix_1r1nt, 1, 1, mix_stream_line)

const struct mix mixes[MIXES] = {
	{ "1r0w", 1, 0, 0, mix_1r0w },   { "3r1w", 3, 1, 0, mix_3r1w },
	{ "2r1w", 2, 1, 0, mix_2r1w },   { "1r1w", 1, 1, 0, mix_1r1w },
	{ "1r1nt", 1, 1, 1, mix_1r1nt },
};

int mix_named(const char *name, size_t length)
{
	int m;

	for (m = 0; m < MIXES; m++)
		if (strlen(mixes[m].name) == length && strncmp(mixes[m].name, name, length) == 0)
			return m;
	return -1;
}

int mix_is_here(const struct mix *mix)
{
#ifdef __SSE2__
	(void)mix;
	return 1;
#else
	return !mix->nontemporal;
#endif
}

int mix_is_quick(const struct mix *mix)
{
	return mix->writes == 0 || mix->reads == 2;
}

int mix_lines_read(const struct mix *mix)
{
	return CHUNK_LINES * mix->reads / (mix->reads + mix->writes);
}

int mix_lines_written(const struct mix *mix)
{
	return CHUNK_LINES - mix_lines_read(mix);
}
