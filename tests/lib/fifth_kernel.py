"""A fifth kernel in a copy of the sources: `update: a += b + s * c`, three loads, in two files."""

from changed_source import copy_source

NAME, TITLE, BYTES = 'update', 'Update', 32
LIST, LOOP, ROW = 'K(triad)', '#ifndef MEMBW_FORTRAN', '[KERNEL_triad] = {'
LOOP_TEXT = """\
static void update(written a, only_read b, only_read c, element s, size_t n)
{{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = {loop};
}}

static wide update_value(const wide read[], wide s)
{{
	return {value};
}}

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
[KERNEL_update] = { "update", ARRAY_a, 3, { ARRAY_a, ARRAY_b, ARRAY_c }, update_value,
\t\t\t    RUN(update) },
\t"""
RIGHT = 'a[i] + (b[i] + s * c[i])', 'read[0] + (read[1] + s * read[2])'


def copy_with_fifth_kernel(folder, loop=RIGHT[0], value=RIGHT[1]):
    """The sources with it, in `folder`/src; its path."""
    loops = LOOP_TEXT.format(loop=loop, value=value)
    return copy_source(
        folder,
        ('stream/kernels/kernels.h', LIST, f'{LIST} K({NAME})'),
        ('stream/kernels/kernels.c', LOOP, loops + LOOP),
        ('stream/kernels/kernels.c', ROW, ROW_TEXT + ROW),
    )
