#include "record.h"

#include "../harness/json.h"
#include "../harness/memory/chase.h"
#include "../harness/memory/wide.h"
#include "staircase.h"

static const char *const points_keys[POINTS] = {
	"latency_2m_ns", "latency_4k_ns", "read_one_gbs",
	"triad_one_gbs", "read_all_gbs",  "triad_all_gbs"
};

/* Rounded: a sixth of the text, and finer than any figure is known. */
static double rounded(double value)
{
	return (double)(long)(value * (value < 100 ? 100 : 10) + 0.5) / (value < 100 ? 100 : 10);
}

static void record_points(const struct ladder *l)
{
	int p, r, i;

	json_open("sizes", '[');
	for (i = 0; i < l->count; i++)
		json_count(NULL, l->bytes[i]);
	json_close(']');
	json_open("points", '{');
	for (p = 0; p < POINTS; p++) {
		json_open(points_keys[p], '[');
		for (r = 0; r < l->rounds; r++) {
			json_open(NULL, '[');
			for (i = 0; i < l->count; i++)
				json_positive(NULL, rounded(l->of[p][r][i]));
			json_close(']');
		}
		json_close(']');
	}
	json_close('}');
}

static void record_level(const struct run *run, int number)
{
	const struct level *const level = &run->levels[number];
	int p;

	json_open(NULL, '{');
	json_text("name", level_name(run->levels, number, &run->declared));
	json_count("rounds", (unsigned)level->seen);
	json_number(level->is_memory ? "from_bytes" : "bytes", level->bytes);
	json_number("low_bytes", level->low_bytes);
	json_number("high_bytes", level->high_bytes);
	json_truth("varies", level->varies);
	json_number("latency_ns", level->of[LATENCY_2M]);
	json_positive("latency_4k_ns", level->of[LATENCY_4K]);
	for (p = READ_ONE; p < POINTS; p++)
		json_positive(points_keys[p], level->of[p]);
	json_close('}');
}

static void record_printed(char *text)
{
	char *line;

	json_open("printed", '[');
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		json_text(NULL, line);
	json_close(']');
}

void record_ladder(const void *data)
{
	const struct run *const run = data;
	int i;

	placement_write("placement_before", &run->before);
	placement_write("placement_after", &run->after);
	json_count("vector_bits", (unsigned)wide_bits());
	json_positive("clock_ghz", run->measuring.clock_ghz);
	json_truth("pages_2m", run->measuring.has[CHASE_2M]);
	json_truth("pages_4k", run->measuring.has[CHASE_4K]);
	json_count("visits", (unsigned)run->measuring.visits);
	json_count("unsettled", (unsigned)run->measuring.unsettled);
	json_count("lost", (unsigned)run->measuring.lost);
	json_open("declared_bytes", '[');
	for (i = 0; i < run->declared.count; i++)
		json_count(NULL, run->declared.bytes[i]);
	json_close(']');
	json_number("last_levels", run->declared.last_levels);
	record_points(&run->ladder);
	json_open("levels", '[');
	for (i = 0; i < run->levels_count; i++)
		record_level(run, i);
	json_close(']');
	triads_write(&run->residency);
	record_printed(run->printed);
}
