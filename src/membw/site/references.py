"""What is wrong in a file of systems/references: a typo would mean 'no reference: PASS'.

The names of metrics are not known here: a reference that was not measured makes its row UNDECIDED.
"""

import functools
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from membw import presets
from membw.checkout import checks
from membw.errors import did_you_mean
from membw.schema import Problem

INDEX = ['$partition', '$environ', 'pinning']
DGEMM = ('dgemm', 'cluster_dgemm')
PINNINGS = ('none', 'likwid', 'numactl', 'omp', 'kmp')
STREAM, NOTES, UNIT = 'stream', 'calibration', 'GB/s'
EXPECTED = '$xfail'  # ReFrame's mark of a failure that is known
KNOWN = "a known failure is ['$xfail', message, [166.6, -0.05, 0.1, GB/s]]"
SHAPE = (
    'a figure is [value above 0, lower from -1 to 0, upper from 0, unit: of stream GB/s], as in '
    '[166.6, -0.05, 0.1, GB/s]'
)


def parsed(text: str | bytes) -> tuple[Any, list[Problem]]:
    """(what YAML says, what is wrong of it as YAML)."""
    try:
        return presets.read_yaml(yaml, text), []
    except yaml.YAMLError as err:
        mark = getattr(err, 'problem_mark', None)
        where = f'line {mark.line + 1}: ' if mark else ''
        said = getattr(err, 'problem', None) or getattr(err, 'reason', None) or str(err)
        return None, [('', f'{where}{said}', 'fix that line')]


def problems_of(
    text: str | bytes, is_own: bool, system: dict[str, Any], table: dict[str, Any]
) -> Iterator[Problem]:
    """Of the text of a file, also of one to be written; `is_own`: of this system alone; `system`:
    content of the system file, `table`: of the presets."""
    data, problems = parsed(text)
    if problems:
        yield from problems
        return
    if not isinstance(data, dict):
        yield '', 'is no table of references', "'stream:' begins such a file"
        return
    for test, entries in data.items():
        if test == NOTES:
            continue
        yield from _unknown('', test, checks(), 'check')
        index = entries.get('$index') if isinstance(entries, dict) else None
        if index == INDEX:
            yield from _of_partitions(test, entries, system, table, is_own)
        elif not _is_index(index):
            hint = f'$index: [{", ".join(INDEX)}], or [$partition, attributes of the check]'
            yield test, f"'$index' is {index}: its keys would match no case", hint


def _is_index(index: Any) -> bool:
    """In another order the keys of the file match no case."""
    if not isinstance(index, list):
        return False
    of_reframe = [word for word in index if str(word).startswith('$')]
    return of_reframe in (INDEX[:1], INDEX[:2]) and index[: len(of_reframe)] == of_reframe


def _of_partitions(
    test: str, entries: Any, system: dict[str, Any], table: dict[str, Any], is_own: bool
) -> Iterator[Problem]:
    partitions = {f'{system["name"]}:{p["name"]}': p for p in system['partitions']}
    # by what the cases of a check differ: a pinning; of DGEMM the library
    pinning_names = tuple(presets.load_blas()) if test in DGEMM else PINNINGS
    for name, environs in _entries(entries):
        if is_own:  # a file that systems share has partitions of other systems, too
            yield from _unknown(test, name, partitions, 'partition')
        mine = [p for full, p in partitions.items() if _fits(name, full)]
        known = sorted({e for p in mine for e in presets.environs_of(p, table)})
        for environ, pinnings in _entries(environs):
            place = f"{test}.'{name}'"
            if known:
                yield from _unknown(place, environ, known, 'preset')
            for pinning, figures in _entries(pinnings):
                place = f"{test}.'{name}'.{environ}"
                yield from _unknown(place, pinning, pinning_names, 'pinning')
                yield from _of_figures(test, f'{place}.{pinning}', figures)


def _entries(table: Any) -> list[tuple[str, Any]]:
    pairs = table.items() if isinstance(table, dict) else ()
    return [(str(key), value) for key, value in pairs if not str(key).startswith('$')]


def _fits(pattern: str, name: str) -> bool:
    """As ReFrame matches a key."""
    try:
        return pattern == name or re.match(f'^{pattern}$', name) is not None
    except re.error:
        return False


def _unknown(place: str, name: str, known: Iterable[str], kind: str) -> Iterator[Problem]:
    if not any(_fits(str(name), one) for one in known):
        yield place, f"no {kind} '{name}'", did_you_mean(name, known)


def _of_figures(test: str, place: str, figures: Any) -> Iterator[Problem]:
    for name, figure in _entries(figures):
        is_known = isinstance(figure, list) and figure[:1] == [EXPECTED]
        if is_known and not (len(figure) == 3 and figure[1] and isinstance(figure[2], list)):
            yield f'{place}.{name}', f"'{EXPECTED}' without a message and a figure", KNOWN
        elif not _is_right(figure[2] if is_known else figure, test):
            yield f'{place}.{name}', f"'{figure}' cannot be used", SHAPE


def _is_right(figure: Any, test: str) -> bool:
    """[value, low, high, unit]; None: an open end."""
    if not isinstance(figure, list) or len(figure) != 4:
        return False
    value, low, high = numbers = [0 if part is None else part for part in figure[:3]]
    are_numbers = all(type(x) in (int, float) and math.isfinite(x) for x in numbers)
    is_between = are_numbers and value > 0 and -1 <= low <= 0 <= high
    return is_between and (test != STREAM or figure[3] == UNIT)


def entry_of(table: Any, name: str) -> Any:
    """By ReFrame's rule: of the key itself, else of the first pattern that fits; {}: none."""
    named = dict(_entries(table))
    return named.get(name) or next((e for n, e in named.items() if _fits(n, name)), {})


def figures_of(entries: Any, key: Iterable[str]) -> dict[str, Any]:
    """{metric: row} of a test's entries."""
    return dict(_entries(functools.reduce(entry_of, key, entries)))
