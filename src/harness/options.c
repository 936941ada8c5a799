#include "options.h"

#include "elementary.h"
#include "error.h"
#include "sysfile.h"
#include "verdict.h"

#include <getopt.h>

enum { OPTIONS_MAX = 64, NAME_MAX_LENGTH = 64, HELP_COLUMN = 23, FIRST_LONG = 256 };

/* Of seconds and rates: less is a slip, and more digits than are printed. */
static const double OPTION_NUMBER_LEAST = 0.001;

static const struct program *option_program;
static const char *option_json_path;
static double option_peak_given;

static const struct option_row *option_rows[OPTIONS_MAX];
static int option_row_count;

size_t option_count(const char *option, const char *text, size_t least, size_t most)
{
	char *end, hint[64];
	double value = strtod(text, &end); /* exact, for more than fits into any memory */

	if (strspn(text, "0123456789e") < (size_t)(end - text) || end == text ||
	    (*end && (!strchr("kMG", *end) || end[1])))
		die("invalid value for '%s': '%s'",
		    "give a whole number, as in 100000000, 1e8 or 100M", option, text);
	value *= *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
	snprintf(hint, sizeof(hint), "it must be at most %zu", most);
	if (value > (double)most)
		die("invalid value for '%s': '%s'", hint, option, text);
	snprintf(hint, sizeof(hint), "it must be at least %zu", least);
	if (value < (double)least)
		die("invalid value for '%s': '%s'", hint, option, text);
	return (size_t)value;
}

double option_number(const char *option, const char *text, double most, const char *hint)
{
	char *end;
	const double value = strtod(text, &end);

	if (strspn(text, "0123456789.eE+-") != (size_t)(end - text) || *end || end == text ||
	    !is_number(value) || value < OPTION_NUMBER_LEAST || value > most)
		die("invalid value for '%s': '%s'", hint, option, text);
	return value;
}

int option_word(const char *option, const char *text, const char *const *words, int count)
{
	char hint[256] = "give ";
	int i;

	for (i = 0; i < count; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
		snprintf(hint + strlen(hint), sizeof(hint) - strlen(hint), "%s%s",
			 !i               ? ""
			 : i == count - 1 ? " or "
					  : ", ",
			 words[i]);
	}
	die("invalid value for '%s': '%s'", hint, option, text);
}

void option_list(const char *option, const char *names,
		 int (*take)(const char *name, size_t length), const char *hint)
{
	size_t length;

	for (;; names += length + 1) {
		length = strcspn(names, ",");
		if (!take(names, length))
			die("invalid value for '%s': '%.*s'", hint, option, (int)length, names);
		if (!names[length])
			return;
	}
}

static const struct option_row *option_list_row;

static int option_take_number(const char *name, size_t length)
{
	struct numbers *const numbers = option_list_row->list;
	const unsigned long long value = strtoull(name, NULL, 10);

	if (!length || strspn(name, "0123456789") != length || value < option_list_row->least ||
	    value > option_list_row->most || numbers->count == NUMBERS_MAX)
		return 0;
	numbers->of[numbers->count++] = (size_t)value;
	return 1;
}

static int option_by_size(const void *left, const void *right)
{
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;

	return (a > b) - (a < b);
}

static void option_numbers(const struct option_row *row, const char *option)
{
	struct numbers *const numbers = row->list;
	int i, kept = 0;

	numbers->count = 0;
	option_list_row = row;
	option_list(option, optarg, option_take_number, row->hint);
	qsort(numbers->of, (size_t)numbers->count, sizeof(*numbers->of), option_by_size);
	for (i = 0; i < numbers->count; i++)
		if (!kept || numbers->of[i] != numbers->of[kept - 1])
			numbers->of[kept++] = numbers->of[i];
	numbers->count = kept;
}

void numbers_double(struct numbers *numbers, int most)
{
	size_t number;

	numbers->count = 0;
	for (number = 1; number < (size_t)most; number *= 2)
		numbers->of[numbers->count++] = number;
	numbers->of[numbers->count++] = (size_t)most;
}

static const char *option_all_reasons(void)
{
	static char text[1024];
	size_t begin = 0, end;
	int r;

	strcpy(text, "reasons:");
	for (r = 0; r < verdict_reasons(); r++) {
		const int is_new = (end = strlen(text)) - begin > 72; /* a line of a terminal */

		begin = is_new ? end : begin;
		snprintf(text + end, sizeof(text) - end, "%s %s", is_new ? "\n     " : "",
			 reason_name(r));
	}
	return text;
}

static int option_take_reason(const char *name, size_t length)
{
	const int reason = reason_named(name, length);

	if (reason >= 0)
		verdict_allow(reason);
	return reason >= 0;
}

static void option_take_allow(const char *option, const char *text)
{
	option_list(option, text, option_take_reason, option_all_reasons());
}

static void option_take_peak(const char *option, const char *text)
{
	char hint[64];

	snprintf(hint, sizeof(hint), "give %s, as in 256 or 281.6", option_program->peak_unit);
	option_peak_given = option_number(option, text, 1e9, hint);
}

static void option_help_row(const struct option_row *row)
{
	const char *line = row->help;
	char left[128] = "";

	if (!row->name) {
		printf("\n%s\n", row->help);
		return;
	}
	snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
		 !row->argument          ? ""
		 : *row->argument == '[' ? "[="
					 : " ",
		 row->argument ? row->argument + (*row->argument == '[') : "");
	printf("%-*s", HELP_COLUMN, left);
	if (strlen(left) >= HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	for (; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
		printf("%*s%.*s\n", line == row->help ? 0 : HELP_COLUMN, "",
		       (int)strcspn(line, "\n"), line);
}

static void option_help_reasons(void)
{
	printf("\nREASON, why a run is INVALID, is one of:\n");
	reasons_explain(WRONG);
	printf("\nWhy it is UNDECIDED, if it is not INVALID:\n");
	reasons_explain(UNPROVEN);
	printf("\nOnly warnings, as the figures are right but imprecise:\n");
	reasons_explain(IMPRECISE);
}

static void option_help_print(const char *option, const char *text)
{
	int r;

	(void)option;
	(void)text;
	printf("usage: %s [options]\n%s\n", option_program->name, option_program->about);
	for (r = 0; r < option_row_count; r++)
		option_help_row(option_rows[r]);
	option_help_reasons();
	printf("\nexit status: 0 measured and valid, 1 INVALID or UNDECIDED, 2 usage error\n");
	leave(EXIT_VALID);
}

static void option_version_print(const char *option, const char *text)
{
	(void)option;
	(void)text;
	printf("%s (membw) %s\n", option_program->name, MEMBW_VERSION);
	leave(EXIT_VALID);
}

static const struct option_row OPTION_COMMON[] = {
	{ 0, "json", "FILE", "write the record of the run there, one JSON object",
	  .text = &option_json_path },
	{ 0, "allow", "REASON", "do not let REASON make the run INVALID; repeat, or a,b,c",
	  .set = option_take_allow },
	{ 'h', "help", NULL, "this text", .set = option_help_print },
	{ 0, "version", NULL, "version", .set = option_version_print },
	{ 0 },
};

/* the argument is the program's unit */
static struct option_row OPTION_PEAK[] = {
	{ 0, "peak", NULL, "theoretical peak of the node: more than that is too good",
	  .set = option_take_peak },
	{ 0 },
};

static void option_add_table(const struct option_row *row)
{
	for (; row && (row->name || row->help) && option_row_count < OPTIONS_MAX; row++)
		option_rows[option_row_count++] = row;
}

static void option_add_tables(void)
{
	option_row_count = 0;
	option_add_table(option_program->options);
	OPTION_PEAK[0].argument = option_program->peak_unit;
	option_add_table(option_program->peak_unit ? OPTION_PEAK : NULL);
	option_add_table(OPTION_COMMON);
	option_add_table(option_program->more);
}

static void option_for_getopt(struct option *all, char *letters)
{
	int r;

	*letters++ = ':';
	for (r = 0; r < option_row_count; r++) {
		const struct option_row *row = option_rows[r];

		if (!row->name)
			continue;
		all->name = row->name;
		all->has_arg = !row->argument          ? no_argument
			       : *row->argument == '[' ? optional_argument
						       : required_argument;
		all->val = FIRST_LONG + r;
		all++;
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && row->argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

static int option_row_of(int got)
{
	int r;

	if (got >= FIRST_LONG)
		return got - FIRST_LONG;
	for (r = 0; r < option_row_count; r++)
		if (got && option_rows[r]->letter == got)
			return r;
	return -1;
}

/* getopt_long() takes the beginning of a name for it. */
static void option_refuse_beginnings(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		const size_t length = strcspn(*argv, "=");
		const char *meant = NULL;
		char hint[NAME_MAX_LENGTH];
		int r;

		for (r = 0; r < option_row_count && strncmp(*argv, "--", 2) == 0; r++) {
			const char *const name = option_rows[r]->name;

			if (!name || strncmp(*argv + 2, name, length - 2) != 0)
				continue;
			meant = name;
			if (strlen(name) == length - 2)
				break;
		}
		snprintf(hint, sizeof(hint), "did you mean '--%s'?", meant ? meant : "");
		if (meant && r == option_row_count)
			die("unknown option '%.*s'", hint, (int)length, *argv);
	}
}

static void option_refuse(int got, char **argv)
{
	static const char hint[] = "'--help' lists the options";
	const char *option = argv[optind - 1];
	char letter[3] = "-?";

	if (optopt > 0 && optopt < FIRST_LONG) {
		letter[1] = (char)optopt;
		option = letter;
	}
	die(got == ':' ? "'%s' needs a value" : "unknown option '%s'", hint, option);
}

static void option_set_one(const struct option_row *row)
{
	char option[NAME_MAX_LENGTH];

	if (row->letter)
		snprintf(option, sizeof(option), "-%c", row->letter);
	else
		snprintf(option, sizeof(option), "--%s", row->name);
	if (row->flag)
		*row->flag = 1;
	if (row->argument && *row->argument != '[' && !*optarg)
		die("'%s' needs a value, and '' is none", "'--help' lists the options", option);
	if (row->text)
		*row->text = optarg;
	if (row->count)
		*row->count = (int)option_count(option, optarg, row->least, row->most);
	if (row->list)
		option_numbers(row, option);
	if (row->number)
		*row->number = option_number(option, optarg, (double)row->most, row->hint);
	if (row->word)
		*row->word = option_word(option, optarg, row->words, (int)row->most);
	if (row->set)
		row->set(option, optarg);
}

static char **option_words;

const char *const *options_words(void)
{
	return (const char *const *)option_words;
}

void options_read(const struct program *of, int argc, char **argv)
{
	struct option all[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 2];
	int got, r;

	streams_fill_closed();
	sysfile_raise_limit();
	option_program = of;
	option_words = argv;
	verdict_own_reasons(option_program->reasons);
	option_add_tables();
	memset(all, 0, sizeof(all));
	option_for_getopt(all, letters);
	opterr = 0;
	option_refuse_beginnings(argv + 1);
	while ((got = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		r = option_row_of(got);
		if (r < 0)
			option_refuse(got, argv);
		option_set_one(option_rows[r]);
	}
	if (optind < argc)
		die("unexpected argument '%s'", "'--help' lists the options", argv[optind]);
}

const char *options_json(void)
{
	return option_json_path;
}

double options_peak(void)
{
	return option_peak_given;
}
