#include "../config.h"

#include "shared_line.h"

#include "../clock.h"
#include "../error.h"
#include "../fault.h"
#include "../memory/placement.h"
#include "../openmp.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const method_names[METHODS] = { "cas", "lines" };

typedef unsigned long long line_word;

enum { WORDS = LINE / sizeof(line_word), PAGE = 4096 };

#if defined(__GNUC__) && !(defined(__INTEL_COMPILER) && __INTEL_COMPILER < 1400)
#define LOAD_ACQUIRE(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define STORE_RELEASE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#else /* icc 13: Knights Corner keeps the order of plain loads and stores */
#define LOAD_ACQUIRE(place) (*(volatile line_word *)(place))
#define STORE_RELEASE(place, value) (*(volatile line_word *)(place) = (value))
#endif

/* Each on a line of its own, with a line between: adjacent lines are fetched in pairs. */
struct lines {
	line_word cas[2 * WORDS];
	line_word ball[2][2 * WORDS]; /* of A, of B */
	line_word order[2 * WORDS];   /* of A to B: how many round trips; STOP ends */
	line_word ready[2 * WORDS];   /* of B to A: it is in the loop */
};

static const line_word STOP = ~(line_word)0;

struct side {
	struct meeting *meeting;
	struct lines *lines;
	line_word turn, orders;
};

/* What word number w of a turn must hold: pair and turn, another value in each line_word. */
static line_word payload(const struct pair *pair, line_word turn, int w)
{
	return (turn << 24) + ((line_word)pair->cpu[0] << 12) + (line_word)pair->cpu[1] +
	       (line_word)w * 0x9e37ULL;
}

static void note_side(struct meeting *m, int side)
{
	const int cpu = sched_getcpu();

	if (cpu != m->pair.cpu[side])
		m->seen[side] = cpu;
}

static void pin_side(struct meeting *m, int side)
{
	struct cpuset own;

	cpuset_clear(&own);
	cpuset_add(&own, m->pair.cpu[side]);
	sched_setaffinity(0, sizeof(own.part), own.part);
	cpuset_of_thread(&m->mask[side]);
	note_side(m, side);
}

static void note_wrong(struct meeting *m, line_word turn)
{
	if (!m->wrong++)
		m->wrong_at = turn;
}

static void turns_by_cas(struct side *s, int side, long trips)
{
	line_word *const place = s->lines->cas;
	line_word turn = s->turn + (line_word)side;
	long i;

	for (i = 0; i < trips; i++) {
		line_word seen;

		do
			seen = __sync_val_compare_and_swap(place, turn,
							   turn + 1 + FAULT_SKIP(turn));
		while (seen < turn);
		if (seen != turn)
			note_wrong(s->meeting, turn);
		turn += 2;
	}
}

static void throw_ball(struct side *s, int side, line_word turn)
{
	line_word *const own = s->lines->ball[side];
	int w;

	for (w = 1; w < WORDS; w++)
		own[w] = payload(&s->meeting->pair, turn, w) ^ FAULT_PAYLOAD(turn, w);
	STORE_RELEASE(&own[0], turn);
}

static void catch_ball(struct side *s, int side, line_word turn)
{
	line_word *const other = s->lines->ball[!side];
	int w, wrong = 0;

	while (LOAD_ACQUIRE(&other[0]) < turn)
		continue;
	for (w = 1; w < WORDS; w++)
		wrong |= other[w] != payload(&s->meeting->pair, turn, w);
	if (wrong || other[0] != turn)
		note_wrong(s->meeting, turn);
}

static void turns_by_lines(struct side *s, int side, long trips)
{
	line_word turn = s->turn;
	long i;

	for (i = 0; i < trips; i++, turn += 2) {
		if (side == 0) {
			throw_ball(s, 0, turn + 1);
			catch_ball(s, 0, turn + 2);
		} else {
			catch_ball(s, 1, turn + 1);
			throw_ball(s, 1, turn + 2);
		}
	}
}

static void take_turns(struct side *s, int side, long trips)
{
	if (s->meeting->method == METHOD_CAS)
		turns_by_cas(s, side, trips);
	else
		turns_by_lines(s, side, trips);
	s->turn += 2 * (line_word)trips;
}

/* A's part: the order, two round trips that nobody times, then the block. */
static double run_block(void *data, long trips)
{
	struct side *const s = data;
	double start;

	note_side(s->meeting, 0);
	s->orders++;
	s->lines->order[1] = (line_word)trips + 2;
	STORE_RELEASE(&s->lines->order[0], s->orders);
	while (LOAD_ACQUIRE(&s->lines->ready[0]) != s->orders)
		continue;
	take_turns(s, 0, 2);
	start = clock_now();
	take_turns(s, 0, trips);
	start = clock_now() - start;
	note_side(s->meeting, 0);
	s->meeting->turns += 2 * (line_word)trips + 4;
	return start;
}

/* B's part: follows orders until it is told to stop. */
static void follow_orders(struct side *s)
{
	for (;;) {
		long trips;

		s->orders++;
		while (LOAD_ACQUIRE(&s->lines->order[0]) < s->orders)
			continue;
		trips = (long)s->lines->order[1];
		if (s->lines->order[1] == STOP)
			return;
		note_side(s->meeting, 1);
		STORE_RELEASE(&s->lines->ready[0], s->orders);
		take_turns(s, 1, trips);
		note_side(s->meeting, 1);
	}
}

static void end_game(struct side *s)
{
	s->lines->order[1] = STOP;
	STORE_RELEASE(&s->lines->order[0], s->orders + 1);
}

static struct lines *fresh_lines(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		die("no memory for a page that two threads share", "free some memory");
	return page;
}

static void play_side(struct meeting *m, struct lines *lines, int side, double budget)
{
	struct side s = { m, lines, 0, 0 };

	if (side == 0) {
		blocks_measure(&m->blocks, run_block, &s, budget);
		end_game(&s);
	} else {
		follow_orders(&s);
	}
}

void shared_line_meet(struct meeting *m, double budget)
{
	struct lines *const lines = fresh_lines();
	int players = 0;

	m->seen[0] = m->seen[1] = -1;
	m->wrong = m->turns = 0;
#pragma omp parallel num_threads(2)
	{
		const int side = omp_get_thread_num();

#pragma omp single
		players = omp_get_num_threads();
		if (players == 2) {
			pin_side(m, side);
			if (side == m->home)
				memset(lines, 0, PAGE);
#pragma omp barrier
			play_side(m, lines, side, budget);
		}
	}
	if (players != 2)
		die("a pair takes two threads, and there is %d",
		    "build it with OpenMP, and unset OMP_THREAD_LIMIT and OMP_DYNAMIC", players);
	m->domain = placement_domain(lines);
	munmap(lines, PAGE);
}
