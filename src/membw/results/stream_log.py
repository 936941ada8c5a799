"""Output of stream.c, of its MPI version and of our stream, kept as the log of a node: n001.log,
and n001.2.log of a second run. Several runs may follow one another in a file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STREAM_C, OURS = 'stream.c', 'stream'
# what a launcher, a logger or a mail puts before each line is before this one, too
BEGIN = re.compile(
    r"""^([^\n"']{0,80}?)(STREAM version \$Revision|membw stream \S+, a STREAM)""", re.M
)
CLOCK = re.compile(r'\d\d:\d\d')
COLOUR = re.compile(r'\x1b\[[\d;]*m')
RATE = re.compile(r'^(Triad|Copy|Scale|Add):[ \t]*(.*)', re.M)  # and three times
UNIT = re.compile(r'^Function\b.*\bRate \(?(\w+/s)\b', re.M)  # 5.9: in brackets
# of 5.8 to 5.10, and of stream_mpi; the last that is found counts: 5.9 says what was requested
CONDITIONS = (
    ('array_size', r'Array size = (\d+)'),
    ('threads', r'^Number of Threads requested\b.* = (\d+)'),
    ('threads', r'^Number of Threads counted\b.* = (\d+)'),
    ('ranks', r'^Data is distributed across (\d+) MPI ranks'),
    ('element_bytes', r'\b(\d+) bytes per (?:array )?(?:element|DOUBLE PRECISION word)'),
)
SIGNS = {'≥': 'lower', '>=': 'lower', '≤': 'upper', '<=': 'upper', '~': 'unknown'}
# of ours: it prints no table of bounds
OWN_LINE = re.compile(r'^In GB/s \([^)]*\):(.*)', re.M)
OWN = re.compile(r'\b(copy|scale|add|triad) (?:(≥|>=|≤|<=|~) )?([\d.]+)')
VERDICT = re.compile(r'^Verdict: ((?:INVALID|UNDECIDED).*)', re.M)
ADDRESS = re.compile(r'(\d+\.){3}\d+')
NAMED = 'output of STREAM of no known node: name it n001.log, or give --as n001=FILE'


def is_one(text: str) -> bool:
    return bool(BEGIN.search(text))


def node_of(file: str | Path) -> tuple[str, int]:
    """(node, which of its logs): 'n1' and 2 of 'n1.2.log'. ValueError: what else is in a name (a
    job's number, its name) cannot be told from a node's."""
    name = Path(file).name
    stem = name.removesuffix('.txt').removesuffix('.log')
    if stem in (name, name.removesuffix('.txt')):
        raise ValueError(NAMED)
    numbered = re.fullmatch(r'(.+)\.(\d+)', stem)
    if numbered and not ADDRESS.fullmatch(stem):
        return numbered[1], int(numbered[2])
    return stem, 1


def cases(file: Path, text: str, node: str = '') -> Iterator[dict[str, Any]]:
    """Each run, as a report of ReFrame has a case; of `node`, else of that in the file's name.
    ValueError: it is of no node."""
    if not file.is_file():
        raise ValueError(NAMED)
    node, text = node or node_of(file)[0], COLOUR.sub('', text)
    begins = [*BEGIN.finditer(text)]
    tasks = {begin[1] for begin in begins if not CLOCK.search(begin[1])}
    if len(tasks) > 1:
        raise ValueError(f'output of STREAM of {len(tasks)} tasks (srun -l): give each its file')
    ends = [begin.start() for begin in begins[1:]] + [len(text)]
    for begin, end in zip(begins, ends, strict=True):
        run = text[begin.start() : end]
        run = re.sub(label(begin[1]), '', run, flags=re.M) if begin[1] else run
        yield {
            **_of_run(run), 'system': '', 'partition': '', 'environ': '', 'job_nodelist': [node],
            'job_completion_time_unix': file.stat().st_mtime,
        }  # fmt: skip


def label(before: str) -> str:
    """The pattern of what is before each line: '0: ', '[1,0]<stdout>:', a date; its numbers and
    blanks change."""
    return '^' + re.sub(r'(\\ )+', ' *', re.sub(r'\d+', r'\\d+', re.escape(before)))


def _of_run(text: str) -> dict[str, Any]:
    is_ours = text.startswith('membw')
    found = ((name, re.search(form, text, re.M)) for name, form in CONDITIONS)
    # what is not known equals nothing that is
    conditions = {'threads': 'unknown'} | {name: at[1] for name, at in found if at}
    if conditions.get('element_bytes') == '8':
        del conditions['element_bytes']
    tables, units = RATE.findall(text), {*UNIT.findall(text)}
    rates = {name.lower(): _rate(rate) for name, rate in tables}
    own = OWN.findall(' '.join(OWN_LINE.findall(text))) if is_ours else []
    bounds = {name: SIGNS[sign] for name, sign, _ in own if sign}
    if bounds and not tables:
        tables, units = [(name, value) for name, _, value in own], {'GB/s'}
        rates = {name: float(value) for name, value in tables}
    failed, wrong = VERDICT.search(text), ''
    if failed:
        wrong = failed[1]
    elif 'Failed Validation' in text:
        wrong = 'not-validated: Failed Validation'
    elif len(tables) != len(rates) or rates and len(units) != 1:
        count = len(tables) / max(len(rates), 1)
        wrong = f'{count:g} tables of rates in {len(units)} units, not one in one'
    names = [] if wrong else sorted(rates, reverse=True) or ['triad']
    is_whole = bool(rates) and (
        'Solution Validates' in text or bounds and 'Validated: all' in text
    )
    words = [OURS if is_ours else STREAM_C, *(f'%{n}={v}' for n, v in conditions.items())]
    return {
        'name': ' '.join(words), 'result': 'pass' if is_whole or wrong else 'fail',
        'fail_phase': 'sanity', 'fail_reason': 'no table of rates and "Solution Validates"',
        'wrong': wrong, 'bounds': bounds,
        # Triad first: it stands for the others
        'perfvalues': {name: [rates.get(name), *[None] * 3, *units] for name in names},
    }  # fmt: skip


def _rate(row: str) -> float | str:
    words = row.split()
    return number(words[0]) if len(words) in (1, 4) else row.strip()


def number(text: str) -> float | str:
    """The text, where it is none."""
    try:
        return float(text)
    except ValueError:
        return text
