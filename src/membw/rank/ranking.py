"""The verdict on every node of the newest measurement, and on every expected one without it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mode

from membw.grouped import grouped
from membw.moments import night_of
from membw.printable import plural, signed
from membw.rank.cards import judge_cards
from membw.rank.group import Group
from membw.rank.judge import NodeVerdict
from membw.rank.own_past import Past, by_past
from membw.rank.series import Series
from membw.rank.units import units
from membw.results.case import Case
from membw.results.figure import Figure, Lost, Measurement, headline
from membw.results.findings import Finding, Findings, other_fields, reported, text_of
from membw.results.hostlist import fold
from membw.results.newest import OLD_S, newest
from membw.results.node_names import doubtful, match_expected
from membw.results.record import Record, is_set
from membw.results.rows import Row, best, of_measurement
from membw.results.site_tests import Wanted
from membw.results.table import Table, no_garbage, read_table
from membw.results.verdict import counted, judged, loss_let_pass
from membw.site import slurm
from membw.words import (
    DIED,
    FAIL,
    GOOD,
    INVALID,
    MISSING,
    NO_FIGURE,
    PASS,
    UNDECIDED,
    VALID,
    WORST_FIRST,
    exit_status,
    is_worse,
    worst,
)  # fmt: skip

Beside = Mapping[tuple[str, Case], NodeVerdict]


@dataclass
class Ranking:
    """`verdicts`: of each node and setting; `nodes`: the worst of each node, by name."""

    verdicts: list[NodeVerdict]
    nodes: list[NodeVerdict]
    low: dict[Case, list[str]]  # nodes to measure again
    controls: dict[Case, list[str]]  # healthy nodes to measure with them
    groups: list[Group]
    notes: list[str]
    problems: list[str]
    newest: set[int]  # ids of the measurements that were judged
    clusters: dict[str, str | None]  # as hostlist.drain_commands
    past: Past
    lost: list[NodeVerdict]  # what did not come, or is no figure

    def choose(self, names: set[str]) -> None:
        """Keeps what is said of these nodes; all were compared."""
        self.nodes = [node for node in self.nodes if node.name in names]
        self.verdicts = [verdict for verdict in self.verdicts if verdict.node in names]
        self.low = {
            at: kept for at, low in self.low.items() if (kept := [n for n in low if n in names])
        }

    def counts(self) -> str:
        """'5 nodes: 3 PASS, 1 FAIL, 1 MISSING'."""
        parts = ', '.join(counted(node.verdict for node in self.nodes))
        return f'{plural(len(self.nodes), "node")}: {parts}'

    def beside(self) -> Beside:
        """{(node, setting): verdict}."""
        return {(v.node, v.setting): v for v in self.verdicts}

    @property
    def status(self) -> int:
        """The exit status of what judges nodes: 0 good, 1 anything else."""
        return int(exit_status(node.verdict for node in self.nodes) != 0)


def rank_files(
    paths: Sequence[str], expected: Sequence[str] = (), wanted: Wanted = Wanted()
) -> Ranking:
    """The ranking of what the files and folders hold, with a note on each series that ended or
    began there and can not be judged yet; MembwError where one cannot be read."""
    series = Series()
    table = read_table(paths, OLD_S, series.add, wanted)
    lines = [change.line for change in series.still_open(table.problems)]
    del series  # of 50,000 nodes its runs are many
    ranking = rank_table(table, expected)
    ranking.notes[:0] = [*table.notes, *lines]
    return ranking


@no_garbage()
def rank_table(table: Table, expected: Sequence[str] = ()) -> Ranking:
    """The verdict on every node of the table, and on every expected one without a record."""
    first, again, gone, before = newest(table.figures, table.seen, table.together_s)
    figures = [*first, *again]
    runs = {id(f.of): f.of for f in figures}
    every = [*(one.of for one in table.lost), *runs.values()]
    clusters = {of.node: cluster_of(of.record) for of in every}
    there = {name for name in clusters.values() if name}
    there -= {slurm.cluster_here()} if there else set()
    of_cluster = partial(units, cluster=there.pop() if len(there) == 1 else '')
    found = judge_cards(first, again, before, of_cluster)
    past = by_past(found.verdicts, table.figures)
    doubts = doubtful({id(f.of): f.of for f in table.figures}.values(), runs.values())
    compared = [past.get((v.node, v.setting), (v,))[0] for v in found.verdicts]
    verdicts = [
        _named(_of_set(v), doubts.get(v.node)) for v in by_records(by_settings(compared), figures)
    ]
    late = {node: (why,) for node, why in gone.items() if not is_set(node)}
    measured = {v.node for v in verdicts}
    names = match_expected(measured | set(late), expected)
    without = dict.fromkeys(set(names) - measured, (Finding('no-record'),)) | late
    lost = {node: NodeVerdict(node, MISSING, why) for node, why in without.items()}
    lost |= died(table)
    still = {(v.node, v.setting) for v in verdicts if v.verdict not in (*GOOD, FAIL)}
    low = {s: kept for s, of in found.low.items() if (kept := [n for n in of if (n, s) in still])}
    controls = {setting: found.controls[setting] for setting in low}
    problems = [*table.problems, *clocks_off(runs.values())]
    return Ranking(
        verdicts, _worst(verdicts, lost), low, controls, found.groups,
        [*found.notes, *compared_apart(found.verdicts),
         *only_a_few_since(first, again, table.together_s)], problems,
        {*runs}, clusters, past, [*lost.values()],
    )  # fmt: skip


def only_a_few_since(
    first: Sequence[Figure], again: Sequence[Figure], together_s: float
) -> list[str]:
    """A line where fewer than half of the nodes were measured in a later night: that is how a
    retest looks, and a night from which most were absent."""
    then, now = (max((f.time for f in of), default=0.0) for of in (first, again))
    later = {f.node for f in again if f.time >= now - together_s}
    others = sorted({f.node for f in first} - later)
    if not others or now - then <= together_s:
        return []
    has = 'has' if len(others) == 1 else 'have'
    since = f'{plural(len(others), "node")} {has} no run since {night_of(then)}'
    return [f'{since}, which is what is judged: {fold(others)}']


def compared_apart(verdicts: Sequence[NodeVerdict]) -> list[str]:
    """A line of nodes that have another setting than most of their row and CPU: of a fleet of
    which half was upgraded each half is compared with itself."""
    nodes = grouped((v.setting, v) for v in verdicts if v.figures)
    lines = []
    for settings in requested_alike(nodes):
        usual = max(settings, key=lambda s: len(nodes[s]))
        base, known = _median(nodes[usual]), {v.node for v in nodes[usual]}
        for setting in (s for s in settings if not s.is_of_unknown_build):
            own = [v for v in nodes[setting] if v.node not in known]
            if own[1:] and (median := _median(own)).metric == base.metric:
                worse = signed(median.share(base.value) - 1, '+.1%')
                of = f'median {base.metric} {worse} to that of {plural(len(known), "node")}'
                far = text_of(other_fields(setting.differs(usual)))
                names = fold(v.node for v in own)
                lines.append(f'{names} ({far}) compared with each other alone: {of}')
    return lines


def _median(verdicts: Sequence[NodeVerdict]) -> Figure:
    """Of their headlines the median."""
    figures = sorted((headline(v.figures) for v in verdicts), key=lambda f: f.value)
    return figures[len(figures) // 2]


def cluster_of(record: Record | None) -> str | None:
    """In whose job it was measured; '' where that is not known; None: Slurm had no part in it."""
    if record is None or record.cluster:
        return record.cluster if record else ''
    return '' if record.case.scheduler in ('', None, 'local', 'ssh', *slurm.SCHEDULERS) else None


def clocks_off(runs: Iterable[Measurement]) -> list[str]:
    """A line of each node whose clock is off."""
    off = {of.node: of.record.clock_off_s / 60 for of in runs if of.record}
    late = {node: 'ahead' if minutes > 0 else 'behind' for node, minutes in off.items() if minutes}
    return [f'{n}: its clock is {abs(off[n]):.0f} minutes {late[n]}' for n in sorted(late)]


def requested_alike(nodes: Mapping[Case, Sequence]) -> Iterable[list[Case]]:
    """Settings of one row and CPU; that of a node whose CPU is not known is the usual one."""
    cpus = grouped((s.row, s.cpu_model) for s, of in nodes.items() for _ in of if s.cpu_model)
    usual = {row: mode(of) for row, of in cpus.items()}
    models = {s: s.cpu_model or usual.get(s.row, '') for s in nodes}
    return grouped((s.requested._replace(cpu_model=models[s]), s) for s in nodes).values()


def by_settings(verdicts: Sequence[NodeVerdict]) -> list[NodeVerdict]:
    """What is set on a node clears it not: one that is alone in its setting, of an unknown CPU, or
    has other threads, is UNDECIDED where half or more of the nodes with the same request have
    another."""
    nodes = grouped((v.setting, v.node) for v in verdicts)
    far: dict[tuple[str, Case], Findings] = {}
    for settings in requested_alike(nodes):
        known = Counter(node for setting in settings for node in nodes[setting])
        for setting in settings:
            own = nodes[setting]
            if 2 * len(own) > len(known) or setting.is_of_unknown_build:
                continue
            usual = max((s for s in settings if s != setting), key=lambda s: len(nodes[s]))
            differs = setting.differs(usual)
            if not own[1:] or {'threads', 'parameters', 'cpu_model'} & {
                name for name, *_ in differs
            }:
                why = other_fields(differs)
                far |= {(node, setting): why for node in own if known[node] == 1}
    return [
        v._replace(verdict=UNDECIDED, findings=(*v.findings, *far[v.node, v.setting]))
        if v.verdict in GOOD and (v.node, v.setting) in far
        else v
        for v in verdicts
    ]


def by_records(
    verdicts: Iterable[NodeVerdict], figures: Sequence[Figure]
) -> Iterator[NodeVerdict]:
    own = grouped(((f.node, f.setting), f) for f in figures)
    for v in verdicts:
        of_node = own.pop((v.node, v.setting))
        yield by_own_word(by_reference(v, of_node), of_node)


def by_reference(v: NodeVerdict, own: Sequence[Figure]) -> NodeVerdict:
    """With the worse word of the comparison and of the node's references; references that are met
    stand for a comparison that could not decide."""
    held = [f for f in own if f.verdict == VALID and (f.reference is not None or f.is_headline)]
    ones = [best(same) for same in grouped((f.metric, f) for f in held).values()]
    every = [(judged(f), loss_let_pass(f)) for f in ones]
    met = [loss for (word, _), loss in every if word == PASS]
    if v.verdict in (UNDECIDED, VALID) and not v.metric and met:
        finding = Finding('by-reference', {'loss': max(met)})
        v = v._replace(verdict=PASS, findings=(finding,), noticed=max(met))
    for (word, why), _ in every:
        v = _or_worse(v, word, why)
    return v


def by_own_word(v: NodeVerdict, own: Sequence[Figure]) -> NodeVerdict:
    """What the newest run of a node says itself is evidence: that it is wrong, or what
    `membw node` found by another yardstick. Where it is worse it counts; a good word clears
    no node."""
    last = own[0].of
    for f in own:
        last = f.of if f.of.is_after(last) else last
    word, why = of_measurement(last)
    is_bad = last.verdict != VALID or word in (FAIL, DIED)
    return _or_worse(v, word, (*why, *v.findings)) if is_bad else v


def _or_worse(v: NodeVerdict, word: str, why: Findings) -> NodeVerdict:
    return v._replace(verdict=word, findings=why) if is_worse(word, v.verdict) else v


def with_verdicts(rows: Iterable[Row], ranking: Ranking) -> list[Row]:
    """The rows with the comparison's word of their node; of a report the worse word counts, and
    of what died, or is missing."""
    compared = ranking.beside().values()
    words = grouped((v.setting.row.at(v.node), v) for v in compared)
    made = []
    for row in rows:
        found = words.get(row.case, [])
        if v := min(found, key=lambda v: WORST_FIRST.index(v.verdict), default=None):
            is_of_records = row.word not in NO_FIGURE and not any(
                a.case.name for a in row.attempts
            )
            if is_of_records or is_worse(v.verdict, row.word):
                row = row._replace(word=v.verdict, findings=v.findings)
        made.append(row)
    return made


def died(table: Table) -> dict[str, NodeVerdict]:
    """Nodes of which the last launch of a test brought no figure, or not all, in the time of a
    measurement. Another test that ran since says nothing of it."""
    lost = sorted(unmeasured(table), key=lambda one: one.time)
    every = [f.time for f in table.figures] + [one.time for one in table.lost]
    begin = max(every, default=0.0) - table.together_s
    by_node = grouped((one.node, one) for one in lost if one.node and one.time >= begin)
    made = {}
    for node, of in by_node.items():
        word = worst(one.word for one in of)
        of.sort(key=lambda one: WORST_FIRST.index(one.word))  # none is left out
        texts = dict.fromkeys(one.text for one in of)
        why = tuple(one for text in texts for one in reported(text, 'lost'))
        made[node] = _of_set(NodeVerdict(node, word, why))
    return made


def unmeasured(table: Table) -> list[Lost]:
    """What was lost on a node, and not measured there since."""
    last: dict[Case, Measurement] = {}
    for of in {id(f.of): f.of for f in table.figures}.values() if table.lost else ():
        key = _test(of)
        if key not in last or of.is_after(last[key]):
            last[key] = of
    return [x for x in table.lost if (t := _test(x.of)) not in last or x.of.is_after(last[t])]


def _of_set(v: NodeVerdict) -> NodeVerdict:
    """Of nodes that measured together none is drained."""
    if not is_set(v.node) or v.verdict not in (FAIL, DIED):
        return v
    return v._replace(verdict=UNDECIDED, findings=(*v.findings, Finding('set-of-nodes')))


def _named(v: NodeVerdict, doubt: Finding | None) -> NodeVerdict:
    """Of a name that is not one machine's nothing is decided."""
    if doubt is None or v.verdict in (INVALID, *NO_FIGURE):
        return v
    return v._replace(verdict=UNDECIDED, findings=(doubt, *v.findings))


def _test(of: Measurement) -> Case:
    """Its row, wherever it was measured."""
    return of.row._replace(system='', partition='')


def _worst(verdicts: Sequence[NodeVerdict], missing: dict[str, NodeVerdict]) -> list[NodeVerdict]:
    """By name; what is missing is worse than a PASS in another series."""
    by_node: dict[str, NodeVerdict] = {}
    every = [*missing.values(), *verdicts]
    for v in sorted(every, key=lambda v: WORST_FIRST.index(v.verdict)):
        by_node.setdefault(v.node, v)
    for name, one in missing.items():
        if (of := by_node[name]).verdict != one.verdict:  # named, whatever else is worse
            by_node[name] = of._replace(findings=(*of.findings, *one.findings))
    return [by_node[name] for name in sorted(by_node)]
