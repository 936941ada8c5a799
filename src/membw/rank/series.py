"""Series that ended or began among the records that are ranked, as `membw history` says it."""

from typing import TYPE_CHECKING

from membw.results.ranks import Run
from membw.statistics import LEAST_BEFORE

if TYPE_CHECKING:  # numpy is for those who have enough nights
    from membw.history.changes import Change
    from membw.history.nights import Nights


class Series:
    def __init__(self) -> None:
        self.days: set[str] = set()
        self.runs: list[Run] = []  # of the first nights: of few nothing is said
        self.nights: Nights | None = None

    def add(self, run: Run) -> None:
        self.days.add(run.of.night)
        self.runs.append(run)
        if len(self.days) > LEAST_BEFORE:
            from membw.history.nights import Nights

            self.nights = self.nights or Nights()
            for one in self.runs:
                self.nights.add(one.of, one.metrics)
            self.runs.clear()

    def still_open(self, problems: list[str]) -> 'list[Change]':
        """What is worse since then, or cannot be judged yet."""
        if not self.nights:
            return []
        from membw.history import acknowledged
        from membw.history.ended import find_ended
        from membw.history.verdict import Past

        past = Past(find_ended(self.nights)[0], [], 0)
        past = acknowledged.apply(past, acknowledged.usual(), problems)
        return [change for change in past.changes if change.is_red or change.is_open]
