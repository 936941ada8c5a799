/*
 * verdict: may the figures be believed, and if not, why not.
 *
 * Whoever finds a reason says so here; the first finding of a reason is kept.
 * A reason that was allowed stays in the record but does not make the
 * run INVALID.  A warning is a finding that alone does not discredit a run;
 * --strict turns it into a reason.
 */
#pragma once

#include "config.h"

enum reason {
	ARRAY_TOO_SMALL,
	TOO_SHORT,
	NOT_VALIDATED,
	CPU_NOT_WHERE_ASKED,
	MEMORY_NOT_WHERE_ASKED,
	OVERSUBSCRIBED,
	DISTURBED,
	UNSTABLE,
	TOO_GOOD,
	CACHE_SIZE,
	REASONS /* a program numbers its own from here on */
};

enum { REASONS_MAX = 24 };

enum finding { NOT_FOUND, WARNED, FOUND, ALLOWED };

LOCAL const char *reason_name(int reason);

/* The reason of that name, -1 where there is none. */
LOCAL int reason_named(const char *name, size_t length);

/* Names of a program's own reasons, then NULL; NULL for none. */
LOCAL void verdict_own_reasons(const char *const *names);

/* How many reasons there are, those of the program counted. */
LOCAL int verdict_reasons(void);

LOCAL void verdict_allow(int reason);
LOCAL int verdict_allows(int reason);
LOCAL void verdict_strict(int reason);

LOCAL void verdict_invalid(int reason, const char *detail, ...) PRINTF_LIKE(2, 3);
LOCAL void verdict_warn(int reason, const char *detail, ...) PRINTF_LIKE(2, 3);

/* The finding was provisional. */
LOCAL void verdict_withdraw(int reason);

LOCAL enum finding verdict_finding(int reason);
LOCAL const char *verdict_detail(int reason);

/* A bit for each reason with that finding; their names, with commas. */
LOCAL unsigned verdict_set(enum finding finding);
LOCAL void reasons_print(FILE *out, unsigned set);

LOCAL int verdict_is_valid(void);

/* The findings, one per line, then "Verdict: ..." */
LOCAL void verdict_print(FILE *out);

/* EXIT_VALID or EXIT_INVALID. */
LOCAL int verdict_status(void);

/* Writes "verdict", "exit_status", "reasons" and "warnings" of the record. */
LOCAL void verdict_write(void);
