"""The runs that a reference is taken from, and why other runs are left out.

Left out is what is INVALID, a bound, or of another setting (program, options, compiler, CPU) than
the newest valid runs of most nodes; where most have none in common, there is no reference. Where a
fact of a node changed (OF_SAMPLE of results/provenance.py), its runs since then count. A node that
still has what most nodes left is left out, and one that left what most still have: a reference is
of one level, never of a mixture.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from membw.grouped import grouped
from membw.printable import printable
from membw.rank.group import LEAST_NODES
from membw.rank.judge import judge
from membw.results import provenance
from membw.results.case import Case
from membw.results.figure import Figure, Measurement
from membw.results.findings import Findings, other_fields
from membw.results.hostlist import fold
from membw.results.record import REFRAME, inner
from membw.results.table import Table
from membw.results.verdict import lacks_of
from membw.site.cpu_peak import cpu_of
from membw.words import VALID

# facts of the newest run: what is noted with a reference, and where another setting differs
FACTS = ('cpu_model', 'dimms', 'bios_version', 'microcode', 'kernel_release', 'compiler', 'flags',
         'version', 'array_size', 'threads')  # fmt: skip


@dataclass
class Samples:
    """Runs of one row of a system, on whatever nodes."""

    case: Case
    runs: dict[str, list[Figure]] = field(default_factory=dict)  # by metric
    left_out: Counter[str] = field(default_factory=Counter)  # why -> runs
    facts: dict[str, str] = field(default_factory=dict)
    split: Findings = ()  # why these runs are of two groups of nodes
    channels: int = 0  # of the memory of a node; 0: not known

    @property
    def key(self) -> tuple[str, ...]:
        """('thin:thin', preset, pinning, a value of each parameter), as references are indexed."""
        case = self.case
        return case.where, case.preset, case.pinning, *(value for _, value in case.parameters)

    @property
    def most(self) -> list[Figure]:
        """The runs of the metric that has most."""
        return max(self.runs.values(), key=len, default=[])


def select(table: Table, wanted: Mapping[str, str]) -> list[Samples]:
    """Samples of each row; `wanted`: {field of a Case: its value}."""
    rows = grouped(
        (row, figure)
        for figure in table.figures
        if all(getattr(row := figure.setting.row, name) == x for name, x in wanted.items())
        if (row.partition and row.preset and row.pinning) or figure.setting.program == REFRAME
    )
    return [_samples(table, case, figures) for case, figures in sorted(rows.items())]


def _samples(table: Table, case: Case, figures: list[Figure]) -> Samples:
    found = Samples(case)
    valid = [f for f in figures if f.verdict == VALID and not f.is_bound]
    last = {f.node: f for f in sorted(valid, key=lambda f: f.time)}  # of each node its newest run
    settings = Counter(f.setting for f in last.values()).most_common(2)
    of_most = [f for f in last.values() if f.setting == settings[0][0]]
    newest = max(of_most, key=lambda f: f.time, default=None)
    why = {id(f.of): text for f in figures if (text := _unfit(f, newest))}
    why |= _of_other_levels([f.of for f in figures if id(f.of) not in why])
    found.left_out = Counter(why.values())
    fit = ((f.metric, f) for f in figures if id(f.of) not in why)
    found.runs = grouped(fit)
    _leave_out_slow(found)
    if 2 * len(of_most) <= len(last) and newest:
        found.split = other_fields(settings[0][0].differs(settings[1][0]))
    if newest:
        known, facts = newest.provenance, inner(table.evidence(newest), 'facts')
        found.facts = {name: known[name] for name in FACTS if known.get(name)}
        by_cpu = cpu_of(facts).get('channels', 0) * (facts.get('sockets') or 1)
        found.channels = int(known.get('memory_channels', by_cpu))
    return found


def _of_other_levels(runs: list[Measurement]) -> dict[int, str]:
    """{id: why} of the runs that are not of the level of most nodes now; `runs`: in order of
    time, perhaps several times."""
    by_node = grouped((run.node, run) for run in {id(run): run for run in runs}.values())
    why: dict[int, str] = {}
    left: dict[str, dict[str, str]] = defaultdict(dict)  # fact: {node: what it left}
    for node, of in by_node.items():
        changes = provenance.changes(run.provenance for run in of)
        for at, facts in changes.items():
            text = f'older than {provenance.first_change(facts)}'
            why |= {id(run): text for run in of[:at]}
            for name, (before, _) in facts.items():
                left[name][node] = before
    for name, gone_of in left.items():
        now = {node: of[-1].provenance.get(name, '') for node, of in by_node.items()}
        have, gone = Counter(now.values()), Counter(gone_of.values())
        for node, of in by_node.items():
            old = gone_of.get(node)
            if gone[now[node]] > have[now[node]]:
                text = f"{name} '{now[node]}', which most nodes left"
            elif old is not None and gone[old] <= have[old]:
                text = f"{name} '{now[node]}', where most nodes still have '{old}'"
            else:
                continue
            why |= {id(run): text for run in of}
    return why


def _leave_out_slow(found: Samples) -> None:
    """Nodes whose median `membw rank` finds low or too good: a reference must not learn a fault.
    Those of which too few peers tell nothing stay."""
    every = [run for runs in found.runs.values() for run in runs]
    of_node = grouped(((run.metric, run.node), run) for run in every).values()
    medians = [of[-1].replace(value=median(f.value for f in of)) for of in of_node]
    if len({f.node for f in medians}) < LEAST_NODES:
        return
    judged = judge(medians)
    found.split = judged.split
    if judged.split:
        return
    low = {v.node for v in judged.verdicts if v.metric}
    if count := len({id(run.of) for run in every if run.node in low}):
        found.left_out[f'of a node that membw rank does not pass: {fold(low)}'] = count
    found.runs = {m: [r for r in runs if r.node not in low] for m, runs in found.runs.items()}


def _unfit(figure: Figure, newest: Figure | None) -> str:
    """Why a figure is left out; '' where it counts."""
    if figure.verdict != VALID:
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
