#include "staircase.h"

#include "../harness/elementary.h"
#include "../harness/order_statistics.h"

enum { BAR_COLUMNS = 26, BARS_PER_DOUBLING = 3 };

/* Reads of one thread, of memory's: a cache, though its latency may be that of page walks. */
static const double FASTER = 1.5;
static const double KIB = 1024, GIB = 1024.0 * MIB;

const char *size_text(char text[SIZE_TEXT_MAX], double bytes)
{
	const double unit = bytes < MIB ? KIB : bytes < GIB ? MIB : GIB, value = bytes / unit;
	const int digits = value < 9.95 && value != (double)(int)value;

	snprintf(text, SIZE_TEXT_MAX, "%.*f %s", digits, value,
		 unit == KIB   ? "KiB"
		 : unit == MIB ? "MiB"
			       : "GiB");
	return text;
}

/* The declared level of a size, at or above the one before. */
static int nearest(const struct declared *declared, double bytes, int from)
{
	while (from + 1 < declared->count &&
	       bytes * bytes > (double)declared->bytes[from] * (double)declared->bytes[from + 1])
		from++;
	return from;
}

static int level_number(const struct level *levels, int number, const struct declared *declared)
{
	int i, at = -1;

	for (i = 0; i <= number; i++)
		at = nearest(declared, levels[i].varies ? levels[i].high_bytes : levels[i].bytes,
			     at + 1);
	return at;
}

const char *level_name(const struct level *levels, int number, const struct declared *declared)
{
	static const char *const names[] = {
		"L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9"
	};
	const int most = (int)(sizeof(names) / sizeof(*names)) - 1;
	const int at = level_number(levels, number, declared);

	if (levels[number].is_memory)
		return "memory";
	return names[at < most ? at : most];
}

/* Of the rounds; all 0: not measured. */
static struct order_statistics spread_of(const struct ladder *l, int points, int rung)
{
	struct order_statistics spread = { 0 };
	double values[ROUNDS_MAX];
	int r, count = 0;

	for (r = 0; r < l->rounds; r++)
		if (l->of[points][r][rung] > 0)
			values[count++] = l->of[points][r][rung];
	if (count)
		order_statistics(&spread, values, count);
	return spread;
}

static void print_figure(FILE *out, int width, double value)
{
	if (value > 0)
		fprintf(out, " %*.*f", width, value < 9.95, value);
	else
		fprintf(out, " %*s", width, "-");
}

static int bar_length(double ns)
{
	const int length = (int)(BARS_PER_DOUBLING * binary_logarithm(ns < 1 ? 1 : ns) + 1.5);

	return length < BAR_COLUMNS ? length : BAR_COLUMNS;
}

static void print_rung(FILE *out, const struct ladder *l, int rung)
{
	const struct order_statistics ns = spread_of(l, LATENCY_2M, rung);
	char text[SIZE_TEXT_MAX];
	int p, column;

	fprintf(out, "%8s", size_text(text, (double)l->bytes[rung]));
	for (p = 0; p < POINTS; p++)
		print_figure(out, p < READ_ONE ? 6 : 5, spread_of(l, p, rung).median);
	fprintf(out, "  ");
	for (column = 1; ns.median > 0 && column <= bar_length(ns.max); column++)
		putc(column <= bar_length(ns.min) ? '#' : '.', out);
	putc('\n', out);
}

void staircase_print(FILE *out, const struct ladder *l)
{
	int i;

	fprintf(out, "%8s %13s %11s %11s\n", "", "ns per load", "GB/s of 1",
		l->threads > 1 ? "of all" : "");
	fprintf(out, "%8s %6s %6s %5s %5s %5s %5s  %s\n", "size", "2M", "4K", "read", "triad",
		"read", "triad", "latency; . in some rounds");
	for (i = 0; i < l->count; i++)
		if ((l->bytes[i] & (l->bytes[i] - 1)) == 0)
			print_rung(out, l, i);
}

static void print_size(FILE *out, const struct level *level)
{
	char low[SIZE_TEXT_MAX], high[SIZE_TEXT_MAX], text[3 * SIZE_TEXT_MAX];

	size_text(low, level->low_bytes);
	size_text(high, level->high_bytes);
	if (level->is_memory)
		snprintf(text, sizeof(text), "from %s", high);
	else if (level->varies && !is_positive(level->low_bytes))
		snprintf(text, sizeof(text), "0 to %s, varies", high);
	else
		snprintf(text, sizeof(text), "%s to %s%s", low, high,
			 level->varies ? ", varies" : "");
	fprintf(out, " %-28s", text);
}

static void print_level(FILE *out, const struct level *level)
{
	int p;

	print_size(out, level);
	print_figure(out, 6, level->of[LATENCY_2M]);
	fprintf(out, " ns");
	for (p = READ_ONE; p < POINTS; p++)
		print_figure(out, 5, level->of[p]);
	putc('\n', out);
}

double cache_by_rate(const struct ladder *l, const struct level *levels, int count)
{
	const double of_memory = count > 1 ? levels[count - 1].of[READ_ONE] : 0;
	double bytes = 0;
	int i;

	for (i = 0; of_memory > 0 && i < l->count; i++)
		if (spread_of(l, READ_ONE, i).median > FASTER * of_memory)
			bytes = (double)l->bytes[i];
	return count > 1 && levels[count - 1].is_memory && bytes > 2 * levels[count - 2].high_bytes
		       ? bytes
		       : 0;
}

void levels_print(FILE *out, const struct ladder *l, const struct level *levels, int count,
		  const struct declared *declared)
{
	const double by_rate = cache_by_rate(l, levels, count);
	char text[SIZE_TEXT_MAX];
	int i, shown = 0;

	fprintf(out, "\n%-6s %8s %-28s %9s %11s %11s\n", "level", "declared", " measured",
		"latency", "GB/s of 1", l->threads > 1 ? "of all" : "");
	for (i = 0; i < count; i++) {
		const int at =
			levels[i].is_memory ? declared->count : level_number(levels, i, declared);

		for (; shown < at && shown < declared->count; shown++)
			fprintf(out, "L%-5d %8s  not found\n", shown + 1,
				size_text(text, (double)declared->bytes[shown]));
		fprintf(out, "%-6s %8s ", level_name(levels, i, declared),
			at < declared->count ? size_text(text, (double)declared->bytes[at]) : "");
		print_level(out, &levels[i]);
		shown = at + 1;
	}
	if (by_rate > 0)
		fprintf(out, "a cache that latency does not show: to %s one thread reads faster\n",
			size_text(text, by_rate));
}
