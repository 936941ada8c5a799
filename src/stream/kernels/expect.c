#include "expect.h"

#include "../../harness/error.h"

#include <float.h>

/* More would find nothing: where four kernels were exact so often, their values repeat. */
enum { EXACT_MOST = 16 };

/* A product with s takes two bits more than its factor, a sum with it a few more again. */
enum { GUARD_BITS = 11 };

static const wide SMALLEST = 1e-9L, LARGEST = 1e9L; /* far from denormals, far from overflow */

void expect_start(element start[ARRAYS])
{
	int k;

	start[ARRAY_a] = (element)((double)0x2969696969697LL / 562949953421312.0); /* / 2^49 */
	if (sizeof(element) == sizeof(float))
		start[ARRAY_a] = (element)(0x14B4B5 / 1048576.0); /* 21 bits / 2^20 */
	start[ARRAY_b] = 2;
	start[ARRAY_c] = 0;
	for (k = ARRAY_c + 1; k < ARRAYS; k++) /* that no kernel of STREAM writes */
		start[k] = 2;
}

/* Whether the formula gives another value where each of its steps is rounded to an element. */
static int rounds_within(const struct kernel *kernel, const element values[ARRAYS], wide value)
{
	element read[LOADS_MOST];
	volatile element own; /* -ffast-math would not round */
	int i;

	for (i = 0; i < kernel->loads; i++)
		read[i] = values[kernel->reads[i]];
	own = kernel->own(read, SCALAR);
	return (wide)own != value;
}

static wide exact_value(const struct kernel *kernel, const element values[ARRAYS])
{
	wide read[LOADS_MOST];
	int i;

	for (i = 0; i < kernel->loads; i++)
		read[i] = values[kernel->reads[i]];
	return kernel->value(read, SCALAR);
}

static int fits_element(wide value)
{
	const wide size = value < 0 ? -value : value;
	volatile element result = (element)value;

	return (wide)result == value && size <= LARGEST && (size >= SMALLEST || size == 0);
}

enum rounding { EXACT, RESULT_ROUNDS, PART_ROUNDS };

/* One iteration; the first kernel that is not exact, or KERNELS, and what of it rounds. */
static int replay(element values[ARRAYS], enum rounding *what)
{
	int k, rounds = KERNELS;

	*what = EXACT;
	for (k = 0; k < KERNELS; k++) {
		const wide value = exact_value(&kernels[k], values);

		if (rounds == KERNELS) {
			*what = !fits_element(value)                        ? RESULT_ROUNDS
				: rounds_within(&kernels[k], values, value) ? PART_ROUNDS
									    : EXACT;
			rounds = *what ? k : KERNELS;
		}
		values[kernels[k].writes] = (element)value;
	}
	return rounds;
}

/* Without wider arithmetic nothing shows what rounds: one iteration is taken to be exact. */
static int can_see_rounding(void)
{
	const int bits = sizeof(element) == sizeof(float) ? FLT_MANT_DIG : DBL_MANT_DIG;

	return LDBL_MANT_DIG >= bits + GUARD_BITS;
}

int expect_reset_every(void)
{
	static int exact;
	element values[ARRAYS];
	enum rounding what = EXACT;
	int rounds = KERNELS;

	if (exact)
		return exact;
	expect_start(values);
	do
		rounds = replay(values, &what);
	while (rounds == KERNELS && ++exact < EXACT_MOST && can_see_rounding());
	if (!exact && what == PART_ROUNDS)
		die("the kernel '%s' rounds within its formula: its elements have no exact value",
		    "group its terms, as a + (b + s * c) (src/stream/kernels/expect.h)",
		    kernels[rounds].name);
	if (!exact)
		die("the kernel '%s' rounds: its elements have no exact value",
		    "change its factors (src/stream/kernels/expect.h says what is exact)",
		    kernels[rounds].name);
	return exact;
}

int expect_is_carried(enum array array)
{
	int k, i;

	for (k = 0; k < KERNELS; k++) {
		for (i = 0; i < kernels[k].loads; i++)
			if (kernels[k].reads[i] == array)
				return 1;
		if (kernels[k].writes == array)
			return 0;
	}
	return 0;
}

void expect_after(element expected[ARRAYS], int iterations)
{
	const int every = expect_reset_every();
	enum rounding what;
	int i;

	expect_start(expected);
	for (i = (iterations - 1) / every * every; i < iterations; i++)
		replay(expected, &what);
}
