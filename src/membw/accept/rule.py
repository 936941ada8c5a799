"""The rule of an acceptance protocol, applied to runs: each node's status, and the verdict."""

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from membw.accept.pairs import are_held, in_common, item
from membw.accept.protocol import below, statistic, unsigned
from membw.statistics.nights import NIGHT_S, night_numbers, nights_of

# what the counted runs of one acceptance have in common, where it is known
ALIKE = ('source_sha256', 'binary_sha256', 'compiler', 'flags', 'compile_line')


@dataclass(slots=True)
class Run:
    """One run of one node (all its ranks together); there may be a million."""

    node: str
    time: float  # seconds since 1970
    rates: dict  # metric -> rate: larger is better (results/metrics.py)
    invalid: tuple = ()  # why it must not be believed
    outside: str = ''  # why it is not under the protocol
    source: str = ''  # the file it was read from
    build: dict = field(default_factory=dict)  # what is known of the binary
    counted: str = ''  # 'first', 'retest 1', ...; else why it is not
    night: int = 0  # of this node's runs that could count


@dataclass
class Round:
    """Runs of one test of one node, and what they came to."""

    name: str
    values: dict  # kernel -> rate
    below: list  # kernels


@dataclass
class Tested:
    """One node: PASS, CLEARED (by a retest), FAILED, OPEN (runs are missing) or MISSING."""

    name: str
    status: str = 'MISSING'
    runs: list = field(default_factory=list)
    rounds: list = field(default_factory=list)
    needs: int = 0  # further valid runs
    what_for: str = ''
    at_once: int = 0  # of them, how many may be made in one night
    not_before: float = 0.0  # seconds since 1970: the night of the latest run has its runs

    @property
    def accepted(self):
        return self.status in ('PASS', 'CLEARED')


@dataclass
class Decision:
    """ACCEPTED, REFUSED or INCOMPLETE, with everything it rests on."""

    protocol: dict
    verdict: str
    why: list
    nodes: list
    elsewhere: list  # runs of nodes that the protocol does not name

    def having(self, *statuses):
        return [n for n in self.nodes if n.status in statuses]

    @property
    def runs(self):
        return [run for node in self.nodes for run in node.runs]

    @property
    def builds(self):
        """[(what is known of the binary, counted runs)], the most usual first."""
        counted = [r.build for r in self.runs if is_counted(r)]  # few objects, of a million runs
        of_object, runs = {id(build): build for build in counted}, Counter()
        for number, n in Counter(map(id, counted)).items():
            runs[tuple(sorted(of_object[number].items()))] += n
        return [(dict(build), n) for build, n in runs.most_common()]


def is_counted(run):
    return run.counted.startswith(('first', 'retest'))


def decide(protocol, runs):
    """A Decision on runs in any order; of a node the earliest valid ones count, no choice."""
    by_node = defaultdict(list)
    for run in sorted(runs, key=lambda r: (r.time, r.source)):
        by_node[run.node].append(run)
    names = protocol['names'] or sorted(by_node)
    nodes = [judge(protocol, name, by_node.pop(name, [])) for name in names]
    nodes = [n for n in nodes if protocol['names'] or n.status != 'MISSING']
    rest = [run for left in by_node.values() for run in left]
    decision = Decision(protocol, '', [], nodes, rest)
    decision.verdict, decision.why = _verdict(protocol, decision)
    return decision


def judge(protocol, name, runs):
    """One node by its runs in order of time."""
    node = Tested(name, runs=runs)
    usable = [run for run in runs if _usable(run)]
    for run, night in zip(usable, night_numbers([r.time for r in usable]).tolist(), strict=True):
        run.night = night
    nights = Counter()  # runs that count, by night
    tests = [('first', protocol['runs']['repetitions'])]
    tests += [
        (f'retest {i + 1}', protocol['retest']['repetitions'])
        for i in range(protocol['retest']['rounds'])
    ]
    for title, count in tests:
        taken, closed = _take(protocol, usable, count, title, set(nights))
        nights.update(run.night for run in taken)
        if len(taken) < count:
            node.needs, node.what_for = count - len(taken), title
            _when(protocol, node, usable, count, closed)
            node.status = 'OPEN' if any(not run.outside for run in runs) else 'MISSING'
            break
        values = statistic(protocol, [run.rates for run in taken])
        node.rounds.append(Round(title, values, below(protocol, values)))
        if not node.rounds[-1].below:
            node.status = 'PASS' if title == 'first' else 'CLEARED'
            break
        node.status = 'FAILED'
    for run in usable:
        run.counted = run.counted or 'more than the protocol asks for'
    return node


def _take(protocol, usable, count, title, before):
    """(the earliest runs that make one test, {night: runs it may still take}).

    Where the protocol asks for several nights, each gives its share and no more, and a retest
    has nights of its own: runs of one night err alike.
    """
    nights = nights_of(protocol, count)
    share = count if nights == 1 else -(-count // nights)
    closed = dict.fromkeys(before, 0) if protocol['runs'].get('nights', 1) > 1 else {}
    taken = []
    for run in usable:
        room = closed.setdefault(run.night, share)
        if not run.counted and len(taken) < count and room:
            closed[run.night] -= 1
            run.counted = title
            taken.append(run)
    return taken, closed


def _when(protocol, node, usable, count, closed):
    """How many runs may be made tonight, and from when on."""
    nights = nights_of(protocol, count)
    node.at_once = node.needs if nights == 1 else min(node.needs, -(-count // nights))
    if protocol['runs'].get('nights', 1) == 1 or not usable:
        return
    begun = min(run.time for run in usable if run.night == usable[-1].night)
    room = closed[usable[-1].night]
    node.not_before = 0.0 if room else begun + NIGHT_S
    node.at_once = min(node.at_once, room or node.at_once)


def _usable(run):
    """Not under the protocol or not to be believed: such a run is neither a pass nor a failure."""
    if run.outside:
        run.counted = sys.intern(f'not under the protocol: {run.outside}')
    elif run.invalid:
        run.counted = f'INVALID: {"; ".join(run.invalid)}'
    return not run.outside and not run.invalid


def _verdict(protocol, decision):
    """REFUSED as soon as nothing that is missing could change it."""
    failed, allowed = decision.having('FAILED'), protocol['rule']['allowed_failures']
    total, runs = protocol['nodes']['count'], protocol['runs']
    text = f'{len(failed)} of {total} {item(runs, total)} failed, {allowed} allowed'
    if are_held(runs):
        text = ', '.join([text, *in_common([node.name for node in failed])])
    if len(failed) > allowed:
        return 'REFUSED', [text]
    missing = [*_missing(protocol, decision), *_not_signed(protocol)]
    if missing:
        return 'INCOMPLETE', [*missing, text]
    return 'ACCEPTED', [text]


def _not_signed(protocol):
    if unsigned(protocol):
        yield f'not signed by {", ".join(unsigned(protocol))}'


def _missing(protocol, decision):
    count, open_nodes = protocol['nodes']['count'], decision.having('OPEN')
    reported = len([n for n in decision.nodes if n.status != 'MISSING'])
    if reported < count:
        things = item(protocol['runs'], count)
        yield f'{count - reported} of {count} {things} have no run under the protocol'
    if reported > count:
        things = item(protocol['runs'], reported)
        yield f'{reported} {things} reported, the protocol is of {count}: name them in nodes.names'
    for title in dict.fromkeys(node.what_for for node in open_nodes):
        nodes = [n for n in open_nodes if n.what_for == title]
        runs = sum(n.needs for n in nodes)
        kind = 'valid runs' if title == 'first' else f'valid runs of {title}'
        yield f'{kind} that are missing: {runs}, on {", ".join(n.name for n in nodes[:5])}' + (
            f' and {len(nodes) - 5} more' if len(nodes) > 5 else ''
        )
    builds = decision.builds
    for name in ALIKE:
        seen = {build[name] for build, _ in builds if build.get(name)}
        if len(seen) > 1:
            yield f'counted runs are of {len(seen)} builds: {name} differs'
