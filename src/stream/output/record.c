#include "record.h"

#include "../../harness/evidence/threads.h"
#include "../../harness/job/ranks.h"
#include "../../harness/json.h"
#include "../../harness/machine/cpuset.h"
#include "../../harness/machine/facts.h"
#include "../../harness/machine/topology.h"
#include "../../harness/verdict.h"
#include "record_layout.h"
#include "record_limits.h"
#include "record_tuning.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *compiler(void)
{
	static char text[128];

#if defined(__INTEL_LLVM_COMPILER)
	snprintf(text, sizeof(text), "icx %d", __INTEL_LLVM_COMPILER);
#elif defined(__INTEL_COMPILER)
	snprintf(text, sizeof(text), "icc %d", __INTEL_COMPILER);
#elif defined(__clang__)
	snprintf(text, sizeof(text), "clang %s", __clang_version__);
#elif defined(__GNUC__)
	snprintf(text, sizeof(text), "gcc %s", __VERSION__);
#endif
	text[strcspn(text, "(")] = '\0';
	while (*text && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	return text;
}

static void write_build(void)
{
	json_open("build", '{');
	json_text("compiler", compiler());
#ifdef MEMBW_FLAGS
	json_text("flags", MEMBW_FLAGS);
#else
	json_text("flags", NULL);
#endif
#ifdef _OPENMP
	json_count("openmp", _OPENMP);
#else
	json_text("openmp", NULL);
#endif
	json_close('}');
}

static void write_identity(const struct run *run)
{
	const time_t now = time(NULL);
	char when[32];

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	json_text("schema", "membw-record-1");
	json_text("program", "stream");
	json_text("version", MEMBW_VERSION);
	json_text("kernels_set", run->choice.tuned ? "tuned" : "standard");
	json_text("kernels_from", run->choice.from);
	json_text("language", kernels_language);
	json_text("time", when);
	json_text("host", ranks_node());
	json_count("rank", (unsigned)ranks_me());
	json_count("ranks", (unsigned)ranks_count());
}

static void write_asked(const struct run *run)
{
	static const char *const from[] = { "auto", "macro", "option" };

	json_count("array_size", run->options.size);
	json_text("array_size_from", from[run->options.size_from]);
	json_count("offset", run->options.offset);
	json_count("element_bytes", sizeof(element));
	json_count("ntimes", (unsigned)run->options.ntimes);
	json_count("iterations", (unsigned)run->measurement.complete);
	json_truth("complete", run->measurement.complete == run->options.ntimes);
	json_count("threads", (unsigned)threads_count());
	json_number("llc_mib", (double)run->llc_bytes / 1048576.0);
	json_number("memory_side_cache_mib", (double)run->memory_side_bytes / 1048576.0);
	json_number("clock_tick_s", run->measurement.tick);
	if (run->peak.gbs > 0)
		json_number("peak_gbs", run->peak.gbs);
	else
		json_text("peak_gbs", NULL);
	json_text("peak_source", peak_sources[run->peak.source]);
	json_text("peak_note", run->peak.note);
}

static void write_kernel(const struct run *run, int k)
{
	const struct timing *t = &run->measurement.kernel[k];
	char name[VARIANT_NAME_MAX];
	int i;

	json_open(kernels[k].name, '{');
	json_text("variant", run->choice.tuned ? variants_name(&run->choice.of[k], name) : NULL);
	json_count("bytes_per_element", kernel_bytes(&kernels[k]));
	json_number("best_mbs", t->best_mbs);
	json_number("avg_s", t->average);
	json_number("min_s", t->best);
	json_number("max_s", t->worst);
	json_open("times_s", '[');
	for (i = 0; i < run->measurement.complete; i++)
		json_number(NULL, t->times[i]);
	json_close(']');
	json_close('}');
}

static void write_threads(void)
{
	char list[CPU_LIST_MAX];
	int t;

	json_open("threads_on", '[');
	for (t = 0; t < threads_count(); t++) {
		const struct thread_seen *thread = threads_seen(t);

		json_open(NULL, '{');
		json_count("thread", (unsigned)t);
		json_count("cpu", (unsigned)thread->cpu);
		json_count("core", (unsigned)topology_core(thread->cpu));
		json_text("affinity", cpuset_format(&thread->affinity, list));
		json_truth("moved", thread->moved);
		json_text("cpus_seen", cpuset_format(&thread->cpus, list));
		json_close('}');
	}
	json_close(']');
}

static void write_wrong(const struct wrong *w, const struct arrays *arrays)
{
	const char name[2] = { (char)('a' + w->array), '\0' };
	const element *at = &arrays->of[w->array][w->index];
	char text[PHYSICAL_TEXT_MAX];

	json_open(NULL, '{');
	json_text("array", name);
	json_count("index", w->index);
	json_hex("address", (unsigned long long)(size_t)at);
	json_text("physical", placement_physical(at, text));
	if (placement_domain(at) >= 0)
		json_count("numa_domain", (unsigned)placement_domain(at));
	else
		json_text("numa_domain", NULL);
	json_text("host", ranks_node());
	json_number("expected", (double)w->expected);
	json_number("found", (double)w->found);
	json_hex("expected_bits", bits_of(w->expected));
	json_hex("found_bits", bits_of(w->found));
	json_close('}');
}

static void write_validation(const struct run *run)
{
	int i;

	json_open("validation", '{');
	if (run->checked)
		json_truth("ok", run->validation.wrong == 0);
	else
		json_text("ok", NULL);
	json_count("wrong_elements", run->validation.wrong);
	json_open("first", '[');
	for (i = 0; i < run->validation.listed; i++)
		write_wrong(&run->validation.first[i], &run->arrays);
	json_close(']');
	json_close('}');
}

static void write_pages(const struct run *run)
{
	json_open("pages", '{');
	json_text("asked", hugepages_names[run->options.pages]);
	json_count("page_kib", run->pages.page_kib);
	json_number("huge_mib", (double)run->pages.huge_kib / 1024);
	json_close('}');
}

static void write_placement(const char *key, const struct placement *p)
{
	char name[16];
	int domain;

	json_open(key, '{');
	json_text("policy", placement_policy());
	json_count("pages_sampled", p->sampled);
	json_count("pages_absent", p->absent);
	json_count("pages_misplaced", p->misplaced);
	json_open("pages_on", '{');
	for (domain = 0; domain < DOMAINS_MAX; domain++) {
		snprintf(name, sizeof(name), "%d", domain);
		if (p->on[domain])
			json_count(name, p->on[domain]);
	}
	json_close('}');
	json_close('}');
}

static void write_busy(const struct run *run)
{
	json_open("busy", '{');
	json_number("wall_s", run->busy.wall);
	json_number("own_s", run->busy.own);
	json_number("all_s", run->busy.all);
	json_number("steal_s", run->busy.steal);
	json_number("others_share", busy_share(&run->busy, threads_cpus()));
	json_close('}');
}

static void write_findings(const char *key, int warnings)
{
	int r;

	json_open(key, '[');
	for (r = 0; r < REASONS; r++) {
		const enum finding finding = verdict_finding((enum reason)r);

		if (finding == NOT_FOUND || (finding == WARNED) != warnings)
			continue;
		json_open(NULL, '{');
		json_text("reason", reason_name((enum reason)r));
		json_text("detail", verdict_detail((enum reason)r));
		if (!warnings)
			json_truth("allowed", finding == ALLOWED);
		json_close('}');
	}
	json_close(']');
}

static void write_line(FILE *out, const struct run *run)
{
	int k;

	json_begin(out);
	json_open(NULL, '{');
	write_identity(run);
	write_asked(run);
	json_open("kernels", '{');
	for (k = 0; k < KERNELS; k++)
		write_kernel(run, k);
	json_close('}');
	record_tuning(run->tuning);
	record_limits(run->limits);
	record_layout(&run->arrays);
	write_threads();
	write_validation(run);
	json_text("verdict", verdict_is_valid() ? "VALID" : "INVALID");
	write_findings("reasons", 0);
	write_findings("warnings", 1);
	write_pages(run);
	write_placement("placement_before", &run->before);
	write_placement("placement_after", &run->after);
	write_busy(run);
	facts_write(&run->peak);
	write_build();
	json_close('}');
	putc('\n', out);
}

char *record_text(const struct run *run, size_t *size)
{
	char *text = NULL;
	FILE *out;

	*size = 0;
	if (!run->options.json || run->measurement.complete < 2)
		return NULL;
	out = open_memstream(&text, size);
	if (!out)
		return NULL;
	write_line(out, run);
	fclose(out);
	return text;
}
