"""The one table of results, made from the record files: a row per node, run and metric."""

import contextlib
import gc
import io
import math
import os
import re
import statistics
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import IO

import msgspec

from membw.errors import MembwError
from membw.files import files_below, naming
from membw.grouped import grouped
from membw.printable import at_most, in_bytes, printable
from membw.results import site_tests, stream_log
from membw.results.case import CARD, Case, mapping, setting_of
from membw.results.figure import Figure, Lost, Measurement
from membw.results.hostlist import chosen_nodes
from membw.results.newest import TOGETHER_S
from membw.results.ranks import Line, Run, of_run, runs_of
from membw.results.record import REFRAME, Record, evidence, read_record, seconds_of
from membw.results.site_tests import OLDER
from membw.strict import Damaged
from membw.words import UNDECIDED

MOST_PROBLEMS = 100  # lines named per file
MOST_PASSED = 10  # files without a record, where none has one
KEPT = 4_000  # records before old ones are left out, where only new ones are wanted
DAY_S = 86_400  # by which clocks of nodes and file servers may differ
BUFFER = 2**18  # bytes: a record has some thousand
MOST_LINE, MOST_PIPE = 2**26, 2**30  # bytes: of a line; of what is kept in memory
RESCUED = re.compile(r'\.rank-\d+$|\.log\.h\d+$')  # what a rank saved by itself, old perflogs
NAMED = re.compile(rb'"host": ?"([A-Za-z0-9:][A-Za-z0-9._:-]{0,252})"')  # an address, too
DATED = re.compile(rb'"time": ?"([0-9T:Z-]{20})"')
OURS = 'records', 'nodes'  # folders of results/ that hold nothing else
ENDINGS = '.json', '.jsonl', '.log', '.db', '.out', '.txt'
PRINTED = '.out', '.txt'  # of these only what is known by its beginning is read
MADE = b'membw-record-'  # in each record


class Table:
    """`figures` in order of time, and `problems`: 'file:line: what' of each damaged record."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []
        self.lost: list[Lost] = []  # what records say was to be measured, and is not
        self.problems: list[str] = []
        self.passed: dict[str, str] = {}  # {file that was looked at: why it has no record}
        self.damaged: dict[
            str, tuple[float, str]
        ] = {}  # {node: when, what} of its newest such line
        self.logs: dict[tuple[str, int], str] = {}  # the file of each node's and number
        self.site_tests: dict[str, None] = {}  # other tests that are in it (results/site_tests.py)
        self.left_out: site_tests.LeftOut = {}  # of theirs, and what is older than is wanted
        self.kept_bytes: dict[str, bytes] = {}  # what cannot be read a second time: pipes, stdin
        self.seen: dict[str, float] = {}  # when each node was measured last
        self.newest = 0.0  # of these
        self.together_s: float = TOGETHER_S  # runs so far apart may be one measurement of a fleet

    def see(self, node: str, time: float) -> None:
        self.seen[node] = max(time, self.seen.get(node, time))
        self.newest = max(self.newest, time)

    def note_damage(self, line: bytes, said: str) -> None:
        """A line that is no record takes no node along, where it still names one."""
        named, at = NAMED.search(line), DATED.search(line)
        with contextlib.suppress(ValueError):
            when = max(seconds_of(at[1].decode()), 0.0) if at else 0.0
            node = named[1].decode() if named else ''
            if node and when >= self.damaged.get(node, (when, ''))[0]:
                self.damaged[node] = when, said

    def note_log(self, file: str) -> None:
        """Two logs of one node and number may be of two nodes."""
        with contextlib.suppress(ValueError):  # which names it as a problem
            log = stream_log.node_of(file)
            other = self.logs.setdefault(log, file)
            if other != file:
                self.problems.append(f'{file}: of node {log[0]}, as {other}: taken for two runs')

    def choose(self, nodes: str) -> None:
        """Keeps the figures of the nodes that the text names."""
        known = {*self.seen, *(one.node for one in [*self.figures, *self.lost])}
        those = chosen_nodes(nodes, known)
        self.seen = {node: when for node, when in self.seen.items() if node in those}
        self.figures = [f for f in self.figures if f.node in those]
        self.lost = [one for one in self.lost if one.node in those]

    @property
    def notes(self) -> list[str]:
        """What to know of figures of other tests."""
        lines = {'not validated by membw': [*self.site_tests]}
        for why, what in self.left_out.items():  # of a node that is there nothing is missing
            lines[f'left out: {why}'] = [one for one in what if one not in self.seen]
        return [f'{", ".join(at_most(of, 5))}: {why}' for why, of in lines.items() if of]

    def say(self) -> None:
        """Problems and notes, to stderr."""
        for line in [*self.problems, *(f'note: {note}' for note in self.notes)]:
            print(f'membw: {printable(line)}', file=sys.stderr)

    def evidence(self, figure: Figure | Lost) -> dict:
        """The JSON object of the (first) record that the figure comes from. MembwError: its file
        is gone."""
        if figure.setting.program == REFRAME:
            return msgspec.to_builtins(figure.of.record)
        kept = self.kept_bytes.get(figure.file)
        try:
            with io.BytesIO(kept) if kept else open(figure.file, 'rb') as stream:
                stream.seek(figure.of.offset)
                return evidence(stream.readline())
        except OSError as err:
            raise MembwError(f"cannot read '{figure.file}' again: {err.strerror}") from err


@contextlib.contextmanager
def no_garbage() -> Iterator[None]:
    """Nothing that is read here refers to itself: looking for such takes 40 % of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@no_garbage()
def read_table(
    paths: Sequence[str],
    newest_s: float = math.inf,
    each: Callable[[Run], None] | None = None,
    wanted: site_tests.Wanted = site_tests.Wanted(),
    whole: Container[str] = (),
    kept: Mapping[str, bytes] = MappingProxyType({}),
) -> Table:
    """The table of record files, of results of other tests (results/site_tests.py), of folders of
    them, and of '-' (stdin).

    A folder is read through, its `records` alone where it has such a folder; JSON files that hold
    no record are passed over, but in OURS. A record that is met twice counts once. MembwError: a
    path that cannot be read. `each`: is given every run. `newest_s`: the
    table has no figure of what is older than so many seconds before the newest, but of the nodes
    in `whole`. `kept`: of a Table that was read before, what cannot be read twice.
    """
    table, several, runs = Table(), list[Line](), list[Run]()
    table.kept_bytes |= kept
    enough = KEPT

    def recent() -> list[Run]:
        begin = table.newest - newest_s if newest_s else math.inf
        return [run for run in runs if run.of.time >= begin or run.of.node in whole]

    def add(run: Run) -> None:
        if each:
            each(run)
        runs.append(run)

    for one in _lines(paths, table, wanted):
        if one.record.ranks > 1:  # judged together
            several.append(one)
            continue
        add(of_run([one]))
        if len(runs) > enough:
            runs = recent()
            enough = len(runs) * 5 // 4 + KEPT
    for ranks, lacking in runs_of(several, table.problems):
        add(of_run(ranks, lacking))
    for run in recent():
        table.figures += run.figures
        table.lost += run.lost
    table.lost += _damaged(table, newest_s)
    _of_one_unit(table)
    table.figures.sort(key=lambda f: f.time)
    table.lost += _gone_cards(table.figures)
    return table


def _lines(paths: Sequence[str], table: Table, wanted: site_tests.Wanted) -> Iterator[Line]:
    """Each record that is wanted, once; what holds none is noted."""
    known = set[int]()
    for path in paths:
        try:
            for file in _files(path, table, wanted.since - DAY_S):
                for one in _read(*file, table, wanted):
                    record, case = one.record, one.record.case
                    test, system = case.test or record.program, case.system
                    if not wanted.takes(test, one.time, system):
                        if record.host and wanted.takes(test, math.inf, system):
                            table.left_out.setdefault(OLDER, {})[record.host] = None
                        continue
                    if (number := hash(_identity(record))) in known:
                        continue
                    known.add(number)
                    if record.host:
                        table.see(record.host, one.time)
                    yield one
        except OSError as err:
            fact = f"cannot read '{err.filename or path}': {err.strerror}"
            raise MembwError(fact, 'give files or folders that exist') from err
    if table.logs:  # NODE.log: it ended before it printed anything
        table.problems += [why for file, why in table.passed.items() if file.endswith('.log')]
    elif table.passed and not table.seen:
        said = f'{len(table.passed)} files were looked at, none has a record'
        table.problems += [said, *at_most([*table.passed.values()], MOST_PASSED)]


def _damaged(table: Table, newest_s: float) -> Iterator[Lost]:
    """What nodes lack whose newest line is damaged."""
    for node, (when, said) in table.damaged.items():
        when = when or table.newest
        is_recent = not newest_s or when >= table.newest - newest_s
        if is_recent and (node not in table.seen or when > table.seen[node]):
            of = Measurement(time=when, node=node)
            yield Lost(of, False, f'its record is damaged: {said}')


def _identity(record: Record) -> tuple:
    """Equal for two copies of one record, wherever they lie."""
    values = tuple([(metric.value, metric.unit) for metric in record.metrics.values()])
    lost = tuple([one.what for one in record.missing])
    of = record.host, record.rank, record.ranks, record.time
    return setting_of(record, ''), of, values, lost


def _of_one_unit(table: Table) -> None:
    """Leaves out records that have a metric in another unit, or direction, than most records of
    its setting."""
    first: dict[tuple[Case, str], tuple[str, str]] = {}
    odd = {
        (f.setting, f.metric)
        for f in table.figures
        if first.setdefault((f.setting, f.metric), kind := (f.unit, f.better)) != kind
    }
    every = grouped(((f.setting, f.metric), f) for f in table.figures if odd)
    wrong: dict[int, Lost] = {}
    for figures in (every[key] for key in odd):
        usual = statistics.mode((f.unit, f.better) for f in figures)
        for f in (f for f in figures if (f.unit, f.better) != usual):
            is_so = f"'{f.metric}' is in {f.unit}, {f.better} is better"
            said = f'{f.file}:{f.line}: {is_so}; in other records in {", ".join(usual)}'
            wrong.setdefault(id(f.of), Lost(f.of, False, said, UNDECIDED))
    table.problems += [one.text for one in wrong.values()]
    table.lost += wrong.values()
    table.figures = [f for f in table.figures if id(f.of) not in wrong]


def _gone_cards(figures: Sequence[Figure]) -> Iterator[Lost]:
    """Those that a node shows no longer, or half or more of the nodes of its partition show, or
    measured, and it does not; `figures`: in order of time."""
    shown: dict[Case, dict[str, list[tuple[int, Measurement]]]] = {}
    measured: dict[tuple[Case, int], set[str]] = {}
    for f in figures:
        if f.of.record and (card := f.of.record.device) and card.count:
            at = f.setting
            kind = Case(at.system, at.partition, at.test, card_model=at.card_model)
            shown.setdefault(kind, {}).setdefault(f.node, []).append((card.count, f.of))
            measured.setdefault((kind, card.index), set()).add(f.node)
    for kind, nodes in shown.items():
        now = sorted((of[-1][0] for of in nodes.values()), reverse=True)
        usual = {
            n: on for (at, n), on in measured.items() if at == kind and 2 * len(on) >= len(now)
        }
        for node, of in nodes.items():
            count, last = of[-1]
            most = max(now[(len(now) - 1) // 2], *(before for before, _ in of))
            unmeasured = {n for n, on in usual.items() if n < count and node not in on}
            for number in [*range(count, most), *unmeasured]:
                parameters = mapping({**dict(last.setting.parameters), CARD: str(number)}.items())
                gone = replace(last, setting=last.setting._replace(parameters=parameters))
                yield Lost(gone, False, f'no card {number}, which was there or is on its peers')


# --- files ---------------------------------------------------------------------------------


def _files(path: str, table: Table, since: float) -> Iterator[tuple[str, IO[bytes], bool]]:
    """(name, stream, whether it is to hold records: the path names it, or it lies in OURS); of a
    folder those that were written since then: of years of nights the others are not opened."""
    name = 'stdin' if path == '-' else path
    if path == '-' and name not in table.kept_bytes:
        table.kept_bytes[name] = _whole(sys.stdin.buffer, name)
    if name in table.kept_bytes:
        yield name, io.BytesIO(table.kept_bytes[name]), True
        return
    if Path(path).is_dir():
        folder = Path(path, 'records') if Path(path, 'records').is_dir() else Path(path)
        files, refused = files_below(folder)
        table.problems += refused
        is_ours = folder.name in OURS
        for file in (f for f in files if f.suffix in ENDINGS or RESCUED.search(f.name)):
            if not file.is_file():  # nor a link to one
                table.problems += [f"'{file}': not a file"] * is_ours
            elif file.stat().st_mtime < since:
                table.left_out.setdefault(f'{OLDER}, not opened', {})[str(file)] = None
            else:
                try:
                    stream = open(file, 'rb', BUFFER)
                except OSError as err:  # another user's: it stops nobody
                    table.problems.append(f"'{file}': {err.strerror}")
                    continue
                with stream:
                    yield str(file), stream, is_ours
        return
    with naming(path), open(path, 'rb', BUFFER) as stream:
        if os.path.isfile(path):
            yield path, stream, True
            return
        kept = table.kept_bytes[path] = _whole(stream, path)
    yield path, io.BytesIO(kept), True


def _whole(stream: IO[bytes], name: str) -> bytes:
    """Of a pipe; a device may have no end."""
    parts = [stream.read(2**20)]
    while parts[-1]:
        parts.append(stream.read(2**20))
        if len(parts) > MOST_PIPE / 2**20:
            raise MembwError(f"'{name}' gives more than {in_bytes(MOST_PIPE)}", 'give a file')
    return b''.join(parts)


def _read(
    name: str, stream: IO[bytes], is_ours: bool, table: Table, wanted: site_tests.Wanted
) -> Iterator[Line]:
    """The records of one file, as far as the disk gives it; what is damaged goes to the table's
    problems."""
    try:
        head = stream.read(site_tests.HEAD)
        form = site_tests.form_of(head)
        stream.seek(0)
        if form:
            if form == 'stream' and name not in dict(wanted.nodes):
                table.note_log(name)
            found = site_tests.records(name, stream, wanted, table.problems, table.left_out)
            for number, record in enumerate(found, 1):
                table.site_tests[record.case.test] = None
                yield Line(record, record.seconds, name, number)
        elif Path(name).suffix in PRINTED and MADE not in head:
            what = f'no output of STREAM, by its first {site_tests.HEAD} bytes'
            table.passed[name] = f'{name}: {what}'
        else:
            yield from _read_own(name, stream, is_ours, table)
    except OSError as err:
        table.problems.append(f"'{name}': {err.strerror}")


def _read_own(name: str, stream: IO[bytes], is_ours: bool, table: Table) -> Iterator[Line]:
    problems, wrong, is_any, end = list[str](), 0, False, 0
    # a year of a large fleet does not fit into memory
    for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE), b''), 1):
        offset, end = end, end + len(line)
        is_ours = is_ours or MADE in line
        if len(line) == MOST_LINE:
            problems.append(f'{name}:{number}: {in_bytes(MOST_LINE)} without an end of line: left')
            break
        if not line.isspace():
            try:
                record = read_record(line)
                is_any = True
                for one in (record, *record.cards):
                    yield Line(one, one.seconds, name, number, offset)
            except Damaged as err:
                wrong += 1
                table.note_damage(line, f'{name}:{number}: {err}')
                problems += [f'{name}:{number}: {err}'] if wrong <= MOST_PROBLEMS else []
    if wrong > MOST_PROBLEMS:
        problems.append(f'{name}: {wrong - MOST_PROBLEMS} more damaged lines')
    if not is_any and wrong != 1:  # of something else not each line is named
        why = (p.removeprefix(f'{name}:') for p in problems[:1])
        problems = [f'{name}: no record in this file' + ''.join(f' (line {p})' for p in why)]
    if is_ours:
        table.problems += problems
    elif not is_any:
        table.passed[name] = problems[0]
