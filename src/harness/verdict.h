/*
 * verdict: are the figures valid, and if not, why not.
 *
 * The table of verdict.c has every reason of the harness, that of a program (options.h) its own.
 * A reason that is WRONG makes the run INVALID, unless --allow names it; one that is IMPRECISE
 * never does: it is a warning, and the figure is shown as a lower bound or without an interval.
 * With one that is UNPROVEN, and none that is WRONG, the run is UNDECIDED.  Each says to which
 * side a figure errs of which it is found, or set aside by --allow: a figure of a cache is never
 * "at least". The first finding of a reason is kept.
 */
#pragma once

#include "config.h"

struct reason {
	const char *name;
	enum { WRONG, IMPRECISE, UNPROVEN } is;
	enum {
		EITHER,
		HARMED,
		FLATTERED
	} errs;              /* the figure is worse, or better, than the truth */
	const char *meaning; /* one line for --help */
};

enum {
	ARRAY_TOO_SMALL,
	TOO_SHORT,
	NOT_VALIDATED,
	WRONG_PINNING,
	WRONG_PLACEMENT,
	OVERSUBSCRIBED,
	TOO_GOOD,
	CLOCK,
	DISTURBED,
	UNSTABLE,
	CACHE_SIZE,
	NOT_PROVEN,
	INCOMPLETE,
	TRANSLATED,
	SLOW_BUILD,
	REASONS /* a program numbers its own from here on */
};

enum { REASONS_MAX = 24 };

enum finding { NOT_FOUND, WARNED, FOUND, ALLOWED };

LOCAL const char *reason_name(int reason);

/* Prints the reasons that are WRONG, IMPRECISE or UNPROVEN, with what they mean. */
LOCAL void reasons_explain(int is);

/* The reason of that name, -1 where there is none. */
LOCAL int reason_named(const char *name, size_t length);

/* A program's own reasons, up to a row without a name; NULL for none. */
LOCAL void verdict_own_reasons(const struct reason *own);

/* How many reasons there are, those of the program counted. */
LOCAL int verdict_reasons(void);

LOCAL void verdict_allow(int reason);
LOCAL int verdict_allows(int reason);

/* A reason that is IMPRECISE becomes a warning. */
LOCAL void verdict_invalid(int reason, const char *detail, ...) PRINTF_LIKE(2, 3);
LOCAL void verdict_warn(int reason, const char *detail, ...) PRINTF_LIKE(2, 3);

LOCAL enum finding verdict_finding(int reason);
LOCAL const char *verdict_detail(int reason);

/* Whether a figure may be better than the truth, by what is found, or allowed. */
LOCAL int verdict_flatters(void);

/* A bit for each reason with that finding; their names, with commas. */
LOCAL unsigned verdict_set(enum finding finding);
LOCAL void reasons_print(FILE *out, unsigned set);

LOCAL int verdict_is_valid(void);

/* What these reasons make of a run that they were found in: VALID, INVALID or UNDECIDED. */
LOCAL const char *verdict_word(unsigned found);

/* "warning", "invalid", "undecided" or "allowed": how a line that says so begins. */
LOCAL const char *finding_word(enum finding finding, int reason);

/* The findings, one per line, then "Verdict: ..." */
LOCAL void verdict_print(FILE *out);

/* EXIT_VALID or EXIT_INVALID. */
LOCAL int verdict_status(void);

/* Writes "verdict", "exit_status", "reasons" and "warnings" of the record. */
LOCAL void verdict_write(void);
