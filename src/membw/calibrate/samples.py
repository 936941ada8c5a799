"""The runs that a reference is taken from, and why other runs are left out."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import median

from membw.printable import printable
from membw.rank.judge import FEW, judge
from membw.results.hostlist import fold
from membw.results.reframe import parameters_of
from membw.results.table import Figure, Table

Wanted = tuple[str | None, str | None, str | None]  # partition, preset, pinning; None: any
# facts of the newest run: what is noted with a reference, and where another setting differs
FACTS = ('cpu_model', 'dimms', 'compiler', 'flags', 'version', 'array_size', 'threads')


@dataclass
class Samples:
    """Runs of one partition, preset and pinning, and of one value of each own parameter."""

    key: tuple[str, ...]  # ('thin:thin', preset, pinning, a value of each parameter)
    parameters: tuple[str, ...]  # names of the check's own parameters
    runs: dict[str, list[Figure]] = field(default_factory=dict)  # by metric
    units: dict[str, tuple[str, str]] = field(default_factory=dict)  # metric: (unit, better)
    left_out: Counter[str] = field(default_factory=Counter)  # why -> runs
    facts: dict[str, str] = field(default_factory=dict)
    split: str = ''  # why these runs are of two groups of nodes

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
    """Samples of each key of one test on one system; `since`: seconds since 1970.

    Figures that are INVALID or a lower bound only, and those of another setting (program, options,
    compiler, CPU) than the newest valid run, are left out.
    """
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Figure]] = defaultdict(list)
    for figure in table.figures:
        named = figure.partition, figure.preset, figure.pinning
        fits = all(w in (None, n) for w, n in zip(wanted, named, strict=True)) and all(named)
        if fits and (figure.system, figure.benchmark) == (system, test) and figure.time >= since:
            own = parameters_of(figure.parameters)
            key = f'{system}:{figure.partition}', *named[1:], *own.values()
            groups[key, tuple(own)].append(figure)
    return [_samples(*group, figures) for group, figures in sorted(groups.items())]


def _samples(key: tuple[str, ...], parameters: tuple[str, ...], figures: list[Figure]) -> Samples:
    found, left_out = Samples(key, parameters), {}
    valid = [f for f in figures if f.verdict == 'VALID' and not f.is_bound]
    newest = max(valid, key=lambda f: f.time, default=None)
    for figure in figures:
        why = _unfit(figure, newest)
        if why:
            left_out[id(figure.of)] = why
        else:
            found.runs.setdefault(figure.metric, []).append(figure)
            found.units[figure.metric] = figure.unit, figure.better
    found.left_out = Counter(left_out.values())
    _leave_out_slow(found)
    known = newest.provenance if newest else {}
    found.facts = {name: known[name] for name in FACTS if known.get(name)}
    return found


def _leave_out_slow(found: Samples) -> None:
    """Nodes whose median `membw rank` does not pass: a reference must not learn a fault."""
    medians: list[Figure] = []
    for runs in found.runs.values():
        of_node: dict[str, list[Figure]] = defaultdict(list)
        for run in runs:
            of_node[run.node].append(run)
        medians += [of[-1].replace(value=median(f.value for f in of)) for of in of_node.values()]
    if len({f.node for f in medians}) < FEW:
        return
    judged = judge(medians)
    found.split = judged.split
    low = {v.node for v in judged.verdicts if v.verdict != 'PASS'} if not judged.split else set()
    count = len({id(r.of) for runs in found.runs.values() for r in runs if r.node in low})
    if count:
        found.left_out['of a node that membw rank does not pass: ' + fold(low)] += count
    found.runs = {m: [r for r in runs if r.node not in low] for m, runs in found.runs.items()}


def _unfit(figure: Figure, newest: Figure | None) -> str:
    """Why a figure is left out; '' where it counts."""
    if figure.verdict != 'VALID':
        return f'{figure.verdict}: {printable(figure.reasons)}'
    if figure.is_bound or newest is None:
        return 'disturbed: a lower bound only'
    if figure.setting == newest.setting:
        return ''
    here, there = figure.provenance, newest.provenance
    name = next((n for n in FACTS if here.get(n) != there.get(n)), 'options')
    texts = (printable(facts.get(name, 'not recorded')) for facts in (here, there))
    return 'of another setting than the newest run: {} {}, not {}'.format(name, *texts)
