#include "variants.h"

#include "../../harness/machine/cpu_width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const STORE_NAMES[STORES] = { "ordinary", "nt" };
const char *const variants_width_names[WIDTHS] = { "any", "128", "256", "512" };
static const char *const PREFETCH_NAMES[PREFETCHES] = { "none", "nta", "t0" };
static const char SPLIT_LETTERS[SPLITS] = { 0, 'b', 'l', 'd' };
static const int WIDTH_BITS[WIDTHS] = { 0, 128, 256, 512 };

enum { AHEAD_MOST = 1 << 20, BLOCK_MOST = 1 << 30 };

const char VARIANTS_HINT[] =
	"a variant is STORE-WIDTH-uUNROLL-PREFETCH-sSTREAMS, as nt-256-u4-t0x1024-s1; "
	"'stream --list-variants' lists all";

static const struct family *const FAMILY[] = { &family_x86, &family_neon, &family_portable };
enum { FAMILIES = sizeof(FAMILY) / sizeof(*FAMILY) };

const struct member *variants_member(int index)
{
	size_t f;

	for (f = 0; f < FAMILIES; f++) {
		if (index < FAMILY[f]->count)
			return &FAMILY[f]->members[index];
		index -= FAMILY[f]->count;
	}
	return NULL;
}

const struct limit_member *variants_limit(int index)
{
	size_t f;

	for (f = 0; f < FAMILIES; f++) {
		if (index < FAMILY[f]->limit_count)
			return &FAMILY[f]->limits[index];
		index -= FAMILY[f]->limit_count;
	}
	return NULL;
}

int variants_width_here(enum width width)
{
	return WIDTH_BITS[width] <= cpu_width();
}

int variants_runs_here(const struct member *member)
{
	return variants_width_here(member->width);
}

void variants_fence(const struct variant *variant)
{
	if (variant->member->store == STORE_nt)
		variants_fence_all();
}

void variants_fence_all(void)
{
	if (family_x86.fence)
		family_x86.fence();
	if (family_neon.fence)
		family_neon.fence();
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
	const int found = **at == wanted && wanted;

	*at += found;
	return found;
}

static const struct member *member_like(const struct member *wanted)
{
	const struct member *member;
	int i;

	for (i = 0; (member = variants_member(i)) != NULL; i++)
		if (member->store == wanted->store && member->width == wanted->width &&
		    member->unroll == wanted->unroll && member->prefetch == wanted->prefetch &&
		    member->streams == wanted->streams)
			return member;
	return NULL;
}

/* "-b16384" and the like, or the end. */
static int parse_split(struct variant *variant, const char *at)
{
	int split;

	variant->split = SPLIT_whole;
	variant->block = 0;
	if (!*at)
		return 1;
	if (!letter(&at, '-'))
		return 0;
	for (split = SPLIT_blocks; split < SPLITS; split++)
		if (letter(&at, SPLIT_LETTERS[split]))
			break;
	variant->split = (enum split)split;
	variant->block = number(&at, BLOCK_MOST);
	return split < SPLITS && variant->block && variant->block % LINE == 0 && !*at;
}

static int parse_member(struct member *wanted, size_t *ahead, const char **at)
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
	struct member wanted;

	memset(&wanted, 0, sizeof(wanted));
	if (!parse_member(&wanted, &variant->ahead, &name) || !parse_split(variant, name))
		return 0;
	variant->member = member_like(&wanted);
	return variant->member != NULL;
}

const char *variants_name(const struct variant *v, char name[VARIANT_NAME_MAX])
{
	const struct member *m = v->member;
	int length =
		snprintf(name, VARIANT_NAME_MAX, "%s-%s-u%d-%s", STORE_NAMES[m->store],
			 variants_width_names[m->width], m->unroll, PREFETCH_NAMES[m->prefetch]);

	if (m->prefetch != PREFETCHED_none)
		length += snprintf(name + length, VARIANT_NAME_MAX - (size_t)length, "x%zu",
				   v->ahead);
	length += snprintf(name + length, VARIANT_NAME_MAX - (size_t)length, "-s%d", m->streams);
	if (v->split != SPLIT_whole)
		snprintf(name + length, VARIANT_NAME_MAX - (size_t)length, "-%c%zu",
			 SPLIT_LETTERS[v->split], v->block);
	return name;
}

void variants_list(void)
{
	const struct member *m;
	char name[VARIANT_NAME_MAX];
	int i;

	printf("# STORE-WIDTH-uUNROLL-PREFETCH-sSTREAMS[-SPLIT]; 1024 stands for any distance in "
	       "bytes;\n"
	       "# SPLIT: -bBYTES blocks, -lBYTES blocks loaded first, -dBYTES blocks dealt in "
	       "turn (multiples of %d)\n",
	       LINE);
	for (i = 0; (m = variants_member(i)) != NULL; i++) {
		struct variant variant = { NULL, 0, SPLIT_whole, 0 };

		variant.member = m;
		variant.ahead = m->prefetch == PREFETCHED_none ? 0 : 1024;
		printf("%s%s\n", variants_name(&variant, name),
		       variants_runs_here(m) ? "" : " (not on this CPU)");
	}
}
