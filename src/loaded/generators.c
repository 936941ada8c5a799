#include "generators.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/memory/chase.h"
#include "../harness/verdict.h"

/* A rate is caught up with by at most so much: what a longer pause left undone stays undone. */
static const double CATCH_UP_SECONDS = 0.005;

/* Chunks between two looks at the clock, at most: one look for each limits the rate.  On schedule
 * there is one look for each. */
enum { CHUNKS_MOST = 8 };

struct generator {
	uint64_t *in, *out;
	size_t in_line, out_line; /* the next of each */
	uint64_t pass;            /* what is written into the lines of this pass */
	uint64_t wrong;           /* chunks with a wrong sum */
	struct window window;
	char unused[LINES_APART]; /* no line is shared with the next generator */
};

static struct {
	struct generator *all;
	int count;
	int events[EVENTS]; /* how often; windows of all points, the others of this one */
	size_t bytes, lines;
} generators;

void generators_make(int count, size_t bytes)
{
	generators.count = count;
	generators.lines = bytes / LINE / CHUNK_LINES * CHUNK_LINES;
	generators.bytes = generators.lines * LINE;
	generators.all = room_for((size_t)(count > 0 ? count : 1), sizeof(*generators.all),
				  "generators", "use fewer threads");
}

void generator_touch(int g)
{
	struct generator *const self = &generators.all[g];
	size_t i;

	self->in = (uint64_t *)(void *)chase_memory(generators.bytes, CHASE_2M);
	self->out = (uint64_t *)(void *)chase_memory(generators.bytes, CHASE_2M);
	for (i = 0; i < generators.bytes / sizeof(*self->in); i++) {
		self->in[i] = i;
		self->out[i] = 0;
	}
	self->pass = 1;
}

/* The sum of the words of so many lines from LINE_NUMBER on: words are 0, 1, 2, ... */
static uint64_t generator_sum(size_t line_number, int lines)
{
	const uint64_t words = (uint64_t)lines * LINE / 8, first = line_number * (LINE / 8);

	return words * first + words * (words - 1) / 2;
}

static void generator_chunk(struct generator *self, const struct mix *mix)
{
	const int reads = mix_lines_read(mix), writes = mix_lines_written(mix);
	const uint64_t sum = mix->chunk(self->in + self->in_line * (LINE / 8),
					self->out + self->out_line * (LINE / 8), self->pass);

	self->wrong += sum != generator_sum(self->in_line, reads);
	self->in_line += (size_t)reads;
	self->out_line += (size_t)writes;
	if (self->in_line + CHUNK_LINES > generators.lines)
		self->in_line = 0;
	if (self->out_line + CHUNK_LINES > generators.lines) {
		self->out_line = 0;
		self->pass++;
	}
}

static int generators_heard(enum generators_event event)
{
	return __atomic_load_n(&generators.events[event], __ATOMIC_ACQUIRE);
}

void generators_tell(enum generators_event event)
{
	__atomic_add_fetch(&generators.events[event], 1, __ATOMIC_ACQ_REL);
}

static void generator_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("pause");
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Notes the thread's own times where the window opens and closes. */
static void generator_note(struct generator *self, double bytes, int seen[2])
{
	struct window now;

	if (generators_heard(WINDOW_OPENS) != seen[0]) {
		seen[0]++;
		self->window = (struct window){ clock_now(), clock_thread(), bytes };
	}
	if (generators_heard(WINDOW_CLOSES) != seen[1]) {
		seen[1]++;
		now = (struct window){ clock_now(), clock_thread(), bytes };
		self->window.seconds = now.seconds - self->window.seconds;
		self->window.cpu_s = now.cpu_s - self->window.cpu_s;
		self->window.bytes = now.bytes - self->window.bytes;
	}
}

void generator_run(int g, const struct mix *mix, double rate)
{
	struct generator *const self = &generators.all[g];
	int seen[2] = { generators.events[WINDOW_OPENS], generators.events[WINDOW_CLOSES] };
	double began = clock_now(), bytes = 0, allowed, moved = 0;
	int chunks;

	generators_tell(GENERATOR_RUNS);
	while (!generators_heard(GENERATORS_STOP)) {
		allowed = rate > 0 ? rate * (clock_now() - began) : 0;
		if (allowed - moved > rate * CATCH_UP_SECONDS)
			moved = allowed - rate * CATCH_UP_SECONDS;
		if (rate < 0 || (rate > 0 && moved >= allowed))
			generator_pause();
		for (chunks = 0; chunks < CHUNKS_MOST && rate >= 0; chunks++) {
			if (rate > 0 && moved >= allowed)
				break;
			generator_chunk(self, mix);
			moved += CHUNK_LINES * LINE;
			bytes += CHUNK_LINES * LINE;
		}
		generator_note(self, bytes, seen);
	}
	generator_note(self, bytes, seen);
}

void generators_start(void)
{
	generators.events[GENERATOR_RUNS] = generators.events[GENERATORS_STOP] = 0;
}

void generators_wait_running(void)
{
	while (generators_heard(GENERATOR_RUNS) < generators.count)
		generator_pause();
}

const struct window *generator_window(int g)
{
	return &generators.all[g].window;
}

/* A line holds the number of the pass that wrote it last: this one up to where it is, the one
 * before behind that.  The last lines, where a pass may end before them, are left out. */
static size_t generator_wrong_line(const struct generator *self)
{
	const size_t reached = generators.lines - CHUNK_LINES;
	size_t line;
	int i;

	for (line = 0; line < reached; line++)
		for (i = 0; i < LINE / 8; i++) {
			const uint64_t word = self->out[line * (LINE / 8) + (size_t)i];

			if (word != self->pass - (line >= self->out_line))
				return line;
		}
	return generators.lines;
}

void generators_validate(void)
{
	size_t line;
	int g;

	for (g = 0; g < generators.count; g++) {
		const struct generator *const self = &generators.all[g];

		if (self->wrong)
			verdict_invalid(NOT_VALIDATED,
					"generator %d read %llu chunks with a wrong sum", g,
					(unsigned long long)self->wrong);
		line = generator_wrong_line(self);
		if (line < generators.lines)
			verdict_invalid(NOT_VALIDATED,
					"generator %d: line %zu of what it wrote is wrong", g,
					line);
	}
}

const void *generator_memory(int g, int written)
{
	return written ? generators.all[g].out : generators.all[g].in;
}

size_t generator_bytes(void)
{
	return generators.bytes;
}
