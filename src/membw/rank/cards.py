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
    now, later, earlier = ([_apart(f, own, runs) for f in of] for of in (first, again, before))
    found = judge(now, later, earlier, units)
    for n, v in enumerate(found.verdicts):
        if place := own.get((v.node, v.setting)):
            node, setting = place
            card = Finding('card', {'number': dict(setting.parameters)[CARD]})
            found.verdicts[n] = v._replace(
                node=node, setting=setting, findings=(card, *v.findings)
            )
    for by_setting in (found.low, found.controls) if own else ():
        for setting in list(by_setting):
            for node in by_setting.pop(setting):
                host, of_card = own.get((node, setting), (node, setting))
                by_setting[of_card].append(host)
    return found


def _apart(figure: Figure, own: dict[Place, Place], runs: dict[int, Measurement]) -> Figure:
    setting = figure.of.setting
    if not setting.card_model or not (number := dict(setting.parameters).get(CARD)):
        return figure
    if id(figure.of) not in runs:
        rest = tuple(pair for pair in setting.parameters if pair[0] != CARD)
        node, alone = of_card(figure.node, number), setting._replace(parameters=rest)
        runs[id(figure.of)] = replace(figure.of, node=node, setting=alone)
        own[node, alone] = figure.node, setting
    return figure.replace(of=runs[id(figure.of)])
