#include "floors.h"

#include "../../harness/elementary.h"
#include "../../harness/error.h"
#include "../../harness/options.h"
#include "../../harness/plural.h"
#include "../../harness/verdict.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { FLOORS_TEXT_MAX = 4096, SECONDS_MAX = 86400 };

static const char HINT[] =
	"give GB/s of kernels, as in triad=150,copy=140, or a file of such lines";
static const char BETWEEN[] = ", \t\r\n";

/* The kernels, then read and write (looks/looks.h). */
enum { FLOORS = KERNELS + LOOK_write + 1 };

static double floors[FLOORS];
static FILE *line; /* where the one line goes; NULL: no floors were given */
static char late[64];
static double seconds_given;

static void on_time_over(int number)
{
	const ssize_t written = write(line ? fileno(line) : STDOUT_FILENO, late, strlen(late));

	(void)number;
	(void)written;
	_exit(EXIT_INVALID);
}

void floors_set_seconds(const char *option, const char *text)
{
	const double seconds =
		option_number(option, text, SECONDS_MAX, "give seconds, as in 25 or 0.5");
	const long us = (long)(1e6 * seconds) + 1;
	const struct sigaction action = { .sa_handler = on_time_over };
	const struct itimerval timer = { .it_value = { us / 1000000, us % 1000000 } };

	seconds_given = seconds;
	snprintf(late, sizeof(late), "membw: MISSING not measured within %g s\n", seconds);
	sigaction(SIGALRM, &action, NULL);
	if (setitimer(ITIMER_REAL, &timer, NULL) != 0)
		die("no limit of '%g' s can be set", "give seconds, as in 25 or 0.5", seconds);
}

double floors_seconds(void)
{
	return seconds_given;
}

int floors_leave_time_for(enum look look)
{
	return !is_positive(seconds_given) || floors[KERNELS + look] > 0;
}

static const char *floor_name(int k)
{
	return k < KERNELS ? kernels[k].name : k == KERNELS + LOOK_read ? "read" : "write";
}

/* ENTRY is "triad=150". */
static void take_floor(const char *option, const char *entry)
{
	const size_t length = strcspn(entry, "=");
	int k;

	for (k = 0; k < FLOORS; k++)
		if (strlen(floor_name(k)) == length && strncmp(floor_name(k), entry, length) == 0)
			break;
	if (k == FLOORS || entry[length] != '=' || floors[k] > 0)
		die("invalid value for '%s': '%s'", HINT, option, entry);
	floors[k] = option_number(option, entry + length + 1, 1e9, HINT);
}

static void read_floors(const char *option, const char *path, char text[FLOORS_TEXT_MAX])
{
	FILE *file = fopen(path, "r");
	size_t used;
	char *comment;

	if (!file)
		die("invalid value for '%s': no file '%s'", HINT, option, path);
	used = fread(text, 1, FLOORS_TEXT_MAX, file);
	fclose(file);
	if (used == FLOORS_TEXT_MAX)
		die("'%s' is longer than %d bytes", HINT, path, FLOORS_TEXT_MAX - 1);
	text[used] = '\0';
	while ((comment = strchr(text, '#')) != NULL)
		memset(comment, ' ', strcspn(comment, "\n"));
}

/* Libraries and other parts may print: all but the one line goes nowhere. */
static void keep_quiet(void)
{
	fflush(stdout);
	line = fdopen(dup(STDOUT_FILENO), "w");
	if (!line || !freopen("/dev/null", "w", stdout))
		die("standard output cannot be reserved for the verdict",
		    "leave out '--at-least'");
}

void floors_set(const char *option, const char *text)
{
	char room[FLOORS_TEXT_MAX], *entry, *rest;

	memset(floors, 0, sizeof(floors));
	if (!strchr(text, '='))
		read_floors(option, text, room);
	else
		snprintf(room, sizeof(room), "%s", text);
	entry = strtok_r(room, BETWEEN, &rest);
	if (!entry)
		die("invalid value for '%s': '%s' has no floor", HINT, option, text);
	for (; entry; entry = strtok_r(NULL, BETWEEN, &rest))
		take_floor(option, entry);
	if (!line)
		keep_quiet();
}

/* --- the words --- */

enum word { PASS, UNDECIDED, FAIL };

static const char *const words[] = { "PASS", "UNDECIDED", "FAIL" };

static enum word word_of(const struct rate *rate, double floor)
{
	if (rate_may_be_high(rate) || !is_number(rate->value))
		return UNDECIDED;
	if (1e-9 * rate->value >= floor)
		return PASS;
	return rate->is_bound || 1e-9 * rate->high >= floor ? UNDECIDED : FAIL;
}

static void tell_figure(const struct rate *rate, const char *name, double floor)
{
	fprintf(line, "%s %s%.1f GB/s", name,
		!rate->is_bound          ? (rate->is_upper ? "<= " : "")
		: rate_may_be_high(rate) ? "~ "
					 : ">= ",
		1e-9 * rate->value);
	if (!rate->is_upper && !rate->is_bound && word_of(rate, floor) == UNDECIDED)
		fprintf(line, " (%.1f to %.1f)", 1e-9 * rate->low, 1e-9 * rate->high);
	fprintf(line, ", at least %s", number_text(floor, 6));
}

/* The worst word, and the figures that have it. */
static int tell_figures(const struct rate *const rates[FLOORS])
{
	enum word worst = PASS;
	const char *before = " ", *why = "measure again";
	int k;

	for (k = 0; k < FLOORS; k++)
		if (floors[k] > 0 && word_of(rates[k], floors[k]) > worst)
			worst = word_of(rates[k], floors[k]);
	fprintf(line, "membw: %s", words[worst]);
	for (k = 0; k < FLOORS; k++) {
		if (!is_positive(floors[k]) || word_of(rates[k], floors[k]) != worst)
			continue;
		fprintf(line, "%s", before);
		tell_figure(rates[k], floor_name(k), floors[k]);
		why = rate_may_be_high(rates[k]) ? "a cache may hold the arrays"
		      : rates[k]->is_bound       ? "disturbed, measure again"
						 : why;
		before = "; ";
	}
	if (worst == UNDECIDED)
		fprintf(line, ": %s", why);
	fprintf(line, "\n");
	return worst == PASS ? EXIT_VALID : EXIT_INVALID;
}

/* INVALID, or UNDECIDED: what is not known of a run is not known of its figures. */
static int tell_findings(enum finding finding)
{
	const char *before = "";
	int r;

	fprintf(line, "membw: %s ",
		finding == ALLOWED ? "UNDECIDED allowed:" : verdict_word(verdict_set(FOUND)));
	for (r = 0; r < verdict_reasons(); r++) {
		if (verdict_finding(r) != finding)
			continue;
		fprintf(line, "%s%s (%s)", before, reason_name(r), verdict_detail(r));
		before = ", ";
	}
	fprintf(line, "\n");
	return EXIT_INVALID;
}

int floors_judge(const struct measurement *m, const struct looks *looks, int status)
{
	const struct rate *rates[FLOORS];
	int k, judged;

	if (!line)
		return status;
	for (k = 0; k < FLOORS; k++)
		rates[k] = k < KERNELS ? &m->kernel[k].rate : &looks->of[k - KERNELS].rate;
	judged = !verdict_is_valid()    ? tell_findings(FOUND)
		 : verdict_set(ALLOWED) ? tell_findings(ALLOWED)
					: tell_figures(rates);
	if (fclose(line) != 0)
		judged = EXIT_INVALID; /* the line could not be written */
	line = NULL;
	return status > judged ? status : judged;
}
