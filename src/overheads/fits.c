#include "fits.h"

#include "../harness/elementary.h"
#include "../harness/json.h"
#include "../harness/plural.h"

struct line {
	int points;
	double a, b;
	double worst; /* the largest distance of a point, in parts of it */
	double grown; /* from the first point to the last, in parts of the first */
};

struct points {
	int count;
	double x[64], y[64], weight[64];
};

static void point_add(struct points *p, double x, const struct figure *f)
{
	const double half = (f->overhead.high - f->overhead.low) / 2;
	const double least = 0.02 * absolute(f->overhead.median);
	const double sigma = half > least ? half : least;

	if (p->count == 64 || !is_positive(sigma))
		return;
	p->x[p->count] = x;
	p->y[p->count] = f->overhead.median;
	p->weight[p->count++] = 1 / (sigma * sigma);
}

static void line_through(struct line *line, const struct points *p)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0;
	int i;

	for (i = 0; i < p->count; i++) {
		w += p->weight[i];
		x += p->weight[i] * p->x[i];
		y += p->weight[i] * p->y[i];
	}
	x /= w;
	y /= w;
	for (i = 0; i < p->count; i++) {
		xx += p->weight[i] * (p->x[i] - x) * (p->x[i] - x);
		xy += p->weight[i] * (p->x[i] - x) * (p->y[i] - y);
	}
	line->points = p->count;
	line->b = xy / xx;
	line->a = y - line->b * x;
	line->grown = line->b * (p->x[p->count - 1] - p->x[0]) / (line->a + line->b * p->x[0]);
	line->worst = 0;
	for (i = 0; i < p->count; i++) {
		const double off = absolute((line->a + line->b * p->x[i]) / p->y[i] - 1);

		line->worst = off > line->worst ? off : line->worst;
	}
}

typedef void (*say_line)(const struct line *line, const struct overhead *first, int by_bytes);

/* The first of the constructs of that name, among those of its team where it goes by bytes. */
static int is_first(const struct overhead *o, int i)
{
	int k;

	for (k = 0; k < i; k++)
		if (strcmp(o[k].construct->name, o[i].construct->name) == 0 &&
		    (!o[i].construct->bytes || o[k].threads == o[i].threads))
			return 0;
	return 1;
}

static void fit(const struct overhead *o, const struct figure *f, int count, int i, say_line say)
{
	const int by_bytes = o[i].construct->bytes > 0;
	struct points points = { 0, { 0 }, { 0 }, { 0 } };
	struct line line;
	int k;

	for (k = i; k < count; k++) {
		if (strcmp(o[k].construct->name, o[i].construct->name) != 0)
			continue;
		if (by_bytes && o[k].threads == o[i].threads)
			point_add(&points, (double)o[k].construct->bytes, &f[k]);
		if (!by_bytes && o[k].threads > 1)
			point_add(&points, binary_logarithm(o[k].threads), &f[k]);
	}
	if (points.count < 3)
		return;
	line_through(&line, &points);
	say(&line, &o[i], by_bytes);
}

static void fits(const struct overhead *o, const struct figure *f, int count, say_line say)
{
	int i;

	for (i = 0; i < count; i++)
		if (is_first(o, i))
			fit(o, f, count, i, say);
}

/* Bytes per us are MB/s; 0 where all those bytes cost less than a tenth more. */
static double gbs(const struct line *line)
{
	return line->grown > 0.1 ? 1 / line->b / 1000 : 0;
}

static void print_line(const struct line *line, const struct overhead *first, int by_bytes)
{
	printf("%s", first->construct->name);
	if (by_bytes)
		printf(", %d thread%s", first->threads, plural(first->threads));
	printf(": %.3g us", line->a);
	if (by_bytes && gbs(line) > 0)
		printf(" + bytes / %.3g GB/s per thread", gbs(line));
	else if (by_bytes)
		printf(", for any number of bytes");
	else
		printf(" + %.3g us x log2(threads)", line->b);
	printf(" (a point is off by up to %.0f %%)\n", 100 * line->worst);
}

static void write_line(const struct line *line, const struct overhead *first, int by_bytes)
{
	json_open(NULL, '{');
	json_text("construct", first->construct->name);
	json_text("over", by_bytes ? "bytes" : "log2(threads)");
	if (by_bytes) {
		json_count("threads", (unsigned)first->threads);
		json_number("gbs_per_thread", gbs(line));
	}
	json_count("points", (unsigned)line->points);
	json_number("a_us", line->a);
	json_number("b_us", line->b);
	json_number("worst", line->worst);
	json_close('}');
}

void fits_print(const struct overhead *o, const struct figure *f, int count)
{
	fits(o, f, count, print_line);
}

void fits_write(const struct overhead *o, const struct figure *f, int count)
{
	json_open("fits", '[');
	fits(o, f, count, write_line);
	json_close(']');
}
