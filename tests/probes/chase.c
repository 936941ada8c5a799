/*
 * chase: what the harness's chase makes of so many lines, with one link bent on request.
 *
 *	chase LINES SEED BENT        LINES: of 64 bytes; BENT: the turn at which the cycle goes to
 * a wrong line, or -1
 *
 * prints how many lines a lap visits once, how many turns go to a line close by, and whether
 * the walk ends where it should after a lap and after eight loads more.
 */
#include "harness/harness.c"

int main(int argc, char **argv)
{
	const size_t lines = argc > 3 ? (size_t)atol(argv[1]) : 0;
	unsigned char *const visits = calloc(lines, 1);
	size_t turn, once = 0, close_by = 0, last = 0;
	int is_right;
	struct chase chase;

	if (!lines || !visits)
		return EXIT_USAGE;
	chase_build(&chase, chase_memory(lines * LINE, CHASE_4K), lines * LINE,
		    (size_t)atol(argv[2]));
	for (turn = 0; turn < chase.lines; turn++) {
		const size_t line = chase_line(&chase, turn);

		visits[line]++;
		close_by += turn && line - last + 8 <= 16;
		last = line;
	}
	for (turn = 0; turn < lines; turn++)
		once += visits[turn] == 1;
	if (atol(argv[3]) >= 0)
		*(void **)(void *)(chase.memory +
				   chase.line * chase_line(&chase, (size_t)atol(argv[3]))) =
			chase.memory + chase.line * chase_line(&chase, 0);
	chase_walk(&chase, chase.lines);
	is_right = chase_is_right(&chase);
	chase_walk(&chase, CHASE_STEP);
	printf("%zu %zu %d %d\n", once, close_by, is_right, chase_is_right(&chase));
	return 0;
}
