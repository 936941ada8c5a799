#include "array_size.h"

#include "../harness/error.h"
#include "../harness/job/ranks.h"
#include "../harness/machine/memory_available.h"
#include "../harness/verdict.h"
#include "kernels/arrays.h"

static const double MIB = 1024.0 * 1024.0;
/* In addition to the arrays: their page tables, 8 of 4096 bytes, and the program.  A limit that
 * holds the arrays alone kills it when they are touched. */
static const size_t PAGE_TABLES_SHARE = 512, PROGRAM_BYTES = (size_t)8 << 20;

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

static void note_caches(enum llc_from from, char note[256])
{
	note[0] = '\0';
	if (from == LLC_UNKNOWN)
		snprintf(note, 256, "the sizes of the caches are unknown; %d MiB are assumed",
			 LLC_ASSUMED_MIB);
}

void size_choose(struct options *options, size_t llc_bytes, enum llc_from from, char note[256])
{
	const size_t available = memory_available();
	const size_t share = available / (size_t)ranks_on_node();
	size_t of_all[2]; /* the complement of the rule's size; what fits */

	note_caches(from, note);
	if (options->size_from == FROM_AUTO) {
		of_all[0] = ~size_by_rule(llc_bytes);
		of_all[1] = largest_that_fits(share);
		ranks_smallest(of_all, 2);
		options->size = ~of_all[0];
		if (options->size > of_all[1]) {
			options->size = of_all[1];
			snprintf(
				note, 256,
				"array size limited by the available memory, %.0f MiB%s: the rule "
				"is %zu elements",
				(double)available / MIB, memory_available_by(),
				size_by_rule(llc_bytes));
		}
	}
	if (options->size < 1)
		die("'%zu' elements per array: too few", "give more with '-n' or '-m'",
		    options->size);
	if (options->size > (size_t)-1 / 64 || options->offset > (size_t)-1 / 64 ||
	    bytes_needed(options) > share)
		too_much(options, available);
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
