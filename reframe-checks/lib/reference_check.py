"""Compares a run with the references of its system."""

import reframe as rfm
from reframe.core.builtins import run_after, run_before, variable
from reframe.core.logging import getlogger

from lib import references
from membw.results.table import read_table
from membw.results.verdict import UNDECIDED, missed, of_figure


class reference_check(rfm.RegressionTestPlugin):
    # the last day of a calibrated reference that is over
    reference_expired = variable(str, value='', loggable=True)
    # {metric: message} of each '$xfail', as JSON: ReFrame's report does not name them
    known_issues = variable(str, value='', loggable=True)

    @run_after('setup')
    def take_reference(self) -> None:
        """References stand with the system's facts; a system with none is recorded only."""
        path = self.current_partition.extras.get('references')
        if path and type(self).__name__ in references.read(path) and not self.threads:
            self.reference = {'$ref': path}

    def has_reference(self) -> bool:
        """Says so: ReFrame passes a run without a reference silently."""
        return bool(references.rows(self))

    def references(self) -> dict[str, list[float | None]]:
        """{metric: [value, low, high]}; low and high are fractions of the value, None: open."""
        return references.tuples(self)

    def known_issues_of(self) -> dict[str, str]:
        """{metric: message} of what '$xfail' marks."""
        return {name: row.message for name, row in references.expected_failures(self)}

    def undecided(self) -> list[str]:
        """Figures outside their reference that may be within, or why all are: by the record as it
        is kept, so that ReFrame does not compare a bound as an estimate."""
        figures = read_table([self.record]).figures if self.record else []
        words = ((figure, of_figure(figure)) for figure in figures if not figure.known_issue)
        return list(dict.fromkeys(missed(figure) for figure, word in words if word == UNDECIDED))

    @run_before('performance')
    def say_no_reference(self) -> None:
        if not self.has_reference() and not self.is_dry_run():
            self.say('no reference: recorded only')

    @run_after('performance')
    def warn_of_reference_without_figure(self) -> None:
        """A misspelt metric in the references would mean that nothing is compared."""
        for name, hint in references.not_measured(self):
            getlogger().warning(
                f"{self.display_name}: the references have '{name}', not measured: {hint}"
            )

    def last_day(self) -> str:
        """Of a calibrated reference that is over; '' where it is not, or there is none."""
        path, name = self.current_partition.extras.get('references'), type(self).__name__
        if not path:
            return ''
        index = ['pinning', *references.more_of_index(path, name)]
        of_case = [str(getattr(self, attribute, '')) for attribute in index]
        key = self.current_partition.fullname, self.current_environ.name, *of_case
        return references.expired(path, name, key) or ''

    @run_before('performance')
    def warn_of_old_reference(self) -> None:
        """A calibrated reference has a last day; the run is still compared with it."""
        if self.is_dry_run() or not self.last_day():
            return
        self.reference_expired, name = self.last_day(), type(self).__name__
        where = f'{self.current_partition.fullname}+{self.current_environ.name}'
        test = '' if name == references.STREAM else f' --test {name}'
        getlogger().warning(
            f'{self.display_name} @{where}: the reference expired on {self.reference_expired}: '
            f'membw calibrate --system {self.current_system.name}{test}'
        )
