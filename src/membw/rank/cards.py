"""Cards (GPUs): the peers of one are all cards of its kind, on its node and on the others.

The judge compares nodes, so for it each card is a node, 'n001-card3', of a setting without its
number; what it says is of the card's own node and setting again.
"""

from collections.abc import Sequence
from dataclasses import replace

from membw.rank.judge import Judgement, Units, judge
from membw.results.case import CARD, Case
from membw.results.figure import Figure, Measurement
from membw.results.findings import Finding
from membw.results.node_names import of_card

Place = tuple[str, Case]  # a node, and a setting


def judge_cards(
    first: Sequence[Figure], again: Sequence[Figure], before: Sequence[Figure], units: Units
) -> Judgement:
    """As `judge`, which takes what is of no card as it is."""
    own: dict[Place, Place] = {}
    runs: dict[int, Measurement] = {}
    every = ([_apart(f, own, runs) for f in of] for of in (first, again, before))
    now, later, earlier = every
    found = judge(now, later, earlier, units)
    found.verdicts = [
        v._replace(node=node, setting=setting, findings=(*_number(setting), *v.findings))
        for v in found.verdicts
        for node, setting in [own.get((v.node, v.setting), (v.node, v.setting))]
    ]
    for by_setting in (found.low, found.controls):
        for setting in list(by_setting):
            for node in by_setting.pop(setting):
                host, of_card = own.get((node, setting), (node, setting))
                by_setting[of_card].append(host)
    return found


def _apart(figure: Figure, own: dict[Place, Place], runs: dict[int, Measurement]) -> Figure:
    node, setting = figure.node, figure.setting
    number = dict(setting.parameters).get(CARD)
    if number is None or not setting.card_model:
        return figure
    if id(figure.of) not in runs:
        rest = tuple(pair for pair in setting.parameters if pair[0] != CARD)
        made = replace(
            figure.of, node=of_card(node, number), setting=setting._replace(parameters=rest)
        )
        runs[id(figure.of)] = made
        own[made.node, made.setting] = node, setting
    return figure.replace(of=runs[id(figure.of)])


def _number(setting: Case) -> tuple[Finding, ...]:
    number = dict(setting.parameters).get(CARD)
    return (Finding('card', {'number': number}),) if number and setting.card_model else ()
