#include "pinning.h"

#include "../machine/cgroup.h"
#include "../machine/topology.h"
#include "../openmp.h"
#include "../plural.h"
#include "../verdict.h"
#include "threads.h"

#include <regex.h>

#ifndef _OPENMP
#define PINNING_WHY_FEWER "built without OpenMP"
#else
#define PINNING_WHY_FEWER "OMP_THREAD_LIMIT?"

static int pinning_is_set(const char *variable, const char *no, const char *also_no)
{
	const char *value = getenv(variable);

	return value && *value && strcasecmp(value, no) != 0 && strcasecmp(value, also_no) != 0;
}

/* "verbose" or "granularity=fine" bind nothing by themselves. */
static int pinning_by_kmp(void)
{
	static const char *const types[] = { "compact",  "scatter", "balanced",
					     "explicit", "logical", "physical" };
	const char *value = kmp_get_blocktime ? getenv("KMP_AFFINITY") : NULL;
	size_t i;

	for (i = 0; value && i < sizeof(types) / sizeof(*types); i++)
		if (strcasestr(value, types[i]))
			return 1;
	return 0;
}

/* OpenMP 5.2, 21.1, and what libomp takes besides. */
#define PIN_NUMBER " *[0-9]+ *"
#define PIN_COUNT "(:" PIN_NUMBER "(: *[-+]?" PIN_NUMBER ")?)?" /* and stride */
#define PIN_LIST(one) one "(," one ")*"
#define PIN_RESOURCES " *!?" PIN_NUMBER PIN_COUNT
#define PIN_PLACE " *!? *(" PIN_NUMBER "|\\{" PIN_LIST(PIN_RESOURCES) "\\} *)" PIN_COUNT
#define PIN_NAMES "(threads|cores|sockets|tiles|modules|numa_domains|(ll|l[0-9])_caches)"
#define PIN_POLICY " *(true|false|primary|master|close|spread|disabled|[01]) *"
#define PIN_LEVEL                                                                           \
	"(fine|thread|core|tile|module|node|numa|die|socket|package|group|core_(type|eff)|" \
	"(ll|l[0-9])_cache)"
#define PIN_WORD                                                                         \
	" *(compact|scatter|balanced|explicit|logical|physical|none|disabled|[0-9]+|"    \
	"(no)?(respect|verbose|warnings|duplicates|reset)|gran(ularity)?=" PIN_LEVEL "|" \
	"proclist=\\[[-0-9,{}: ]*\\]) *"

static const struct values {
	const char *variable, *right;
	int of_libomp;
} pinning_values[] = {
	{ "OMP_PLACES",
	  "^(" PIN_LIST(PIN_PLACE) "| *" PIN_NAMES
				   " *(\\( *0*[1-9][0-9]* *\\) *)?| *cores:[a-z][a-z0-9_]* *)$",
	  0 },
	{ "OMP_PROC_BIND", "^" PIN_LIST(PIN_POLICY) "$", 0 },
	{ "KMP_AFFINITY", "^" PIN_LIST(PIN_WORD) "$", 1 },
};

/* Of other values libgomp pins nothing, unless OMP_PROC_BIND is set, and libomp to cores. */
static int pinning_is_valid(const struct values *of, const char *value)
{
	regex_t pattern;
	int is_valid;

	if (regcomp(&pattern, of->right, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
		return 1;
	is_valid = regexec(&pattern, value, 0, NULL, 0) != REG_NOMATCH;
	regfree(&pattern);
	return is_valid;
}

#endif

/* The variable by which the OpenMP runtime was asked to bind its threads; NULL: none. */
static const char *pinning_by_openmp(void)
{
#ifdef _OPENMP
	if (pinning_by_kmp())
		return "KMP_AFFINITY";
	if (pinning_is_set("GOMP_CPU_AFFINITY", "", ""))
		return "GOMP_CPU_AFFINITY";
	if (pinning_is_set("OMP_PLACES", "", "") &&
	    (!getenv("OMP_PROC_BIND") || pinning_is_set("OMP_PROC_BIND", "false", "0")))
		return "OMP_PLACES";
	if (pinning_is_set("OMP_PROC_BIND", "false", "0"))
		return "OMP_PROC_BIND";
#endif
	return NULL;
}

/* Whether a variable has a value that no runtime takes. */
static int pinning_judge_values(void)
{
	int wrong = 0;
#ifdef _OPENMP
	size_t i;

	for (i = 0; i < sizeof(pinning_values) / sizeof(*pinning_values); i++) {
		const struct values *of = &pinning_values[i];
		const char *value = getenv(of->variable);

		if (!value || !*value || (of->of_libomp && !kmp_get_blocktime) ||
		    pinning_is_valid(of, value))
			continue;
		verdict_invalid(WRONG_PINNING, "%s='%.64s' is no valid value", of->variable,
				value);
		wrong = 1;
	}
#endif
	return wrong;
}

/* Whether the places have several cores by what they are: sockets, domains, lists of CPUs. */
static int pinning_places_are_wide(void)
{
	static const char *const wide[] = { "sockets", "numa_domains", "ll_caches" };
	const char *places = getenv("OMP_PLACES"), *kmp = getenv("KMP_AFFINITY"), *end;
	size_t i;

	kmp = kmp ? strcasestr(kmp, "granularity=") : NULL;
	kmp = kmp ? kmp + strlen("granularity=") : NULL;
	if (kmp && !strchr("fFtTcC", *kmp)) /* fine, thread, core */
		return 1;
	if (!places)
		return 0;
	places += strspn(places, " ");
	for (i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (strncasecmp(places, wide[i], strlen(wide[i])) == 0)
			return 1;
	end = strpbrk(places, ",:}");
	return *places == '{' && end && *end != '}';
}

/* A place of several cores lets its thread move between them (OpenMP 5.2, 10.1.3). */
static int pinning_is_requested(const struct thread_seen *thread)
{
	return topology_cores(&thread->affinity) == 1 ||
	       (pinning_by_openmp() && !pinning_places_are_wide());
}

static const char *pinning_by_nobody(const struct thread_seen *thread)
{
	return pinning_is_requested(thread) ? ""
	       : pinning_by_openmp()        ? "; the places of OMP_PLACES have several cores"
					    : "; nothing pinned it";
}

void pinning_unknown(void)
{
	verdict_warn(WRONG_PINNING,
		     "not known: the kernel does not say on which CPU a thread runs");
}

static void pinning_judge_threads(void)
{
	char list[CPU_LIST_MAX], may[CPU_LIST_MAX];
	int t, cpu;

	for (t = 0; t < threads_count(); t++) {
		const struct thread_seen *thread = threads_seen(t);

		cpuset_format(&thread->cpus, list);
		cpuset_format(&thread->affinity, may);
		if (thread->unknown)
			pinning_unknown();
		EACH_OF_SET (cpu, &thread->cpus)
			if (!cpuset_has(&thread->affinity, cpu))
				verdict_invalid(WRONG_PINNING,
						"thread %d ran on CPU %d, outside its %s", t, cpu,
						may);
		if (topology_cores(&thread->cpus) < 2)
			continue;
		(pinning_is_requested(thread) ? verdict_invalid : verdict_warn)(
			WRONG_PINNING, "thread %d moved between CPUs %s%s", t, list,
			pinning_by_nobody(thread));
	}
}

static void pinning_judge_cores(void)
{
	const int cores = topology_cores(threads_cpus());

	if (!threads_shared_core() || cores < threads_count())
		return;
	(pinning_is_requested(threads_seen(0)) ? verdict_invalid : verdict_warn)(
		WRONG_PINNING,
		"two threads on one core in %d sample%s, with %d cores for %d threads%s",
		threads_shared_core(), plural(threads_shared_core()), cores, threads_count(),
		pinning_by_nobody(threads_seen(0)));
}

/* libgomp ignores another value and takes as many threads as it likes. */
static void pinning_judge_variable(void)
{
	const char *value = getenv("OMP_NUM_THREADS");

	if (value && *value && !threads_variable_is_valid(value))
		verdict_warn(WRONG_PINNING,
			     "OMP_NUM_THREADS='%.20s' is no number of threads: %d ran", value,
			     threads_count());
}

/* OMP_THREAD_LIMIT, KMP_HW_SUBSET and other variables take threads away in silence. */
void pinning_judge_count(void)
{
	if (threads_requested() > threads_count())
		verdict_invalid(WRONG_PINNING, "%d threads were requested, there %s %d (%s)",
				threads_requested(), threads_count() == 1 ? "is" : "are",
				threads_count(), PINNING_WHY_FEWER);
	if (!threads_requested() && threads_available() > threads_count())
		verdict_warn(
			WRONG_PINNING,
			"%d thread%s, though %d CPUs may be used and no number was requested (%s)",
			threads_count(), plural(threads_count()), threads_available(),
			PINNING_WHY_FEWER);
}

#if defined(_OPENMP) && _OPENMP >= 201511

/* The runtime took no value of a variable for places. */
static int pinning_has_no_places(void)
{
	return omp_get_num_places() == 0;
}

static int pinning_has_place_of(int cpu)
{
	static int cpus[CPUS_MAX];
	int place, i;

	for (place = 0; place < omp_get_num_places(); place++) {
		omp_get_place_proc_ids(place, cpus);
		for (i = 0; i < omp_get_place_num_procs(place); i++)
			if (cpus[i] == cpu)
				return 1;
	}
	return 0;
}

/* The first CPU of a place of OMP_PLACES that is in no place of the runtime; -1: none. */
static int pinning_lost_cpu(const char *places)
{
	if (strchr(places, '!') || pinning_has_no_places())
		return -1;
	while ((places = strchr(places, '{'))) {
		const int cpu = (int)strtol(++places, NULL, 10);

		if (!pinning_has_place_of(cpu))
			return cpu;
	}
	return -1;
}

#else

static int pinning_has_no_places(void)
{
	return 0;
}

static int pinning_lost_cpu(const char *places)
{
	(void)places;
	return -1;
}

#endif

/* A runtime that finds none of its CPUs goes on without, or with places of its own. */
static void pinning_judge_refused(void)
{
	const char *variable = pinning_by_openmp(), *value = variable ? getenv(variable) : "";
	char list[CPU_LIST_MAX];
	int t, cpu;

	if (pinning_judge_values() || !variable)
		return;
	cpu = strcmp(variable, "OMP_PLACES") == 0 ? pinning_lost_cpu(value) : -1;
	if (cpu >= 0)
		verdict_invalid(WRONG_PINNING, "%s='%.64s': the runtime has no place with CPU %d",
				variable, value, cpu);
	if (cpu >= 0 || (pinning_places_are_wide() && !pinning_has_no_places()))
		return;
	for (t = 0; t < threads_count(); t++)
		if (topology_cores(&threads_seen(t)->affinity) < 2 ||
		    memcmp(&threads_seen(t)->affinity, threads_cpus(), sizeof(struct cpuset)) != 0)
			return;
	verdict_invalid(WRONG_PINNING, "%s='%.64s' pinned nothing: each thread may run on CPUs %s",
			variable, value, cpuset_format(threads_cpus(), list));
}

void pinning_judge_quota(int threads)
{
	if (cgroup_whole_cpus() && threads > cgroup_whole_cpus())
		verdict_warn(DISTURBED, "%d thread%s on a cgroup quota of %.2f CPUs", threads,
			     plural(threads), cgroup_cpu_quota());
}

void pinning_judge(void)
{
	const int cpus = cpuset_count(threads_cpus());
	char list[CPU_LIST_MAX];

	if (!cpus) {
		pinning_unknown();
		return;
	}
	if (threads_count() > cpus)
		verdict_invalid(OVERSUBSCRIBED, "%d thread%s on %d CPU%s (%s)", threads_count(),
				plural(threads_count()), cpus, plural(cpus),
				cpuset_format(threads_cpus(), list));
	pinning_judge_quota(threads_count());
	pinning_judge_variable();
	pinning_judge_count();
	pinning_judge_refused();
	pinning_judge_threads();
	pinning_judge_cores();
}
