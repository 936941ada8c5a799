"""A fifth kernel in a copy of the sources: `update: a = s * a`, in two files."""

import shutil

from places import ROOT

NAME, TITLE, BYTES = 'update', 'Update', 16
LIST, LOOP, ROW = 'K(triad)', '#define RUN(name) kernel_##name', '[KERNEL_triad] = {'
LOOP_TEXT = """\
static void update(written a, element s, size_t n)
{{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = {loop};
}}

static wide update_value(wide a, wide y, wide s)
{{
	(void)y, (void)s;
	return {value};
}}

static NOINLINE void kernel_update(const struct arrays *arrays)
{{
#pragma omp parallel
	{{
		const struct share mine = share_of_thread(arrays->size);

		update(arrays->of[0] + mine.first, arrays->scalar, mine.size);
	}}
}}

"""
ROW_TEXT = """\
[KERNEL_update] = { "update", ARRAY_a, 1, { ARRAY_a }, update_value, RUN(update) },
\t"""


def copy_with_fifth_kernel(folder, loop='s * a[i]', value='s * a'):
    """The sources with it, in `folder`/src; its path."""
    source = folder / 'src'
    shutil.copytree(ROOT / 'src', source, ignore=shutil.ignore_patterns('membw', '*.egg-info'))
    kernels = source / 'stream/kernels'
    _replace(kernels / 'kernels.h', LIST, f'{LIST} K({NAME})')
    _replace(kernels / 'kernels.c', LOOP, LOOP_TEXT.format(loop=loop, value=value) + LOOP)
    _replace(kernels / 'kernels.c', ROW, ROW_TEXT + ROW)
    return source


def _replace(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name}: '{old}' stands there {text.count(old)} times"
    path.write_text(text.replace(old, new))
