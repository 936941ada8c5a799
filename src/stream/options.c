#include "options.h"

#include "../harness/error.h"
#include "health/floors.h"
#include "kernels/kernels.h"

enum { NTIMES_MAX = 1000000, SECONDS_MOST = 86400 };

static const size_t COUNT_MAX = (size_t)-1 / 1024;

static struct options options;

static void size_is(size_t size)
{
	if (options.size_from == FROM_OPTION)
		die("'-n' and '-m' both say how large the arrays are", "leave out one of them");
	options.size = size;
	options.size_from = FROM_OPTION;
}

static void set_size(const char *option, const char *text)
{
	size_is(option_count(option, text, 1, COUNT_MAX));
}

/* KiB of "8G", "512M", "64K", or of a number alone. */
static size_t kib_of(const char *option, const char *text)
{
	const size_t length = strspn(text, "0123456789e");
	const char *const unit = text[length] ? strchr("KMG", text[length]) : NULL;
	char number[32];

	if (text[length] && (!unit || !length || text[length + 1] || length >= sizeof(number)))
		die("invalid value for '%s': '%s'", "give KiB, as in 1048576, or 512M, 8G", option,
		    text);
	snprintf(number, sizeof(number), "%.*s", (int)length, text);
	return option_count(option, unit ? number : text, 1, COUNT_MAX >> 20)
	       << (!unit || *unit == 'K' ? 0
		   : *unit == 'M'        ? 10
					 : 20);
}

static void set_memory(const char *option, const char *text)
{
	size_is(kib_of(option, text) * 1024 / (ARRAYS * sizeof(element)));
}

static void set_offset(const char *option, const char *text)
{
	options.offset = option_count(option, text, 0, COUNT_MAX);
}

const struct option_row stream_rows[] = {
	{ 'n', "array-size", "N",
	  "elements of one array; 100000000, 1e8 or 100M (default: macro\n"
	  "STREAM_ARRAY_SIZE, else four times the last-level caches)",
	  .set = set_size },
	{ 'm', "memory", "KIB", "KiB of all arrays together (or 8G, 512M), in place of -n",
	  .set = set_memory },
	{ 't', "ntimes", "N",
	  "exactly N repetitions, at least 2: the first is not counted\n"
	  "(default: macro NTIMES, else until the figures have settled)",
	  .count = &options.ntimes, .least = 2, .most = NTIMES_MAX },
	{ 0, "max-seconds", "S",
	  "end the repetitions after S seconds (default: so that the run\n"
	  "takes 10 s, or --seconds, in all; no limit with -t or NTIMES).\n"
	  "Without -t and --seconds there are at least seven repetitions",
	  .number = &options.max_seconds, .most = SECONDS_MOST,
	  .hint = "give seconds, as in 10 or 0.5" },
	{ 'o', "offset", "N", "elements left free between two arrays", .set = set_offset },
	{ 0, "pages", "KIND", "default, thp, 2M or 1G pages for the arrays",
	  .word = &options.pages, .words = pages_names, .most = PAGES_KINDS },
	{ 0, "explain", NULL,
	  "also Triad by half of the threads, by one, and by both kinds of\n"
	  "stores: what limits it, what a store costs (some 0.5 s)",
	  .flag = &options.explain },
#ifndef MEMBW_MPI
	{ 0, "at-least", "FLOORS",
	  "health check: print one line, PASS, FAIL, UNDECIDED or INVALID;\n"
	  "FLOORS: GB/s per kernel, read or write, as in triad=150,read=180,\n"
	  "or a file",
	  .set = floors_set },
	{ 0, "seconds", "S", "end after S seconds, measured or not (exit status 1)",
	  .set = floors_set_seconds },
#endif
	{ 0 },
};

#ifdef MEMBW_MPI
const struct option_row stream_rows_of_job[] = {
	{ .help = "In a job of several MPI ranks (-n and -m are per rank; FILE gets a line per "
		  "rank):" },
	{ 0, "timeout", "S",
	  "a rank waits S seconds for other ranks, then reports without\n"
	  "them (default: 60, or 20 times its own last step if longer)",
	  .number = &options.limit, .most = 1000000, .hint = "give seconds, as in 60 or 0.5" },
	{ 0 },
};
#endif

/* The macros obey the same rules as the options, unless an option overrides them. */
static void check_macros(void)
{
	if (options.size_from == FROM_MACRO && ARRAY_SIZE_MACRO < 1)
		die("invalid 'STREAM_ARRAY_SIZE=%lld'",
		    "it must be at least 1: compile with another, or give '-n'", ARRAY_SIZE_MACRO);
	if (options.ntimes < 2 && (options.ntimes || NTIMES_GIVEN))
		die("invalid 'NTIMES=%d'",
		    "it must be at least 2 (the first repetition is not counted): "
		    "compile with another, or give '-t'",
		    options.ntimes);
	if ((long long)options.offset < 0)
		die("invalid 'OFFSET=%lld'",
		    "it must be at least 0: compile with another, or give '-o'",
		    (long long)options.offset);
	if ((element)0.5 == (element)0 || (sizeof(element) != 4 && sizeof(element) != 8))
		die("'STREAM_TYPE' is neither float nor double",
		    "compile with -DSTREAM_TYPE=float or double");
}

struct options stream_options(const struct program *program, int argc, char **argv)
{
	options.size = (size_t)ARRAY_SIZE_MACRO;
	options.size_from = ARRAY_SIZE_GIVEN ? FROM_MACRO : FROM_AUTO;
	options.offset = (size_t)(OFFSET);
	options.ntimes = NTIMES_MACRO;
	options_read(program, argc, argv);
	check_macros();
	return options;
}
