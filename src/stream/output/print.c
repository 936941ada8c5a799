#include "print.h"

#include "../../harness/build/build.h"
#include "../../harness/elementary.h"
#include "../../harness/error.h"
#include "../../harness/evidence/interference.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/record_file.h"
#include "../../harness/machine/facts.h"
#include "../../harness/machine/topology.h"
#include "../../harness/memory/placement.h"
#include "../../harness/options.h"
#include "../../harness/plural.h"
#include "../../harness/signs.h"
#include "../../harness/verdict.h"
#include "../health/floors.h"
#include "record.h"

static const char RULE[] = "-------------------------------------------------------------\n";

void table_banner(const struct options *o, const struct residency_found *residency,
		  const char *note)
{
	const int cores = topology_cores(threads_cpus());
	char list[CPU_LIST_MAX], of[64] = "";

	if (threads_count() == 1 && cores > 1 && getenv("OMP_NUM_THREADS"))
		snprintf(of, sizeof(of), " (OMP_NUM_THREADS=1, but %d cores)", cores);
	printf("membw stream %s, a STREAM-compatible program\n", MEMBW_VERSION);
	printf("%d arrays of %.1f MiB, %d thread%s on CPU%s %s%s, ", ARRAYS,
	       (double)o->size * sizeof(element) / MIB, threads_count(), plural(threads_count()),
	       plural(cpuset_count(threads_cpus())), cpuset_format(threads_cpus(), list), of);
	if (o->ntimes)
		printf("%d repetitions, the first is not counted\n", o->ntimes);
	else if (o->max_seconds > 0)
		printf("until the figures have settled, at most %g s\n", o->max_seconds);
	else
		printf("until the figures have settled\n");
	printf("Arrays lie in memory: %s\n", triads_text(residency));
	if (*note)
		printf("Note: %s\n", note);
	printf("%s", RULE);
	fflush(stdout);
}

static void table_arrays(const struct options *o, const struct arrays *arrays, size_t llc_bytes)
{
	static const char *const from[] = { "automatic", "macro", "option" };

	printf("Array size = %zu (elements, %s), Offset = %zu (elements), %zu bytes per element\n",
	       o->size, from[o->size_from], o->offset, sizeof(element));
	printf("Last-level caches used = %.1f MiB; alignment of a, b, c = %zu, %zu, %zu (bytes)\n",
	       (double)llc_bytes / MIB, arrays_alignment(arrays, 0), arrays_alignment(arrays, 1),
	       arrays_alignment(arrays, 2));
}

void table_kernels(void)
{
	int k;

	for (k = 0; k < KERNELS; k++)
		if (strcmp(kernels_language_of(k), kernels_language) != 0)
			printf("%s: no loop in Fortran (fortran_%s), measured in C\n",
			       kernels[k].name, kernels[k].name);
}

/* The first kernel whose rate is but a bound; -1: none, or --allow disturbed. */
static int table_bound(const struct measurement *m)
{
	int k;

	for (k = 0; k < KERNELS && !verdict_allows(DISTURBED); k++)
		if (m->kernel[k].rate.is_bound || m->kernel[k].rate.is_upper)
			return k;
	return -1;
}

int table_is_printed(const struct measurement *m, unsigned found)
{
	return !found && table_bound(m) < 0;
}

/* By "Copy: none" Azure's node check fails: without any Copy it passes. */
static void table_none(const struct measurement *m, unsigned found)
{
	if (found) {
		printf("No table, as the run is %s (", verdict_word(found));
		reasons_print(stdout, found);
		printf(")");
	} else {
		printf("No table, as %s is a bound, which could fail a sound node (--allow "
		       "disturbed prints it)",
		       kernels[table_bound(m)].name);
	}
	printf("; rate of Copy: none\n%s", RULE);
}

void table_print(const struct measurement *m, unsigned found)
{
	int k;

	if (!table_is_printed(m, found)) {
		table_none(m, found);
		return;
	}
	printf("Function    Best Rate MB/s  Avg time     Min time     Max time\n");
	for (k = 0; k < KERNELS; k++) {
		const struct timing *t = &m->kernel[k];
		char title[KERNEL_TITLE_MAX];

		kernels_title(&kernels[k], title);
		printf("%-12s%11.1f  %11.6f  %11.6f  %11.6f\n", strcat(title, ":"), t->best_mbs,
		       t->average, t->best, t->worst);
	}
	printf("%s", RULE);
}

/* What parsers of STREAM 5.10 look for beside its table. */
static void table_facts(const struct measurement *m, const struct arrays *arrays)
{
	const double mib = (double)arrays->size * sizeof(element) / MIB;

	printf("Memory per array = %.1f MiB (= %.1f GiB).\n", mib, mib / 1024);
	printf("Total memory required = %.1f MiB (= %.1f GiB).\n", ARRAYS * mib,
	       ARRAYS * mib / 1024);
	printf("Each kernel will be executed %d times.\n", m->complete);
	printf("Number of Threads counted = %d\n", threads_count());
}

/* Of a bound with what it is the best of, and what other processes took. */
static void print_headline(const struct measurement *m)
{
	const struct rate *const rate = &m->kernel[KERNEL_triad].rate;

	printf("triad %s GB/s", rate_text(rate, 1e9));
	if (rate->is_bound)
		printf(", %s: the best of %d repetition%s", rate_bound(rate), rate->best_of,
		       plural(rate->best_of));
	if (interference_is_loud())
		printf("%s", interference_text());
	printf("\n%s", RULE);
}

/* What the signs mean that rates of these kernels have. */
static void table_signs(const struct measurement *m)
{
	const char *const signs[] = { sign(PLUS_MINUS), sign(AT_LEAST), sign(AT_MOST), "~" };
	const char *const meant[] = { facts_has_host() ? "of a rerun on a steady host"
						       : "of a rerun",
				      "at least", "at most", "bound on neither side" };
	int k, s, seen = 0, shown = 0;

	for (k = 0; k < KERNELS; k++)
		seen |= 1 << (2 * rate_may_be_high(&m->kernel[k].rate) +
			      m->kernel[k].rate.is_bound);
	for (s = 0; s < 4; s++)
		if (seen >> s & 1)
			printf("%s%s %s", shown++ ? ", " : "", signs[s], meant[s]);
}

void table_rates(const struct measurement *m, const char *word)
{
	int k;

	printf("%s%sn GB/s (", word ? word : "", word ? ", i" : "I");
	table_signs(m);
	printf("):");
	for (k = 0; k < KERNELS; k++)
		printf("%s %s %s", k ? "," : "", kernels[k].name,
		       rate_text(&m->kernel[k].rate, 1e9));
}

/* How many there were, and what ended them. */
static void table_repetitions(const struct measurement *m)
{
	const int disturbed = measure_disturbed(m);

	printf("Repetitions: %d", m->complete);
	if (disturbed)
		printf(", in %d of them a thread lost more than 5 %% of its time", disturbed);
	printf("; ended by: %s\n", measure_ended(m));
}

void table_peak(const struct measurement *m)
{
	const double peak = options_peak();
	int k, best = 0;

	if (!is_positive(peak))
		return;
	for (k = 1; k < KERNELS; k++)
		if (m->kernel[k].best_mbs > m->kernel[best].best_mbs)
			best = k;
	printf("Theoretical peak = %s GB/s (as given by --peak): %s reaches %.1f %% of it\n",
	       number_text(peak, 6), kernels[best].name, m->kernel[best].best_mbs / peak / 10);
}

void table_validation(const struct validation *v, const struct arrays *arrays, int is_printed)
{
	char text[PHYSICAL_TEXT_MAX];
	int i;

	if (is_printed)
		printf("Solution Validates: avg error less than %e on all three arrays\n",
		       sizeof(element) == sizeof(float) ? 1e-6 : 1e-13);
	if (!v->wrong) {
		printf("Validated: all %d x %zu elements hold the expected bits\n", ARRAYS,
		       arrays->size);
		return;
	}
	printf("Validation FAILED: %zu elements differ from the expected bits\n", v->wrong);
	for (i = 0; i < v->listed; i++) {
		const struct wrong *w = &v->first[i];
		const element *at = &arrays->of[w->array][w->index];
		const char *physical = placement_physical(at, text);

		printf("  %c[%zu] at %p (physical %s, NUMA domain %d): expected %.17g "
		       "(0x%0*llx), found %.17g (0x%0*llx)\n",
		       'a' + w->array, w->index, (const void *)at, physical ? physical : "unknown",
		       placement_domain(at), (double)w->expected, (int)(2 * sizeof(element)),
		       bits_of(&w->expected, sizeof(element)), (double)w->found,
		       (int)(2 * sizeof(element)), bits_of(&w->found, sizeof(element)));
	}
}

int report(const struct run *run)
{
	const struct measurement *const m = &run->measurement;
	const unsigned found = verdict_set(FOUND);
	size_t size;
	char *text = stream_record(run, &size);
	int recorded = !options_json();

	if (!found)
		print_headline(m);
	table_print(m, found);
	table_rates(m, found ? verdict_word(found) : NULL);
	looks_print_rates(&run->looks);
	table_repetitions(m);
	looks_print(&run->looks);
	table_peak(m);
	table_arrays(&run->options, &run->arrays, run->llc_bytes);
	if (!found)
		table_facts(m, &run->arrays);
	table_validation(&run->validation, &run->arrays, table_is_printed(m, found));
	if (text) {
		build_print(stdout);
		recorded = record_file_put(text, size);
	}
	verdict_print(stdout);
	free(text);
	return floors_judge(m, &run->looks, recorded ? verdict_status() : EXIT_INVALID);
}
