"""What the parties agreed that a run is: program, kernels, language, compiler, flags."""

import re
from functools import lru_cache
from pathlib import Path

from membw.checkout import root, systems
from membw.errors import MembwError
from membw.presets.presets import PresetError, load
from membw.printable import printable
from membw.results.case import STREAM

# what a record says of itself: what a protocol may name, and what it is where none is named
KIND = {'program': 'stream', 'kernels_set': 'standard', 'language': 'c', 'element_bytes': 8}
# a preset is <family>-<tuning>; the name that a family's compiler gives itself, where it differs
CALLED = {'icc13': ('icc',), 'aocc': ('aocc', 'clang')}
NO_FLAG = re.compile(r'-[DILlo]|[^-]')  # definitions, folders, libraries, outputs and files


def known_systems():
    try:
        return systems()
    except MembwError:  # no checkout: a report does not need one
        return []


def presets():
    """The rows of configs/presets.yaml and the families: ({}, {}) where there is no checkout."""
    try:
        path = Path(root(), 'configs', 'presets.yaml')
    except MembwError:
        return {}, {}
    try:
        return _read(path, path.stat().st_mtime_ns)
    except PresetError as err:
        raise MembwError(str(err).removeprefix('membw: ')) from err


@lru_cache
def _read(path, _changed):
    """Once: every run of an acceptance asks for it."""
    table = load(path)
    return table['presets'], table['families']


def problems(protocol):
    """What cannot be run as it is written: systems, presets and kernels that do not exist.

    What there is no checkout to compare with is not told.
    """
    runs = protocol['runs']
    for word, name, known in (
        ('runs.system', runs['system'], known_systems()),
        ('runs.preset', runs['preset'], list(presets()[0])),
        *((f'contract.{name}', name, STREAM) for name in _new_kernels(protocol)),
    ):
        if known and name not in known:
            yield f"{word}: no '{name}', known are {', '.join(known)}"


def _new_kernels(protocol):
    """Names in the contract that must be kernels of `stream` and that its table does not name."""
    of_stream = protocol['runs'].get('test', 'stream') == 'stream'
    metrics = protocol['metrics'] if of_stream else {}
    try:
        table = Path(root(), 'src', 'stream', 'kernels', 'kernels.c').read_text()
    except (MembwError, OSError):
        return []
    return [n for n, metric in metrics.items() if metric.is_bandwidth and f'"{n}"' not in table]


def agreed_flags(runs):
    """The words of the agreed flags, or None where neither protocol nor table tells them."""
    if 'flags' in runs:
        return words(runs['flags'])
    rows, families = presets()
    row = rows.get(runs['preset'])
    if not row:
        return None
    line = (
        row['fortran'] if runs.get('language') == 'fortran' and 'fortran' in row else row['line']
    )
    openmp = families[row['family']]['openmp']
    return words(re.sub(r'\{\w+\}', '', line.replace('{openmp}', openmp)))


def words(line):
    """The flags of a compile line, or of the flags alone, in order."""
    quoted, parts = [], line.split()
    for before, word in zip(['', *parts], parts, strict=False):
        if not NO_FLAG.match(word) and before != '-o':
            quoted.append(word)
    return quoted


def other_kind(runs, traits):
    """What a record says of its program that was not agreed."""
    of_stream = runs.get('test', 'stream') == 'stream'
    for name, usual in KIND.items():
        agreed = runs.get(name, usual if of_stream else traits.get(name))
        if traits.get(name, agreed) != agreed:
            yield printable(f'{name} {traits[name]}')


def other_build(runs, known):
    """Compiler and flags of the record that were not agreed; what it does not say is not held."""
    compiler = known.get('compiler')
    is_built_by_us = 'environ' in known or 'preset' in known
    if 'compiler' in runs:
        if not _is_version(compiler or '', runs['compiler']):
            yield printable(f'compiler {compiler or "not recorded"}')
    elif compiler and not is_built_by_us:
        family = runs['preset'].split('-')[0]
        if compiler.split()[0] not in CALLED.get(family, (family,)):
            yield printable(f'compiler {compiler}')
    line = known.get('compile_line') or known.get('flags')
    # a recorded preset was held to its line when it was built; a bare record is held to it here
    is_held = 'flags' in runs or not is_built_by_us
    agreed = agreed_flags(runs) if is_held else words(line or '')
    if not line:
        if 'flags' in runs:
            yield 'flags not recorded'
    elif agreed is None:
        yield f'nothing here says what the flags of preset {runs["preset"]} are: name runs.flags'
    elif words(line) != agreed:
        yield printable(f'flags {" ".join(words(line))}')


def _is_version(compiler, agreed):
    """'gcc 12.2.0' is 'gcc 12.2' and 'gcc', not 'gcc 12.20' and not 'gcc 1'."""
    return compiler == agreed or re.match(rf'{re.escape(agreed)}[ .-]', compiler) is not None
