#include "verdict.h"

#include "error.h"
#include "json.h"

#include <stdarg.h>

static const char *reason_names[REASONS_MAX] = {
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
} findings[REASONS_MAX];

static int reason_total = REASONS;

const char *reason_name(int reason)
{
	return reason_names[reason];
}

int reason_named(const char *name, size_t length)
{
	int r;

	for (r = 0; r < reason_total; r++)
		if (strlen(reason_names[r]) == length &&
		    strncmp(reason_names[r], name, length) == 0)
			return r;
	return -1;
}

void verdict_own_reasons(const char *const *own)
{
	for (reason_total = REASONS; own && *own && reason_total < REASONS_MAX; own++)
		reason_names[reason_total++] = *own;
}

int verdict_reasons(void)
{
	return reason_total;
}

void verdict_allow(int reason)
{
	findings[reason].allowed = 1;
}

int verdict_allows(int reason)
{
	return findings[reason].allowed;
}

void verdict_strict(int reason)
{
	findings[reason].strict = 1;
}

static void note_finding(int reason, enum finding finding, const char *detail, va_list rest)
{
	if (finding == FOUND && findings[reason].allowed)
		finding = ALLOWED;
	if (findings[reason].finding >= finding)
		return;
	findings[reason].finding = finding;
	vsnprintf(findings[reason].detail, sizeof(findings[reason].detail), detail, rest);
}

void verdict_invalid(int reason, const char *detail, ...)
{
	va_list rest;

	va_start(rest, detail);
	note_finding(reason, FOUND, detail, rest);
	va_end(rest);
}

void verdict_warn(int reason, const char *detail, ...)
{
	va_list rest;

	va_start(rest, detail);
	note_finding(reason, findings[reason].strict ? FOUND : WARNED, detail, rest);
	va_end(rest);
}

void verdict_withdraw(int reason)
{
	findings[reason].finding = NOT_FOUND;
}

enum finding verdict_finding(int reason)
{
	return findings[reason].finding;
}

const char *verdict_detail(int reason)
{
	return findings[reason].detail;
}

unsigned verdict_set(enum finding finding)
{
	unsigned set = 0;
	int r;

	for (r = 0; r < reason_total; r++)
		set |= (unsigned)(findings[r].finding == finding) << r;
	return set;
}

int verdict_is_valid(void)
{
	return !verdict_set(FOUND);
}

void reasons_print(FILE *out, unsigned set)
{
	const char *before = "";
	int r;

	for (r = 0; r < reason_total; r++) {
		if (!(set >> r & 1))
			continue;
		fprintf(out, "%s%s", before, reason_names[r]);
		before = ", ";
	}
}

void verdict_print(FILE *out)
{
	static const char *const word[] = { "", "warning", "invalid", "allowed" };
	int r;

	for (r = 0; r < reason_total; r++)
		if (findings[r].finding != NOT_FOUND)
			fprintf(out, "%s: %s: %s\n", word[findings[r].finding], reason_names[r],
				findings[r].detail);
	if (verdict_is_valid()) {
		fprintf(out, "Verdict: VALID\n");
		return;
	}
	fprintf(out, "Verdict: INVALID (");
	reasons_print(out, verdict_set(FOUND));
	fprintf(out, ")\n");
}

int verdict_status(void)
{
	return verdict_is_valid() ? EXIT_VALID : EXIT_INVALID;
}

static void verdict_findings(const char *key, int warnings)
{
	int r;

	json_open(key, '[');
	for (r = 0; r < reason_total; r++) {
		const enum finding finding = findings[r].finding;

		if (finding == NOT_FOUND || (finding == WARNED) != warnings)
			continue;
		json_open(NULL, '{');
		json_text("reason", reason_names[r]);
		json_text("detail", findings[r].detail);
		if (!warnings)
			json_truth("allowed", finding == ALLOWED);
		json_close('}');
	}
	json_close(']');
}

void verdict_write(void)
{
	json_text("verdict", verdict_is_valid() ? "VALID" : "INVALID");
	json_count("exit_status", (unsigned)verdict_status());
	verdict_findings("reasons", 0);
	verdict_findings("warnings", 1);
}
