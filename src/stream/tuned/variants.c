#include "variants.h"

#include "../../harness/machine/cpu_width.h"

static const char *const STORE_NAMES[STORES] = { "ordinary", "nt" };
static const char *const WIDTH_NAMES[WIDTHS] = { "any", "128", "256", "512", "sve" };
static const char *const PREFETCH_NAMES[PREFETCHES] = { "none", "nta", "t0" };
static const int WIDTH_BITS[WIDTHS] = { 0, 128, 256, 512 };

enum { AHEAD_MOST = 1 << 20 };

static const char STANDARD[] = "standard";

const char VARIANTS_HINT[] =
	"a variant is STORE-WIDTH-uUNROLL-PREFETCH-sSTREAMS, as nt-256-u4-t0x1024-s1; "
	"'stream --list-variants' lists all";

static const struct isa_kernels *const ISA[] = { &isa_x86, &isa_sve, &isa_neon, &isa_portable };
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

int variants_runs_here(const struct tuned_kernel *compiled)
{
	const int sve = cpu_sve_bytes();

	if (compiled->width == WIDTH_sve)
		return sve > 0 && (sve & (sve - 1)) == 0; /* whole ones make a step */
	return WIDTH_BITS[compiled->width] <= cpu_width();
}

int variants_has(int kernel)
{
	return isa_portable.kernels[0].run[kernel] != NULL;
}

void variants_fence(const struct variant *variant)
{
	size_t i;

	for (i = 0; i < ISAS; i++)
		if (ISA[i]->fence && variant->compiled->store == STORE_nt)
			ISA[i]->fence();
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
		 WIDTH_NAMES[t->width], t->unroll, PREFETCH_NAMES[t->prefetch], distance,
		 t->streams);
	return name;
}

/* What is printed alike is the same: the names are the grammar. */
int variants_parse(struct variant *variant, const char *name)
{
	const char *const distance = strchr(name, 'x');
	const size_t ahead = distance ? strtoul(distance + 1, NULL, 10) : 0;
	char text[VARIANT_NAME_MAX];
	int i;

	memset(variant, 0, sizeof(*variant));
	if (strcmp(name, STANDARD) == 0)
		return 1;
	if (ahead > AHEAD_MOST || (distance && !ahead))
		return 0;
	for (i = 0; (variant->compiled = variants_compiled(i)) != NULL; i++) {
		variant->ahead = variant->compiled->prefetch == PREFETCHED_none ? 0 : ahead;
		if (strcmp(variants_name(variant, text), name) == 0)
			return 1;
	}
	return 0;
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
