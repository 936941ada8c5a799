/*
 * overheads: what src/overheads makes of samples.
 *
 * overheads figure          reads pairs "WITH WITHOUT" in s, prints overhead, interval, EPCC's
 * mean and half width, break-even, in us overheads fit bytes|threads   reads "X OVERHEAD HALF" in
 * us, prints a, b, GB/s per thread
 */
#define main program_main
#include "../../src/overheads/overheads.c"
#undef main

static void print_figure(void)
{
	static double with[PAIRS_MAX], without[PAIRS_MAX];
	struct overhead o = { &constructs[0], 2, "o", 1, 1, 0, 0, with, without };
	struct figure f;

	while (o.count < PAIRS_MAX && scanf("%lf %lf", &with[o.count], &without[o.count]) == 2)
		o.count++;
	figure_of(&f, &o);
	printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", f.overhead.median, f.overhead.low,
	       f.overhead.high, f.mean, f.half_width, f.break_even);
}

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
	if (argc == 2 && strcmp(argv[1], "figure") == 0)
		print_figure();
	else if (argc == 3)
		print_fit(strcmp(argv[2], "bytes") == 0);
	return argc < 2;
}
