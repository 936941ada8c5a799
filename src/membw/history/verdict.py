"""What a history says: its lines, its verdict and its exit status."""

from collections.abc import Container
from typing import NamedTuple

from membw.grouped import grouped
from membw.history.changes import Change, Noticed, find_changes
from membw.history.ended import Ended, Part, find_ended, parts_of
from membw.history.nights import Nights
from membw.printable import at_most, plural
from membw.results.hostlist import fold
from membw.statistics.now_and_before import LEAST

MOST_YOUNG = 5  # lines
Event = Change | Ended


class Young(NamedTuple):
    """Nodes of a series with too few nights."""

    nodes: tuple[str, ...]
    name: str
    nights: int  # of the one that has most

    @property
    def line(self) -> str:
        return f'not judged yet: {self.nights} of {LEAST} nights: {fold(self.nodes)} ({self.name})'


class Past(NamedTuple):
    changes: list[Change]
    ended: list[Ended]
    young: list[Young]
    noticed: list[Noticed]
    most: int  # nights of the node that has most, in one series
    is_judged: bool  # something of the newest night of a system has a past

    @property
    def events(self) -> list[Event]:
        return sorted([*self.changes, *self.ended], key=lambda one: one.night)

    @property
    def red(self) -> list[Event]:
        return [one for one in self.events if one.is_red]

    @property
    def lines(self) -> list[str]:
        """In order of time; then what is not judged yet."""
        shown = self.young if self.most >= LEAST else []
        young = at_most([one.line for one in shown], MOST_YOUNG)
        return [*(one.line for one in self.events), *young]

    @property
    def status(self) -> int:
        """0 nothing got worse, 1 something did or ended, 2 nothing is judged."""
        if self.red or any(one.is_open for one in self.ended):
            return 1
        return 0 if self.most >= LEAST and self.is_judged else 2

    @property
    def verdict(self) -> str:
        if self.red:
            return f'{plural(len(self.red), "change")} for the worse'
        if open_ones := [one for one in self.ended if one.is_open]:
            nodes = {node for one in open_ones for node in one.nodes}
            return f'UNDECIDED: of {plural(len(nodes), "node")} a series ended or began'
        if self.most < LEAST:
            return f'UNDECIDED: not judged yet: {self.most} of {LEAST} nights of one node'
        if not self.is_judged:
            return f'UNDECIDED: nothing of the newest night has {LEAST} nights'
        return f'nothing got worse{self.power}'

    @property
    def power(self) -> str:
        """': a loss of 2.9 % that lasts would have been found'."""
        losses = sorted((one.loss, one.metric, one.name) for one in self.noticed)
        ends = losses[:: max(len(losses) - 1, 1)]  # the least and the most
        if not ends:
            return ''
        if ends[-1][0] - ends[0][0] < 0.005:
            ends = ends[-1:]
        said = ' to '.join(f'{loss:.1%} ({metric}, {name})' for loss, metric, name in ends)
        return f': a loss that lasts 7 nights would have been found from {said} on'

    def since(self, night: str) -> 'Past':
        """Without what was found before that night and is well now."""
        return self._replace(
            changes=[one for one in self.changes if one.found >= night or one.is_red],
            ended=[one for one in self.ended if one.found >= night or one.is_red or one.is_open],
        )

    def of_nodes(self, nodes: Container[str]) -> 'Past':
        """With what is said of these alone."""
        changes = [one for one in self.changes if any(node in nodes for node in one.nodes)]
        ended = [one for one in self.ended if any(node in nodes for node in one.nodes)]
        young = [one for one in self.young if any(node in nodes for node in one.nodes)]
        return self._replace(changes=changes, ended=ended, young=young)


def judged(nights: Nights) -> Past:
    changes, noticed = find_changes(nights)
    parts, newest = parts_of(nights), nights.newest_days()
    # of a machine with a new name nothing is
    is_judged = any(
        part.span.nights >= LEAST and part.span.last == newest[part.setting.system]
        for part in parts
    )
    most = max((part.span.nights for part in parts), default=0)
    ended = find_ended(nights, parts, newest)
    return Past(changes, ended, _young(parts, newest), noticed, most, is_judged)


def _young(parts: list[Part], newest: dict[str, int]) -> list[Young]:
    """Of what is still measured."""
    those = [
        part
        for part in parts
        if part.span.nights < LEAST
        and newest[part.setting.system] - part.span.last <= part.patience
    ]
    found = []
    for group in grouped((id(part.runs), part) for part in those).values():
        nodes = tuple(sorted(part.span.node for part in group))
        most = max(part.span.nights for part in group)
        found.append(Young(nodes, group[0].setting.name, most))
    return found
