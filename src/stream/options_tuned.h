/*
 * options_tuned: the options that choose between Standard and Tuned kernels.
 */
#ifndef MEMBW_OPTIONS_TUNED_H
#define MEMBW_OPTIONS_TUNED_H

#include "options.h"

enum {
	OPTION_KERNELS = 768,
	OPTION_TUNE,
	OPTION_SAVE_KERNELS,
	OPTION_LIST_VARIANTS,
	OPTION_LIMITS
};

/* clang-format off */
#define OPTIONS_TUNED_LONG \
	{ "kernels", required_argument, NULL, OPTION_KERNELS }, \
	{ "tune", optional_argument, NULL, OPTION_TUNE }, \
	{ "save-kernels", required_argument, NULL, OPTION_SAVE_KERNELS }, \
	{ "list-variants", no_argument, NULL, OPTION_LIST_VARIANTS }, \
	{ "limits", no_argument, NULL, OPTION_LIMITS },
#define OPTIONS_TUNED_HELP \
	"      --kernels WHICH  standard (default), tuned (what --tune finds), the name of a\n" \
	"                       variant, or a FILE of chosen ones\n" \
	"      --tune[=SECONDS] search the best variant of each kernel first (default: 15 s)\n" \
	"      --save-kernels FILE\n" \
	"                       keep the choice there, for --kernels FILE\n" \
	"      --list-variants  the names that --kernels knows, and which run here\n" \
	"      --limits         then also what reading, filling, updating alone reach\n"
/* clang-format on */

/* Takes one of them, with its value in optarg; 0 if the option is another. */
int options_tuned(struct options *options, int option);

/* Asks again where they contradict each other. */
void options_tuned_check(struct options *options);

#endif
