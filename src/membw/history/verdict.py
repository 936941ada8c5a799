"""What a history says: its lines, its verdict and its exit status."""

from collections.abc import Container
from typing import NamedTuple

from membw.history.changes import Change, Noticed, find_changes
from membw.history.ended import find_ended
from membw.history.nights import Nights
from membw.results.findings import Finding
from membw.statistics.now_and_before import LEAST

# {code: exit status}
STATUS = {'worse': 1, 'open': 1, 'young': 2, 'not-worse': 0}


class Past(NamedTuple):
    changes: list[Change]
    noticed: list[Noticed]
    most: int  # nights of a series that goes on, of the node that has most

    @property
    def red(self) -> list[Change]:
        return [one for one in self.changes if one.is_red]

    @property
    def verdict(self) -> Finding:
        if self.red:
            return Finding('worse', {'changes': len(self.red)})
        if nodes := {node for one in self.changes if one.is_open for node in one.nodes}:
            return Finding('open', {'nodes': len(nodes)})
        if self.most < LEAST:
            return Finding('young', {'nights': self.most, 'least': LEAST})
        losses = sorted(self.noticed)
        return Finding('not-worse', {'losses': losses[:: max(len(losses) - 1, 1)]})

    @property
    def status(self) -> int:
        """0 nothing got worse, 1 something did or ended, 2 nothing is judged."""
        return STATUS[self.verdict.code]

    def since(self, night: str) -> 'Past':
        """Without what began before that night and is well now."""
        kept = (c for c in self.changes if c.night >= night or c.is_red or c.is_open)
        return self._replace(changes=[*kept])

    def of_nodes(self, nodes: Container[str]) -> 'Past':
        """With what is said of these alone."""
        kept = (c for c in self.changes if any(node in nodes for node in c.nodes))
        return self._replace(changes=[*kept])


def judged(nights: Nights) -> Past:
    changes, noticed = find_changes(nights)
    ended, most = find_ended(nights)
    changes = sorted([*changes, *ended], key=lambda c: c.night)
    return Past(changes, noticed, most)
