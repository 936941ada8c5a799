#include "variants.h"

#include "../../harness/machine/cpu_width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const STORE_NAMES[STORES] = { "ordinary", "nt" };
const char *const variants_width_names[WIDTHS] = { "any", "128", "256", "512" };
static const char *const PREFETCH_NAMES[PREFETCHES] = { "none", "nta", "t0" };
static const int WIDTH_BITS[WIDTHS] = { 0, 128, 256, 512 };

enum { AHEAD_MOST = 1 << 20 };

static const char STANDARD[] = "standard";

const char VARIANTS_HINT[] =
	"a variant is STORE-WIDTH-uUNROLL-PREFETCH-sSTREAMS, as nt-256-u4-t0x1024-s1; "
	"'stream --list-variants' lists all";

static const struct isa_kernels *const ISA[] = { &isa_x86, &isa_neon, &isa_portable };
enum { ISAS = sizeof(ISA) / sizeof(*ISA) };

const struct tuned_kernel *variants_compiled(int index)
{
	size_t i;

	for (i = 0; i < ISAS; i++) {
		if (index < ISA[i]->count)
			return &ISA[i]->kernels[index];
		index -= ISA[i]->count;
	}
	return NULL;
}

const struct limit_kernel *variants_limit(int index)
{
	size_t i;

	for (i = 0; i < ISAS; i++) {
		if (index < ISA[i]->limit_count)
			return &ISA[i]->limits[index];
		index -= ISA[i]->limit_count;
	}
	return NULL;
}

int variants_width_here(enum width width)
{
	return WIDTH_BITS[width] <= cpu_width();
}

int variants_runs_here(const struct tuned_kernel *compiled)
{
	return variants_width_here(compiled->width);
}

int variants_has(int kernel)
{
	return isa_portable.kernels[0].run[kernel] != NULL;
}

void variants_fence(const struct variant *variant)
{
	if (variant->compiled->store == STORE_nt)
		variants_fence_all();
}

void variants_fence_all(void)
{
	size_t i;

	for (i = 0; i < ISAS; i++)
		if (ISA[i]->fence)
			ISA[i]->fence();
}

/* Reads a prefix of *at up to the next '-' or the end; its index in names, or -1. */
static int word(const char **at, const char *const names[], int count)
{
	const size_t length = strcspn(*at, "-x");
	int i;

	for (i = 0; i < count; i++)
		if (strlen(names[i]) == length && strncmp(names[i], *at, length) == 0) {
			*at += length;
			return i;
		}
	return -1;
}

/* Reads a whole number from 1 to `most`; 0 where there is none. */
static size_t number(const char **at, size_t most)
{
	char *end;
	const unsigned long long value = strtoull(*at, &end, 10);

	if (**at < '1' || **at > '9' || value > most)
		return 0;
	*at = end;
	return (size_t)value;
}

static int letter(const char **at, char wanted)
{
	const int is_there = **at == wanted;

	*at += is_there;
	return is_there;
}

static const struct tuned_kernel *compiled_like(const struct tuned_kernel *wanted)
{
	const struct tuned_kernel *t;
	int i;

	for (i = 0; (t = variants_compiled(i)) != NULL; i++)
		if (t->store == wanted->store && t->width == wanted->width &&
		    t->unroll == wanted->unroll && t->prefetch == wanted->prefetch &&
		    t->streams == wanted->streams)
			return t;
	return NULL;
}

static int parse_compiled(struct tuned_kernel *wanted, size_t *ahead, const char **at)
{
	const int store = word(at, STORE_NAMES, STORES);
	const int width =
		store >= 0 && letter(at, '-') ? word(at, variants_width_names, WIDTHS) : -1;
	int prefetch;

	if (width < 0 || !letter(at, '-') || !letter(at, 'u'))
		return 0;
	wanted->store = (enum store)store;
	wanted->width = (enum width)width;
	wanted->unroll = (int)number(at, 1000);
	if (!letter(at, '-') || (prefetch = word(at, PREFETCH_NAMES, PREFETCHES)) < 0)
		return 0;
	wanted->prefetch = (enum prefetch)prefetch;
	*ahead = letter(at, 'x') ? number(at, AHEAD_MOST) : 0;
	if ((*ahead > 0) != (prefetch != PREFETCHED_none))
		return 0;
	if (!letter(at, '-') || !letter(at, 's'))
		return 0;
	wanted->streams = (int)number(at, 1000);
	return 1;
}

int variants_parse(struct variant *variant, const char *name)
{
	struct tuned_kernel wanted;

	memset(variant, 0, sizeof(*variant));
	if (strcmp(name, STANDARD) == 0)
		return 1;
	memset(&wanted, 0, sizeof(wanted));
	if (!parse_compiled(&wanted, &variant->ahead, &name) || *name)
		return 0;
	variant->compiled = compiled_like(&wanted);
	return variant->compiled != NULL;
}

const char *variants_name(const struct variant *v, char name[VARIANT_NAME_MAX])
{
	const struct tuned_kernel *t = v->compiled;
	char distance[24] = "";

	if (!t)
		return strcpy(name, STANDARD);
	if (t->prefetch != PREFETCHED_none)
		snprintf(distance, sizeof(distance), "x%zu", v->ahead);
	snprintf(name, VARIANT_NAME_MAX, "%s-%s-u%d-%s%s-s%d", STORE_NAMES[t->store],
		 variants_width_names[t->width], t->unroll, PREFETCH_NAMES[t->prefetch], distance,
		 t->streams);
	return name;
}

void variants_list(void)
{
	const struct tuned_kernel *t;
	char name[VARIANT_NAME_MAX];
	int i;

	printf("# STORE-WIDTH-uUNROLL-PREFETCH-sSTREAMS; 1024 stands for any distance in bytes\n");
	for (i = 0; (t = variants_compiled(i)) != NULL; i++) {
		struct variant variant;

		variant.compiled = t;
		variant.ahead = t->prefetch == PREFETCHED_none ? 0 : 1024;
		printf("%s%s\n", variants_name(&variant, name),
		       variants_runs_here(t) ? "" : " (not on this CPU)");
	}
}
