#include "verdict.h"

#include <stdarg.h>
#include <string.h>

static const char *const NAMES[REASONS] = {
	"array-too-small",
	"too-short",
	"not-validated",
	"cpu-not-where-asked",
	"memory-not-where-asked",
	"oversubscribed",
	"disturbed",
	"unstable",
	"too-good",
};

static struct {
	enum finding finding;
	int allowed, strict;
	char detail[512];
} found[REASONS];

const char *reason_name(enum reason reason)
{
	return NAMES[reason];
}

enum reason reason_named(const char *name, size_t length)
{
	int r;

	for (r = 0; r < REASONS; r++)
		if (strlen(NAMES[r]) == length && strncmp(NAMES[r], name, length) == 0)
			return (enum reason)r;
	return REASONS;
}

void verdict_allow(enum reason reason)
{
	found[reason].allowed = 1;
}

void verdict_strict(enum reason reason)
{
	found[reason].strict = 1;
}

static void find(enum reason reason, enum finding finding, const char *detail, va_list rest)
{
	if (finding == FOUND && found[reason].allowed)
		finding = ALLOWED;
	if (found[reason].finding >= finding)
		return;
	found[reason].finding = finding;
	vsnprintf(found[reason].detail, sizeof(found[reason].detail), detail, rest);
}

void verdict_invalid(enum reason reason, const char *detail, ...)
{
	va_list rest;

	va_start(rest, detail);
	find(reason, FOUND, detail, rest);
	va_end(rest);
}

void verdict_warn(enum reason reason, const char *detail, ...)
{
	va_list rest;

	va_start(rest, detail);
	find(reason, found[reason].strict ? FOUND : WARNED, detail, rest);
	va_end(rest);
}

void verdict_withdraw(enum reason reason)
{
	found[reason].finding = NOT_FOUND;
}

enum finding verdict_finding(enum reason reason)
{
	return found[reason].finding;
}

const char *verdict_detail(enum reason reason)
{
	return found[reason].detail;
}

int verdict_is_valid(void)
{
	int r;

	for (r = 0; r < REASONS; r++)
		if (found[r].finding == FOUND)
			return 0;
	return 1;
}

void verdict_print(FILE *out)
{
	static const char *const word[] = { "", "warning", "invalid", "allowed" };
	const char *before = "(";
	int r;

	for (r = 0; r < REASONS; r++)
		if (found[r].finding != NOT_FOUND)
			fprintf(out, "%s: %s: %s\n", word[found[r].finding], NAMES[r],
				found[r].detail);
	if (verdict_is_valid()) {
		fprintf(out, "Verdict: VALID\n");
		return;
	}
	fprintf(out, "Verdict: INVALID ");
	for (r = 0; r < REASONS; r++) {
		if (found[r].finding != FOUND)
			continue;
		fprintf(out, "%s%s", before, NAMES[r]);
		before = ", ";
	}
	fprintf(out, ")\n");
}
