#include "looks.h"

#include "../../harness/clock.h"
#include "../../harness/elementary.h"
#include "../../harness/error.h"
#include "../../harness/evidence/threads.h"
#include "../../harness/job/ranks.h"
#include "../../harness/job/watchdog.h"
#include "../../harness/json.h"
#include "../../harness/machine/topology.h"
#include "../../harness/memory/wide.h"
#include "../../harness/metrics.h"
#include "../../harness/openmp.h"
#include "../../harness/order_statistics.h"
#include "../../harness/verdict.h"
#include "../kernels/expect.h"
#include "../kernels/validate.h"
#include "stores.h"

enum { REPETITIONS_MOST = 4096, REPETITIONS_FEW = REPETITIONS_OF_INTERVAL };

/* Seconds of each look; twice the threads give no more than that on a saturated memory. */
static const double LASTS = 0.12, SATURATED_GAIN = 1.3, APART = 0.03;

static const char *const look_names[] = {
	"read", "write", "ordinary", "nontemporal", "half", "one"
};

/* --- read --- */

/* The sum of elements that all are VALUE, as read_share() adds them. */
static uint64_t sum_expected(element value, size_t bytes)
{
	const size_t wide_part = bytes / WIDE_READ_STEP * WIDE_READ_STEP;
	const uint64_t bits = bits_of(&value, sizeof(value));
	const uint64_t word = sizeof(element) == 8 ? bits : bits << 32 | bits;

	return wide_part / 8 * word + (bytes - wide_part) / sizeof(element) * bits;
}

static uint64_t read_share(const element *at, size_t bytes)
{
	const size_t wide_part = bytes / WIDE_READ_STEP * WIDE_READ_STEP;
	uint64_t sum = wide_part ? wide_read(at, wide_part, 1) : 0;
	size_t i;

	for (i = wide_part / sizeof(element); i < bytes / sizeof(element); i++)
		sum += bits_of(&at[i], sizeof(*at));
	return sum;
}

/* DONE: when each thread was. */
static unsigned long long read_arrays(const struct arrays *arrays, const element expected[ARRAYS],
				      double *done)
{
	unsigned long long wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	{
		const struct share mine = share_of_thread(arrays->size);
		const size_t bytes = mine.size * sizeof(element);
		int k;

		for (k = 0; k < ARRAYS; k++)
			wrong += read_share(arrays->of[k] + mine.first, bytes) !=
				 sum_expected(expected[k], bytes);
		done[omp_get_thread_num()] = clock_now();
	}
	return wrong;
}

/* --- write --- */

/* Another one each time, so that the last repetition shows; none that a kernel leaves. */
static element value_written(int repetition)
{
	element start[ARRAYS];

	expect_start(start);
	return repetition % 2 ? -start[ARRAY_a] : start[ARRAY_a];
}

static void write_share(element *__restrict at, element value, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		at[i] = value;
}

static NOINLINE void kernel_write(const struct arrays *arrays, element value)
{
#pragma omp parallel
	{
		const struct share mine = share_of_thread(arrays->size);
		int k;

		for (k = 0; k < ARRAYS; k++)
			write_share(arrays->of[k] + mine.first, value, mine.size);
	}
}

/* --- Triad --- */

/* Of the shares of STEP threads each, by every STEP-th thread of the first COUNT. */
static void triad_by(enum store store, const struct arrays *arrays, size_t size, int step,
		     int count)
{
#pragma omp parallel
	{
		const int me = omp_get_thread_num();
		const size_t groups = (size_t)((count + step - 1) / step);

		if (me < count && me % step == 0) {
			const struct share mine = share_of(size, (size_t)(me / step), groups);

			stores_triad(store, arrays->of[ARRAY_a] + mine.first,
				     arrays->of[ARRAY_b] + mine.first,
				     arrays->of[ARRAY_c] + mine.first, arrays->scalar, mine.size);
		}
	}
}

/* --- domains --- */

static struct domain_look *domain_of(struct looks *l, int thread)
{
	const int domain = topology_domain(threads_seen(thread)->cpu);
	int d;

	for (d = 0; d < l->domains; d++)
		if (l->domain[d].domain == domain)
			return &l->domain[d];
	return NULL;
}

static void find_domains(struct looks *l, const struct arrays *arrays)
{
	int t;

	for (t = 0; t < threads_count(); t++) {
		const struct share share =
			share_of(arrays->size, (size_t)t, (size_t)threads_count());

		if (!domain_of(l, t) && l->domains < LOOK_DOMAINS_MOST)
			l->domain[l->domains++].domain = topology_domain(threads_seen(t)->cpu);
		if (domain_of(l, t))
			domain_of(l, t)->bytes +=
				(double)(ARRAYS * sizeof(element)) * (double)share.size;
	}
	if (l->domains == 1)
		l->domains = 0;
}

/* --- all --- */

struct plan {
	const struct arrays *arrays;
	element expected[ARRAYS];
	size_t part;  /* elements that one thread takes alone */
	double *done; /* of each thread, the latest read */
};

static void look_once(struct looks *l, const struct plan *p, enum look look)
{
	const struct arrays *const arrays = p->arrays;
	const int threads = threads_count();

	if (look == LOOK_read)
		l->wrong_sums += read_arrays(arrays, p->expected, p->done);
	else if (look == LOOK_write)
		kernel_write(arrays, value_written(l->complete[LOOK_write]));
	else if (look == LOOK_one)
		triad_by(STORE_ordinary, arrays, p->part, 1, 1);
	else
		triad_by(look == LOOK_nt ? STORE_nt : STORE_ordinary, arrays, arrays->size,
			 look == LOOK_half ? 2 : 1, threads);
}

/* A domain is done when the last of its threads is. */
static void note_domains(struct looks *l, const struct plan *p, int i, double start, double lost)
{
	int d, t;

	for (d = 0; d < l->domains; d++) {
		l->domain[d].of.times[i] = 0;
		l->domain[d].of.lost[i] = lost;
	}
	for (t = 0; t < threads_count(); t++) {
		struct domain_look *const own = domain_of(l, t);

		if (own && p->done[t] - start > own->of.times[i])
			own->of.times[i] = p->done[t] - start;
	}
}

static void time_once(struct looks *l, const struct plan *p, enum look look)
{
	struct timing *const t = &l->of[look];
	const int i = l->complete[look];
	double start;

	threads_sample();
	start = clock_now();
	look_once(l, p, look);
	t->times[i] = clock_now() - start;
	threads_sample();
	t->lost[i] = threads_lost_seconds();
	if (look == LOOK_read)
		note_domains(l, p, i, start, t->lost[i]);
	l->complete[look] = i + 1;
}

static double seconds_of(const struct looks *l, enum look look)
{
	double sum = 0;
	int i;

	for (i = 0; i < l->complete[look]; i++)
		sum += l->of[look].times[i];
	return sum;
}

/* Ordinary, non-temporal, read ... in turn, so that noise comes to all of them. */
static void take_turns(struct looks *l, const struct plan *p)
{
	int is_open = 1, k;

	while (is_open && !watchdog_signalled()) {
		is_open = 0;
		for (k = 0; k < LOOKS; k++) {
			if (!is_positive(l->bytes[k]) || l->complete[k] == REPETITIONS_MOST ||
			    (l->complete[k] >= REPETITIONS_FEW && seconds_of(l, k) >= LASTS))
				continue;
			time_once(l, p, k);
			is_open = 1;
		}
	}
}

/* One thread's part lies in its own domain, and is no smaller than its caches hold. */
static size_t part_of_one(const struct measurement *m, const struct arrays *arrays)
{
	const size_t most = arrays->size / (size_t)threads_count() * 2;
	const size_t least = 4 * m->caches / (ARRAYS * sizeof(element));

	return least < arrays->size ? (least > most ? least : most) : arrays->size;
}

static void plan_looks(struct looks *l, struct plan *p, const struct measurement *m, int explain)
{
	const double triad = (double)kernels_bytes(&kernels[KERNEL_triad]);
	const double all = (double)p->arrays->size;

	l->bytes[LOOK_read] = ARRAYS * sizeof(element) * all;
	p->part = part_of_one(m, p->arrays);
	l->half_threads = (threads_count() + 1) / 2;
	if (!explain)
		return;
	l->bytes[LOOK_ordinary] = triad * all;
	l->bytes[LOOK_nt] = stores_has(STORE_nt) ? triad * all : 0;
	l->bytes[LOOK_half] = threads_count() > 1 ? triad * all : 0;
	l->bytes[LOOK_one] = threads_count() > 2 ? triad * (double)p->part : 0;
}

static void give_room(struct timing *t)
{
	t->times = room_for(REPETITIONS_MOST, 2 * sizeof(double), "times", "give smaller arrays");
	t->lost = t->times + REPETITIONS_MOST;
}

void looks_take(struct looks *l, const struct measurement *m, const struct arrays *arrays,
		int explain)
{
	struct plan plan = { arrays, { 0 }, 0, NULL };
	int k;

	memset(l, 0, sizeof(*l));
	if (ranks_together() || !m->passed)
		return;
	expect_after(plan.expected, m->passed);
	plan_looks(l, &plan, m, explain);
	for (k = 0; k < LOOKS; k++)
		give_room(&l->of[k]);
	find_domains(l, arrays);
	for (k = 0; k < l->domains; k++)
		give_room(&l->domain[k].of);
	plan.done = room_for((size_t)threads_count(), sizeof(double), "times", "");
	take_turns(l, &plan);
	free(plan.done);
	for (k = 0; k < l->domains; k++)
		measure_timing(&l->domain[k].of, l->complete[LOOK_read], l->domain[k].bytes,
			       m->caches);
	for (k = 0; k < LOOKS; k++)
		measure_timing(&l->of[k], l->complete[k], l->bytes[k], m->caches);
}

void looks_take_write(struct looks *l, const struct measurement *m, const struct arrays *arrays)
{
	const struct plan plan = { arrays, { 0 }, 0, NULL };
	size_t wrong;

	if (ranks_together() || !m->passed)
		return;
	l->bytes[LOOK_write] = (double)(ARRAYS * sizeof(element)) * (double)arrays->size;
	give_room(&l->of[LOOK_write]);
	take_turns(l, &plan);
	measure_timing(&l->of[LOOK_write], l->complete[LOOK_write], l->bytes[LOOK_write],
		       m->caches);
	if (!l->complete[LOOK_write])
		return;
	wrong = validate_filled(arrays, value_written(l->complete[LOOK_write] - 1));
	if (wrong)
		verdict_invalid(NOT_VALIDATED, "write: %zu elements are not what was written",
				wrong);
}

void looks_judge(const struct looks *l)
{
	if (l->wrong_sums)
		verdict_invalid(
			NOT_VALIDATED,
			"read: %llu sums of a thread's share are not those of its elements",
			l->wrong_sums);
}

static double gbs(const struct looks *l, enum look look)
{
	return l->complete[look] > 1 ? 1e-9 * l->of[look].rate.value : 0;
}

/* Triad of all threads by that of half of them; 0: not looked. */
static double gain(const struct looks *l)
{
	return gbs(l, LOOK_half) > 0 ? gbs(l, LOOK_ordinary) / gbs(l, LOOK_half) : 0;
}

/* The share of the lines that an ordinary store writes without reading them first, 0 to 1; -1: not
 * told: the cores are the limit, or there is no such loop.  With 24 bytes counted an ordinary
 * Triad moves 32 where each store reads its line: on a saturated memory the non-temporal one is
 * 4/3 as fast.  What is missing to that was avoided. */
static double lines_avoided(const struct looks *l)
{
	const double ratio =
		gbs(l, LOOK_nt) / (gbs(l, LOOK_ordinary) > 0 ? gbs(l, LOOK_ordinary) : 1);
	const double avoided = 1 - 3 * (ratio - 1);

	if (!is_positive(gbs(l, LOOK_nt)) || !is_positive(gain(l)) || gain(l) > SATURATED_GAIN)
		return -1;
	return avoided < 0 ? 0 : avoided > 1 ? 1 : avoided;
}

static double middle_of_others(const struct looks *l, int at)
{
	double others[LOOK_DOMAINS_MOST];
	int d, count = 0;

	for (d = 0; d < l->domains; d++)
		if (d != at)
			others[count++] = l->domain[d].of.rate.value;
	return median(others, count);
}

static int is_sure(const struct rate *rate)
{
	return !rate->is_bound && rate->value > 0;
}

/* By how much a domain reads less than the middle one of the others: -0.3 is 30 %; 0 within 3 %,
 * within its interval, or where other processes disturbed the look. */
static double apart(const struct looks *l, int at)
{
	const struct rate *const rate = &l->domain[at].of.rate;
	const double middle = middle_of_others(l, at), less = middle - rate->value;
	const double wide = rate->high > rate->low ? rate->high - rate->low : 0;

	if (!is_sure(rate) || !is_positive(middle) || less <= APART * middle || less <= wide)
		return 0;
	return -less / middle;
}

void looks_metric(const struct looks *l)
{
	int k;

	for (k = LOOK_read; k <= LOOK_write; k++)
		if (gbs(l, k) > 0)
			metric_rate(look_names[k], &l->of[k].rate, 1e9, "GB/s");
}

void looks_write(const struct looks *l)
{
	int k;

	json_open("looks", '{');
	for (k = 0; k < LOOKS; k++) {
		if (!is_positive(gbs(l, k)))
			continue;
		json_open(look_names[k], '{');
		json_number("gbs", gbs(l, k));
		json_truth("is_bound", l->of[k].rate.is_bound);
		json_count("repetitions", (unsigned)l->complete[k]);
		json_close('}');
	}
	json_open("domains", '{');
	for (k = 0; k < l->domains; k++) {
		json_open(metric_name("%d", l->domain[k].domain), '{');
		json_number("gbs", 1e-9 * l->domain[k].of.rate.value);
		json_number("low", 1e-9 * l->domain[k].of.rate.low);
		json_number("high", 1e-9 * l->domain[k].of.rate.high);
		json_truth("is_bound", l->domain[k].of.rate.is_bound);
		json_number("apart", apart(l, k));
		json_close('}');
	}
	json_close('}');
	json_positive("half_threads", gbs(l, LOOK_half) > 0 ? l->half_threads : 0);
	if (lines_avoided(l) >= 0)
		json_number("write_allocate_avoided", lines_avoided(l));
	json_close('}');
}

static void print_domains(const struct looks *l)
{
	int d;

	for (d = 0; d < l->domains; d++)
		if (apart(l, d) != 0)
			printf("NUMA domain %d reads %.1f GB/s, %.0f %% less than the others\n",
			       l->domain[d].domain, 1e-9 * l->domain[d].of.rate.value,
			       -100 * apart(l, d));
}

void looks_print_rates(const struct looks *l)
{
	int k;

	for (k = LOOK_read; k <= LOOK_write; k++)
		if (gbs(l, k) > 0)
			printf(", %s %s", look_names[k], rate_text(&l->of[k].rate, 1e9));
	printf("\n");
}

void looks_print(const struct looks *l)
{
	const double ordinary = gbs(l, LOOK_ordinary);

	print_domains(l);
	if (!is_positive(ordinary))
		return;
	printf("Of triad by ordinary stores: ");
	if (gbs(l, LOOK_nt) > 0)
		printf("by non-temporal ones %.0f %%; ", 100 * gbs(l, LOOK_nt) / ordinary);
	if (gbs(l, LOOK_half) > 0)
		printf("%d of %d threads %s %.0f %%; ", l->half_threads, threads_count(),
		       l->half_threads == 1 ? "reaches" : "reach",
		       100 * gbs(l, LOOK_half) / ordinary);
	if (gbs(l, LOOK_one) > 0)
		printf("one reaches %.0f %%; ", 100 * gbs(l, LOOK_one) / ordinary);
	printf("%s\n", l->of[LOOK_ordinary].rate.is_bound ? "disturbed" : "undisturbed");
}
