"""One record of several launches of a program: the launcher is a factor of its own.

S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think,
IEEE TPDS 27 (2016): repeat the mpirun, not the loop alone.
"""

import statistics

# what no other launch makes good
WRONG = ('array-too-small', 'not-validated', 'wrong-pinning', 'wrong-placement', 'oversubscribed')


def combine(records: list[dict], requested: int | None = None) -> dict:
    """The first valid record, with the medians of the valid launches as its metrics.

    low and high are those of the least and the largest launch: of six they contain the median of
    all launches with 97 %, whatever its distribution (1 - 2 / 2^n). Where not more than half of
    the `requested` launches (default: all) are valid, or one is wrong for good, the record is
    INVALID. A metric that at most half of the launches have is left out.
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
    return {
        name: {**row, **_of_launches(records, name)}
        for name, row in rows.items()
        if 2 * sum(name in record['metrics'] for record in records) > len(records)
    }


def _of_launches(records: list[dict], name: str) -> dict[str, float]:
    rows = [r['metrics'][name] for r in records if name in r['metrics']]
    rows = [row for row in rows if row['value'] is not None]
    if not rows:
        return {}
    return {
        'value': statistics.median(row['value'] for row in rows),
        'low': min(row.get('low', row['value']) for row in rows),
        'high': max(row.get('high', row['value']) for row in rows),
    }
