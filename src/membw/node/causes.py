"""Why a node is slow, by the table systems/facts/causes.yaml, for `membw node` and `membw why`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from membw.node.quantities import EVERY
from membw.statistics import MARGIN

Row = dict[str, Any]  # of causes.yaml
NAMES = {quantity.cause: quantity.name for quantity in EVERY}
ROUNDING = 0.01  # a fact of two alike nodes differs by less: the kernel keeps some memory
WORDS = {  # else the fact's own name
    'memory_gib': 'memory, GiB', 'memory_mts': 'MT/s', 'modules': 'memory modules',
    'numa_nodes': 'NUMA domains', 'thp': 'transparent huge pages',
    'huge_share': 'share in huge pages', 'freq_max_khz': 'highest clock, kHz', 'smt': 'SMT',
    'pages_elsewhere': 'share of the pages elsewhere',
    'other_share': 'share of the CPUs that other processes used',
    'stolen_share': 'share of the CPUs stolen',
    'quota_throttles': 'times that a quota stopped it', 'cpus_allowed': 'CPUs that it may use',
}  # fmt: skip


class Seen(NamedTuple):
    """What a node is judged by. Facts of one side only say nothing."""

    shares: Mapping[str, float]  # of the reference, worse below 1
    limits: Mapping[str, float]  # low is a share below 1 - this
    facts: Mapping[str, Any]
    usual: Mapping[str, Any]  # the same facts of the peers, or of the same node before
    counted: Mapping[str, float]  # meanwhile
    bounds: Collection[str] = ()  # of the shares: the node is at least so good

    def is_low(self, name: str) -> bool:
        return name in self.shares and self.shares[name] < 1 - self.limits.get(name, MARGIN)

    @property
    def low(self) -> list[str]:
        return [name for name in self.shares if self.is_low(name)]


class Cause(NamedTuple):
    name: str
    sentence: str
    evidence: list[str]  # never empty
    is_confirmed: bool  # by a fact; else by the pattern of figures alone
    disturbs: bool
    next: str
    source: str
    explains: list[str]  # quantities

    @property
    def text(self) -> str:
        return self.sentence + ('' if self.is_confirmed else ', not confirmed')


def find(seen: Seen, table: Sequence[Row]) -> list[Cause]:
    """Every row that fits, in the table's order; [] where the cause is not known."""
    every = (fitting(row, seen) for row in table)
    return [cause for cause in every if cause]


def fitting(row: Row, seen: Seen) -> Cause | None:
    conditions = row.get('facts', ())
    answers = [is_met(condition, seen) for condition in conditions]
    met = [c for c, answer in zip(conditions, answers, strict=True) if answer]
    needs, moves, stays = row.get('needs'), row.get('moves', {}), row.get('stays', ())
    if not met and (needs == 'fact' or needs == 'known' and False in answers):
        return None
    measured = {name: ends for name, ends in moves.items() if name in seen.shares}
    if len(measured) < len(moves) and not (met and measured):
        return None
    if any(not low <= seen.shares[name] <= high for name, (low, high) in measured.items()):
        return None
    moved = [name for name in (*moves, *row.get('any', ())) if seen.is_low(name)]
    if ('moves' in row or 'any' in row) and not moved:
        return None
    if not met and any(map(seen.is_low, stays)):
        return None
    if not are_alike(row.get('alike', ()), seen):
        return None
    still = [NAMES[n] for n in stays if n in seen.shares and not seen.is_low(n)]
    signs = {name: '≥ ' for name in seen.bounds}
    evidence = [
        f'{NAMES[name]} {signs.get(name, "")}{seen.shares[name]:.3f} of the reference'
        for name in moved
    ]
    evidence += [f'{", ".join(still)} as before'] * bool(still)
    evidence += [said(condition['fact'], seen) for condition in met]
    return Cause(
        row['cause'], row['sentence'], evidence, bool(met), bool(row.get('disturbs')),
        row['next'], row['source'], moved,
    )  # fmt: skip


def are_alike(names: Sequence[str], seen: Seen) -> bool:
    shares = [seen.shares[name] for name in names if name in seen.shares]
    return not shares or max(shares) - min(shares) <= max(
        seen.limits.get(n, MARGIN) for n in names
    )


def is_met(condition: Row, seen: Seen) -> bool | None:
    """None: it is not known."""
    name = condition['fact']
    if 'above' in condition:
        return seen.counted[name] > condition['above'] if name in seen.counted else None
    if name not in seen.facts or name not in seen.usual:
        return None
    own, usual = seen.facts[name], seen.usual[name]
    return is_apart(own, usual) and (condition['is'] == 'differs' or own < usual)


def said(name: str, seen: Seen) -> str:
    """Of a fact beside the usual one, or of what was counted."""
    word = WORDS.get(name, name.replace('_', ' '))
    if name in seen.counted:
        return f'{word}: {seen.counted[name]:.3g}'
    return f'{word}: {seen.facts[name]}, not {seen.usual[name]}'


def differing(seen: Seen) -> list[str]:
    """Every fact that differs from the usual one, whatever it explains."""
    both = [name for name in seen.facts if name in seen.usual]
    return [said(n, seen) for n in both if is_apart(seen.facts[n], seen.usual[n])]


def is_apart(a: Any, b: Any) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int) and b:
        return abs(a / b - 1) > ROUNDING
    return a != b
