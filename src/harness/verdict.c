#include "verdict.h"

#include "error.h"
#include "json.h"

#include <stdarg.h>

static struct reason verdict_table[REASONS_MAX] = {
	[ARRAY_TOO_SMALL] = { "array-too-small", WRONG, FLATTERED,
			      "the arrays may lie in the caches" },
	[TOO_SHORT] = { "too-short", WRONG, EITHER, "shorter than 20 ticks of the clock" },
	[NOT_VALIDATED] = { "not-validated", WRONG, EITHER,
			    "a result differs from the expected value" },
	[WRONG_PINNING] = { "wrong-pinning", WRONG, EITHER,
			    "threads ran on other CPUs than requested, or were fewer" },
	[WRONG_PLACEMENT] = { "wrong-placement", WRONG, EITHER,
			      "pages lie on another NUMA domain than requested" },
	[OVERSUBSCRIBED] = { "oversubscribed", WRONG, HARMED, "more threads than CPUs" },
	[TOO_GOOD] = { "too-good", WRONG, FLATTERED, "more than the hardware can do" },
	[CLOCK] = { "clock", WRONG, FLATTERED,
		    "the clock is slower than the CPU time of this process or node" },
	[DISTURBED] = { "disturbed", IMPRECISE, HARMED,
			"other processes, a quota or swapping took time from the threads" },
	[UNSTABLE] = { "unstable", IMPRECISE, EITHER,
		       "the repetitions differ, or are too few for an interval" },
	[CACHE_SIZE] = { "cache-size", IMPRECISE, EITHER,
			 "sysfs, CPUID and sysconf disagree on the caches" },
	[NOT_PROVEN] = { "not-proven", UNPROVEN, FLATTERED,
			 "a cache may hold the arrays, which makes figures too high" },
	[INCOMPLETE] = { "incomplete", UNPROVEN, HARMED,
			 "the time was over before everything was measured" },
	[TRANSLATED] = { "translated", WRONG, HARMED,
			 "an emulator runs the code: it is not of this CPU" },
	[SLOW_BUILD] = { "slow-build", IMPRECISE, HARMED,
			 "not optimized, or with a sanitizer: the code limits the rates" },
};

static struct {
	enum finding finding;
	int allowed;
	char detail[512];
} verdict_found[REASONS_MAX];

static int verdict_total = REASONS;

const char *reason_name(int reason)
{
	return verdict_table[reason].name;
}

void reasons_explain(int is)
{
	int r;

	for (r = 0; r < verdict_total; r++)
		if ((int)verdict_table[r].is == is)
			printf("  %-22s %s\n", reason_name(r), verdict_table[r].meaning);
}

int reason_named(const char *name, size_t length)
{
	int r;

	for (r = 0; r < verdict_total; r++)
		if (strlen(reason_name(r)) == length && strncmp(reason_name(r), name, length) == 0)
			return r;
	return -1;
}

void verdict_own_reasons(const struct reason *own)
{
	for (verdict_total = REASONS; own && own->name && verdict_total < REASONS_MAX; own++)
		verdict_table[verdict_total++] = *own;
}

int verdict_reasons(void)
{
	return verdict_total;
}

void verdict_allow(int reason)
{
	verdict_found[reason].allowed = 1;
}

int verdict_allows(int reason)
{
	return verdict_found[reason].allowed;
}

static void verdict_note_finding(int reason, enum finding finding, const char *detail,
				 va_list rest)
{
	if (finding == FOUND && verdict_table[reason].is == IMPRECISE)
		finding = WARNED;
	if (finding == FOUND && verdict_found[reason].allowed)
		finding = ALLOWED;
	if (verdict_found[reason].finding >= finding)
		return;
	verdict_found[reason].finding = finding;
	vsnprintf(verdict_found[reason].detail, sizeof(verdict_found[reason].detail), detail,
		  rest);
}

void verdict_invalid(int reason, const char *detail, ...)
{
	va_list rest;

	va_start(rest, detail);
	verdict_note_finding(reason, FOUND, detail, rest);
	va_end(rest);
}

void verdict_warn(int reason, const char *detail, ...)
{
	va_list rest;

	va_start(rest, detail);
	verdict_note_finding(reason, WARNED, detail, rest);
	va_end(rest);
}

enum finding verdict_finding(int reason)
{
	return verdict_found[reason].finding;
}

const char *verdict_detail(int reason)
{
	return verdict_found[reason].detail;
}

unsigned verdict_set(enum finding finding)
{
	unsigned set = 0;
	int r;

	for (r = 0; r < verdict_total; r++)
		set |= (unsigned)(verdict_found[r].finding == finding) << r;
	return set;
}

int verdict_flatters(void)
{
	const unsigned set = verdict_set(FOUND) | verdict_set(ALLOWED);
	int r;

	for (r = 0; r < verdict_total; r++)
		if (set >> r & 1 && verdict_table[r].errs != HARMED)
			return 1;
	return 0;
}

const char *verdict_word(unsigned found)
{
	int r;

	for (r = 0; r < verdict_total; r++)
		if (found >> r & 1 && verdict_table[r].is != UNPROVEN)
			return "INVALID";
	return found ? "UNDECIDED" : "VALID";
}

const char *finding_word(enum finding finding, int reason)
{
	static const char *const words[] = { "", "warning", "invalid", "allowed" };

	return finding == FOUND && verdict_table[reason].is == UNPROVEN ? "undecided"
									: words[finding];
}

int verdict_is_valid(void)
{
	return !verdict_set(FOUND);
}

void reasons_print(FILE *out, unsigned set)
{
	const char *before = "";
	int r;

	for (r = 0; r < verdict_total; r++) {
		if (!(set >> r & 1))
			continue;
		fprintf(out, "%s%s", before, reason_name(r));
		before = ", ";
	}
}

void verdict_print(FILE *out)
{
	int r;

	for (r = 0; r < verdict_total; r++)
		if (verdict_found[r].finding != NOT_FOUND)
			fprintf(out, "%s: %s: %s\n", finding_word(verdict_found[r].finding, r),
				reason_name(r), verdict_found[r].detail);
	if (verdict_is_valid()) {
		fprintf(out, "Verdict: VALID\n");
		return;
	}
	fprintf(out, "Verdict: %s (", verdict_word(verdict_set(FOUND)));
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
	for (r = 0; r < verdict_total; r++) {
		const enum finding finding = verdict_found[r].finding;

		if (finding == NOT_FOUND || (finding == WARNED) != warnings)
			continue;
		json_open(NULL, '{');
		json_text("reason", reason_name(r));
		json_text("detail", verdict_found[r].detail);
		if (!warnings)
			json_truth("allowed", finding == ALLOWED);
		json_close('}');
	}
	json_close(']');
}

void verdict_write(void)
{
	json_text("verdict", verdict_word(verdict_set(FOUND)));
	json_count("exit_status", (unsigned)verdict_status());
	verdict_findings("reasons", 0);
	verdict_findings("warnings", 1);
}
