#include "record.h"

#include "../../harness/elementary.h"
#include "../../harness/evidence/lost_time.h"
#include "../../harness/job/ranks.h"
#include "../../harness/json.h"
#include "../../harness/memory/placement.h"
#include "../../harness/metrics.h"
#include "../../harness/record.h"

/* A tiny array is repeated sixteen thousand times in two seconds; a thousand of them, evenly
 * taken, say as much of how they scatter.  The figures and their intervals are of all. */
enum { TIMES_MOST = 1000 };

static int times_every(const struct measurement *m)
{
	return (m->complete + TIMES_MOST - 1) / TIMES_MOST;
}

/* The first, and each n-th behind it. */
static void write_times(const char *name, const double *times, const struct measurement *m)
{
	int i;

	json_open(name, '[');
	for (i = 0; i < m->complete; i += times_every(m))
		json_number(NULL, times[i]);
	json_close(']');
}

static double total_of(const struct timing *t, int complete)
{
	double sum = 0;
	int i;

	for (i = 0; i < complete; i++)
		sum += t->times[i];
	return sum;
}

static void write_repetitions(const struct measurement *m)
{
	json_count("ntimes", (unsigned)m->ntimes);
	json_count("iterations", (unsigned)m->complete);
	json_truth("complete", m->ntimes ? m->complete == m->ntimes : m->ended <= ENDED_TIME);
	json_text("ended", measure_ended(m));
	json_open("repetitions", '{');
	json_text("until", m->ntimes ? "count" : "settled");
	json_positive("max_s", m->max_seconds);
	json_count("blocks", (unsigned)m->blocks);
	json_count("disturbed", (unsigned)measure_disturbed(m));
	json_text("lost_time_from", lost_time_basis());
	json_count("times_every", (unsigned)times_every(m));
	json_close('}');
}

static void write_caches(const struct llc *llc)
{
	static const char *const from[] = { "sysfs", "cpuid", "sysconf", "unknown" };

	json_text("llc_from", from[llc->from]);
	json_open("llc_by", '{');
	json_number("sysfs_mib", (double)llc->sysfs / MIB);
	json_number("cpuid_mib", (double)llc->cpuid / MIB);
	json_number("sysconf_mib", (double)llc->sysconf / MIB);
	json_close('}');
}

static void write_requested(const struct run *run)
{
	static const char *const from[] = { "auto", "macro", "option" };

	json_count("array_size", run->options.size);
	json_text("array_size_from", from[run->options.size_from]);
	json_count("offset", run->options.offset);
	json_count("element_bytes", sizeof(element));
	write_repetitions(&run->measurement);
	json_number("llc_mib", run->llc.from == LLC_UNKNOWN ? 0 : (double)run->llc_bytes / MIB);
	write_caches(&run->llc);
	triads_write(&run->residency);
	json_number("memory_side_cache_mib", (double)run->memory_side_bytes / MIB);
	json_number("clock_tick_s", run->measurement.tick);
}

static void write_kernel(const struct run *run, int k)
{
	const struct timing *t = &run->measurement.kernel[k];

	json_open(kernels[k].name, '{');
	json_text("language", kernels_language_of(k));
	json_count("bytes_per_element", kernels_bytes(&kernels[k]));
	json_number("best_mbs", t->best_mbs);
	json_number("avg_s", t->average);
	json_number("min_s", t->best);
	json_number("max_s", t->worst);
	json_count("counted", (unsigned)t->rate.counted);
	json_count("best_of", (unsigned)t->rate.best_of);
	json_number("total_s", total_of(t, run->measurement.complete));
	write_times("lost_s", t->lost, &run->measurement);
	write_times("times_s", t->times, &run->measurement);
	json_close('}');
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
	json_index("numa_domain", placement_domain(at));
	json_text("host", ranks_node());
	json_number("expected", (double)w->expected);
	json_number("found", (double)w->found);
	json_hex("expected_bits", bits_of(&w->expected, sizeof(element)));
	json_hex("found_bits", bits_of(&w->found, sizeof(element)));
	json_close('}');
}

static void write_validation(const struct run *run)
{
	int i;

	json_open("validation", '{');
	json_truth("ok", run->validation.wrong == 0);
	json_count("wrong_elements", run->validation.wrong);
	json_open("first", '[');
	for (i = 0; i < run->validation.listed; i++)
		write_wrong(&run->validation.first[i], &run->arrays);
	json_close(']');
	json_close('}');
}

static void write_own(const void *data)
{
	const struct run *run = data;
	int k;

	json_text("language", kernels_language);
	write_requested(run);
	json_open("kernels", '{');
	for (k = 0; k < KERNELS; k++)
		write_kernel(run, k);
	json_close('}');
	looks_write(&run->looks);
	write_validation(run);
	hugepages_write(&run->pages, run->options.pages);
	placement_write("placement_before", &run->before);
	placement_write("placement_after", &run->after);
}

const struct program stream_program = {
	"stream",
	"Measures sustainable memory bandwidth with STREAM's kernels.\n",
	stream_rows,
	NULL,
	"GB/s",
	write_own,
	.headline = "triad",
#ifdef MEMBW_MPI
	.more = stream_rows_of_job,
#endif
};

char *stream_record(const struct run *run, size_t *size)
{
	int k;

	*size = 0;
	if (!options_json() || run->measurement.complete < 2)
		return NULL;
	looks_metric(&run->looks);
	for (k = 0; k < KERNELS; k++)
		metric_rate(kernels[k].name, &run->measurement.kernel[k].rate, 1e9, "GB/s");
	return record_text(&stream_program, run, size);
}
