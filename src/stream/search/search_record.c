#include "search.h"

#include "../../harness/json.h"

static void write_candidate(const struct candidate *candidate)
{
	char name[VARIANT_NAME_MAX];

	json_open(NULL, '{');
	json_text("variant", variants_name(&candidate->variant, name));
	json_number("median_ratio", candidate->probe.median);
	json_count("rounds", (unsigned)candidate->probe.rounds);
	if (candidate->confirm.rounds) {
		json_number("full_median_ratio", candidate->confirm.median);
		json_count("full_rounds", (unsigned)candidate->confirm.rounds);
	}
	json_close('}');
}

static void write_anchors(const struct variant anchors[STORES])
{
	static const char *const keys[STORES] = { "ordinary", "nt" };
	char name[VARIANT_NAME_MAX];
	int store;

	json_open("anchors", '{');
	for (store = 0; store < STORES; store++)
		json_text(keys[store],
			  anchors[store].compiled ? variants_name(&anchors[store], name) : NULL);
	json_close('}');
}

static void write_search_of(const struct tuning *t, int k)
{
	int i;

	json_open(kernels[k].name, '{');
	write_anchors(t->kernel[k].anchor);
	json_open("tried", '[');
	for (i = 0; i < t->kernel[k].tried.count; i++)
		if (t->kernel[k].tried.of[i].probe.rounds)
			write_candidate(&t->kernel[k].tried.of[i]);
	json_close(']');
	json_close('}');
}

void search_record(const struct tuning *t)
{
	int k;

	if (!t) {
		json_text("tuning", NULL);
		return;
	}
	json_open("tuning", '{');
	json_number("budget_s", t->budget_s);
	json_number("seconds", t->seconds);
	json_count("brief_slices", t->probe_parts);
	json_count("full_slices", t->confirm_parts);
	json_open("kernels", '{');
	for (k = 0; k < KERNELS; k++)
		if (variants_has(k))
			write_search_of(t, k);
	json_close('}');
	json_close('}');
}
