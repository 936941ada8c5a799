"""A fifth kernel in a copy of the sources: `update: a += b + s * c`, three loads, in two files."""

NAME, TITLE, BYTES = 'update', 'Update', 32
LIST, LOOP, ROW = 'K(triad)', '#ifndef MEMBW_FORTRAN', '[KERNEL_triad] = {'
LOOP_TEXT = """\
static void update(written a, only_read b, only_read c, element s, size_t n)
{{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = {loop};
}}

FORMULA(update, {value})

static NOINLINE void kernel_update(const struct arrays *arrays)
{{
#pragma omp parallel
	{{
		const struct share mine = share_of_thread(arrays->size);

		update(arrays->of[0] + mine.first, arrays->of[1] + mine.first,
			arrays->of[2] + mine.first, arrays->scalar, mine.size);
	}}
}}

"""
ROW_TEXT = """\
[KERNEL_update] = { "update", ARRAY_a, 3, { ARRAY_a, ARRAY_b, ARRAY_c }, VALUES(update),
\t\t\t    RUN(update) },
\t"""
RIGHT = 'a[i] + (b[i] + s * c[i])', 'read[0] + (read[1] + s * read[2])'


def fifth_kernel(loop=RIGHT[0], value=RIGHT[1]):
    """The changes that add it."""
    return (
        ('stream/kernels/kernels.h', LIST, f'{LIST} K({NAME})'),
        ('stream/kernels/kernels.c', LOOP, LOOP_TEXT.format(loop=loop, value=value) + LOOP),
        ('stream/kernels/kernels.c', ROW, ROW_TEXT + ROW),
    )


STRIAD = (
    LOOP_TEXT.replace('update', 'striad')
    .replace('only_read c, element s, size_t n', 'only_read c, only_read d, size_t n')
    .replace('arrays->scalar, mine.size', 'arrays->of[3] + mine.first, mine.size')
)
STRIAD_ROW = ROW_TEXT.replace('update', 'striad').replace(
    '{ ARRAY_a, ARRAY_b, ARRAY_c }', '{ ARRAY_b, ARRAY_c, ARRAY_d }'
)


# a kernel of a fourth array, `striad: a = b + c * d`
WITH_STRIAD = (
    ('stream/kernels/arrays.h', 'ARRAY_c, ARRAYS', 'ARRAY_c, ARRAY_d, ARRAYS'),
    ('stream/kernels/kernels.h', LIST, f'{LIST} K(striad)'),
    ('stream/kernels/kernels.c', LOOP,
     STRIAD.format(loop='b[i] + c[i] * d[i]', value='read[0] + read[1] * read[2]') + LOOP),
    ('stream/kernels/kernels.c', ROW, STRIAD_ROW + ROW),
)  # fmt: skip
