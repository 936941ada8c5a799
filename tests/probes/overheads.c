/*
 * overheads: what src/overheads makes of figures.
 *
 * overheads fit bytes|threads   reads "X OVERHEAD HALF" in us, prints a, b, GB/s per thread
 */
#define main program_main
#include "../../src/overheads/overheads.c"
#undef main

static void print_fitted(const struct line *line, const struct overhead *first, int by_bytes)
{
	(void)first;
	printf("%.17g %.17g %.17g\n", line->a, line->b, by_bytes ? gbs(line) : 0);
}

static void print_fit(int by_bytes)
{
	static struct construct made_up[64];
	static struct overhead overheads[64];
	static struct figure figures[64];
	double x, y, half;
	int n = 0;

	for (; n < 64 && scanf("%lf %lf %lf", &x, &y, &half) == 3; n++) {
		made_up[n].name = "c";
		made_up[n].bytes = by_bytes ? (size_t)x : 0;
		overheads[n].construct = &made_up[n];
		overheads[n].threads = by_bytes ? 2 : (int)x;
		figures[n].overhead.median = y;
		figures[n].overhead.low = y - half;
		figures[n].overhead.high = y + half;
	}
	fits(overheads, figures, n, print_fitted);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		print_fit(strcmp(argv[2], "bytes") == 0);
	return argc != 3;
}
