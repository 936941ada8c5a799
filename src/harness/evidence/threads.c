#include "threads.h"

#include "../error.h"
#include "../machine/topology.h"
#include "thread_range.h"

#include <stdlib.h>

static struct thread_seen *seen;
static int threads;
static int shared_core;
static struct cpuset all;

static void note(struct thread_seen *thread)
{
	const int cpu = sched_getcpu();

	if (cpu != thread->cpu)
		thread->moved = 1;
	thread->now = cpu;
	cpuset_add(&thread->cpus, cpu);
}

static void look_for_shared_core(void)
{
	struct cpuset cores;
	int t;

	cpuset_clear(&cores);
	for (t = 0; t < threads; t++)
		cpuset_add(&cores, topology_core(seen[t].now));
	shared_core += cpuset_count(&cores) < threads;
}

static void look(struct thread_seen *thread)
{
	cpuset_of_thread(&thread->affinity);
	thread->cpu = sched_getcpu();
	note(thread);
}

void threads_start(void)
{
	int t;

#pragma omp parallel
	{
#pragma omp master
		threads = omp_get_num_threads();
	}
	seen = calloc((size_t)threads, sizeof(*seen));
	if (!seen)
		die("no memory for '%d' threads", "set OMP_NUM_THREADS to less", threads);
#pragma omp parallel
	look(&seen[omp_get_thread_num()]);
	cpuset_clear(&all);
	for (t = 0; t < threads; t++)
		cpuset_join(&all, &seen[t].affinity);
}

void threads_sample(void)
{
#pragma omp parallel
	note(&seen[omp_get_thread_num()]);
	look_for_shared_core();
}

int threads_shared_core(void)
{
	return shared_core;
}

int threads_count(void)
{
	return threads;
}

const struct thread_seen *threads_seen(int thread)
{
	return &seen[thread];
}

const struct cpuset *threads_cpus(void)
{
	return &all;
}
