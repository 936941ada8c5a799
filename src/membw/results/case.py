"""What was measured, as named fields, and what is compared with what.

A Case is made of a record, or of a test case of ReFrame. A key is a Case in which the fields that
do not belong to it are blank, so that its fields can be read and no text is taken apart:

row      what a night expects and a table shows in one line
series   what history follows
setting  who is whose peer: one setting has many nodes
of_card  the same of a card (GPU), whose host's CPU and compiler have no part in its figures

docs/judging.md has the table of BELONGS.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from membw.printable import printable
from membw.results import provenance
from membw.results.record import REFRAME, Record

Parameters = tuple[tuple[str, str], ...]  # (name, value), by name
UNKNOWN = 'unknown'  # of a build
CARD = 'card'  # the parameter that is the number of a card on its node
ROW, SERIES, SETTING, OF_CARD = 'row', 'series', 'setting', 'of_card'
EVERY = ROW, SERIES, SETTING, OF_CARD
HASH = re.compile(r' /[0-9a-f]{8}\b.*')  # behind a name, as `reframe -l` lists it
# {field: the keys that it belongs to}
BELONGS = {
    'system': EVERY,
    'partition': EVERY,
    'test': EVERY,
    'parameters': EVERY,
    'preset': EVERY,
    'pinning': EVERY,
    'node': (ROW, SERIES),
    **dict.fromkeys(
        (
            'program', 'language', 'kernels_set', 'element_bytes', 'mode', 'precision', 'ranks',
            'threads', 'array_size', 'ntimes', 'wait_policy', 'pages', 'shapes', 'build',
        ),
        (SERIES, SETTING, OF_CARD),
    ),
    'card_model': (SETTING, OF_CARD),
    'cpu_model': (SETTING,),  # a node's history goes on, and says what changed
    'compiler': (SETTING,),
    'flags': (SETTING,),
}  # fmt: skip


class Case(NamedTuple):
    """'' is not known, or not given. The array size that a program chose itself is none."""

    system: str = ''
    partition: str = ''
    test: str = ''
    parameters: Parameters = ()
    preset: str = ''
    pinning: str = ''
    node: str = ''
    program: str = ''
    language: str = ''
    kernels_set: str = ''
    element_bytes: str = ''
    mode: str = ''
    precision: str = ''
    ranks: str = ''  # on its node, of several
    threads: str = ''
    array_size: str = ''
    ntimes: str = ''
    wait_policy: str = ''
    pages: str = ''
    shapes: str = ''
    build: str = ''  # its code, or that it is not known; where there is no preset
    card_model: str = ''  # of a GPU that was measured
    cpu_model: str = ''
    compiler: str = ''
    flags: str = ''

    @property
    def row(self) -> 'Case':
        return key_of(self, ROW)

    @property
    def series(self) -> 'Case':
        return key_of(self, SERIES)

    @property
    def setting(self) -> 'Case':
        return key_of(self, SETTING)

    @property
    def of_card(self) -> 'Case':
        return key_of(self, OF_CARD)

    @property
    def requested(self) -> 'Case':
        """Its row, as every node of this CPU is to measure it; what no check requested (the
        threads and the size that an output of stream.c prints) is left out."""
        parameters = self.parameters if self.system or self.card_model else ()
        models = {'cpu_model': self.cpu_model, 'card_model': self.card_model}
        return self.row._replace(parameters=parameters, **models)

    @property
    def is_of_unknown_build(self) -> bool:
        return self.build[: len(UNKNOWN)] == UNKNOWN

    def at(self, node: str) -> 'Case':
        return self._replace(node=node)

    @property
    def where(self) -> str:
        """'thin:batch'."""
        return ':'.join(filter(None, (self.system, self.partition)))

    @property
    def more(self) -> str:
        """'size=1 mode=read': the parameters but for the pinning."""
        return named(self.parameters)

    @property
    def name(self) -> str:
        """'thin:batch stream gcc-o2 omp'."""
        words = self.where, self.test, self.more, self.preset, self.pinning, self.node
        return ' '.join(filter(None, words))

    @property
    def texts(self) -> dict[str, str]:
        return self._asdict() | {'parameters': self.more}

    def differs(self, other: 'Case') -> tuple[tuple[str, str, str], ...]:
        """(field, its value here, there) of those that differ."""
        here, there = self.texts, other.texts
        return tuple((n, here[n][:60], there[n][:60]) for n in here if here[n] != there[n])

    def as_dict(self) -> dict[str, object]:
        """For JSON: what is known, the parameters as an object."""
        known = {name: value for name, value in self._asdict().items() if value}
        return known | ({'parameters': dict(self.parameters)} if self.parameters else {})


_BLANK = {key: {f: Case._field_defaults[f] for f in BELONGS if key not in BELONGS[f]}
          for key in EVERY}  # fmt: skip


@lru_cache(10_000)
def key_of(case: Case, key: str) -> Case:
    return case._replace(**_BLANK[key])


def named(pairs: Iterable[tuple[str, str]]) -> str:
    return ' '.join(f'{name}={value}' for name, value in pairs)


def mapping(pairs: Iterable[tuple[str, str]]) -> Parameters:
    """Without the pinning, which is a field, and the round, which tells no cases apart."""
    return tuple(sorted((n, printable(v)) for n, v in pairs if n not in ('pinning', 'round')))


def parameters_of(given: dict[str, str] | str | None) -> Parameters:
    """Of a record's case; of membw 1.0.0, and of other tests, as ReFrame displays them."""
    if isinstance(given, str):
        given = of_display_name(given).pairs
    return mapping((given or {}).items())


class Name(NamedTuple):
    """A test case as ReFrame displays it."""

    test: str
    pairs: dict[str, str]  # its parameters, with pinning and round
    node: str  # to which --distribute pinned it


@lru_cache(10_000)
def of_display_name(text: str) -> Name:
    """Of 'stream %pinning=omp %.nid=n1', and of '%pinning=omp'. The one place that takes ReFrame's
    names apart; names that begin with '.' or '$' are ReFrame's own (--distribute, --repeat)."""
    test, *words = re.split(r'(?:^|\s+)(?=%)', text.strip())
    pairs = dict(HASH.sub('', word[1:]).strip().partition('=')[::2] for word in words)
    own = {n: v for n, v in pairs.items() if n[:1] not in ('.', '$')}
    return Name([*test.split(), ''][0].split('@')[0], own, pairs.get('.nid', ''))


# --- of a record ---------------------------------------------------------------------------

_own = attrgetter('program', 'language', 'kernels_set', 'element_bytes', 'mode', 'precision')


@lru_cache(2_000)
def _shared(values: tuple) -> Case:
    """Equal cases are one object: a year of records has few."""
    texts: Any = ('' if v is None else v if isinstance(v, tuple) else printable(v) for v in values)
    return Case(*texts)


def setting_of(record: Record, place: str) -> Case:
    """Its setting. Without a preset the code stands for the build; where neither is known, `place`
    does: such a record is compared with no other."""
    case, build = record.case, record.build
    parameters, card = parameters_of(case.parameters), record.device
    if card:
        parameters = mapping({**dict(parameters), CARD: str(card.index)}.items())
    preset = case.environ or build.preset
    is_known = preset or record.program == REFRAME  # by its name
    code = '' if is_known else case.code_sha256 or build.code_sha256 or f'{UNKNOWN}, {place}'
    values = (
        case.system, case.partition, case.test or record.program, parameters, preset,
        case.pinning, '', *_own(record), '', record.threads,
        record.array_size if record.array_size_from == 'option' else None, record.ntimes or None,
        record.runtime and record.runtime.wait_policy, provenance.requested_pages(record),
        provenance.shapes(record), code, card and card.name, record.facts.cpu_model,
        build.compiler, build.flags,
    )  # fmt: skip
    setting = _shared(values)
    return setting.of_card if card else setting
