#include "record.h"

#include "build/build.h"
#include "build/sha256.h"
#include "evidence/interference.h"
#include "evidence/threads.h"
#include "job/ranks.h"
#include "job/watchdog.h"
#include "json.h"
#include "machine/facts.h"
#include "metrics.h"
#include "verdict.h"

#include <sched.h>
#include <time.h>

/* By the kernel's names; NULL: one without a name here. */
static const char *record_scheduling(void)
{
	static const char *const names[] = { "other", "fifo", "rr", "batch" };
	const int policy = sched_getscheduler(0);

	return policy >= 0 && policy < 4 ? names[policy] : NULL;
}

/* Without the folder of the program: another machine has another one. */
static void record_command(void)
{
	const char *const *words = options_words();
	const char *folder = strrchr(*words, '/');

	json_open("command", '[');
	json_text(NULL, folder ? folder + 1 : *words);
	while (*++words)
		json_text(NULL, *words);
	json_close(']');
}

static void record_identity(const struct program *program)
{
	const time_t now = time(NULL);
	char when[32];

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	json_text("schema", "membw-record-2");
	json_text("program", program->name);
	json_text("version", MEMBW_VERSION);
	json_text("time", when);
	json_text("host", ranks_node());
	if (getenv("SLURM_CLUSTER_NAME"))
		json_text("cluster", getenv("SLURM_CLUSTER_NAME"));
	json_count("rank", (unsigned)ranks_me());
	json_count("ranks", (unsigned)ranks_count());
	if (ranks_count() > 1)
		json_count("ranks_on_node", (unsigned)ranks_on_node());
	json_count("threads", (unsigned)threads_count());
	json_text("scheduling", record_scheduling());
	record_command();
	if (watchdog_ended_by())
		json_text("ended_by", watchdog_ended_by());
}

static void record_peak(const struct program *program)
{
	if (!program->peak_unit)
		return;
	json_open("peak", '{');
	json_positive("value", options_peak());
	json_text("unit", program->peak_unit);
	json_close('}');
}

static void record_facts(const struct program *program, const void *data)
{
	record_identity(program);
	metrics_write();
	json_text("headline", metrics_headline(program->headline));
	record_peak(program);
	if (program->write)
		program->write(data);
	verdict_write();
	threads_write();
	interference_write();
	facts_write();
	build_write();
}

/* The last key: the checksum of every byte before it. */
static void record_seal(const char *text, size_t size)
{
	struct sha256 sum;
	char hex[SHA256_TEXT];

	sha256_begin(&sum);
	sha256_add(&sum, text, size);
	sha256_end(&sum, hex);
	json_text("sha256", hex);
}

char *record_text(const struct program *program, const void *data, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	json_begin(out);
	json_open(NULL, '{');
	record_facts(program, data);
	if (fflush(out) == 0) /* else text is not known */
		record_seal(text, *size);
	json_close('}');
	putc('\n', out);
	fclose(out);
	return text;
}
