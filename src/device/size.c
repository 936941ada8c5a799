#include "size.h"

#include "../harness/json.h"
#include "../harness/machine/memory_available.h"
#include "../harness/verdict.h"

static const struct shape SIZE_SHAPE = { 256, 1, 0 };
/* The launch, some 20 us, is then below half a percent. */
static const double SIZE_SECONDS = 0.005;
enum { SIZE_TIMES = 3 };
static const size_t SIZE_LEAST = (size_t)12 * MIB, SIZE_MOST = (size_t)48 << 30;

/* Bytes of three arrays. */
static size_t three(const struct arrays *arrays, size_t n)
{
	return ARRAYS * n * arrays->element;
}

static size_t elements(const struct arrays *arrays, size_t bytes)
{
	return bytes / ARRAYS / arrays->element / 4096 * 4096;
}

/* That may be taken: four fifths of the memory, and of a CPU's no more than a proof takes. */
static size_t size_most(const struct arrays *arrays, size_t reach)
{
	const struct card *const card = arrays->card;
	size_t most = (size_t)card->memory / 5 * 4;

	if (most / ARRAYS > (size_t)card->largest)
		most = (size_t)card->largest * ARRAYS;
	if (card_is_cpu(card)) {
		most = most < memory_available() / 2 ? most : memory_available() / 2;
		most = most < 2 * reach ? most : 2 * reach;
	}
	return most < SIZE_MOST ? most : SIZE_MOST;
}

/* The best of some launches, seconds; the first is not counted. */
static double size_time(struct arrays *arrays)
{
	struct shape shape = SIZE_SHAPE;
	double best = 0, now;
	int i;

	if (shape.local > arrays->card->local_most)
		shape.local = arrays->card->local_most;
	kernels_begin(arrays);
	for (i = 0; i <= SIZE_TIMES; i++) {
		now = kernels_run(arrays, TRIAD, &shape, 0).host;
		if (i && (i == 1 || now < best))
			best = now;
	}
	return best;
}

/* Sizes that double; one of them is the given one. */
static void size_measure(struct size_found *found, struct arrays *arrays, size_t given)
{
	struct residency_curve *const curve = &found->curve;
	size_t n = given ? given : elements(arrays, SIZE_LEAST);
	double seconds;

	while (given && three(arrays, n / 2) >= SIZE_LEAST)
		n = n / 2 / 4 * 4;
	for (; n <= arrays->room && curve->count < RESIDENCY_SIZES; n *= 2) {
		if (given && n < given && 2 * n > given)
			n = given;
		arrays->n = n;
		seconds = size_time(arrays);
		curve->bytes[curve->count] = three(arrays, n);
		curve->gbs[curve->count++] = 1e-9 * kernels_bytes(arrays, TRIAD) / seconds;
		if (three(arrays, n) >= found->reach &&
		    (given ? n >= given : seconds > SIZE_SECONDS))
			break;
	}
}

static int size_place(const struct size_found *found, const struct arrays *arrays, size_t n)
{
	int i;

	for (i = 0; i < found->curve.count; i++)
		if (found->curve.bytes[i] == three(arrays, n))
			return i;
	return found->curve.count - 1;
}

void size_find(struct size_found *found, struct arrays *arrays, size_t given)
{
	const struct card *const card = arrays->card;
	size_t most;
	int at;

	memset(found, 0, sizeof(*found));
	given = given / 4096 * 4096;
	found->reach =
		residency_reach((size_t)card->cache, card_is_cpu(card) ? (int)card->units : 1);
	if (verdict_allows(ARRAY_TOO_SMALL) && given) {
		kernels_take_memory(arrays, given);
		found->bytes = three(arrays, arrays->n);
		return;
	}
	most = elements(arrays, size_most(arrays, found->reach));
	kernels_take_memory(arrays, given > most ? given : most);
	given = given < arrays->room ? given : arrays->room;
	size_measure(found, arrays, given);
	at = given ? size_place(found, arrays, given) : found->curve.count - 1;
	arrays->n = found->curve.bytes[at] / ARRAYS / arrays->element;
	found->bytes = found->curve.bytes[at];
	found->known = residency_at(&found->curve, at, found->reach);
	at = residency_plateau(&found->curve);
	found->begins = at < 0 ? 0 : found->curve.bytes[at];
}

void size_judge(const struct size_found *found, const struct arrays *arrays)
{
	const double mib = (double)found->bytes / ARRAYS / MIB;
	const int unknown = verdict_allows(ARRAY_TOO_SMALL) ? ARRAY_TOO_SMALL : NOT_PROVEN;

	if (found->known == RESIDENCY_CONTRADICTED)
		verdict_invalid(
			ARRAY_TOO_SMALL,
			"arrays of %.1f MiB lie in a cache of '%s': with larger ones triad "
			"falls to %.1f GB/s",
			mib, arrays->card->name, found->curve.gbs[found->curve.count - 1]);
	else if (found->known != RESIDENCY_PROVEN)
		verdict_invalid(unknown,
				"arrays of %.1f MiB are not proven to lie in the memory of '%s': "
				"that takes %.0f MiB",
				mib, arrays->card->name, (double)found->reach / ARRAYS / MIB);
}

void size_write(const struct size_found *found)
{
	const struct residency_curve *const curve = &found->curve;
	int i;

	json_open("residency", '{');
	json_text("known", residency_word(found->known));
	json_count("bytes", found->bytes);
	json_count("plateau_from_bytes", found->begins);
	json_count("largest_bytes", curve->count ? curve->bytes[curve->count - 1] : 0);
	json_open("readings", '[');
	for (i = 0; i < curve->count; i++) {
		json_open(NULL, '{');
		json_count("bytes", curve->bytes[i]);
		json_positive("triad_gbs", curve->gbs[i]);
		json_close('}');
	}
	json_close(']');
	json_close('}');
}
