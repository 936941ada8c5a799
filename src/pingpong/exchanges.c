#include "exchanges.h"

#ifdef MEMBW_MPI

#include "figures.h"
#include "messages.h"

#include "../harness/error.h"
#include "../harness/job/ranks.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/plural.h"
#include "../harness/verdict.h"

/* Of the memory's lines: an MPI that takes longer for no byte at all goes by way of a network. */
static const double SLOW_TRANSPORT = 10;
static const double MEMORY_SECONDS = 0.05;
/* Of the time of a size, for the second look. */
static const double AGAIN_SHARE = 0.4;

static struct exchange *exchanges; /* pair by pair, size by size */
static struct meeting *memory;     /* of each pair of one node, by lines */
static int pairs_count;

static const char *const units_of_size[] = { "", "Ki", "Mi", "Gi" };

void exchanges_cpus(struct cpuset *cpus)
{
	struct cpuset all;

	memset(&all, 0xff, sizeof(all));
	cpuset_bind(&all); /* less what the cgroup forbids */
	cpuset_of_thread(cpus);
}

void exchanges_choose_remote(struct pairs *pairs, const struct cpuset *cpus, int requested)
{
	int i;

	if (!requested) {
		pairs->list[0].cpu[0] = pairs->list[0].cpu[1] = cpuset_next(cpus, -1);
		pairs->count = 1;
	}
	for (i = 0; i < pairs->count; i++)
		pairs->list[i].class = PAIR_REMOTE;
}

static void measure_memory(struct meeting *m, const struct pair *pair)
{
	m->pair = *pair;
	m->method = METHOD_LINES;
	if (pair->class != PAIR_REMOTE)
		shared_line_meet(m, MEMORY_SECONDS);
}

/* All sizes, and those once more of which both looks have no figure: a machine that was one and
 * is another may be that for long. */
static void measure_pair(int pair, const struct pair *cpus, double budget)
{
	struct exchange *const of_pair = &exchanges[pair * message_sizes.count];
	int is_pending[NUMBERS_MAX], size, tries;

	for (size = 0; size < message_sizes.count; size++) {
		of_pair[size].pair = *cpus;
		of_pair[size].size = message_sizes.of[size];
		is_pending[size] = 1;
	}
	for (tries = 0; tries < EXCHANGE_TRIES; tries++) {
		for (size = 0; size < message_sizes.count; size++)
			if (is_pending[size])
				messages_exchange(&of_pair[size], 1, (1 - AGAIN_SHARE) * budget,
						  UNTIL_SETTLED);
		for (size = 0; size < message_sizes.count; size++) {
			if (is_pending[size])
				messages_look_again(&of_pair[size], 1, AGAIN_SHARE * budget);
			is_pending[size] = exchange_reason(&of_pair[size]) >= 0;
		}
	}
}

void exchanges_run(const struct pairs *pairs, double budget)
{
	static const char hint[] = "ask for fewer with '--pairs'";
	int pair;

	pairs_count = pairs->count;
	exchanges = room_for((size_t)(pairs_count * message_sizes.count), sizeof(*exchanges),
			     "messages", "ask for fewer with '--sizes'");
	memory = room_for((size_t)pairs_count, sizeof(*memory), "pairs", hint);
	for (pair = 0; pair < pairs_count; pair++) /* the other rank sleeps */
		measure_memory(&memory[pair], &pairs->list[pair]);
	for (pair = 0; pair < pairs_count; pair++)
		measure_pair(pair, &pairs->list[pair], budget);
	messages_end(1);
}

static double one_way_us(double round_trip)
{
	return round_trip / 2 * 1e6;
}

double exchange_us(const struct exchange *e)
{
	return one_way_us(e->blocks.round_trip.median);
}

/* MB/s of 10^6 B/s, IMB's of today; before 2018 it counted 2^20. */
double exchange_mb_s(const struct exchange *e)
{
	return (double)e->size / exchange_us(e);
}

int exchange_reason(const struct exchange *e)
{
	return e->wrong ? NOT_VALIDATED : blocks_reason(&e->blocks);
}

static void bandwidth_metric(const struct exchange *e, const char *name)
{
	const struct order_statistics *const s = &e->blocks.round_trip;

	metric(name, exchange_mb_s(e) / 1000, "GB/s", HIGHER);
	if (blocks_have_interval(&e->blocks))
		metric_interval(name, (double)e->size / one_way_us(s->high) / 1000,
				(double)e->size / one_way_us(s->low) / 1000);
	else
		metric_disturbed(name);
}

static const char *time_name(const struct exchange *e)
{
	return metric_name("mpi_%d_%d_%zu", e->pair.cpu[0], e->pair.cpu[1], e->size);
}

static void place_metric(const struct exchange *e, const char *name, const char *series)
{
	metric_of_cpus(&e->pair, name, series);
	metric_at(name, series, AT_BYTES, (double)e->size);
}

void place_judge(const struct exchange *e, int side, int rank)
{
	char who[32];

	snprintf(who, sizeof(who), "rank %d", rank);
	side_judge(who, e->pair.cpu[side], &e->mask[side], e->seen[side]);
}

static void judge_exchange(const struct exchange *e, const char *name)
{
	place_judge(e, 0, 0);
	place_judge(e, 1, 1);
	if (e->wrong)
		verdict_invalid(
			NOT_VALIDATED,
			"%s: %llu of %llu words differ from what was sent, the first at byte "
			"%llu",
			name, e->wrong, e->checked, e->wrong_at);
	blocks_judge(&e->blocks, name);
}

static void judge_transport(const struct exchange *first, const struct meeting *m)
{
	const double mpi = first->blocks.round_trip.median;
	const double lines = m->blocks.round_trip.median;

	if (first->pair.class == PAIR_REMOTE || first->size != 0 || mpi <= SLOW_TRANSPORT * lines)
		return;
	verdict_warn(SLOW_TRANSPORT_FOUND,
		     "CPUs %d and %d: a message of 0 bytes takes %s us, %.0f times what their "
		     "shared memory takes (%s us)",
		     first->pair.cpu[0], first->pair.cpu[1], number_text(one_way_us(mpi), 3),
		     mpi / lines, number_text(one_way_us(lines), 3));
}

static void print_size(size_t size)
{
	int unit = 0;

	while (size >= 1024 && size % 1024 == 0) {
		size /= 1024;
		unit++;
	}
	printf("%5zu %-3s", size, *units_of_size[unit] ? units_of_size[unit] : "");
}

/* A line per size, a column per pair. */
static void print_table(void)
{
	int pair, size;

	printf("One way, us, and 10^6 B/s\n   bytes ");
	for (pair = 0; pair < pairs_count; pair++) {
		const struct pair *const p = &exchanges[pair * message_sizes.count].pair;

		printf("  %4d - %-4d %-7s", p->cpu[0], p->cpu[1], pair_class_names[p->class]);
	}
	printf("\n");
	for (size = 0; size < message_sizes.count; size++) {
		print_size(message_sizes.of[size]);
		for (pair = 0; pair < pairs_count; pair++) {
			const struct exchange *const e =
				&exchanges[pair * message_sizes.count + size];

			printf("  %8.2f%c %9.1f", exchange_us(e), e->blocks.settled ? ' ' : '*',
			       exchange_mb_s(e));
		}
		printf("\n");
	}
	printf("*: the 95 %% interval of the median is wider than 2 %%\n");
}

static void conclude_pair(int pair, int class)
{
	const struct exchange *const of_pair = &exchanges[pair * message_sizes.count];
	const struct exchange *const last = &of_pair[message_sizes.count - 1];
	const char *name;
	int size;

	class_judge(&of_pair->pair, class);
	judge_transport(of_pair, &memory[pair]);
	for (size = 0; size < message_sizes.count; size++) {
		const struct exchange *const e = &of_pair[size];

		name = time_name(e);
		judge_exchange(e, name);
		metric_of_time(&e->blocks, name, 1e6, "us");
		place_metric(e, name, "mpi");
	}
	if (!last->size)
		return;
	name = metric_name("mpi_%d_%d_bandwidth", last->pair.cpu[0], last->pair.cpu[1]);
	bandwidth_metric(last, name);
	place_metric(last, name, "mpi_bandwidth");
}

void exchanges_conclude(int class)
{
	int pair;

	for (pair = 0; pair < pairs_count; pair++)
		conclude_pair(pair, class);
	print_table();
}

void exchange_write(const struct exchange *e)
{
	json_count("bytes", e->size);
	order_statistics_write(&e->blocks.round_trip, one_way_us(1), "us");
	json_number("mean_us", one_way_us(e->blocks.mean));
	json_positive("again_us", one_way_us(e->again));
	json_number("mb_s", exchange_mb_s(e));
	blocks_write(&e->blocks);
	json_count("words_checked", e->checked);
}

static void write_named(const struct exchange *e)
{
	json_open(NULL, '{');
	json_text("metric", time_name(e));
	pair_write(&e->pair);
	exchange_write(e);
	json_close('}');
}

void exchanges_write(void)
{
	int i;

	json_text("mpi_library", ranks_library());
	json_text("node_a", ranks_node());
	json_text("node_b", ranks_node_of(1));
	json_open("memory", '[');
	for (i = 0; i < pairs_count; i++)
		if (memory[i].pair.class != PAIR_REMOTE)
			meeting_write(&memory[i], figure_name(&memory[i]));
	json_close(']');
	json_open("messages", '[');
	for (i = 0; i < pairs_count * message_sizes.count; i++)
		write_named(&exchanges[i]);
	json_close(']');
}

#endif
