#include "options.h"

#include "../harness/error.h"
#include "../harness/evidence/hugepages.h"
#include "../harness/verdict.h"
#include "options_mpi.h"
#include "options_tuned.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NTIMES_MAX = 1000000 };

enum { OPTION_JSON = 256, OPTION_ALLOW, OPTION_STRICT, OPTION_PAGES, OPTION_PEAK, OPTION_VERSION };

static const char HINT[] = "'stream --help' lists the options";

static const char HELP[] =
	"usage: stream [options]\n"
	"Measures sustainable memory bandwidth with STREAM's kernels, in their plain form\n"
	"(Standard) or in the one that this machine likes best (Tuned).\n"
	"\n"
	"  -n, --array-size N   elements of one array; 100000000 or 1e8 (default: macro\n"
	"                       STREAM_ARRAY_SIZE, else four times the last-level caches)\n"
	"  -m, --memory KIB     KiB of the three arrays together, in place of -n\n"
	"  -t, --ntimes N       repetitions, at least 2: the first is not counted\n"
	"  -o, --offset N       elements left free between two arrays\n"
	"      --json FILE      write the record of the run there, one JSON object\n"
	"      --allow REASON   do not let REASON make the run INVALID; repeat, or a,b,c\n"
	"      --strict REASON  let what is only a warning make the run INVALID\n"
	"      --pages KIND     default, thp, 2M or 1G pages for the arrays\n"
	"      --peak GBS       theoretical peak in GB/s: more than that is too "
	"good\n" OPTIONS_TUNED_HELP OPTIONS_MPI_HELP "  -h, --help           this text\n"
	"      --version        version\n"
	"\n"
	"exit status: 0 measured and valid, 1 measured but INVALID, 2 asked wrongly\n";

static const struct option LONG[] = {
	{ "array-size", required_argument, NULL, 'n' },
	{ "memory", required_argument, NULL, 'm' },
	{ "ntimes", required_argument, NULL, 't' },
	{ "offset", required_argument, NULL, 'o' },
	{ "json", required_argument, NULL, OPTION_JSON },
	{ "allow", required_argument, NULL, OPTION_ALLOW },
	{ "strict", required_argument, NULL, OPTION_STRICT },
	{ "pages", required_argument, NULL, OPTION_PAGES },
	{ "peak", required_argument, NULL, OPTION_PEAK },
	OPTIONS_TUNED_LONG OPTIONS_MPI_LONG{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* Digits, and perhaps e and one or two digits more: 800000000 or 8e8. */
static size_t count(const char *option, const char *text, size_t least)
{
	char *end = NULL;
	unsigned long long value = 0, zeros = 0;

	errno = 0;
	if (*text >= '0' && *text <= '9')
		value = strtoull(text, &end, 10);
	if (end && *end == 'e' && end[1] >= '0' && end[1] <= '9' && !errno) {
		zeros = strtoull(end + 1, &end, 10);
		for (; zeros && value && !errno; zeros--) {
			errno = value > ULLONG_MAX / 10 ? ERANGE : 0;
			value *= 10;
		}
	}
	if (!end || *end)
		die("'%s %s' is not a number of things",
		    "give a whole number, as in 100000000 or 1e8", option, text);
	if (errno || value > (size_t)-1 / 1024)
		die("'%s %s' is more than can be counted here", "give a smaller number", option,
		    text);
	if (value < least)
		die("'%s %s' is too few",
		    least == 2 ? "give 2 or more: the first repetition is not counted"
			       : "give 1 or more",
		    option, text);
	return (size_t)value;
}

static int repetitions(const char *text)
{
	const size_t ntimes = count("-t", text, 2);

	if (ntimes > NTIMES_MAX)
		die("'-t %s' is more than can be counted here", "give a smaller number", text);
	return (int)ntimes;
}

static void each_reason(const char *option, const char *names, void (*mark)(enum reason))
{
	while (*names) {
		const size_t length = strcspn(names, ",");
		const enum reason reason = reason_named(names, length);

		if (reason == REASONS)
			die("'%s %.*s' names no reason",
			    "reasons: array-too-small too-short not-validated "
			    "cpu-not-where-asked memory-not-where-asked oversubscribed "
			    "disturbed unstable too-good",
			    option, (int)length, names);
		mark(reason);
		names += length + (names[length] == ',');
	}
}

static enum pages pages_named(const char *name)
{
	int kind;

	for (kind = 0; kind < PAGES_KINDS; kind++)
		if (strcmp(hugepages_names[kind], name) == 0)
			return (enum pages)kind;
	die("'--pages %s' is no kind of pages", "give default, thp, 2M or 1G", name);
}

static double rate(const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (*end || end == text || !(value > 0) || value > 1e9)
		die("'--peak %s' is not a rate", "give GB/s, as in 256 or 281.6", text);
	return value;
}

static void print_and_leave(const char *text)
{
	fputs(text, stdout);
	leave(EXIT_VALID);
}

static struct options defaults(void)
{
	struct options o;

	memset(&o, 0, sizeof(o));
	o.size = (size_t)ARRAY_SIZE_MACRO;
	o.size_from = ARRAY_SIZE_GIVEN ? FROM_MACRO : FROM_AUTO;
	o.offset = (size_t)(OFFSET);
	o.ntimes = NTIMES;
	return o;
}

/* The macros are asked as strictly as the options, unless an option overrides. */
static void check(const struct options *o)
{
	if (o->size_from == FROM_MACRO && ARRAY_SIZE_MACRO < 1)
		die("'STREAM_ARRAY_SIZE=%lld' is too few",
		    "compile with another -DSTREAM_ARRAY_SIZE, or give '-n'", ARRAY_SIZE_MACRO);
	if (o->ntimes < 2)
		die("'NTIMES=%d' is too few",
		    "compile with -DNTIMES=2 or more, or give '-t': "
		    "the first repetition is not counted",
		    o->ntimes);
	if ((long long)o->offset < 0)
		die("'OFFSET=%lld' is less than nothing",
		    "compile with another -DOFFSET, or give '-o'", (long long)o->offset);
	if ((element)0.5 == (element)0 || (sizeof(element) != 4 && sizeof(element) != 8))
		die("'STREAM_TYPE' is neither float nor double",
		    "compile with -DSTREAM_TYPE=float or double");
}

static void wrong_option(int argc, char **argv)
{
	const char *option = argv[optind - 1];
	char letter[3] = "-?";

	if (optopt > 0 && optopt < 256) {
		letter[1] = (char)optopt;
		option = letter;
	}
	(void)argc;
	die("unknown option '%s'", HINT, option);
}

struct options options_read(int argc, char **argv)
{
	struct options o = defaults();
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":n:m:t:o:h", LONG, NULL)) != -1) {
		switch (option) {
		case 'n':
			o.size = count("-n", optarg, 1);
			o.size_from = FROM_OPTION;
			break;
		case 'm':
			o.size = count("-m", optarg, 1) * 1024 / (3 * sizeof(element));
			o.size_from = FROM_OPTION;
			break;
		case 't':
			o.ntimes = repetitions(optarg);
			break;
		case 'o':
			o.offset = count("-o", optarg, 0);
			break;
		case OPTION_JSON:
			o.json = optarg;
			break;
		case OPTION_ALLOW:
			each_reason("--allow", optarg, verdict_allow);
			break;
		case OPTION_STRICT:
			each_reason("--strict", optarg, verdict_strict);
			break;
		case OPTION_PAGES:
			o.pages = pages_named(optarg);
			break;
		case OPTION_PEAK:
			o.peak_gbs = rate(optarg);
			break;
		case 'h':
			print_and_leave(HELP);
			break;
		case OPTION_VERSION:
			print_and_leave("stream (membw) " MEMBW_VERSION "\n");
			break;
		case ':':
			die("'%s' needs a value", HINT, argv[optind - 1]);
		default:
			if (options_mpi(&o, option) || options_tuned(&o, option))
				break;
			wrong_option(argc, argv);
		}
	}
	if (optind < argc)
		die("what is '%s'? only options are known", HINT, argv[optind]);
	check(&o);
	options_tuned_check(&o);
	return o;
}
