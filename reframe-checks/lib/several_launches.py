"""A run that starts its program several times, and one record of them: the launch is a factor.

S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think,
IEEE TPDS 27 (2016): repeat the mpirun, not the loop alone.
"""

import shlex
import statistics

import reframe as rfm
from reframe.core.builtins import run_after, variable

from lib.batch_job import refuse
from membw.results import ledger

MOST = 1000  # each is a word of the job script, and a file
# what no other launch makes good
WRONG = ('array-too-small', 'not-validated', 'wrong-pinning', 'wrong-placement', 'oversubscribed')


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
        counted = enumerate(names[: self.launches], 1)
        self.expected = {name: f'launch {n} of {self.launches}' for n, name in counted}
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
        records = list(self.arrived.values())
        if self.launches == 1 or not records:
            return super().read_measured()
        if not any(record['verdict'] == 'VALID' for record in records):
            self.missing = [one for one in self.missing if one.died]
        return combine(records, None if self.missing else self.launches)


def combine(records: list[dict], requested: int | None = None) -> dict:
    """The first valid record, with the medians of the valid launches as its metrics.

    low and high are those of the least and the largest launch: of six they contain the median of
    all launches with 97 %, whatever its distribution (1 - 2 / 2^n). Where not more than half of
    the `requested` launches (default: all) are valid, or one is wrong for good, the record is
    INVALID. A metric that at most half of the launches have is left out; one that is a bound in
    half of those that have it is one.
    """
    requested = requested or len(records)
    wrong = next(filter(is_wrong, records), None)
    valid = [record for record in records if record['verdict'] == 'VALID']
    if wrong:
        used, chosen = records, dict(wrong)
    elif 2 * len(valid) > requested:
        used, chosen = valid, dict(valid[0])
    else:
        used, chosen = records, dict(next(r for r in records if r['verdict'] != 'VALID'))
    chosen['metrics'] = _metrics(used)
    chosen['launches'] = [
        {
            'verdict': record['verdict'],
            'reasons': [reason['reason'] for reason in record['reasons']],
            'additions_per_cycle': record.get('additions_per_cycle'),
            'counts': any(record is one for one in used),
            'metrics': {name: row['value'] for name, row in record['metrics'].items()},
        }
        for record in records
    ]
    return chosen


def is_wrong(record: dict) -> bool:
    """A reason that further launches cannot change."""
    return any(r['reason'] in WRONG and not r.get('allowed') for r in record['reasons'])


def _metrics(records: list[dict]) -> dict[str, dict]:
    rows = {name: row for record in reversed(records) for name, row in record['metrics'].items()}
    made = {}
    for name, row in rows.items():
        each = [r['metrics'][name] for r in records if name in r['metrics']]
        if 2 * len(each) > len(records):
            kept = {k: v for k, v in row.items() if k not in ('low', 'high', 'bound')}
            made[name] = kept | _of_launches([one for one in each if one['value'] is not None])
    return made


def _of_launches(rows: list[dict]) -> dict[str, float | str]:
    """The value of a metric, with the interval or the bound that it is."""
    if not rows:
        return {}
    sure = [row for row in rows if not row.get('bound')]
    if 2 * len(sure) <= len(rows):
        bounds = {row['bound'] for row in rows if row.get('bound')}
        value = statistics.median(row['value'] for row in rows)
        return {'value': value, 'bound': 'unknown' if len(bounds) > 1 else bounds.pop()}
    return {
        'value': statistics.median(row['value'] for row in sure),
        'low': min(row.get('low', row['value']) for row in sure),
        'high': max(row.get('high', row['value']) for row in sure),
    }
