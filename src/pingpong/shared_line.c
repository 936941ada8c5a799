#include "shared_line.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/lost_time.h"
#include "../harness/memory/placement.h"
#include "../harness/openmp.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const method_names[METHODS] = { "cas", "lines" };

typedef unsigned long long line_word;

enum {
	WORDS = LINE / sizeof(line_word),
	WORDS_APART = LINES_APART / sizeof(line_word),
	PAGE = 4096
};

#if defined(__GNUC__) && !(defined(__INTEL_COMPILER) && __INTEL_COMPILER < 1400)
#define LOAD_ACQUIRE(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define STORE_RELEASE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#else /* icc 13: Knights Corner keeps the order of plain loads and stores */
#define LOAD_ACQUIRE(place) (*(volatile line_word *)(place))
#define STORE_RELEASE(place, value) (*(volatile line_word *)(place) = (value))
#endif

/* Each on a line of its own. */
struct lines {
	line_word cas[WORDS_APART];
	line_word ball[2][WORDS_APART]; /* of A, of B */
	line_word order[WORDS_APART];   /* of A to B: how many round trips; STOP ends */
	line_word ready[WORDS_APART];   /* of B to A: it is in the loop */
	line_word done[WORDS_APART];    /* of B to A: the block is over, interruptions */
};

static const line_word SHARED_LINE_STOP = ~(line_word)0;

struct side {
	struct meeting *meeting;
	struct lines *lines;
	line_word turn, orders;
};

/* What word number w of a turn must hold: pair and turn, another value in each line_word. */
static line_word shared_line_payload(const struct pair *pair, line_word turn, int w)
{
	return (turn << 24) + ((line_word)pair->cpu[0] << 12) + (line_word)pair->cpu[1] +
	       (line_word)w * 0x9e37ULL;
}

static void shared_line_note_side(struct meeting *m, int side)
{
	const int cpu = sched_getcpu();

	if (cpu != m->pair.cpu[side])
		m->seen[side] = cpu < 0 ? SEEN_NOWHERE : cpu;
}

static void shared_line_pin_side(struct meeting *m, int side)
{
	cpuset_pin(m->pair.cpu[side]);
	cpuset_of_thread(&m->mask[side]);
	shared_line_note_side(m, side);
}

static void shared_line_note_wrong(struct meeting *m, line_word turn)
{
	if (!m->wrong++)
		m->wrong_at = turn;
}

static void shared_line_turns_by_cas(struct side *s, int side, long trips)
{
	line_word *const place = s->lines->cas;
	line_word turn = s->turn + (line_word)side;
	long i;

	for (i = 0; i < trips; i++) {
		line_word seen;

		do
			seen = __sync_val_compare_and_swap(place, turn, turn + 1);
		while (seen < turn);
		if (seen != turn)
			shared_line_note_wrong(s->meeting, turn);
		turn += 2;
	}
}

static void shared_line_throw_ball(struct side *s, int side, line_word turn)
{
	line_word *const own = s->lines->ball[side];
	int w;

	for (w = 1; w < WORDS; w++)
		own[w] = shared_line_payload(&s->meeting->pair, turn, w);
	STORE_RELEASE(&own[0], turn);
}

static void shared_line_catch_ball(struct side *s, int side, line_word turn)
{
	line_word *const other = s->lines->ball[!side];
	int w, wrong = 0;

	while (LOAD_ACQUIRE(&other[0]) < turn)
		continue;
	for (w = 1; w < WORDS; w++)
		wrong |= other[w] != shared_line_payload(&s->meeting->pair, turn, w);
	if (wrong || other[0] != turn)
		shared_line_note_wrong(s->meeting, turn);
}

static void shared_line_turns_by_lines(struct side *s, int side, long trips)
{
	line_word turn = s->turn;
	long i;

	for (i = 0; i < trips; i++, turn += 2) {
		if (side == 0) {
			shared_line_throw_ball(s, 0, turn + 1);
			shared_line_catch_ball(s, 0, turn + 2);
		} else {
			shared_line_catch_ball(s, 1, turn + 1);
			shared_line_throw_ball(s, 1, turn + 2);
		}
	}
}

static void shared_line_take_turns(struct side *s, int side, long trips)
{
	if (s->meeting->method == METHOD_CAS)
		shared_line_turns_by_cas(s, side, trips);
	else
		shared_line_turns_by_lines(s, side, trips);
	s->turn += 2 * (line_word)trips;
}

/* A's part: the order, two untimed round trips, then the block. */
static double shared_line_run_block(void *data, long trips, int *interrupted)
{
	struct side *const s = data;
	const long left = lost_time_switches();
	double seconds;

	shared_line_note_side(s->meeting, 0);
	s->orders++;
	s->lines->order[1] = (line_word)trips;
	STORE_RELEASE(&s->lines->order[0], s->orders);
	while (LOAD_ACQUIRE(&s->lines->ready[0]) != s->orders)
		continue;
	shared_line_take_turns(s, 0, 2);
	seconds = clock_now();
	shared_line_take_turns(s, 0, trips);
	seconds = clock_now() - seconds;
	shared_line_note_side(s->meeting, 0);
	while (LOAD_ACQUIRE(&s->lines->done[0]) != s->orders)
		continue;
	*interrupted = lost_time_switches() != left || s->lines->done[1];
	s->meeting->turns += 2 * (line_word)trips + 4;
	return seconds;
}

/* B's part: follows orders until the order to stop. */
static void shared_line_follow_orders(struct side *s)
{
	for (;;) {
		long trips, left;

		s->orders++;
		while (LOAD_ACQUIRE(&s->lines->order[0]) < s->orders)
			continue;
		if (s->lines->order[1] == SHARED_LINE_STOP)
			return;
		trips = (long)s->lines->order[1];
		left = lost_time_switches();
		shared_line_note_side(s->meeting, 1);
		STORE_RELEASE(&s->lines->ready[0], s->orders);
		shared_line_take_turns(s, 1, 2);
		shared_line_take_turns(s, 1, trips);
		shared_line_note_side(s->meeting, 1);
		s->lines->done[1] = (line_word)(lost_time_switches() - left);
		STORE_RELEASE(&s->lines->done[0], s->orders);
	}
}

static void shared_line_end_game(struct side *s)
{
	s->lines->order[1] = SHARED_LINE_STOP;
	STORE_RELEASE(&s->lines->order[0], s->orders + 1);
}

static struct lines *shared_line_fresh_lines(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		die("no memory for a page that two threads share", "free some memory");
	return page;
}

static void shared_line_play_side(struct meeting *m, struct lines *lines, int side, double budget)
{
	struct side s = { m, lines, 0, 0 };

	shared_line_pin_side(m, side);
	if (side == m->home)
		memset(lines, 0, PAGE);
#pragma omp barrier
	if (side == 0) {
		blocks_measure(&m->blocks, shared_line_run_block, &s, budget, UNTIL_SETTLED);
		shared_line_end_game(&s);
	} else {
		shared_line_follow_orders(&s);
	}
}

void shared_line_meet(struct meeting *m, double budget)
{
	struct lines *const lines = shared_line_fresh_lines();
	int players = 0;

	m->seen[0] = m->seen[1] = SEEN_AT_HOME;
	m->wrong = m->turns = 0;
#pragma omp parallel num_threads(2)
	{
#pragma omp single
		players = omp_get_num_threads();
		if (players == 2)
			shared_line_play_side(m, lines, omp_get_thread_num(), budget);
	}
	if (players != 2)
		die("2 threads are needed, but there is %d",
		    "build it with OpenMP, and unset OMP_THREAD_LIMIT and OMP_DYNAMIC", players);
	m->domain = placement_domain(lines);
	munmap(lines, PAGE);
}
