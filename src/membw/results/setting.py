"""What has to be equal before figures are compared, made of a record."""

from operator import attrgetter
from typing import NamedTuple

from membw.printable import printable
from membw.results import provenance
from membw.results.record import REFRAME, Build, Case, Record

UNKNOWN = 'unknown'  # of a build
MOST = 2_000  # that are kept


class Setting(NamedTuple):
    """What has to be equal before figures are compared. Options that were given belong to it; the
    array size that the program chose does not."""

    system: str = ''
    partition: str = ''
    test: str = ''
    parameters: str = ''
    preset: str = ''
    pinning: str = ''
    build: str = ''  # its code, or that it is not known; where there is no preset
    program: str = ''
    language: str = ''
    kernels_set: str = ''
    element_bytes: str = ''
    mode: str = ''
    precision: str = ''
    threads: str = ''
    array_size: str = ''
    ntimes: str = ''
    wait_policy: str = ''
    pages: str = ''
    shapes: str = ''
    cpu_model: str = ''
    compiler: str = ''
    flags: str = ''

    @property
    def text(self) -> str:
        """'system=thin test=stream ...'."""
        return ' '.join(f'{name}={value}' for name, value in self._asdict().items() if value)

    @property
    def name(self) -> str:
        """'thin:batch stream gcc-o2 omp'."""
        where = ':'.join(filter(None, (self.system, self.partition)))
        words = self.test, self.parameters, self.preset, self.pinning
        return ' '.join(filter(None, (where, *words)))

    @property
    def series(self) -> tuple[str, ...]:
        """One test, preset and pinning on one partition: what is measured at one time."""
        return self[:6]

    @property
    def conditions(self) -> 'Setting':
        """Without compiler and CPU: what a history goes on with when one of these changes."""
        return self._replace(compiler='', flags='', cpu_model='')


_own = attrgetter(
    'program', 'language', 'kernels_set', 'element_bytes', 'mode', 'precision', 'threads'
)
_more = attrgetter('array_size', 'array_size_from', 'ntimes', 'runtime')
_settings: dict[tuple, tuple[Setting, Case, Build]] = {}
_same: dict[Setting, Setting] = {}


def setting_of(record: Record, place: str) -> Setting:
    """Found by the objects that records share, where it was made before; equal ones are one
    object: a year of records has few."""
    if record.shapes:
        return _made_setting(record, place)
    case, build, pages = record.case, record.build, provenance.requested_pages(record)
    key = id(case), id(build), record.facts.cpu_model, pages, _own(record), _more(record)
    if key in _settings:
        return _settings[key][0]
    made = _made_setting(record, place)
    if made.build.startswith(UNKNOWN):
        return made
    if len(_settings) > MOST:
        _settings.clear()
    made = _same.setdefault(made, made)
    _settings[key] = made, case, build  # kept: their ids stay theirs
    return made


def _made_setting(record: Record, place: str) -> Setting:
    """Without a preset the code stands for the build; where neither is known, `place` does: such a
    record is compared with no other."""
    case, build = record.case, record.build
    preset = case.environ or build.preset
    is_known = preset or record.program == REFRAME  # by its name
    code = '' if is_known else case.code_sha256 or build.code_sha256 or f'{UNKNOWN}, {place}'
    values = (
        case.system, case.partition, case.test or record.program, case.parameters, preset,
        case.pinning, code, *_own(record),
        record.array_size if record.array_size_from == 'option' else None, record.ntimes or None,
        record.runtime and record.runtime.wait_policy, provenance.requested_pages(record),
        provenance.shapes(record), record.facts.cpu_model, build.compiler, build.flags,
    )  # fmt: skip
    return Setting(*('' if value is None else printable(value) for value in values))
