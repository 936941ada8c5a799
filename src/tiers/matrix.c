#include "matrix.h"

#include "../harness/machine/memory_available.h"
#include "../harness/order_statistics.h"
#include "../harness/room.h"

const char *const figure_names[FIGURES] = { "ns", "read_gbs", "triad_gbs" };

void matrix_cpus(struct cpuset *of, int domain, const struct cpuset *cpus)
{
	int cpu;

	cpuset_clear(of);
	EACH_OF_SET (cpu, cpus)
		if (topology_domain(cpu) == domain)
			cpuset_add(of, cpu);
}

static int matrix_has_memory(int domain)
{
	struct cpuset one;

	cpuset_clear(&one);
	cpuset_add(&one, domain);
	return memory_total_on(&one) > 0;
}

static void matrix_domains(struct matrix *matrix, const struct cpuset *cpus)
{
	struct cpuset domains, own;
	int d;

	topology_all_domains(&domains);
	if (!cpuset_count(&domains)) /* a kernel without NUMA */
		cpuset_add(&domains, 0);
	EACH_OF_SET (d, &domains) {
		matrix_cpus(&own, d, cpus);
		if (cpuset_count(&own) && matrix->from_count < TIERS_MAX)
			matrix->from[matrix->from_count++] = d;
		if ((matrix_has_memory(d) || cpuset_count(&domains) == 1) &&
		    matrix->to_count < TIERS_MAX)
			matrix->to[matrix->to_count++] = d;
	}
}

void matrix_find(struct matrix *matrix, const struct cpuset *cpus)
{
	int f, t;

	matrix_domains(matrix, cpus);
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

static void matrix_visit(const struct matrix *matrix, struct tier *p, const struct cpuset *cpus)
{
	struct cpuset own;

	matrix_cpus(&own, p->cpus, cpus);
	cell_visit(&p->last, &own, p->memory, matrix->array_bytes, matrix->chain_bytes);
	p->values[0][p->visits] = p->last.ns;
	p->values[1][p->visits] = p->last.read_gbs;
	p->values[2][p->visits] = p->last.triad_gbs;
	p->visits++;
	p->migrated += p->last.migrated;
	p->lost = p->last.lost > p->lost ? p->last.lost : p->lost;
	p->is_right = p->is_right && p->last.is_right;
	placement_judge(&p->last.before, "before the measurement");
	placement_judge(&p->last.after, "after the measurement");
}

static void matrix_sum_up(struct tier *p)
{
	int f;

	for (f = 0; f < FIGURES; f++) {
		p->figures[f].median = median(p->values[f], p->visits); /* sorts them */
		p->figures[f].low = p->values[f][0];
		p->figures[f].high = p->values[f][p->visits - 1];
	}
}

void matrix_measure(struct matrix *matrix, int rounds, const struct cpuset *cpus)
{
	int round, i;

	for (round = 0; round < rounds; round++)
		for (i = 0; i < matrix->count; i++) {
			/* another first pair and another direction in each round */
			const int turned =
				(i * (round % 2 ? matrix->count - 1 : 1) + round) % matrix->count;

			matrix_visit(matrix, &matrix->pairs[turned], cpus);
		}
	for (i = 0; i < matrix->count; i++)
		matrix_sum_up(&matrix->pairs[i]);
}

const struct tier *matrix_pair(const struct matrix *matrix, int cpus, int memory)
{
	int i;

	for (i = 0; i < matrix->count; i++)
		if (matrix->pairs[i].cpus == cpus && matrix->pairs[i].memory == memory)
			return &matrix->pairs[i];
	return NULL;
}
