"""The rows of a page: those of the terminal where ReFrame's report is there, else of records."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from membw.rank.newest import TOGETHER_S, newest
from membw.results.table import HIGHER, Figure, Table, read_table
from membw.results.verdict import missed, of_case
from membw.summary import headline, outcome
from membw.summary.rows import Row, best
from membw.summary.run import read


class Run(NamedTuple):
    """What a page is made of."""

    rows: list[Row]  # best first, INVALID and unmeasured ones last
    table: Table
    past: Table  # of all nights
    verdict: str = ''  # the last line of the terminal; '' of records alone
    notes: tuple[str, ...] = ()  # who disturbed it, other states of the host


def run_of_report(path: str) -> Run:
    """Of ReFrame's report, and the records that it names."""
    run = read(path)
    table = run.table
    rows: list[Row] = []
    for row in run.rows:
        case = row.attempts[-1].case
        file = str(outcome.record_file(case, path))
        # a job of a whole cluster is one row of the terminal: here each node has one
        nodes = [f for f in table.figures if f.file == file] if case.get('node_check') else []
        rows += rows_of(nodes) if len({f.node for f in nodes}) > 1 else []
        recorded = {name: f for name, f in row.figures.items() if f.file}
        rows.append(row._replace(figures=recorded, node=row.record.get('host') or ''))
    records = Path(path).resolve().parent.parent / 'records'
    past = read_table([str(records)]) if records.is_dir() else table
    notes = (*headline.state_lines(run.rows), *headline.busy_lines(run.rows))
    return Run(sorted(rows, key=_best_first), table, past, run.verdict, notes)


def run_of_records(table: Table) -> Run:
    """Of what was measured last, and with it."""
    first, again, _ = newest(table.figures)
    every = [*first, *again]
    end = max((f.time for f in every), default=0.0)
    latest = {f.setting for f in every if f.time >= end - TOGETHER_S}
    return Run(rows_of(f for f in every if f.setting in latest), table, table)


def rows_of(figures: Iterable[Figure]) -> list[Row]:
    """One Row per test, preset, pinning, parameters and node, best first: of several rounds the
    best; a round that is INVALID makes the row INVALID."""
    rounds: dict[tuple, list[Figure]] = defaultdict(list)
    for f in figures:
        where = f.system, f.partition
        rounds[where, f.benchmark, f.preset, f.pinning, f.parameters, f.node].append(f)
    return sorted(map(_of_rounds, rounds.values()), key=_best_first)


def _of_rounds(figures: Sequence[Figure]) -> Row:
    wrong = [f for f in figures if f.verdict != 'VALID']
    by_metric: dict[str, list[Figure]] = defaultdict(list)
    for figure in wrong or figures:
        by_metric[figure.metric].append(figure)
    found = {name: best(same) for name, same in by_metric.items()}
    why = wrong[0].reasons if wrong else '; '.join(filter(None, map(missed, found.values())))
    f, word = figures[0], of_case(found.values())
    parameters = {'pinning': f.pinning, **outcome.parameters({'name': f'- {f.parameters}'})}
    where = f'{f.system}:{f.partition}'
    return Row(f.benchmark, where, f.preset, parameters, word, why, found, [], f.node)


def _best_first(row: Row) -> tuple[bool, bool, float]:
    if not row.figures:
        return True, True, 0.0
    value = row.figure.value
    return not row.is_valid, False, -value if row.figure.better == HIGHER else value


def is_report(path: str) -> bool:
    """Whether a file is a report of ReFrame, not records."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return '"session_info"' in file.read(300)
    except OSError:
        return False
