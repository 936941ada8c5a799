/*
 * options_mpi: the options that only a job of several ranks has.
 */
#ifndef MEMBW_OPTIONS_MPI_H
#define MEMBW_OPTIONS_MPI_H

#include "options.h"

enum { OPTION_TIMEOUT = 512, OPTION_ORDER, OPTION_LIST, OPTION_BY };

#ifdef MEMBW_MPI
/* clang-format off */
#define OPTIONS_MPI_LONG \
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT }, \
	{ "order", required_argument, NULL, OPTION_ORDER }, \
	{ "list", required_argument, NULL, OPTION_LIST }, \
	{ "by", required_argument, NULL, OPTION_BY },
#define OPTIONS_MPI_HELP \
	"\n" \
	"Of a job of several MPI ranks (-n and -m are per rank; FILE gets a line of each):\n" \
	"      --timeout S      a rank waits S seconds for the others, then reports without\n" \
	"                       them (default: 60, or 20 times its own last step if longer)\n" \
	"      --order WORD     the list of nodes: slowest-last (default) or slowest-first\n" \
	"      --list KERNELS   kernels listed node by node: copy,scale,add,triad or all\n" \
	"                       (default: triad; the summary always has all four)\n" \
	"      --by WORD        lines of the list: node or rank (default: node, on one\n" \
	"                       node alone rank)\n" \
	"\n"
/* clang-format on */
#else
#define OPTIONS_MPI_LONG
#define OPTIONS_MPI_HELP
#endif

/* Takes one of them, with its value in optarg; 0 if the option is another. */
int options_mpi(struct options *options, int option);

#endif
