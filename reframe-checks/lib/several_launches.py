"""A run that starts its program several times: the launch is a factor of its own."""

import shlex

import reframe as rfm
from reframe.core.builtins import run_after, variable

from lib.refusal import refuse
from membw.results import launches, ledger

MOST = 1000  # each is a word of the job script, and a file


class several_launches(rfm.RegressionTestPlugin):
    """One record of all of them; a check calls `launch_again` once its command is complete, whose
    last word is the record."""

    # the median of their medians counts; as many again where some are invalid
    launches = variable(int, value=1, loggable=True)
    # from begin to begin, at least: what a host or a neighbour does may last for seconds
    seconds_apart = variable(float, value=0.0)

    @run_after('init')
    def refuse_nonsense_launches(self) -> None:
        if not 1 <= self.launches <= MOST:
            refuse(self, f'launches={self.launches}: 1 to {MOST}')

    def launch_again(self) -> None:
        """In one shell where the launcher puts it: on a node, or a card.

        A launch without a record did not measure (a library that is missing, an option that there
        is not), nor will the next one: it ends the loop, as do the first two if neither is valid.
        """
        if self.launches == 1:
            return
        names = ['record.json', *(f'launch-{n}.json' for n in range(2, 2 * self.launches + 1))]
        self.case.expected = {
            name: f'launch {number} of {self.launches}'
            for number, name in enumerate(names[: self.launches], 1)
        }
        program = shlex.join([self.executable, *self.executable_opts[:-1]])
        apart = f'sleep {self.seconds_apart:g} & ' if self.seconds_apart else ''
        loop = (
            f'valid=0; n=0; for record in {" ".join(names)}; '
            f'do {apart}{program} $record; status=$?; '
            f'{ledger.ended("$record", "$status")}; '
            f'[ $status = 0 ] && valid=$((valid + 1)); n=$((n + 1)); wait; '
            f'[ -e $record ] && [ $valid -lt {self.launches} ] && '
            f'[ $n-$valid != 2-0 ] || break; done'
        )
        self.executable, self.executable_opts = 'sh', ['-c', shlex.quote(loop)]

    def read_measured(self) -> dict | None:
        """The launches as one record. Where none is valid the others were not begun, and are not
        missed."""
        records = list(self.case.arrived.values())
        if self.launches == 1 or not records:
            return super().read_measured()
        if not any(record['verdict'] == 'VALID' for record in records):
            self.case.missing = [one for one in self.case.missing if one.died]
        return launches.combine(records, None if self.case.missing else self.launches)
