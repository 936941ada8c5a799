#include "floors.h"

#include "../../harness/elementary.h"
#include "../../harness/error.h"
#include "../../harness/options.h"
#include "../../harness/verdict.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { FLOORS_TEXT_MAX = 4096, SECONDS_MAX = 86400 };

static const char HINT[] =
	"give GB/s of kernels, as in triad=150,copy=140, or a file of such lines";
static const char BETWEEN[] = ", \t\r\n";

static double floors[KERNELS];
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
	struct sigaction action;
	struct itimerval timer;

	seconds_given = seconds;
	snprintf(late, sizeof(late), "membw: NOT MEASURED within %g s\n", seconds);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_time_over;
	sigaction(SIGALRM, &action, NULL);
	memset(&timer, 0, sizeof(timer));
	timer.it_value.tv_sec = us / 1000000;
	timer.it_value.tv_usec = us % 1000000;
	if (setitimer(ITIMER_REAL, &timer, NULL) != 0)
		die("no limit of '%g' s can be set", "give seconds, as in 25 or 0.5", seconds);
}

double floors_seconds(void)
{
	return seconds_given;
}

/* ENTRY is "triad=150". */
static void take_floor(const char *option, const char *entry)
{
	const size_t length = strcspn(entry, "=");
	int k;

	for (k = 0; k < KERNELS; k++)
		if (strlen(kernels[k].name) == length &&
		    strncmp(kernels[k].name, entry, length) == 0)
			break;
	if (k == KERNELS || entry[length] != '=' || floors[k] > 0)
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

static int tell_invalid(void)
{
	const char *before = "";
	int r;

	fprintf(line, "membw: INVALID ");
	for (r = 0; r < verdict_reasons(); r++) {
		if (verdict_finding(r) != FOUND)
			continue;
		fprintf(line, "%s%s (%s)", before, reason_name(r), verdict_detail(r));
		before = ", ";
	}
	fprintf(line, "\n");
	return EXIT_INVALID;
}

static int is_missed(const struct measurement *m, int k)
{
	const double gbs = 1e-3 * m->kernel[k].best_mbs;

	return floors[k] > 0 && (!is_positive(gbs) || gbs < floors[k]);
}

/* A bound that meets its floor passes; of one that does not the true figure may. */
static int tell_figures(const struct measurement *m)
{
	const char *before = "";
	int missed = 0, failed = 0, k;

	for (k = 0; k < KERNELS; k++) {
		missed += is_missed(m, k);
		failed += is_missed(m, k) && !m->kernel[k].rate.is_bound;
	}
	fprintf(line, "membw: %s ", failed ? "FAIL" : missed ? "UNDECIDED" : "PASS");
	for (k = 0; k < KERNELS; k++) {
		if (!is_positive(floors[k]) || (missed && !is_missed(m, k)))
			continue;
		fprintf(line, "%s%s %s%.1f GB/s, at least %g", before, kernels[k].name,
			m->kernel[k].rate.is_bound ? ">= " : "", 1e-3 * m->kernel[k].best_mbs,
			floors[k]);
		before = "; ";
	}
	fprintf(line, "%s\n", missed && !failed ? ": disturbed, measure again" : "");
	return missed ? EXIT_INVALID : EXIT_VALID;
}

int floors_judge(const struct measurement *measurement, int status)
{
	int judged;

	if (!line)
		return status;
	judged = verdict_is_valid() ? tell_figures(measurement) : tell_invalid();
	if (fclose(line) != 0)
		judged = EXIT_INVALID; /* the line could not be written */
	line = NULL;
	return status > judged ? status : judged;
}
