#include "print.h"

#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/record_file.h"
#include "../../harness/machine/cpuset.h"
#include "../../harness/memory/placement.h"
#include "../../harness/options.h"
#include "../../harness/verdict.h"
#include "../health/floors.h"
#include "record.h"

static const char RULE[] = "-------------------------------------------------------------\n";

static const char *set_of(const struct options *o)
{
	return o->tuned.seconds > 0 ||
			       (o->tuned.kernels && strcmp(o->tuned.kernels, "standard") != 0)
		       ? "Tuned"
		       : "Standard";
}

void table_banner(const struct options *o, const struct arrays *arrays, size_t llc_bytes,
		  const char *note)
{
	static const char *const from[] = { "automatic", "macro", "option" };
	const double mib = (double)(o->size * sizeof(element)) / 1048576.0;
	char list[CPU_LIST_MAX];

	printf("%s", RULE);
	printf("membw stream %s, a STREAM-compatible program; %s kernels\n", MEMBW_VERSION,
	       set_of(o));
	printf("%s", RULE);
	printf("Array size = %zu (elements, %s), Offset = %zu (elements)\n", o->size,
	       from[o->size_from], o->offset);
	printf("Alignment of a, b, c = %zu, %zu, %zu (bytes); b begins %zu bytes after a\n",
	       arrays_alignment(arrays, 0), arrays_alignment(arrays, 1),
	       arrays_alignment(arrays, 2),
	       (size_t)(arrays->of[1] - arrays->of[0]) * sizeof(element));
	printf("Bytes per element = %zu; memory per array = %.1f MiB, total %.1f MiB\n",
	       sizeof(element), mib, 3 * mib);
	printf("Last-level caches used = %.1f MiB\n", (double)llc_bytes / 1048576.0);
	if (*note)
		printf("Note: %s\n", note);
	if (o->ntimes)
		printf("Repetitions = %d, the best of all but the first counts\n", o->ntimes);
	else
		printf("Repetitions until the figures have settled, at most %g s; the first does "
		       "not count\n",
		       o->max_seconds);
	printf("Threads = %d, on CPUs %s\n", threads_count(), cpuset_format(threads_cpus(), list));
	printf("%s", RULE);
	fflush(stdout);
}

void table_kernels(const struct kernel_choice *choice)
{
	char name[VARIANT_NAME_MAX];
	int k;

	for (k = 0; k < KERNELS; k++)
		if (strcmp(kernels_language_of(k), kernels_language) != 0)
			printf("%s: no loop in Fortran (fortran_%s), measured in C\n",
			       kernels[k].name, kernels[k].name);
	for (k = 0; k < KERNELS && choice->tuned; k++)
		printf("Tuned %-5s = %s\n", kernels[k].name, variants_name(&choice->of[k], name));
}

void table_print(const struct measurement *m)
{
	int k;

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

static void print_interval(const struct timing *t, const char *name)
{
	printf(" %s %.1f", name, 1e-3 * t->best_mbs);
	if (t->high_mbs > 0)
		printf(" ±%.1f", 1e-3 * (t->high_mbs - t->best_mbs));
	else
		printf(" (no interval)");
}

static void print_intervals(const struct measurement *m)
{
	int k;

	printf("Started again, in GB/s:");
	for (k = 0; k < KERNELS; k++) {
		if (k)
			putchar(',');
		print_interval(&m->kernel[k], kernels[k].name);
	}
	putchar('\n');
}

/* How far the figures would read again, how many repetitions there were, what ended them. */
static void table_repetitions(const struct measurement *m)
{
	print_intervals(m);
	printf("Repetitions: %d", m->complete);
	if (measure_disturbed(m))
		printf(", %d of them disturbed and not counted", measure_disturbed(m));
	printf("; ended by: %s\n", measure_ended(m));
}

void table_peak(const struct measurement *m)
{
	const double peak = options_peak();
	int k, best = 0;

	if (!(peak > 0))
		return;
	for (k = 1; k < KERNELS; k++)
		if (m->kernel[k].best_mbs > m->kernel[best].best_mbs)
			best = k;
	printf("Theoretical peak = %g GB/s (as given by --peak): %s reaches %.1f %% of it\n", peak,
	       kernels[best].name, m->kernel[best].best_mbs / peak / 10);
}

void table_validation(const struct validation *v, const struct arrays *arrays)
{
	char text[PHYSICAL_TEXT_MAX];
	int i;

	if (!v->wrong) {
		printf("Solution Validates: all %d x %zu elements hold the expected bits\n",
		       ARRAYS, arrays->size);
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
		       bits_of(w->expected), (double)w->found, (int)(2 * sizeof(element)),
		       bits_of(w->found));
	}
}

int report(const struct run *run)
{
	size_t size;
	char *text = stream_record(run, &size);
	int recorded = !options_json();

	table_print(&run->measurement);
	table_repetitions(&run->measurement);
	table_peak(&run->measurement);
	table_validation(&run->validation, &run->arrays);
	if (text)
		recorded = record_file_put(text, size);
	verdict_print(stdout);
	free(text);
	return floors_judge(&run->measurement, recorded ? verdict_status() : EXIT_INVALID);
}
