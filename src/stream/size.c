#include "size.h"

#include "arrays.h"
#include "error.h"
#include "memory.h"
#include "verdict.h"

#include <stdio.h>

static const double MIB = 1024.0 * 1024.0;

static size_t rule(size_t llc_bytes)
{
	const size_t size = CACHES_AN_ARRAY * llc_bytes / sizeof(element);

	return size > LEAST_ELEMENTS ? size : LEAST_ELEMENTS;
}

/* What leaves a fifth of the memory to the rest of the machine. */
static size_t most(size_t available)
{
	return available / 5 * 4 / (ARRAYS * sizeof(element));
}

void size_choose(struct options *options, size_t llc_bytes, char note[256])
{
	const size_t available = memory_available();

	note[0] = '\0';
	if (options->size_from == FROM_AUTO) {
		options->size = rule(llc_bytes);
		if (options->size > most(available)) {
			options->size = most(available);
			snprintf(note, 256,
				 "array size capped by the memory available, %.0f MiB: the rule "
				 "asks for %zu elements",
				 (double)available / MIB, rule(llc_bytes));
		}
	}
	if (options->size < 1)
		ask_again("give more", "'%zu' elements are too few", options->size);
	if (options->size > (size_t)-1 / 64 || options->offset > (size_t)-1 / 64 ||
	    arrays_bytes(options->size, options->offset) > available)
		ask_again("ask for smaller arrays with '-n' or '-m'",
			  "'%zu' elements make three arrays of %.0f MiB, more than the %.0f MiB "
			  "of memory available",
			  options->size,
			  (double)ARRAYS * (double)sizeof(element) *
				  ((double)options->size + (double)options->offset) / MIB,
			  (double)available / MIB);
}

void size_judge(size_t size, size_t llc_bytes)
{
	const double mib = (double)(size * sizeof(element)) / MIB;

	if (size < LEAST_ELEMENTS)
		verdict_invalid(ARRAY_TOO_SMALL, "%zu elements an array, the rule asks for %d",
				size, LEAST_ELEMENTS);
	if (size < rule(llc_bytes))
		verdict_invalid(
			ARRAY_TOO_SMALL,
			"arrays of %.1f MiB, but the last-level caches used hold %.1f MiB: "
			"this measures cache; the rule asks for -n %zu",
			mib, (double)llc_bytes / MIB, rule(llc_bytes));
}
