"""The runs that a reference is taken from, and why other runs are left out.

Left out is what is INVALID, a bound, or of another setting (program, options, compiler, CPU) than
the newest valid runs of most nodes; where most have none in common, there is no reference. Where a
fact of a node changed (OF_SAMPLE of results/provenance.py), its runs since then count. A node that
still has what most nodes left is left out, and one that left what most still have: a reference is
of one level, never of a mixture.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from statistics import median

from membw.grouped import grouped
from membw.printable import printable
from membw.rank.group import LEAST_NODES
from membw.rank.judge import judge
from membw.results import provenance
from membw.results.figure import Figure, Measurement
from membw.results.findings import Findings, other_fields
from membw.results.hostlist import fold
from membw.results.record import REFRAME
from membw.results.table import Table
from membw.results.verdict import lacks_of
from membw.site.cpu_peak import cpu_of

Wanted = tuple[str | None, str | None, str | None]  # partition, preset, pinning; None: any
# facts of the newest run: what is noted with a reference, and where another setting differs
FACTS = ('cpu_model', 'dimms', 'bios_version', 'microcode', 'kernel_release', 'compiler', 'flags',
         'version', 'array_size', 'threads')  # fmt: skip


@dataclass
class Samples:
    """Runs of one partition, preset and pinning, and of one value of each own parameter."""

    key: tuple[str, ...]  # ('thin:thin', preset, pinning, a value of each parameter)
    parameters: tuple[str, ...]  # names of the check's own parameters
    runs: dict[str, list[Figure]] = field(default_factory=dict)  # by metric
    left_out: Counter[str] = field(default_factory=Counter)  # why -> runs
    facts: dict[str, str] = field(default_factory=dict)
    split: Findings = ()  # why these runs are of two groups of nodes
    since: str = ''  # '2026-07-27', where a fact changed then
    channels: int = 0  # of the memory of a node; 0: not known

    @property
    def most(self) -> list[Figure]:
        """The runs of the metric that has most."""
        return max(self.runs.values(), key=len, default=[])

    @property
    def counts(self) -> dict[str, int]:
        """How many runs, nodes and nights."""
        nodes, nights = {run.node for run in self.most}, {run.night for run in self.most}
        return {'runs': len(self.most), 'nodes': len(nodes), 'nights': len(nights)}


def select(
    table: Table, system: str, test: str, wanted: Wanted, since: float = 0.0
) -> list[Samples]:
    """Samples of each key of one test on one system; `since`: seconds since 1970."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Figure]] = defaultdict(list)
    for figure in table.figures:
        of = figure.setting
        named = of.partition, of.preset, of.pinning
        is_case = all(named) or of.program == REFRAME  # which has no pinning
        fits = is_case and all(w in (None, n) for w, n in zip(wanted, named, strict=True))
        if fits and (of.system, of.test) == (system, test) and figure.time >= since:
            own = dict(of.parameters)
            key = f'{system}:{of.partition}', *named[1:], *own.values()
            groups[key, tuple(own)].append(figure)
    return [_samples(table, *group, figures) for group, figures in sorted(groups.items())]


def _samples(
    table: Table, key: tuple[str, ...], parameters: tuple[str, ...], figures: list[Figure]
) -> Samples:
    found = Samples(key, parameters)
    valid = [f for f in figures if f.verdict == 'VALID' and not f.is_bound]
    last = {f.node: f for f in sorted(valid, key=lambda f: f.time)}  # of each node its newest run
    settings = Counter(f.setting for f in last.values()).most_common(2)
    of_most = [f for f in last.values() if f.setting == settings[0][0]]
    newest = max(of_most, key=lambda f: f.time, default=None)
    why = {id(f.of): text for f in figures if (text := _unfit(f, newest))}
    fit = {id(f.of): f.of for f in figures if id(f.of) not in why}
    others = dict(_of_other_samples([*fit.values()]))
    older = {key: text for key, (_, text) in others.items()}
    for figure in figures:
        if id(figure.of) not in why.keys() | older.keys():
            found.runs.setdefault(figure.metric, []).append(figure)
    found.left_out = Counter({**why, **older}.values())
    if found.runs and any(is_before for is_before, _ in others.values()):
        found.since = date.fromtimestamp(min(f.time for f in found.most)).isoformat()
    _leave_out_slow(found)
    if 2 * len(of_most) <= len(last) and newest:
        found.split = other_fields(settings[0][0].differs(settings[1][0]))
    if newest:
        known, facts = newest.provenance, table.evidence(newest).get('facts') or {}
        found.facts = {name: known[name] for name in FACTS if known.get(name)}
        by_cpu = cpu_of(facts).get('channels', 0) * (facts.get('sockets') or 1)
        found.channels = int(known.get('memory_channels', by_cpu))
    return found


def _of_other_samples(runs: list[Measurement]) -> Iterator[tuple[int, tuple[bool, str]]]:
    """(id, (whether a change came after it, why)) of the runs that are not of the level of most
    nodes now."""
    by_node = grouped((run.node, run) for run in sorted(runs, key=lambda run: run.time))
    left: dict[str, dict[str, tuple[str, str]]] = {}  # node: {fact: (what it left, what it has)}
    for node, of in by_node.items():
        changes = provenance.changes(run.provenance for run in of)
        left[node] = {name: pair for facts in changes.values() for name, pair in facts.items()}
        for run in of[: max(changes, default=0)]:
            text = f'older than {provenance.first_change(changes[max(changes)])}'
            yield id(run), (True, text)
    for name in dict.fromkeys(name for facts in left.values() for name in facts):
        now = {node: of[-1].provenance.get(name, '') for node, of in by_node.items()}
        have, gone = Counter(now.values()), Counter(f[name][0] for f in left.values() if name in f)
        for node, of in by_node.items():
            before = left[node].get(name, ('', ''))[0]
            if gone[now[node]] > have[now[node]]:
                why = f"{name} '{now[node]}', which most nodes left"
            elif before and gone[before] <= have[before]:
                why = f"{name} '{now[node]}', where most nodes still have '{before}'"
            else:
                continue
            yield from ((id(run), (False, why)) for run in of)


def _leave_out_slow(found: Samples) -> None:
    """Nodes whose median `membw rank` finds low or too good: a reference must not learn a fault.
    Those of which too few peers tell nothing stay."""
    medians: list[Figure] = []
    for runs in found.runs.values():
        of_node = grouped((run.node, run) for run in runs)
        medians += [of[-1].replace(value=median(f.value for f in of)) for of in of_node.values()]
    if len({f.node for f in medians}) < LEAST_NODES:
        return
    judged = judge(medians)
    found.split = judged.split
    odd = {v.node for v in judged.verdicts if v.verdict != 'PASS' and v.metric}
    low = set() if judged.split else odd
    count = len({id(r.of) for runs in found.runs.values() for r in runs if r.node in low})
    if count:
        found.left_out['of a node that membw rank does not pass: ' + fold(low)] += count
    found.runs = {m: [r for r in runs if r.node not in low] for m, runs in found.runs.items()}


def _unfit(figure: Figure, newest: Figure | None) -> str:
    """Why a figure is left out; '' where it counts."""
    if figure.verdict != 'VALID':
        return f'{figure.verdict}: {printable(figure.reasons)}'
    if lacks := lacks_of(figure):
        return lacks.text
    if figure.is_bound or newest is None:
        return 'disturbed: a lower bound only'
    if figure.setting == newest.setting:
        return ''
    here, there = figure.provenance, newest.provenance
    name = next((n for n in FACTS if here.get(n) != there.get(n)), 'options')
    texts = (printable(facts.get(name, 'not recorded')) for facts in (here, there))
    return 'of another setting than most nodes: {} {}, not {}'.format(name, *texts)
