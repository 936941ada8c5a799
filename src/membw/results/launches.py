"""One record of several launches of a program: the launcher is a factor of its own.

S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think,
IEEE TPDS 27 (2016): repeat the mpirun, not the loop alone.
"""

import statistics


def combine(records):
    """The first record that may be believed, with the medians of the launches as its metrics.

    low and high are the least and the largest launch. Of fewer than half of the launches that may
    be believed no figure is made: what is wrong with the others then stands in the record.
    """
    valid = [record for record in records if record['verdict'] == 'VALID']
    enough = 2 * len(valid) > len(records)
    chosen = dict(valid[0] if enough else next(r for r in records if r['verdict'] != 'VALID'))
    used = valid if enough else records
    chosen['metrics'] = {
        name: {**row, **_of_launches(used, name)} for name, row in chosen['metrics'].items()
    }
    chosen['launches'] = [
        {
            'verdict': record['verdict'],
            'reasons': [reason['reason'] for reason in record['reasons']],
            'metrics': {name: row['value'] for name, row in record['metrics'].items()},
        }
        for record in records
    ]
    return chosen


def _of_launches(records, name):
    values = [r['metrics'][name]['value'] for r in records if name in r['metrics']]
    values = [value for value in values if value is not None]
    if not values:
        return {}
    return {'value': statistics.median(values), 'low': min(values), 'high': max(values)}
