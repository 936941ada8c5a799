"""Findings: why a word was given, as a code with its numbers. The sentence is made here, once, for
people; no room decides by a sentence.

A code that is not in SENTENCES is a program's own reason, as src/harness names it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from membw.printable import amount, plural, signed

Sentence = str | Callable[..., str]


class Finding(NamedTuple):
    code: str
    numbers: Mapping[str, Any] = {}

    @property
    def text(self) -> str:
        sentence = SENTENCES.get(self.code)
        if sentence is None:
            detail = self.numbers.get('detail')
            return f'{self.code} ({detail})' if detail else self.code
        return sentence(**self.numbers) if callable(sentence) else sentence.format(**self.numbers)


Findings = tuple[Finding, ...]


def text_of(findings: Iterable[Finding]) -> str:
    return '; '.join(dict.fromkeys(filter(None, (one.text for one in findings))))


def for_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [{'code': one.code, 'numbers': dict(one.numbers)} for one in findings]


def codes(findings: Iterable[Finding]) -> set[str]:
    return {one.code for one in findings}


def kind_of(findings: Iterable[Finding]) -> tuple:
    """Equal where only the numbers differ."""
    return tuple((one.code, one.numbers.get('text')) for one in findings)


def other_fields(differs: Iterable[tuple[str, str, str]]) -> Findings:
    """Of what Case.differs says."""
    names = 'name', 'value', 'usual'
    return tuple(Finding('fact', dict(zip(names, one, strict=True))) for one in differs)


def reported(text: str, code: str = 'reported') -> Findings:
    """What somebody else said: a check, a record, a scheduler, ReFrame."""
    return (Finding(code, {'text': text}),) if text else ()


# --- sentences -----------------------------------------------------------------------------------


def change(loss: float, better: str) -> str:
    """Of the figure: less of a rate, more of a time."""
    return signed(-loss if better == 'higher' else loss, '+.2%')


def _low(metric: str, loss: float, better: str, peers: int, of: str, **own: Any) -> str:
    """'triad 171.2 GB/s, median of its 63 peers 180.3: -5.00%'."""
    percent = change(loss, better)
    if 'rates' in own:
        return f'mean of its {own["rates"]} rates to the median of {plural(peers, of)}: {percent}'
    value = f'{metric} {own["bound"]}{amount(own["value"], 5)} {own["unit"]}'
    return f'{value}, median of its {plural(peers, of)} {amount(own["median"], 5)}: {percent}'


def _low_once(
    runs: int, low: int, low_nights: int, margin: float, deviations: float, deviation: float,
    **loss: Any,
) -> str:  # fmt: skip
    limit = f'low beyond {50 * margin:.2g}%, half the margin'
    if deviations:
        limit += f', and {deviations:.2f} robust deviations of {deviation:.3%}'
    done = 'low once' if runs == 1 else f'low in {low} of {plural(runs, "run")}'
    nights = f' and in {plural(low_nights, "night")} before' if low_nights else ''
    return f'{_low(**loss)}; {limit}; {done}{nights}: measure again'


def _limit(limit: float, margin: float, deviation: float, better: str) -> str:
    most = f'the larger of {100 * margin:.2g}% + d/2 and 2d'
    return (
        f'limit {change(limit, better)}: {most}, where the robust deviation d is {deviation:.3%}'
    )


def _low_again(least: float, newest: float, **more: Any) -> str:
    return _again(f'{change(least, more["better"])} or worse', **more)


def _again_median(least: float, newest: float, **more: Any) -> str:
    median, last = (change(x, more['better']) for x in (least, newest))
    return _again(f'median {median}, the newest {last}', **more)


def _again(
    said: str, runs: int, low: int, to: str, limit: float, margin: float, deviation: float,
    **loss: Any,
) -> str:  # fmt: skip
    limits = _limit(limit, margin, deviation, loss['better'])
    times = f'measured again {plural(runs, "time")}, compared with {to}'
    return f'{_low(**loss)}; {times}: low in {low} of {runs}, {said}, {limits}'


def _low_nights(
    low: int, nights: int, limit: float, margin: float, deviation: float, **loss: Any
) -> str:
    limits = _limit(limit, margin, deviation, loss['better'])
    return f'{_low(**loss)}; low in {low} of its last {plural(nights, "night")}, {limits}'


def _above_peers(**low: Any) -> str:
    return f'{_low(**low)}; {TOO_GOOD}'


def _insensitive(loss: float, margin: float, noticed: float | None, peers: int, of: str) -> str:
    seen = 'no loss seen' if loss <= margin else f'worse by {loss:.1%}'
    show = f'show one below {noticed:.0%}' if noticed else 'show one'
    way_out = 'add peers' if peers < FEW_PEERS else 'their runs scatter'
    return f'{seen}, but {plural(peers, of)} cannot {show}: {way_out}'


def _beyond(metric: str, value: float, sign: str, unit: str, limits: Mapping[str, float],
            change: float | None) -> str:  # fmt: skip
    """'triad 140.2 GB/s, at least 158.2 wanted (-11%)'."""
    own = f'{metric} {sign}'.rstrip() + f' {amount(value)} {unit}'
    off = f' ({signed(change)})' if change is not None else ''
    return '; '.join(f'{own}, {side} {amount(x)} wanted{off}' for side, x in limits.items())


def _pairs(values: Mapping[str, Any], between: str) -> str:
    """'copy 158.4, triad 176'."""
    texts = {n: v if isinstance(v, str) else amount(v) for n, v in values.items()}
    return between.join(f'{name} {text}' for name, text in texts.items())


def _not_worse(losses: Sequence[tuple[float, str, str]]) -> str:
    """`losses`: the least and the most, of which metric and setting."""
    if losses[1:] and losses[-1][0] - losses[0][0] < 0.005:
        losses = losses[-1:]
    said = ' to '.join(f'{loss:.1%} ({metric}, {name})' for loss, metric, name in losses)
    found = f': a loss that lasts 7 nights would have been found from {said} on'
    return f'nothing got worse{found * bool(said)}'


FEW_PEERS = 20  # more of them tell little more
TOO_GOOD = 'too good: a cache, another size?'
SENTENCES: dict[str, Sentence] = {
    'reported': '{text}',
    'contradicted': "{by} (the record's verdict contradicts it)",
    'allowed': 'allowed: {reasons}',
    # compared with peers
    'card': 'card {number}',
    'low-once': _low_once,
    'low-again': _low_again,
    'low-in-some': _again_median,
    'well-again': _again_median,
    'low-nights': _low_nights,
    'above-peers': _above_peers,
    'insensitive': _insensitive,
    'lacks-metric': lambda metrics: f'no {", ".join(metrics)}, which its peers have',
    'fact': lambda name, value, usual: f"{name.replace('_', ' ')} '{value}', not '{usual}'",
    'unit-slow': (
        '{unit} is slow as a whole ({how}): {low} of its {nodes} nodes are low, their median by '
        '{loss:.1%}, {left} of these are not cleared: look for what they share'
    ),
    'group-slow': (
        '{slower} of {nodes} nodes are slower, their median by {loss:.1%}: two groups, and no '
        'fact says why: look for what they share'
    ),
    'groups': (
        '{slower} of {nodes} nodes are slower, their median by {loss:.1%}; two groups: {fact}'
    ),
    'alone': 'nothing to compare with: other nodes of its kind, a reference',
    'unknown-build': 'its build is not known: compared with no other node',
    'bounds-alone': 'only lower bounds: nothing to compare with, measure again when idle',
    'lacks': 'it lacks memory: {what}',
    'fewer-channels': '{channels} memory channels, its peers {most}',
    # compared with a reference, a peak
    'by-reference': 'within its reference, which lets a loss of {loss:.1%} pass',
    'reference': _beyond,
    'above-reference': lambda metric, value, unit, change: (
        f'{metric} {amount(value)} {unit} ({signed(change)}): {TOO_GOOD}'
    ),
    'above-peak': lambda metric, value, unit, peak: (
        f'{metric} {amount(value)} of a peak of {amount(peak)} {unit}: {TOO_GOOD}'
    ),
    'wide-reference': (
        'the reference of {metric} lets a loss of {loss:.1%} pass: that of a memory channel, too'
    ),
    'may-be-worse': lambda metric, value, sign, unit: (
        f'{metric} {sign}{amount(value)} {unit}: it may be worse'
    ),
    'known-issue': '{metric}: {text}',
    'xpass': "{metric}: {text} (meets its reference: remove '$xfail' from the references file)",
    # not measured
    'no-record': 'no record',
    'no-figure': 'no figure in its record',
    'lost': '{text}',
    'absent': '{text}',
    'rounds-lost': '{lost} of {rounds} rounds: {text}',
    'no-record-since': 'no record{of} since {night}',
    'two-machines': "two machines have this name: {fact} '{one}' and '{other}' in turn",
    'two-names': lambda names: f'one machine under two names, also {", ".join(names)}',
    'set-of-nodes': 'of these nodes measure each alone',
    'cause': '{text}',
    # of an acceptance: why a run does not count
    'not-agreed': lambda fields: f'not under the protocol: {_pairs(fields, "; ")}',
    'outside-period': 'not under the protocol: measured on {day}',
    'replaced': 'before its replacement on {day}',
    'off-its-times': '{metric} is {off:+.0%} off its own bytes and times',
    'overlaps': 'it began before the run before it ended',
    'copy': 'a copy of the run of {node} of {time}: its figures are equal',
    'disturbed-run': 'disturbed: {metric} is a bound',
    'more-runs': 'more than the protocol requires',
    # why a node that passes is not what it says
    'repair': 'it lacks memory: {what}: repair it, or agree on nodes.peak_gbs',
    'changed': 'changed by {day}: {fact}: sign that in replaced, or measure as before',
    'changes-between-runs': lambda name, values: (
        f'{name} was {" or ".join(map(repr, values))} from run to run: measure all with one'
    ),
    'unlike-the-nodes': (
        "{name} '{value}', '{usual}' on {nodes} nodes: measure it so, or sign it in runs.record"
    ),
    'no-records': (
        'no record of {measurements} of the measurements of {session} between those that are '
        'there: name them, too'
    ),
    'later-below': lambda runs, figures: (
        f'its later runs ({runs}) miss the contract ({_pairs(figures, ", ")}): measure again, or '
        'sign a repair in replaced'
    ),
    # why a machine is not accepted
    'failed': '{failed} of {nodes} nodes failed, {allowed} allowed',
    'undecided': '{nodes}: {text}',
    'not-measured': lambda lacking, of, names: (
        f'{lacking} of {of} nodes have no run under the protocol{names and f": {names}"}'
    ),
    'too-many-nodes': (
        '{nodes} nodes reported, the protocol is of {of}: name them in nodes.names'
    ),
    'runs-due': lambda runs, round, until, nodes: (
        f'{plural(runs, "run")} of the {round} round due by {until} on {nodes}'
    ),
    'settings': lambda settings, values: (
        f'counted runs are of {settings} settings: {", ".join(values)}: measure all with one'
    ),
    'unsigned': 'not signed by {party}: {text}',
    # of a history
    'worse': lambda changes: f'{plural(changes, "change")} for the worse',
    'open': lambda nodes: f'UNDECIDED: of {plural(nodes, "node")} a series ended or began',
    'young': 'UNDECIDED: not judged yet: {nights} of {least} nights',
    'not-worse': _not_worse,
}  # fmt: skip
