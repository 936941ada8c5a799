"""A run that starts its program several times, and one record of them: the launch is a factor.

S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think,
IEEE TPDS 27 (2016): repeat the mpirun, not the loop alone.
"""

import shlex
import statistics

import reframe as rfm
from reframe.core.builtins import run_after, variable

from lib.batch_job import refuse
from lib.logged import logged_number
from membw.results import ledger

MOST = 1000  # each is a word of the job script, and a file


class several_launches(rfm.RegressionTestPlugin):
    """One record of all of them; a check calls `launch_again` once its command is complete, whose
    last word is the record."""

    # the median of the valid ones counts
    launches = logged_number(value=1)
    # from begin to begin, at least: what a host or a neighbour does may last for seconds
    seconds_apart = variable(float, value=0.0)

    @run_after('init')
    def refuse_nonsense_launches(self) -> None:
        if not 1 <= self.launches <= MOST:
            refuse(self, f'launches={self.launches}: 1 to {MOST}')

    def launch_again(self) -> None:
        """In one shell where the launcher puts it: on a node, or a card.

        A launch without a record did not measure (a library that is missing, an option that there
        is not), nor will the next one: it ends the loop.
        """
        if self.launches == 1:
            return
        names = ['record.json', *(f'launch-{n}.json' for n in range(2, self.launches + 1))]
        self.expected = {name: f'launch {n} of {self.launches}' for n, name in enumerate(names, 1)}
        program = shlex.join([self.executable, *self.executable_opts[:-1]])
        apart = f'sleep {self.seconds_apart:g} & ' if self.seconds_apart else ''
        loop = (
            f'for record in {" ".join(names)}; do {apart}{program} $record; '
            f'{ledger.ended("$record")}; wait; [ -e $record ] || break; done'
        )
        self.executable, self.executable_opts = 'sh', ['-c', shlex.quote(loop)]

    def read_measured(self) -> dict | None:
        """The launches as one record."""
        records = list(self.arrived.values())
        return combine(records) if len(records) > 1 else super().read_measured()


def combine(records: list[dict]) -> dict:
    """The first valid record, with the medians of the valid launches as its metrics.

    low and high are those of the least and the largest launch: of six they contain the median of
    all launches with 97 %, whatever its distribution (1 - 2 / 2^n). INVALID where at most half of
    the launches are valid, or one computed something wrong. A metric that at most half of the
    launches have is left out; one that is a bound in half of those that have it is one.
    """
    valid = [record for record in records if record['verdict'] == 'VALID']
    bad = [record for record in records if record['verdict'] != 'VALID']
    bad.sort(key=is_wrong, reverse=True)
    is_invalid = 2 * len(valid) <= len(records) or any(map(is_wrong, bad))
    used = records if is_invalid else valid
    each = [
        {
            'verdict': record['verdict'],
            'reasons': [reason['reason'] for reason in record['reasons']],
            'metrics': {name: row['value'] for name, row in record['metrics'].items()},
        }
        for record in records
    ]
    return (bad if is_invalid else valid)[0] | {'metrics': _metrics(used), 'launches': each}


def is_wrong(record: dict) -> bool:
    """What no other launch makes good."""
    return any(r['reason'] == 'not-validated' and not r['allowed'] for r in record['reasons'])


def _metrics(records: list[dict]) -> dict[str, dict]:
    made = {}
    for name in dict.fromkeys(name for record in records for name in record['metrics']):
        rows = [record['metrics'].get(name, {}) for record in records]
        rows = [row for row in rows if row.get('value') is not None]
        if 2 * len(rows) > len(records):
            kept = {k: v for k, v in rows[0].items() if k not in ('low', 'high', 'bound')}
            made[name] = kept | _of_launches(rows)
    return made


def _of_launches(rows: list[dict]) -> dict[str, float | str]:
    """The value of a metric, with the interval or the bound that it is."""
    sure = [row for row in rows if not row.get('bound')]
    is_sure = 2 * len(sure) > len(rows)
    value = statistics.median(row['value'] for row in (sure if is_sure else rows))
    if not is_sure:
        bounds = {row['bound'] for row in rows if row.get('bound')}
        return {'value': value, 'bound': 'unknown' if len(bounds) > 1 else bounds.pop()}
    return {
        'value': value,
        'low': min(row.get('low', row['value']) for row in sure),
        'high': max(row.get('high', row['value']) for row in sure),
    }
