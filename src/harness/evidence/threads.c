#include "threads.h"

#include "../error.h"
#include "../json.h"
#include "../machine/cgroup.h"
#include "../machine/topology.h"
#include "../openmp.h"
#include "../plural.h"

#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

static struct thread_seen *thread_list;
static int thread_total;
static int thread_team_requested; /* 0: by the environment */
static int thread_least = 1;      /* whatever a quota grants */
static int thread_available;      /* CPUs */
static int thread_shared_core;
static struct cpuset thread_all_cpus;

static void thread_note_cpu(struct thread_seen *thread)
{
	const int cpu = sched_getcpu();

	if (cpu != thread->cpu)
		thread->moved = 1;
	if (cpu < 0)
		thread->unknown = 1;
	thread->now = cpu;
	cpuset_add(&thread->cpus, cpu);
}

static void thread_look_for_shared_core(void)
{
	struct cpuset cores;
	int t;

	cpuset_clear(&cores);
	for (t = 0; t < thread_total; t++) {
		if (thread_list[t].now < 0)
			return;
		cpuset_add(&cores, topology_core(thread_list[t].now));
	}
	thread_shared_core += cpuset_count(&cores) < thread_total;
}

static void thread_look_at(struct thread_seen *thread)
{
	cpuset_of_thread(&thread->affinity);
	thread->cpu = sched_getcpu();
	thread->moved = thread->unknown = 0;
	cpuset_clear(&thread->cpus);
	thread_note_cpu(thread);
}

void threads_look(void)
{
	int t;

#pragma omp parallel
	thread_look_at(&thread_list[omp_get_thread_num()]);
	cpuset_clear(&thread_all_cpus);
	for (t = 0; t < thread_total; t++)
		cpuset_join(&thread_all_cpus, &thread_list[t].affinity);
}

static const rlim_t THREAD_STACK_LEAST = 256 << 10, THREAD_STACK_MUCH = 1 << 30;

static rlim_t thread_stack_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/* What may be wrong with the stacks, or with the number of threads. */
static const char *thread_hint(void)
{
	const rlim_t stack = thread_stack_limit();

	if (getenv("OMP_STACKSIZE") || getenv("KMP_STACKSIZE") || getenv("GOMP_STACKSIZE"))
		return "lower OMP_STACKSIZE: 8M is enough";
	if (stack != RLIM_INFINITY && stack > THREAD_STACK_MUCH)
		return "'ulimit -s 8192': a thread's stack is as large as that limit";
	return "lower OMP_NUM_THREADS, or raise 'ulimit -u' or 'ulimit -v'";
}

/* A runtime that cannot start its threads says so and exits by 1, which means measured. */
static void thread_refuse_without_team(void)
{
	if (thread_total)
		return;
	fprintf(stderr, "membw: the OpenMP runtime could not start its threads\nhint: %s\n",
		thread_hint());
	_exit(EXIT_USAGE);
}

/* The runtime counts CPUs, not what a quota grants of them. */
static void thread_keep_to_quota(void)
{
	const int granted = cgroup_whole_cpus(), count = omp_get_max_threads();
	const int whole = granted > thread_least ? granted : thread_least;

	if (!granted || count <= whole || getenv("OMP_NUM_THREADS") || thread_team_requested)
		return;
	fprintf(stderr,
		"membw: %d thread%s of %d, as the cgroup's quota is %.2f CPUs; OMP_NUM_THREADS "
		"sets another number\n",
		whole, plural(whole), count, cgroup_cpu_quota());
	omp_set_num_threads(whole);
	thread_available = whole;
}

/* The first thread's affinity, before a runtime binds it, and what the runtime says. */
static void thread_count_available(void)
{
	struct cpuset cpus;

	if (thread_available)
		return;
	cpuset_of_thread(&cpus);
	thread_available = cpuset_count(&cpus);
	if (omp_get_num_procs() > thread_available)
		thread_available = omp_get_num_procs();
}

void threads_at_least(int count)
{
	thread_least = count;
}

void threads_start(void)
{
	const char *value = getenv("OMP_NUM_THREADS");
	static int watching;

	/* libomp then takes any number, and ends by an assertion, or never */
	if (kmp_get_blocktime && value && !threads_variable_is_valid(value))
		die("OMP_NUM_THREADS='%.20s' is no number of threads",
		    "one thread per CPU is usual", value);
	/* libgomp has been seen to crash at 100,000 */
	if (threads_requested() > THREADS_MAX)
		die("OMP_NUM_THREADS is %d, more than %d", "one thread per CPU is usual",
		    threads_requested(), THREADS_MAX);
	if (thread_stack_limit() < THREAD_STACK_LEAST)
		die("a stack of '%zu' KiB is too small", "'ulimit -s 8192'",
		    (size_t)thread_stack_limit() >> 10);
	thread_count_available();
	omp_set_dynamic(0); /* else any region may have another number of threads */
	thread_keep_to_quota();
	if (!watching++)
		atexit(thread_refuse_without_team);
	thread_total = 0;
#pragma omp parallel
	{
#pragma omp master
		thread_total = omp_get_num_threads();
	}
	thread_list = room_for((size_t)thread_total, sizeof(*thread_list), "threads",
			       "set OMP_NUM_THREADS to less");
#pragma omp parallel
	lost_time_start(&thread_list[omp_get_thread_num()].lost_time);
	threads_look();
}

void threads_team(int count)
{
	int t;

	for (t = 0; t < thread_total; t++)
		if (thread_list[t].lost_time.file >= 0)
			close(thread_list[t].lost_time.file);
	free(thread_list);
	omp_set_num_threads(count);
	thread_team_requested = count;
	thread_shared_core = 0;
	threads_start();
}

int threads_variable_is_valid(const char *value)
{
	size_t digits;

	for (;; value++) {
		value += strspn(value, " ");
		digits = strspn(value, "0123456789");
		if (strspn(value, "0") == digits)
			return 0;
		value += digits;
		value += strspn(value, " ");
		if (*value != ',')
			return !*value;
	}
}

/* OMP_NUM_THREADS: "4" or "4,2", how many threads the first level shall have. */
int threads_requested(void)
{
	const char *value = omp_variable("OMP_NUM_THREADS");
	long count;

	if (thread_team_requested)
		return thread_team_requested;
	count = value ? strtol(value, NULL, 10) : 0;
	return count > INT_MAX ? INT_MAX : count < 0 ? 0 : (int)count;
}

int threads_available(void)
{
	return thread_available;
}

int threads_most(void)
{
	return threads_requested() > thread_total ? threads_requested() : thread_total;
}

void threads_sample(void)
{
#pragma omp parallel
	{
		struct thread_seen *const thread = &thread_list[omp_get_thread_num()];

		lost_time_note(&thread->lost_time);
		thread_note_cpu(thread);
	}
	thread_look_for_shared_core();
}

double threads_lost_seconds(void)
{
	double most = 0;
	int t;

	for (t = 0; t < thread_total; t++)
		if (thread_list[t].lost_time.lost > most)
			most = thread_list[t].lost_time.lost;
	return most;
}

int threads_shared_core(void)
{
	return thread_shared_core;
}

int threads_count(void)
{
	return thread_total;
}

const struct thread_seen *threads_seen(int thread)
{
	return &thread_list[thread];
}

const struct cpuset *threads_cpus(void)
{
	return &thread_all_cpus;
}

void threads_write(void)
{
	char list[CPU_LIST_MAX];
	int t;

	json_open("threads_on", '[');
	for (t = 0; t < thread_total; t++) {
		const struct thread_seen *thread = &thread_list[t];

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
