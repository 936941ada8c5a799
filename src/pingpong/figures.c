#include "figures.h"

#include "../harness/clock.h"
#include "../harness/evidence/pinning.h"
#include "../harness/json.h"
#include "../harness/machine/domains.h"
#include "../harness/memory/placement.h"
#include "../harness/metrics.h"
#include "../harness/plural.h"
#include "../harness/verdict.h"

/* A message that is faster than a line can travel was not sent: two cycles of 5 GHz per hop.
 * An interval wider than the second is none. */
static const double FASTEST_NS = 0.4, UNSTABLE_SPREAD = 0.10;

double one_way_ns(double round_trip)
{
	return round_trip / 2 * 1e9;
}

const char *figure_name(const struct meeting *m)
{
	return metric_name("%s_%d_%d%s", method_names[m->method], m->pair.cpu[0], m->pair.cpu[1],
			   m->home ? "_home_b" : "");
}

const char *series_name(const struct meeting *m)
{
	return metric_name("%s%s", method_names[m->method], m->home ? "_home_b" : "");
}

void metric_of_cpus(const struct pair *pair, const char *name, const char *series)
{
	metric_at(name, series, AT_CPU, pair->cpu[0]);
	metric_at(name, series, AT_OTHER_CPU, pair->cpu[1]);
}

const char *class_figure_name(const struct meeting *m, const char *what)
{
	return metric_name("%s_%s%s%s", method_names[m->method], pair_class_names[m->pair.class],
			   m->home ? "_home_b" : "", what);
}

void class_judge(const struct pair *pair, int class)
{
	if (class == PAIR_CLASSES || (int)pair->class == class)
		return;
	if (pair->class == PAIR_SMT)
		verdict_invalid(SAME_CORE, "CPUs %d and %d belong to one core", pair->cpu[0],
				pair->cpu[1]);
	else
		verdict_invalid(WRONG_PINNING, "CPUs %d and %d are of class %s, not %s",
				pair->cpu[0], pair->cpu[1], pair_class_names[pair->class],
				pair_class_names[class]);
}

void side_judge(const char *who, int cpu, const struct cpuset *mask, int seen)
{
	char list[CPU_LIST_MAX];

	if (cpuset_count(mask) != 1 || !cpuset_has(mask, cpu))
		verdict_invalid(WRONG_PINNING, "%s for CPU %d may run on CPUs %s", who, cpu,
				cpuset_format(mask, list));
	if (seen == SEEN_NOWHERE)
		pinning_unknown();
	else if (seen != SEEN_AT_HOME)
		verdict_invalid(WRONG_PINNING, "%s for CPU %d was seen on CPU %d", who, cpu, seen);
}

static void judge_place(const struct meeting *m, int class)
{
	struct cpuset home, local;
	char list[CPU_LIST_MAX];
	int side;

	for (side = 0; side < 2; side++)
		side_judge("a thread", m->pair.cpu[side], &m->mask[side], m->seen[side]);
	class_judge(&m->pair, class);
	cpuset_clear(&home);
	cpuset_add(&home, m->pair.cpu[m->home]);
	domains_local(&local, &home);
	if (m->domain < 0)
		placement_unknown();
	else if (!cpuset_has(&local, m->domain))
		verdict_invalid(WRONG_PLACEMENT,
				"the lines of CPU %d lie on NUMA domain %d, not on its own, %s",
				m->pair.cpu[m->home], m->domain, cpuset_format(&local, list));
	placement_judge_home(&home);
}

static int is_too_short(const struct blocks *b)
{
	return b->shortest < 20 * clock_tick();
}

static int is_too_good(const struct blocks *b)
{
	return one_way_ns(b->round_trip.median) < FASTEST_NS;
}

static int is_unstable(const struct blocks *b)
{
	return order_statistics_spread(&b->round_trip) > UNSTABLE_SPREAD;
}

int blocks_reason(const struct blocks *b)
{
	if (is_too_short(b))
		return TOO_SHORT;
	if (is_too_good(b))
		return TOO_GOOD;
	if (blocks_lost(b))
		return DISTURBED;
	return is_unstable(b) ? UNSTABLE : -1;
}

void blocks_judge(const struct blocks *b, const char *name)
{
	const struct order_statistics *const s = &b->round_trip;

	if (is_too_short(b))
		verdict_invalid(TOO_SHORT, "%s: a block took %s, under 20 ticks of the clock",
				name, seconds_text(b->shortest));
	if (is_too_good(b))
		verdict_invalid(TOO_GOOD, "%s reads %.2g ns: no line travels so fast", name,
				one_way_ns(s->median));
	if (is_unstable(b))
		verdict_warn(UNSTABLE,
			     "%s: no interval: %s .. %s ns is more than %.0f %% off the median",
			     name, number_text(one_way_ns(s->low), 3),
			     number_text(one_way_ns(s->high), 3), 100 * UNSTABLE_SPREAD);
	if (blocks_lost(b))
		verdict_warn(
			DISTURBED,
			"%s: no interval: in %d of %d blocks other processes used one of the two "
			"CPUs",
			name, b->interrupted, b->count);
}

static void judge_time(const struct meeting *m, const char *name)
{
	if (m->wrong)
		verdict_invalid(NOT_VALIDATED,
				"%s: %llu of %llu turns carried a wrong value, the first was "
				"turn %llu",
				name, m->wrong, m->turns, m->wrong_at);
	blocks_judge(&m->blocks, name);
}

int blocks_have_interval(const struct blocks *b)
{
	return !is_unstable(b) && !blocks_lost(b);
}

void metric_of_time(const struct blocks *b, const char *name, double scale, const char *unit)
{
	const struct order_statistics *const s = &b->round_trip;

	metric(name, scale * s->median / 2, unit, LOWER);
	if (blocks_have_interval(b))
		metric_interval(name, scale * s->low / 2, scale * s->high / 2);
	else
		metric_disturbed(name);
}

void meeting_judge(const struct meeting *m, const char *name, int class)
{
	judge_place(m, class);
	judge_time(m, name);
}

void blocks_write(const struct blocks *b)
{
	json_count("blocks", (unsigned long long)b->round_trip.count);
	json_count("trips", (unsigned long long)b->trips);
	json_truth("settled", b->settled);
	json_count("blocks_played", (unsigned long long)b->count);
	json_count("blocks_interrupted", (unsigned long long)b->interrupted);
}

void pair_write(const struct pair *pair)
{
	json_count("cpu_a", (unsigned long long)pair->cpu[0]);
	json_count("cpu_b", (unsigned long long)pair->cpu[1]);
	json_text("class", pair_class_names[pair->class]);
}

void meeting_write(const struct meeting *m, const char *name)
{
	const struct blocks *b = &m->blocks;

	json_open(NULL, '{');
	json_text("metric", name);
	json_text("method", method_names[m->method]);
	pair_write(&m->pair);
	json_text("home", m->home ? "b" : "a");
	json_number("domain", m->domain);
	order_statistics_write(&b->round_trip, one_way_ns(1), "ns");
	json_number("mean_ns", one_way_ns(b->mean));
	blocks_write(b);
	json_close('}');
}

void meetings_print_head(const struct meeting *row, int width)
{
	int i;

	printf("One way, ns; home A, home B: the side that touched the memory first.\n  A - B    "
	       "class "
	       " ");
	for (i = 0; i < width; i++)
		printf(" %6s %c ", method_names[row[i].method], row[i].home ? 'B' : 'A');
	printf("\n");
}

void meetings_print_row(const struct meeting *row, int width)
{
	int i;

	printf("%3d - %-3d  %-6s ", row->pair.cpu[0], row->pair.cpu[1],
	       pair_class_names[row->pair.class]);
	for (i = 0; i < width; i++)
		printf(" %8.1f%c", one_way_ns(row[i].blocks.round_trip.median),
		       row[i].blocks.settled ? ' ' : '*');
	printf("\n");
}

void meetings_print_notes(const struct meeting *all, int count)
{
	int i, restless = 0;

	for (i = 0; i < count; i++)
		restless += !all[i].blocks.settled;
	if (restless)
		printf("*: the 95 %% interval of the median is wider than 2 %% (%d of %d)\n",
		       restless, count);
}
