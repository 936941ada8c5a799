#include "core_pair.h"

#include "../job/ranks.h"
#include "../json.h"
#include "../pairs/shared_line.h"
#include "threads.h"

/* Seconds; the median of blocks of 20 us is within 2 % long before that on a quiet node. */
static const double CORE_PAIR_BUDGET = 0.02;

/* The thread that is there already, else any. */
static int core_pair_thread_on(int cpu, int other_player)
{
	int t;

	for (t = 0; t < threads_count(); t++)
		if (t != other_player && threads_seen(t)->now == cpu)
			return t;
	return other_player == 0;
}

void core_pair_measure(struct core_pair *p)
{
	static struct meeting meeting;
	const double to_ns = 1e9 / 2; /* one way is half of a round trip */
	int player[2];

	memset(p, 0, sizeof(*p));
	memset(&meeting, 0, sizeof(meeting));
	if (threads_count() < 2 || threads_count() > cpuset_count(threads_cpus()) ||
	    ranks_on_node() > 1 || !pairs_nearest(&meeting.pair, threads_cpus()))
		return;
	player[0] = core_pair_thread_on(meeting.pair.cpu[0], -1);
	player[1] = core_pair_thread_on(meeting.pair.cpu[1], player[0]);
	meeting.method = METHOD_CAS;
	shared_line_meet_in_team(&meeting, CORE_PAIR_BUDGET, player);
	if (meeting.wrong || meeting.seen[0] >= 0 || meeting.seen[1] >= 0)
		return;
	memcpy(p->cpus, meeting.pair.cpu, sizeof(p->cpus));
	p->ns = to_ns * meeting.blocks.round_trip.median;
	p->low_ns = to_ns * meeting.blocks.round_trip.low;
	p->high_ns = to_ns * meeting.blocks.round_trip.high;
}

void core_pair_look(struct core_pair_between *between)
{
	struct core_pair now;

	core_pair_measure(&now);
	if (!(now.ns > 0))
		return;
	if (!between->looks || now.ns < between->least_ns)
		between->least_ns = now.ns;
	if (!between->looks || now.ns > between->most_ns)
		between->most_ns = now.ns;
	between->looks++;
}

double core_pair_ratio(const struct core_pair *before, const struct core_pair *after,
		       const struct core_pair_between *between)
{
	double least = before->ns < after->ns ? before->ns : after->ns;
	double most = before->ns < after->ns ? after->ns : before->ns;

	if (!(least > 0))
		return 1;
	if (between->looks && between->least_ns < least)
		least = between->least_ns;
	if (between->looks && between->most_ns > most)
		most = between->most_ns;
	return most / least;
}

void core_pair_write_between(const char *name, const struct core_pair_between *between)
{
	if (!between->looks) {
		json_text(name, NULL);
		return;
	}
	json_open(name, '{');
	json_count("looks", (unsigned)between->looks);
	json_number("least_ns", between->least_ns);
	json_number("most_ns", between->most_ns);
	json_close('}');
}

void core_pair_write(const char *name, const struct core_pair *p)
{
	if (!(p->ns > 0)) {
		json_text(name, NULL);
		return;
	}
	json_open(name, '{');
	json_open("cpus", '[');
	json_count(NULL, (unsigned)p->cpus[0]);
	json_count(NULL, (unsigned)p->cpus[1]);
	json_close(']');
	json_number("ns", p->ns);
	json_number("low_ns", p->low_ns);
	json_number("high_ns", p->high_ns);
	json_close('}');
}
