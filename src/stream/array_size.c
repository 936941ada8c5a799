#include "array_size.h"

#include "../harness/error.h"
#include "../harness/job/ranks.h"
#include "../harness/machine/memory_available.h"
#include "../harness/verdict.h"
#include "kernels/arrays.h"

/* In addition to the arrays: their page tables, 8 of 4096 bytes, and the program.  A limit that
 * holds the arrays alone kills it when they are touched. */
static const size_t PAGE_TABLES_SHARE = 512, PROGRAM_BYTES = (size_t)8 * MIB;

static size_t size_by_rule(size_t llc_bytes)
{
	const size_t size = CACHES_PER_ARRAY * llc_bytes / sizeof(element);

	return size > LEAST_ELEMENTS ? size : LEAST_ELEMENTS;
}

/* What leaves a fifth of the memory to the rest of the machine. */
static size_t largest_that_fits(size_t available)
{
	return available / 5 * 4 / (ARRAYS * sizeof(element));
}

static size_t bytes_needed(const struct options *o)
{
	const size_t arrays = arrays_bytes(o->size, o->offset);

	return arrays + arrays / PAGE_TABLES_SHARE + PROGRAM_BYTES;
}

static void too_much(const struct options *o, size_t available)
{
	static const char hint[] = "use smaller arrays with '-n' or '-m'";
	/* no size_t holds what some ask for */
	const double arrays =
		(double)ARRAYS * (double)sizeof(element) * ((double)o->size + (double)o->offset);
	const double mib =
		(arrays * (1 + 1.0 / (double)PAGE_TABLES_SHARE) + (double)PROGRAM_BYTES) / MIB;

	if (ranks_together())
		die("'%zu' elements: %d processes on node %s need %.0f MiB together, more "
		    "than the %.0f MiB of memory available there%s",
		    hint, o->size, ranks_on_node(), ranks_node(), ranks_on_node() * mib,
		    (double)available / MIB, memory_available_by());
	die("'%zu' elements make %s arrays that need %.0f MiB with their page tables, more "
	    "than the %.0f MiB of memory available%s",
	    hint, o->size, ARRAYS == 3 ? "three" : "all", mib, (double)available / MIB,
	    memory_available_by());
}

static size_t bytes_of(size_t size)
{
	return ARRAYS * size * sizeof(element);
}

/* The rule's size, of all processes the same; what fits where that is less. */
static void choose_by_rule(struct options *options, size_t llc_bytes, size_t share)
{
	size_t of_all[2]; /* the complement of the rule's size; what fits */

	of_all[0] = ~size_by_rule(llc_bytes);
	of_all[1] = largest_that_fits(share);
	ranks_smallest(of_all, 2);
	options->size = ~of_all[0] < of_all[1] ? ~of_all[0] : of_all[1];
}

static void note_size(const struct options *o, const struct residency_found *residency,
		      const struct residency_request *request, size_t rule, enum llc_from from,
		      char note[256])
{
	int length = 0;

	note[0] = '\0';
	if (from == LLC_UNKNOWN)
		length = snprintf(note, 256, "the sizes of the caches are unknown; ");
	if (o->size_from != FROM_AUTO || o->size == rule)
		return;
	snprintf(note + length, 256 - (size_t)length,
		 "%zu elements%s; %d times the caches%s are %zu", o->size,
		 residency->largest ? " as measured"
		 : triads_lacked_memory(residency, request)
			 ? ", as many as fit into the memory available"
			 : ", as many as there was time to measure",
		 CACHES_PER_ARRAY, from == LLC_UNKNOWN ? ", if of 1 GiB," : "", rule);
}

static void judge_size(const struct residency_found *residency,
		       const struct residency_request *request, size_t size)
{
	char what[64];

	if (size < LEAST_ELEMENTS)
		verdict_invalid(ARRAY_TOO_SMALL, "%zu elements per array, at least %d are needed",
				size, LEAST_ELEMENTS);
	snprintf(what, sizeof(what), "arrays of %.1f MiB", (double)(size * sizeof(element)) / MIB);
	triads_judge(residency, request, what);
}

void size_choose(struct options *options, struct residency_found *residency, size_t llc_bytes,
		 enum llc_from from, double seconds, char note[256])
{
	const size_t available = memory_available();
	const size_t share = available / (size_t)ranks_on_node(), rule = size_by_rule(llc_bytes);
	const int is_timed = ranks_count() == 1 && !verdict_allows(ARRAY_TOO_SMALL);
	struct residency_request request = { .rule = bytes_of(rule),
					     .declared = from == LLC_UNKNOWN ? 0 : llc_bytes,
					     .seconds = seconds };

	if (options->size_from == FROM_AUTO)
		choose_by_rule(options, llc_bytes, share);
	if (options->size < 1)
		die("'%zu' elements per array: too few", "give more with '-n' or '-m'",
		    options->size);
	if (options->size > (size_t)-1 / 64 || options->offset > (size_t)-1 / 64 ||
	    bytes_needed(options) > share)
		too_much(options, available);
	request.given = !is_timed || options->size_from != FROM_AUTO ? bytes_of(options->size) : 0;
	request.most = is_timed ? bytes_of(largest_that_fits(available)) : 0;
	triads_find(residency, &request);
	options->size = request.given ? options->size : residency->bytes / bytes_of(1);
	note_size(options, residency, &request, rule, from, note);
	judge_size(residency, &request, options->size);
}

void caches_judge(const struct llc *llc)
{
	if (llc->from == LLC_FROM_SYSCONF || (llc->cpuid && llc->cpuid != llc->sysfs))
		verdict_warn(CACHE_SIZE,
			     "last-level caches: %.1f MiB from sysfs, %.1f from CPUID, %.1f from "
			     "sysconf (0: not known); %.1f MiB is used",
			     (double)llc->sysfs / MIB, (double)llc->cpuid / MIB,
			     (double)llc->sysconf / MIB, (double)llc->bytes / MIB);
}
