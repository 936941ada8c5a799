#include "links.h"

#ifdef MEMBW_MPI

#include "exchanges.h"
#include "figures.h"
#include "messages.h"

#include "../harness/error.h"
#include "../harness/job/host_ranks.h"
#include "../harness/job/ranks.h"
#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/order_statistics.h"
#include "../harness/verdict.h"

/* What two ranks tell each other before they play. */
struct end {
	char node[NODE_NAME_MAX];
	int cpu;
};

struct link {
	int rank, round;
	struct end other;
	struct exchange *exchanges; /* size by size */
};

static struct link *links;
static int links_count;
static struct end here;

/* Ranks of one host, which pretend to be nodes, get a CPU each as long as there are some. */
static int own_cpu(const struct cpuset *cpus)
{
	int skip = host_ranks_before() % cpuset_count(cpus), cpu = cpuset_next(cpus, -1);

	while (skip--)
		cpu = cpuset_next(cpus, cpu);
	return cpu;
}

static void greet(struct link *link)
{
	if (ranks_me() < link->rank) {
		ranks_send(&here, sizeof(here), link->rank);
		ranks_receive(&link->other, sizeof(link->other), link->rank, POLLING);
	} else {
		ranks_receive(&link->other, sizeof(link->other), link->rank, POLLING);
		ranks_send(&here, sizeof(here), link->rank);
	}
}

/* The lower rank leads, and tells the other what came out. */
static void play_link(struct link *link, double budget)
{
	const size_t bytes = (size_t)message_sizes.count * sizeof(*link->exchanges);
	int i;

	greet(link);
	if (ranks_me() > link->rank) {
		messages_follow(link->rank);
		ranks_receive(link->exchanges, bytes, link->rank, POLLING);
		return;
	}
	for (i = 0; i < message_sizes.count; i++) {
		struct exchange *const e = &link->exchanges[i];

		e->pair.cpu[0] = here.cpu;
		e->pair.cpu[1] = link->other.cpu;
		e->pair.class = PAIR_REMOTE;
		e->size = message_sizes.of[i];
		messages_exchange(e, link->rank, budget, WHOLE_BUDGET);
	}
	messages_end(link->rank);
	ranks_send(link->exchanges, bytes, link->rank);
}

void links_run(const struct cpuset *cpus, double budget)
{
	const int rounds = pairs_rounds(ranks_count());
	int round;

	strcpy(here.node, ranks_node());
	here.cpu = own_cpu(cpus);
	links = room_for((size_t)rounds, sizeof(*links), "links", "start fewer ranks");
	for (round = 0; round < rounds; round++) {
		struct link *const link = &links[links_count];

		if (!ranks_barrier(message_sizes.count * budget))
			leave(EXIT_INVALID);
		link->round = round;
		link->rank = pairs_partner(ranks_count(), round, ranks_me());
		if (link->rank < 0)
			continue;
		link->exchanges = room_for((size_t)message_sizes.count, sizeof(*link->exchanges),
					   "messages of a link", "ask for fewer '--sizes'");
		play_link(link, budget);
		links_count++;
	}
}

/* Why this link's times are wrong or imprecise, -1 for no reason; which SIZE shows it. */
static int link_reason(const struct link *link, int *size)
{
	for (*size = 0; *size < message_sizes.count; (*size)++) {
		const int reason = exchange_reason(&link->exchanges[*size]);

		if (reason >= 0 && !verdict_allows(reason))
			return reason;
	}
	return -1;
}

/* This rank's end; the other one's is in the other one's verdict. */
static void judge_own_end(const struct link *link)
{
	const int side = ranks_me() > link->rank;
	int i;

	for (i = 0; i < message_sizes.count; i++)
		place_judge(&link->exchanges[i], side, ranks_me());
}

static void judge_links(void)
{
	int i, size, first = -1, bad = 0;

	for (i = 0; i < links_count; i++) {
		judge_own_end(&links[i]);
		if (link_reason(&links[i], &size) < 0)
			continue;
		bad++;
		first = first < 0 ? i : first;
	}
	if (2 * bad > links_count)
		verdict_invalid(link_reason(&links[first], &size),
				"%d of %d links have no valid time, or no interval, the first is "
				"that to %s",
				bad, links_count, links[first].other.node);
}

/* Of the valid links, or of all. */
static double median_us(int size)
{
	double *const times =
		room_for((size_t)links_count, sizeof(*times), "links", "free some memory");
	double found;
	int i, at, count = 0;

	for (i = 0; i < links_count; i++)
		if (link_reason(&links[i], &at) < 0)
			times[count++] = exchange_us(&links[i].exchanges[size]);
	for (i = 0; !count && i < links_count; i++)
		times[i] = exchange_us(&links[i].exchanges[size]);
	found = median(times, count ? count : links_count);
	free(times);
	return found;
}

static void print_links(int small, int large)
{
	int i, size;

	printf("Links of %s, one way: us of %zu bytes, 10^6 B/s of %zu\nround  us         MB/s  "
	       "node\n",
	       here.node, message_sizes.of[small], message_sizes.of[large]);
	for (i = 0; i < links_count; i++) {
		const int reason = link_reason(&links[i], &size);

		printf("%5d  %-8.2f %7.1f  %s%s%s\n", links[i].round,
		       exchange_us(&links[i].exchanges[small]),
		       exchange_mb_s(&links[i].exchanges[large]), links[i].other.node,
		       reason < 0 ? "" : "  ", reason < 0 ? "" : reason_name(reason));
	}
}

void links_conclude(void)
{
	const int small = 0, large = message_sizes.count - 1;

	host_ranks_judge();
	judge_links();
	metric("latency", median_us(small), "us", LOWER);
	if (message_sizes.of[large] > message_sizes.of[small])
		metric("bandwidth", (double)message_sizes.of[large] / median_us(large) / 1000,
		       "GB/s", HIGHER);
	print_links(small, large);
}

static void write_link(const struct link *link)
{
	int i, size;
	const int reason = link_reason(link, &size);

	json_open(NULL, '{');
	json_text("node", link->other.node);
	json_count("rank", (unsigned long long)link->rank);
	json_count("round", (unsigned long long)link->round);
	json_text("reason", reason < 0 ? NULL : reason_name(reason));
	json_open("messages", '[');
	for (i = 0; i < message_sizes.count; i++) {
		json_open(NULL, '{');
		exchange_write(&link->exchanges[i]);
		json_close('}');
	}
	json_close(']');
	json_close('}');
}

void links_write(void)
{
	int i;

	json_text("mpi_library", ranks_library());
	json_open("links", '[');
	for (i = 0; i < links_count; i++)
		write_link(&links[i]);
	json_close(']');
}

#endif
