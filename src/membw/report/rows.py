"""The rows of a page: one for each test, preset, pinning and node of the newest run."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from membw.results.table import HIGHER, Figure, Table
from membw.results.verdict import INVALID, PASS, of_case, of_figure


class Row(NamedTuple):
    """The figures of one node in one test, by metric, in the order of the record."""

    id: str  # of its provenance, in the page
    figures: dict[str, Figure]
    verdict: str
    why: str

    @property
    def figure(self) -> Figure:
        """The figure that stands for the row: that of the last metric."""
        return list(self.figures.values())[-1]

    @property
    def name(self) -> str:
        """Preset, pinning and parameters."""
        f = self.figure
        return ' '.join(filter(None, (f.preset, f.pinning, f.parameters))) or f.benchmark


def newest_run(table: Table) -> list[Figure]:
    """The figures of the newest session of ReFrame; all of them where the newest has none."""
    if not table.figures:
        return []
    by_file: dict[str, list[Figure]] = defaultdict(list)
    for figure in table.figures:
        by_file[figure.file].append(figure)
    newest = _session(table, table.figures[-1])
    if not newest:
        return table.figures
    day = table.figures[-1].time - 24 * 3600  # no run is longer: older files are not opened
    return [
        figure
        for figures in by_file.values()
        if figures[-1].time >= day and _session(table, figures[0]) == newest
        for figure in figures
    ]


def _session(table: Table, figure: Figure) -> str:
    return (table.record(figure).get('case') or {}).get('session') or ''


def rows_of(figures: Sequence[Figure]) -> list[Row]:
    """One Row per test, preset, pinning, parameters and node, best first; of several rounds the
    best one, INVALID ones last."""
    runs: dict[tuple, dict[str, Figure]] = defaultdict(dict)
    for figure in figures:
        runs[figure.file, figure.line][figure.metric] = figure
    rounds: dict[tuple, list[dict[str, Figure]]] = defaultdict(list)
    for run in runs.values():
        f = next(iter(run.values()))
        key = f.system, f.partition, f.benchmark, f.parameters, f.preset, f.pinning, f.node
        rounds[key].append(run)
    ids: dict[str, str] = {}
    rows = []
    for same in rounds.values():
        run = _best(same)
        figure = next(iter(run.values()))
        where = ids.setdefault(figure.provenance, f'built-{len(ids) + 1}')
        verdict = of_case(run.values())
        rows.append(Row(where, run, verdict, _why(verdict, list(run.values()))))
    return sorted(rows, key=_best_first)


def _best_first(row: Row) -> tuple[bool, float]:
    figure = row.figure
    return row.verdict == INVALID, figure.value * (-1 if figure.better == HIGHER else 1)


def _why(verdict: str, figures: list[Figure]) -> str:
    """The reasons against a row, or the figures that gave it its verdict."""
    if verdict == INVALID:
        return figures[0].reasons
    if verdict == PASS:
        return ''
    return '; '.join(against_reference(f) for f in figures if of_figure(f) == verdict)


def against_reference(figure: Figure) -> str:
    """'triad 140.2 GB/s, reference 158.2 (-11 %)', with the known issue of one."""
    text = f'{figure.metric} {text_of(figure)} {figure.unit}'
    if figure.reference:
        part = 100 * (figure.value / figure.reference - 1)
        text += f', reference {figure.reference:g} ({part:+.0f} %)'
    return f'{text}: {figure.known_issue}' if figure.known_issue else text


def _best(rounds: list[dict[str, Figure]]) -> dict[str, Figure]:
    """The round with the best last metric; a valid one, and one with no bound, come first."""

    def order(run: dict[str, Figure]) -> tuple[bool, bool, float]:
        figure = list(run.values())[-1]
        rate = figure.value if figure.better == HIGHER else -figure.value
        return figure.verdict == 'VALID', not figure.is_bound, rate

    return max(rounds, key=order)


def text_of(figure: Figure) -> str:
    """'45.8 ±4.6', '≥ 37.2', or the value alone where it has no interval."""
    digits = 1 if abs(figure.value) >= 10 else 3 if abs(figure.value) < 1 else 2
    if figure.is_bound:
        return f'≥ {figure.value:.{digits}f}'
    if figure.low is None or figure.high is None:
        return f'{figure.value:.{digits}f}'
    half = max(figure.high - figure.value, figure.value - figure.low)
    return f'{figure.value:.{digits}f} ±{half:.{digits}f}'
