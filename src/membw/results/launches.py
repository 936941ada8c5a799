"""One record of several launches of a program: the launcher is a factor of its own.

S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think,
IEEE TPDS 27 (2016): repeat the mpirun, not the loop alone.
"""

import statistics

from membw.results import regimes

# what two cores tell each other differs less between launches of one state of the machine
NEAR = 1.1


def combine(records, allow=(), asked=None):
    """The first record that may be believed, with the medians of the launches as its metrics.

    low and high are the least and the largest launch: of six they hold the median of all launches
    with 97 %, whatever its distribution (1 - 2 / 2^n). Launches count that may be believed and
    found the machine in one state, the usual one; where those are not more than half of the `asked`
    (default: of all; more are made where some were disturbed), no figure is made of them, and the
    record says what is wrong. Nor is one made of what only half of them have a figure of. `allow`:
    reasons that do not count.
    """
    asked = asked or len(records)
    valid = [record for record in records if record['verdict'] == 'VALID']
    alike, states = _of_usual_state(valid)
    if 2 * len(alike) > asked:
        used, chosen = alike, dict(alike[0])
    elif 2 * len(valid) > asked:
        used, chosen = valid, {**valid[0], **_between_states(valid[0], states, allow)}
    else:
        used, chosen = records, dict(next(r for r in records if r['verdict'] != 'VALID'))
    rows = {name: row for record in reversed(used) for name, row in record['metrics'].items()}
    chosen['metrics'] = {
        name: {**row, **_of_launches(used, name)}
        for name, row in rows.items()
        if 2 * sum(name in record['metrics'] for record in used) > len(used)
    }
    chosen['launches'] = [
        {
            'verdict': record['verdict'],
            'reasons': [reason['reason'] for reason in record['reasons']],
            'nearest_cores_ns': regimes.latencies(record),
            'counts': any(record is one for one in used),
            'metrics': {name: row['value'] for name, row in record['metrics'].items()},
        }
        for record in records
    ]
    return chosen


def _of_usual_state(records):
    """(the launches in the state of most of them, all states); of what measured no pair of cores
    all."""
    pairs = [regimes.latencies(record) for record in records]
    if not all(pairs):
        return records, []
    latencies = [regimes.latency(pair, NEAR) for pair in pairs]
    states = regimes.groups(latencies, NEAR)
    numbers = [regimes.number(latency, states) for latency in latencies]
    usual = max(range(len(states)), key=numbers.count, default=None)
    return [r for r, n in zip(records, numbers, strict=True) if n == usual], states


def _between_states(record, states, allow):
    """What makes a record INVALID whose launches had no state in common."""
    said = ', '.join(map(regimes.text, states)) or 'no two alike'
    reason = {
        'reason': 'unstable',
        'detail': f'the nearest cores were moved between the launches: {said} apart',
        'allowed': 'unstable' in allow,
    }
    verdict = {} if reason['allowed'] else {'verdict': 'INVALID', 'exit_status': 1}
    return {**verdict, 'reasons': [*record['reasons'], reason]}


def _of_launches(records, name):
    values = [r['metrics'][name]['value'] for r in records if name in r['metrics']]
    values = [value for value in values if value is not None]
    if not values:
        return {}
    return {'value': statistics.median(values), 'low': min(values), 'high': max(values)}
