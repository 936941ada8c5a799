#include "pairs.h"

#include "../harness/error.h"
#include "../harness/machine/llc.h"
#include "../harness/machine/topology.h"

const char *const pair_class_names[PAIR_CLASSES] = { "smt",    "llc",  "domain",
						     "socket", "node", "remote" };

static enum pair_class pair_class_of(int one, int other)
{
	if (topology_core(one) == topology_core(other))
		return PAIR_SMT;
	if (llc_first_cpu(one) >= 0 && llc_first_cpu(one) == llc_first_cpu(other))
		return PAIR_LLC;
	if (topology_domain(one) == topology_domain(other) &&
	    topology_socket(one) == topology_socket(other))
		return PAIR_DOMAIN;
	if (topology_socket(one) == topology_socket(other))
		return PAIR_SOCKET;
	return PAIR_NODE;
}

static void pair_add(struct pairs *pairs, int one, int other)
{
	struct pair *list = realloc(pairs->list, (size_t)(pairs->count + 1) * sizeof(*list));

	if (!list)
		die("no memory for the list of pairs", "give fewer with '--pairs'");
	list[pairs->count].cpu[0] = one;
	list[pairs->count].cpu[1] = other;
	list[pairs->count].class = pair_class_of(one, other);
	pairs->list = list;
	pairs->count++;
}

/* The first two CPUs of a core that has two. */
static void pair_add_smt(struct pairs *pairs, const struct cpuset *cpus)
{
	int one, other;

	EACH_OF_SET (one, cpus)
		for (other = one; (other = cpuset_next(cpus, other)) >= 0;)
			if (topology_core(one) == topology_core(other)) {
				pair_add(pairs, one, other);
				return;
			}
}

struct extremes {
	int near, far; /* distances in cores, 0: none was seen */
	int nearest[2], farthest[2];
};

static void pair_see(struct extremes *e, int distance, int one, int other)
{
	if (!e->near || distance < e->near) {
		e->near = distance;
		e->nearest[0] = one;
		e->nearest[1] = other;
	}
	if (distance > e->far) {
		e->far = distance;
		e->farthest[0] = one;
		e->farthest[1] = other;
	}
}

void pairs_default(struct pairs *pairs, const struct cpuset *cpus)
{
	static int cores[CPUS_MAX];
	const int count = topology_one_per_core(cores, cpus);
	struct extremes of[PAIR_CLASSES] = { { 0, 0, { 0, 0 }, { 0, 0 } } };
	int i, j, class;

	for (i = 0; i < count; i++)
		for (j = i + 1; j < count; j++)
			pair_see(&of[pair_class_of(cores[i], cores[j])], j - i, cores[i],
				 cores[j]);
	pair_add_smt(pairs, cpus);
	for (class = PAIR_LLC; class <= PAIR_NODE; class++) {
		if (of[class].near)
			pair_add(pairs, of[class].nearest[0], of[class].nearest[1]);
		if (of[class].far > of[class].near)
			pair_add(pairs, of[class].farthest[0], of[class].farthest[1]);
	}
}

static int pair_seats_of(int count)
{
	return (count + 1) / 2 * 2;
}

int pairs_rounds(int count)
{
	return pair_seats_of(count) - 1;
}

int pairs_partner(int count, int round, int one)
{
	/* the last seat stays, the rest rotates */
	const int last = pair_seats_of(count) - 1;
	int other;

	if (one == last)
		other = round;
	else
		other = (2 * round + last - one) % last;
	if (other == one)
		other = last;
	return other < count ? other : -1;
}

void pairs_all(struct pairs *pairs, const struct cpuset *cpus)
{
	static int cores[CPUS_MAX];
	const int count = topology_one_per_core(cores, cpus);
	int one, other;

	for (one = 0; one < count; one++)
		for (other = one + 1; other < count; other++)
			pair_add(pairs, cores[one], cores[other]);
}

static void pair_refuse_cpu(long cpu, const char *option, const char *text,
			    const struct cpuset *cpus)
{
	if (cpu < 0 || cpu >= CPUS_MAX || !cpuset_has(cpus, (int)cpu))
		die("'%s %s': this process may not run on CPU %ld",
		    "'taskset -pc $$' prints the CPUs that it may use", option, text, cpu);
}

/* Among the first COUNT. */
static int pair_is_in(const struct pairs *pairs, int count, long one, long other)
{
	int i;

	for (i = 0; i < count; i++)
		if (pairs->list[i].cpu[0] == one && pairs->list[i].cpu[1] == other)
			return 1;
	return 0;
}

void pairs_read(struct pairs *pairs, const char *option, const char *text,
		const struct cpuset *cpus)
{
	const char *at = text;

	do {
		long one, other;
		int used = 0;

		if (sscanf(at, "%ld-%ld%n", &one, &other, &used) < 2 ||
		    (at[used] && at[used] != ','))
			die("invalid value for '%s': '%s'",
			    "give pairs of CPUs with commas, as in '0-1,0-13', or 'all'", option,
			    text);
		pair_refuse_cpu(one, option, text, cpus);
		pair_refuse_cpu(other, option, text, cpus);
		if (pair_is_in(pairs, pairs->count, one, other))
			die("'%s %s': %ld-%ld is named twice", "name each pair once", option, text,
			    one, other);
		pair_add(pairs, (int)one, (int)other);
		at += used + (at[used] == ',');
	} while (at[-1] == ',');
}

void pairs_within_a_node(const struct pairs *pairs, const char *option, const char *text)
{
	int i;

	for (i = 0; i < pairs->count; i++) {
		const int *const cpu = pairs->list[i].cpu;

		if (cpu[0] == cpu[1])
			die("'%s %s': CPU %d is paired with itself", "name two CPUs", option, text,
			    cpu[0]);
		if (pair_is_in(pairs, i, cpu[1], cpu[0]))
			die("'%s %s': %d-%d is the same pair as %d-%d", "name each pair once",
			    option, text, cpu[0], cpu[1], cpu[1], cpu[0]);
	}
}
