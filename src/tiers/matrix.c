#include "matrix.h"

#include "../harness/clock.h"
#include "../harness/error.h"
#include "../harness/evidence/interference.h"
#include "../harness/job/watchdog.h"
#include "../harness/machine/domains.h"
#include "../harness/order_statistics.h"
#include "../harness/plan.h"
#include "../harness/sysfile.h"

enum { UNDISTURBED_LEAST = 3 };

const char *const figure_names[FIGURES] = { "ns", "read_gbs", "triad_gbs" };

void matrix_cpus(struct cpuset *of, int domain, const struct matrix *matrix)
{
	int cpu;

	cpuset_clear(of);
	EACH_OF_SET (cpu, &matrix->cpus)
		if (topology_is_in(cpu, domain))
			cpuset_add(of, cpu);
}

static void matrix_domains(struct matrix *matrix)
{
	struct cpuset domains;
	int d;

	topology_domains(&domains, &matrix->cpus);
	EACH_OF_SET (d, &domains)
		if (matrix->from_count < TIERS_MAX)
			matrix->from[matrix->from_count++] = d;
	domains_allowed(&domains);
	EACH_OF_SET (d, &domains)
		if (matrix->to_count < TIERS_MAX)
			matrix->to[matrix->to_count++] = d;
}

static double declared_number(int memory, int access, const char *name)
{
	char line[SYSLINE_MAX];

	if (!sysfile_line(line, "/sys/devices/system/node/node%d/access%d/initiators/%s", memory,
			  access, name))
		return 0;
	return atof(line);
}

/* Whether the values of that class are said of this domain's CPUs. */
static int declared_is_of(int cpus, int memory, int access)
{
	char line[SYSLINE_MAX];

	/* a link to the initiator's own folder */
	return sysfile_line(line,
			    "/sys/devices/system/node/node%d/access%d/initiators/node%d/distance",
			    memory, access, cpus);
}

static void declared_read(struct declared *declared, int cpus, int memory)
{
	int access;

	*declared = (struct declared){ 0, 0, 0, 0 };
	for (access = 1; access >= 0; access--)
		if (declared_is_of(cpus, memory, access)) {
			declared->read_ns = declared_number(memory, access, "read_latency");
			/* MB/s */
			declared->read_gbs =
				declared_number(memory, access, "read_bandwidth") / 1000;
			break;
		}
	declared->distance = domain_distance(cpus, memory);
	declared->local = domain_distance(cpus, cpus);
}

void matrix_find(struct matrix *matrix, const struct cpuset *cpus)
{
	int f, t;

	matrix->cpus = *cpus;
	matrix_domains(matrix);
	matrix->pairs = room_for((size_t)(matrix->from_count * matrix->to_count),
				 sizeof(*matrix->pairs), "pairs of domains", "use fewer");
	for (f = 0; f < matrix->from_count; f++)
		for (t = 0; t < matrix->to_count; t++) {
			struct tier *const p = &matrix->pairs[matrix->count++];

			p->cpus = matrix->from[f];
			p->memory = matrix->to[t];
			p->is_right = 1;
			declared_read(&p->declared, p->cpus, p->memory);
		}
}

static void matrix_judge_placement(const struct tier *p)
{
	char when[96];

	snprintf(when, sizeof(when), "before CPUs of %d used memory %d", p->cpus, p->memory);
	placement_judge(&p->last.before, when);
	snprintf(when, sizeof(when), "after CPUs of %d used memory %d", p->cpus, p->memory);
	placement_judge(&p->last.after, when);
}

static void matrix_visit(const struct matrix *matrix, struct tier *p)
{
	const size_t ours = (3 * matrix->array_bytes + matrix->chain_bytes) / 4096;
	struct cpuset own;
	int which, pass;

	matrix_cpus(&own, p->cpus, matrix);
	cell_visit(&p->last, &own, p->memory, matrix->array_bytes, matrix->chain_bytes,
		   matrix->laps);
	p->ns[p->visits] = p->last.ns;
	p->ns_lost[p->visits] = p->last.ns_lost;
	for (which = 0; which < CELL_RATES; which++)
		for (pass = 0; pass < CELL_PASSES; pass++) {
			const int i = p->visits * CELL_PASSES + pass;

			p->gbs[which][i] = p->last.gbs[which][pass];
			p->lost[which][i] = p->last.lost[which][pass];
		}
	p->visits++;
	if (p->last.migrated > p->migrated)
		p->migrated = p->last.migrated;
	p->many_migrated = p->many_migrated || p->last.migrated > ours / 100;
	p->is_right = p->is_right && p->last.is_right;
	matrix_judge_placement(p);
}

/* Of the undisturbed rounds where there are three, else of all, and then without an interval. */
static void matrix_latency(struct tier *p)
{
	double ns[ROUNDS_MAX];
	int i, n = 0;

	for (i = 0; i < p->visits; i++)
		if (rate_counts(p->ns_lost[i]))
			ns[n++] = p->ns[i];
	if (n < UNDISTURBED_LEAST) {
		memcpy(ns, p->ns, (size_t)p->visits * sizeof(*ns));
		p->figures[0].value = median(ns, p->visits);
	} else {
		p->figures[0].value = median(ns, n); /* sorts them */
		p->figures[0].low = ns[0];
		p->figures[0].high = ns[n - 1];
	}
}

static void matrix_pair_figures(struct tier *p)
{
	int f;

	matrix_latency(p);
	for (f = 1; f < FIGURES; f++) {
		rate_of(&p->figures[f], p->gbs[f - 1], p->lost[f - 1], p->visits * CELL_PASSES);
		p->figures[f].is_bound = p->figures[f].is_bound || p->many_migrated;
	}
	if (interference_is_loud() || p->many_migrated)
		p->figures[0].low = p->figures[0].high = 0;
}

void matrix_sum_up(struct matrix *matrix)
{
	int i;

	for (i = 0; i < matrix->count; i++)
		if (matrix->pairs[i].visits)
			matrix_pair_figures(&matrix->pairs[i]);
}

void matrix_measure(struct matrix *matrix, int rounds, int least, double until)
{
	double longest = 0, began, lasted;
	int n;

	plan_done("visits", 0, rounds * matrix->count);
	for (n = 0; n < rounds * matrix->count; n++) {
		const int round = n / matrix->count, i = n % matrix->count;
		const int turned =
			(i * (round % 2 ? matrix->count - 1 : 1) + round) % matrix->count;

		began = clock_now();
		if ((n >= least && until > 0 && began + longest > until) ||
		    (n && watchdog_signalled()))
			break;
		matrix_visit(matrix, &matrix->pairs[turned]);
		lasted = clock_now() - began;
		longest = lasted > longest ? lasted : longest;
		plan_done("visits", n + 1, rounds * matrix->count);
	}
	plan_end();
}

const struct tier *matrix_pair(const struct matrix *matrix, int cpus, int memory)
{
	int i;

	for (i = 0; i < matrix->count; i++)
		if (matrix->pairs[i].cpus == cpus && matrix->pairs[i].memory == memory)
			return &matrix->pairs[i];
	return NULL;
}
