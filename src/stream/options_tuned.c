#include "options_tuned.h"

#include "../harness/error.h"
#include "tuned/variants.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { TUNE_SECONDS = 15, TUNE_SECONDS_MOST = 86400 };

static double tune_seconds(const char *text)
{
	char *end;
	const double value = text ? strtod(text, &end) : TUNE_SECONDS;

	if (text && (*end || end == text || !(value > 0) || value > TUNE_SECONDS_MOST))
		die("'--tune=%s' is no time", "give seconds, as in --tune=15", text);
	return value;
}

int options_tuned(struct options *o, int option)
{
	if (option == OPTION_KERNELS) {
		o->tuned.kernels = optarg;
	} else if (option == OPTION_TUNE) {
		o->tuned.seconds = tune_seconds(optarg);
	} else if (option == OPTION_SAVE_KERNELS) {
		o->tuned.save = optarg;
	} else if (option == OPTION_LIMITS) {
		o->tuned.limits = 1;
	} else if (option == OPTION_LIST_VARIANTS) {
		variants_list();
		leave(EXIT_VALID);
	} else {
		return 0;
	}
	return 1;
}

static int kernels_are(const struct options *o, const char *set)
{
	return o->tuned.kernels && strcmp(o->tuned.kernels, set) == 0;
}

void options_tuned_check(struct options *o)
{
	if (o->tuned.kernels && o->tuned.seconds > 0 && !kernels_are(o, "tuned"))
		die("'--kernels %s' and '--tune' contradict each other",
		    "give one of them: '--tune' searches, '--kernels' names", o->tuned.kernels);
	if (kernels_are(o, "tuned") && !o->tuned.seconds)
		o->tuned.seconds = TUNE_SECONDS;
	if (o->tuned.save && !o->tuned.seconds &&
	    (!o->tuned.kernels || kernels_are(o, "standard")))
		die("'--save-kernels %s' has nothing to save: the Standard kernels run",
		    "give '--tune', or '--kernels' with a variant", o->tuned.save);
}
