"""The head of a page: the headline, where it stands, the verdict and what needs attention."""

import statistics
from collections import Counter
from collections.abc import Sequence

from membw.possible import published, sentence
from membw.printable import plural
from membw.rank.ranking import Ranking
from membw.report.model import Alarm, Picture
from membw.report.run import Run
from membw.report.sections import bar_picture, metric_name
from membw.results.rows import Row
from membw.results.table import Table
from membw.results.verdict import PASS, WORST_FIRST
from membw.summary.full_table import text_of

FIRST = 'stream'  # the benchmark of the headline, where it was measured
LISTED = 20  # lines of what needs attention
IN_HEAD = 12  # bars of the picture


def headline_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of the headline's benchmark, in the order of `rows`: the best one first."""
    tests = [row.test for row in rows]
    test = FIRST if FIRST in tests else tests[0]
    return [row for row in rows if row.test == test]


def headline(rows: Sequence[Row]) -> str:
    """'Triad 45.8 ±4.6 GB/s' of the best row; of several nodes the median and the range."""
    if not rows[0].is_valid:
        return 'No valid figure'
    f = rows[0].headline
    best: dict[str, float] = {}
    for row in rows:
        if row.is_valid:
            best.setdefault(row.node, row.headline.value)
    if len(best) == 1:
        return f'{metric_name(f.metric)} {text_of(f)} {f.unit}'
    values = list(best.values())
    of = f'median of {len(values)} nodes ({min(values):.1f} to {max(values):.1f})'
    return f'{metric_name(f.metric)} {statistics.median(values):.1f} {f.unit}, {of}'


def standing(row: Row, table: Table, nodes: int = 1) -> list[str]:
    """Sentences: the row, whether the figure is good, the reference."""
    if not row.is_valid:
        return [f'{row.test} {row.name}: {row.reason}']
    f = row.headline
    lines = [f'{row.name} on {f.node}{", the fastest node" if nodes > 1 else ""}.']
    if f.metric == 'triad':
        stores = published.stores_of(row.stores)
        is_least = f.is_bound and not f.may_be_worse
        lines += sentence.lines_of(table.evidence(f), f.value, is_least, stores)
    if f.reference:
        part = 100 * (f.value / f.reference - 1)
        lines.append(f'{part:+.1f} % compared with its reference of {f.reference:g} {f.unit}.')
    else:
        lines.append('No reference is set.')
    return lines


def head_picture(rows: Sequence[Row], peak: float | None) -> Picture | None:
    """Bars of the headline's metric; None where no row is valid."""
    if not rows[0].is_valid:
        return None
    return bar_picture(rows[0].headline.metric, rows[:IN_HEAD], peak)


def counts_of(run: Run) -> str:
    """'rows: 3 PASS, 1 FAIL': the last line of the terminal without its word."""
    if run.verdict:
        return f'rows: {run.verdict.partition(": ")[2]}'
    number = Counter(row.word for row in run.rows)
    parts = [f'{number[word]} {word}' for word in reversed(WORST_FIRST) if number[word]]
    return f'rows: {", ".join(parts)}'


def nodes_of(fleet: Ranking | None) -> list[tuple[str, str]]:
    """[('FAIL', '1 of 200 nodes')], the worst first: the verdict of nodes, not of rows."""
    words = Counter(node.verdict for node in fleet.nodes) if fleet else Counter[str]()
    every = plural(sum(words.values()), 'node')
    return [(word, f'{words[word]} of {every}') for word in WORST_FIRST if words[word]]


def attention(rows: Sequence[Row], more: Sequence[Alarm]) -> list[Alarm]:
    """What is not PASS, by verdict and then by loss; equal reasons of one test are one line."""
    alike: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.word != PASS:
            alike.setdefault((row.word, row.test, row.reason), []).append(row)
    alarms = [_alarm(*key, same) for key, same in alike.items()]
    order = [*WORST_FIRST, 'CHANGE'].index
    alarms = sorted([*alarms, *more], key=lambda alarm: order(alarm.verdict))
    if len(alarms) > LISTED:
        rest = Alarm(alarms[LISTED].verdict, f'{len(alarms) - LISTED} more lines')
        return [*alarms[:LISTED], rest]
    return alarms


def _alarm(verdict: str, test: str, why: str, rows: list[Row]) -> Alarm:
    names = list(dict.fromkeys(row.name for row in rows))
    nodes = {row.node for row in rows}
    what = names[0] if len(names) == 1 else f'{len(names)} rows'
    where = f' on {len(nodes)} nodes' if len(nodes) > 1 else ''
    return Alarm(verdict, f'{test} {what}{where}', why, f'test-{test}')
