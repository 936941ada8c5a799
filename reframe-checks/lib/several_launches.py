"""A run that starts its program several times: the launch is a factor of its own."""

import json
import pathlib
import shlex

import reframe as rfm
from reframe.core.builtins import run_after, variable
from reframe.core.exceptions import SanityError

from lib.refusal import refuse
from membw.results import launches

MOST = 1000  # each is a word of the job script, and a file


class several_launches(rfm.RegressionTestPlugin):
    """One record of all of them; a check calls `launch_again` once its command is complete, whose
    last word is the record."""

    # the median of their medians counts; as many again where some are invalid
    launches = variable(int, value=1, loggable=True)
    # from begin to begin, at least: what a host or a neighbour does may last for seconds
    seconds_apart = variable(float, value=0.0)

    @run_after('init')
    def refuse_no_launch(self) -> None:
        if not 1 <= self.launches <= MOST:
            refuse(self, f'launches={self.launches}: 1 to {MOST}')

    def launch_again(self) -> None:
        """In one shell where the launcher puts it: on a node, or a card.

        A launch without a record did not measure (a library that is missing, an option that there
        is not), nor will the next one; and what is wrong for good stays so: the loop ends with
        either.
        """
        if self.launches == 1:
            return
        program = shlex.join([self.executable, *self.executable_opts[:-1]])
        apart = f'sleep {self.seconds_apart:g} & ' if self.seconds_apart else ''
        loop = (
            f'valid=0; for record in {" ".join(self._names())}; '
            f'do {apart}{program} $record && valid=$((valid + 1)); wait; '
            f'[ -e $record ] && [ $valid -lt {self.launches} ] && '
            f'! grep -Eq {shlex.quote(launches.WRONG_IN_RECORD)} $record || break; done'
        )
        self.executable, self.executable_opts = 'sh', ['-c', shlex.quote(loop)]

    def _names(self) -> list[str]:
        return ['record.json', *(f'launch-{n}.json' for n in range(2, 2 * self.launches + 1))]

    def read_records(self, names: list[str]) -> list[dict]:
        """The launches as one record, in the place of the first."""
        records = super().read_records(self._names())
        if self.launches == 1 or not records:
            return records
        if len(records) < self.launches and not launches.is_wrong(records[-1]):
            raise SanityError(
                f'{len(records)} of {self.launches} launches left a record: {self.last_words()}'
            )
        made = launches.combine(records, self.launches)
        pathlib.Path(self.stagedir, 'record.json').write_text(json.dumps(made) + '\n')
        return [made]
