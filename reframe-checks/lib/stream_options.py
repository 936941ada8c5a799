"""Shared by all checks of src/stream: sizes, peak, and the compiler's stores."""

import reframe as rfm
from reframe.core.builtins import variable

from lib.batch_job import option_words
from lib.logged import logged_number, logged_text
from membw.errors import MembwError

# of the kinds that are reserved; how much of the arrays came in transparent ones, the program says
PAGE_KIB = {'2M': 2048, '1G': 1048576}


def other_pages(requested: str | None, got: dict) -> list[str]:
    """Where the arrays do not lie in the reserved pages that the preset asks for, as text."""
    if got['page_kib'] == PAGE_KIB.get(requested or '', got['page_kib']):
        return []
    return [f'wrong-placement (pages of {got["page_kib"]} KiB, {requested} requested)']


class stream_options(rfm.RegressionTestPlugin):
    # set by -S or by the partition; 0 leaves it to the program. After the run: what was
    array_size = logged_number()
    ntimes = logged_number()
    # the longest that a figure is waited for, unless there is a number of repetitions
    max_seconds = variable(float, value=0.0)
    # what limits Triad: half of the threads, one, both kinds of stores
    explain = variable(bool, value=False)
    # after the run
    stores = logged_text()
    peak_key = 'peak_gbs'

    def program_options(self, record: str) -> list[str]:
        extras = self.current_partition.extras
        size = self.array_size or extras.get('array_size')
        times = self.ntimes or extras.get('ntimes')
        given = {
            '-n': size,
            '-t': times,
            '--max-seconds': not times and self.max_seconds,
            '--explain': self.explain and getattr(self, 'round', 1) == 1,  # one look is enough
            '--pages': self.pages_requested(),
        }
        return [*option_words(given), *super().program_options(record)]

    def pages_requested(self) -> str | None:
        return self.current_environ.extras.get('pages')

    def note_provenance(self, record: dict) -> None:
        super().note_provenance(record)
        self.array_size, self.ntimes = record['array_size'], record['ntimes']

    def note_build(self) -> None:
        """And why two compilers differ: memcpy or a loop, how wide, past the caches or not."""
        super().note_build()
        # the disassembler takes time to load
        from membw.codegen.kernels import brief, read_kernels

        try:
            codegen = read_kernels(self.binary.path)
        except (MembwError, OSError) as err:
            codegen, why = {}, str(err)
        self.further = {'codegen': codegen}
        self.stores = brief(codegen) if codegen else ''
        self.say(f'stores: {self.stores or why}')
