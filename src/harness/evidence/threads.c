#include "threads.h"

#include "../error.h"
#include "../json.h"
#include "../machine/topology.h"
#include "../openmp.h"
#include "../room.h"
#include "../team_sizes.h"

#include <unistd.h>

static struct thread_seen *threads_known;
static int thread_total;
static int team_asked; /* 0: nobody but the environment */
static int shared_core;
static struct cpuset all_cpus;

static void note_cpu(struct thread_seen *thread)
{
	const int cpu = sched_getcpu();

	if (cpu != thread->cpu)
		thread->moved = 1;
	if (cpu < 0)
		thread->unknown = 1;
	thread->now = cpu;
	cpuset_add(&thread->cpus, cpu);
}

static void look_for_shared_core(void)
{
	struct cpuset cores;
	int t;

	cpuset_clear(&cores);
	for (t = 0; t < thread_total; t++) {
		if (threads_known[t].now < 0)
			return;
		cpuset_add(&cores, topology_core(threads_known[t].now));
	}
	shared_core += cpuset_count(&cores) < thread_total;
}

static void look_at_thread(struct thread_seen *thread)
{
	cpuset_of_thread(&thread->affinity);
	thread->cpu = sched_getcpu();
	thread->moved = thread->unknown = 0;
	cpuset_clear(&thread->cpus);
	note_cpu(thread);
}

void threads_look(void)
{
	int t;

#pragma omp parallel
	look_at_thread(&threads_known[omp_get_thread_num()]);
	cpuset_clear(&all_cpus);
	for (t = 0; t < thread_total; t++)
		cpuset_join(&all_cpus, &threads_known[t].affinity);
}

/* A runtime that cannot start its threads says so and exits by 1, which means measured. */
static void refuse_without_team(void)
{
	if (thread_total)
		return;
	fprintf(stderr, "membw: the OpenMP runtime could not start its threads\n"
			"hint: set OMP_NUM_THREADS to less, or raise 'ulimit -u'\n");
	_exit(EXIT_USAGE);
}

void threads_start(void)
{
	static int watching;

	/* libgomp has been seen to crash at 100,000 */
	if (threads_asked() > THREADS_MAX)
		die("OMP_NUM_THREADS asks for %d threads, more than %d",
		    "one thread per CPU is usual", threads_asked(), THREADS_MAX);
	if (!watching++)
		atexit(refuse_without_team);
	thread_total = 0;
#pragma omp parallel
	{
#pragma omp master
		thread_total = omp_get_num_threads();
	}
	threads_known = room_for((size_t)thread_total, sizeof(*threads_known), "threads",
				 "set OMP_NUM_THREADS to less");
#pragma omp parallel
	lost_time_start(&threads_known[omp_get_thread_num()].lost_time);
	threads_look();
}

void threads_team(int count)
{
	int t;

	for (t = 0; t < thread_total; t++)
		if (threads_known[t].lost_time.file >= 0)
			close(threads_known[t].lost_time.file);
	free(threads_known);
	omp_set_num_threads(count);
	team_asked = count;
	shared_core = 0;
	threads_start();
}

/* OMP_NUM_THREADS: "4" or "4,2", how many threads the first level shall have. */
int threads_asked(void)
{
	const char *value = getenv("OMP_NUM_THREADS");

	if (team_asked)
		return team_asked;
	return value ? atoi(value) : 0;
}

int threads_most(void)
{
	return threads_asked() > thread_total ? threads_asked() : thread_total;
}

void threads_sample(void)
{
#pragma omp parallel
	{
		struct thread_seen *const thread = &threads_known[omp_get_thread_num()];

		lost_time_note(&thread->lost_time);
		note_cpu(thread);
	}
	look_for_shared_core();
}

double threads_lost_seconds(void)
{
	double most = 0;
	int t;

	for (t = 0; t < thread_total; t++)
		if (threads_known[t].lost_time.lost > most)
			most = threads_known[t].lost_time.lost;
	return most;
}

int threads_shared_core(void)
{
	return shared_core;
}

int threads_count(void)
{
	return thread_total;
}

const struct thread_seen *threads_seen(int thread)
{
	return &threads_known[thread];
}

const struct cpuset *threads_cpus(void)
{
	return &all_cpus;
}

void threads_write(void)
{
	char list[CPU_LIST_MAX];
	int t;

	json_open("threads_on", '[');
	for (t = 0; t < thread_total; t++) {
		const struct thread_seen *thread = &threads_known[t];

		json_open(NULL, '{');
		json_count("thread", (unsigned)t);
		json_index("cpu", thread->cpu);
		if (thread->cpu >= 0)
			json_index("core", topology_core(thread->cpu));
		json_text("affinity", cpuset_format(&thread->affinity, list));
		json_truth("moved", thread->moved);
		json_text("cpus_seen", cpuset_format(&thread->cpus, list));
		json_close('}');
	}
	json_close(']');
}
