#include "output.h"

#include "../harness/json.h"
#include "../harness/metrics.h"
#include "../harness/verdict.h"

void output_card(const struct card *card)
{
	printf("%s %d of %d: %s, %.1f GiB, ECC %s, at most %u MHz\n"
	       "Driver: %s, %s (%s)%s%s%s%s\n",
	       card_is_cpu(card) ? "CPU" : "Card", card->index, card->count, card->name,
	       (double)card->memory / ((size_t)1 << 30), card->has_ecc ? "on" : "off",
	       card->clock_mhz, card->driver, card->version, card->by, *card->pci ? ", " : "",
	       card->pci, *card->uuid ? ", " : "", card->uuid);
	if (!card_is_cpu(card))
		printf("Not known, OpenCL does not say: %sits clock and power cap\n",
		       card->others_took ? "" : "other processes on the card, ");
}

static void output_shape(const struct measured *m, int kernel)
{
	const struct shape *const s = &m->shapes.of[kernel];

	printf(" %s %zu x %d", kernel_names[kernel], s->local, s->width);
	if (s->groups)
		printf(", %d groups per unit", s->groups);
	printf(kernel + 1 < KERNELS ? ";" : "\n");
}

void output_arrays(const struct measured *m)
{
	int k;

	printf("Arrays of %.1f MiB, in %s precision; they lie in its memory: %s\nLaunched as:",
	       (double)m->size.bytes / ARRAYS / MIB, m->arrays.element == 8 ? "double" : "single",
	       residency_word(m->size.known));
	for (k = 0; k < KERNELS; k++)
		output_shape(m, k);
}

/* Of a shared card a lower bound, as of a CPU with other processes. */
static void output_rate(const char *name, const struct rate *rate)
{
	metric_rate(name, rate, 1, "GB/s");
	if (verdict_finding(CARD_SHARED) != NOT_FOUND)
		metric_disturbed(name);
}

void output_metrics(const struct measured *m)
{
	const struct transfers *const t = &m->transfers;
	const char *name;
	int k, p, way;

	for (k = 0; k < KERNELS && m->rounds.count; k++)
		output_rate(kernel_names[k], &m->rounds.rates[k]);
	for (p = 0; p < t->count; p++)
		for (way = 0; way < WAYS; way++) {
			name = metric_name("%s_%d", way_names[way], t->of[p].to);
			metric_at(name, way_names[way], AT_MEMORY_DOMAIN, t->of[p].to);
			output_rate(name, &t->of[p].rates[way]);
		}
	for (p = 0; p < t->peers; p++)
		output_rate(metric_name("to_card_%d", t->peer[p].to), &t->peer[p].rates[0]);
}

void output_write(const void *measured)
{
	const struct measured *const m = measured;
	int k;

	card_write(&m->card);
	json_count("element_bytes", m->arrays.element);
	json_text("precision", m->arrays.element == 8 ? "double" : "single");
	json_count("array_size", m->arrays.n);
	size_write(&m->size);
	shapes_write(&m->shapes);
	json_open("seconds", '{');
	for (k = 0; k < KERNELS; k++) {
		json_open(kernel_names[k], '{');
		json_numbers("host", m->rounds.host[k], m->rounds.count);
		json_numbers("device", m->rounds.device[k], m->rounds.count);
		json_close('}');
	}
	json_close('}');
	transfers_write(&m->transfers);
}
