/*
 * verdict: may the figures be believed, and if not, why not.
 *
 * Whoever finds a reason says so here; the first finding of a reason is kept.
 * A reason that the person allowed stays in the record but does not make the
 * run INVALID.  A warning is a finding that alone does not discredit a run;
 * --strict turns it into a reason.
 */
#ifndef MEMBW_VERDICT_H
#define MEMBW_VERDICT_H

#include "config.h"

#include <stdio.h>

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
	REASONS
};

enum finding { NOT_FOUND, WARNED, FOUND, ALLOWED };

const char *reason_name(enum reason reason);

/* The reason of that name, REASONS where there is none. */
enum reason reason_named(const char *name, size_t length);

void verdict_allow(enum reason reason);
void verdict_strict(enum reason reason);

void verdict_invalid(enum reason reason, const char *detail, ...) PRINTF_LIKE(2, 3);
void verdict_warn(enum reason reason, const char *detail, ...) PRINTF_LIKE(2, 3);

/* The finding was provisional. */
void verdict_withdraw(enum reason reason);

enum finding verdict_finding(enum reason reason);
const char *verdict_detail(enum reason reason);

int verdict_is_valid(void);

/* The findings, one a line, then "Verdict: ..." */
void verdict_print(FILE *out);

#endif
