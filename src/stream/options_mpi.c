#include "options_mpi.h"

#ifdef MEMBW_MPI

#include "../harness/error.h"
#include "kernels/kernels.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static double seconds(const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (*end || end == text || !(value > 0) || value > 1e6)
		die("'--timeout %s' is no time", "give seconds, as in 60 or 0.5", text);
	return value;
}

/* The place of a word in a list that ends in NULL. */
static int choice(const char *option, const char *text, const char *const *words, const char *hint)
{
	int i;

	for (i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	die("'%s %s' is not known", hint, option, text);
}

static unsigned listed(const char *names)
{
	unsigned set = 0;

	while (*names) {
		const size_t length = strcspn(names, ",");
		const unsigned before = set;
		int k;

		for (k = 0; k < KERNELS; k++)
			if ((strlen(kernels[k].name) == length &&
			     strncmp(names, kernels[k].name, length) == 0) ||
			    (length == 3 && strncmp(names, "all", 3) == 0))
				set |= 1u << k;
		if (set == before)
			die("'--list %.*s' names no kernel",
			    "give copy, scale, add, triad, several with commas, or all",
			    (int)length, names);
		names += length + (names[length] == ',');
	}
	return set;
}

int options_mpi(struct options *o, int option)
{
	static const char *const orders[] = { "slowest-last", "slowest-first", NULL };
	static const char *const units[] = { "node", "rank", NULL };

	if (option == OPTION_TIMEOUT)
		o->limit = seconds(optarg);
	else if (option == OPTION_ORDER)
		o->slowest_first =
			choice("--order", optarg, orders, "give slowest-last or slowest-first");
	else if (option == OPTION_LIST)
		o->list = listed(optarg);
	else if (option == OPTION_BY)
		o->by = choice("--by", optarg, units, "give node or rank") ? BY_RANK : BY_NODE;
	else
		return 0;
	return 1;
}

#else

int options_mpi(struct options *o, int option)
{
	(void)o;
	(void)option;
	return 0;
}

#endif
