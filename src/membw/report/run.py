"""What a page is made of: the rows of ReFrame's report where it is there, else of records."""

from pathlib import Path
from typing import NamedTuple

from membw.history.nights import Nights, read_nights
from membw.rank.ranking import unmeasured
from membw.results import reframe
from membw.results.hostlist import chosen_nodes
from membw.results.newest import newest
from membw.results.rows import Row, best_first, rows_of_records
from membw.results.site_tests import Wanted
from membw.results.table import Table
from membw.summary import headline
from membw.summary.command import read


class Run(NamedTuple):
    rows: list[Row]  # best first, INVALID and unmeasured ones last
    table: Table
    past: Nights  # all of them
    verdict: str = ''  # the last line of the terminal; '' of records alone
    notes: tuple[str, ...] = ()  # who disturbed it
    chosen: frozenset[str] = frozenset()  # what is said of these nodes is shown; empty: of all

    def of_nodes(self, nodes: str | None) -> 'Run':
        """With the rows of these nodes only; all were compared."""
        if not nodes:
            return self
        names = frozenset(chosen_nodes(nodes, {row.node for row in self.rows if row.node}))
        rows = [row for row in self.rows if row.node in names]
        return self._replace(rows=rows, verdict='', chosen=names)


def run_of_report(path: str) -> Run:
    run = read(path)
    rows: list[Row] = []
    for row in run.rows:
        case = row.attempts[-1].case
        file = str(reframe.record_file(case, path))
        # a job of a whole cluster is one row of the terminal: here each node has one
        nodes = [f for f in run.table.figures if f.file == file and case.node_check]
        rows += rows_of_records(nodes) if len({f.node for f in nodes}) > 1 else []
        recorded = {name: f for name, f in row.figures.items() if f.file}
        rows.append(row._replace(figures=recorded))
    records = Path(path).resolve().parent.parent / 'records'
    systems = {row.case.system for row in rows}
    wanted = Wanted(system=min(systems) if len(systems) == 1 else '')
    _, past = read_nights([str(records)] if records.is_dir() else [], wanted=wanted)
    notes = tuple(headline.disturbed_lines(run.rows))
    return Run(sorted(rows, key=best_first), run.table, past, run.verdict, notes)


def run_of_records(table: Table, past: Nights | None = None) -> Run:
    """Of what was measured last, and with it; what is missing of it, too."""
    first, again, *_ = newest(table.figures, table.seen, table.together_s)
    every = [*first, *again]
    gone = unmeasured(table)
    times = [f.time for f in every] + [one.time for one in gone]
    begin = max(times, default=0.0) - table.together_s
    latest = {f.setting for f in every if f.time >= begin}
    lost = [one for one in gone if one.time >= begin]
    rows = rows_of_records([f for f in every if f.setting in latest], lost)
    return Run(rows, table, past or Nights(), notes=tuple(table.notes))
