"""One record of several launches of a program: the launcher is a factor of its own.

S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not As Easy As You Think,
IEEE TPDS 27 (2016): repeat the mpirun, not the loop alone.
"""

import statistics

from membw.results import regimes

# Of the additions per cycle that the freest launch had: below this somebody else was at work on
# the other hardware threads of its cores, whom a virtual machine does not see; so many launches
# without are enough (docs/overheads.md).
ALONE, ENOUGH = 0.95, 3
# what the next launch has as well, or what no other one makes good
WRONG = ('array-too-small', 'not-validated', 'cpu-not-where-asked', 'memory-not-where-asked',
         'oversubscribed')  # fmt: skip
# ... in the line that a program writes as its record, for grep -E
WRONG_IN_RECORD = (
    f'"reason": ?"({"|".join(WRONG)})", ?"detail": ?"([^"\\\\]|\\\\.)*", ?"allowed": ?false'
)


def combine(records: list[dict], asked: int | None = None) -> dict:
    """The first record that may be believed, with the medians of the launches as its metrics.

    low and high are those of the least and the largest launch: of six they hold the median of all
    launches with 97 %, whatever its distribution (1 - 2 / 2^n). Launches count that may be
    believed: those in the state of the machine in which most were, where that is more than half of
    the `asked` (default: of all; more are made where some were disturbed), and of these those that
    had their cores to themselves; else of all states together, whose intervals then reach from one
    to the other, and a warning says so. Where not even those are more than half, no figure is made
    of them, and the record says what is wrong; as where one of them is wrong, and not by the
    weather. Nor is one made of what only half of them have a figure of.
    """
    asked = asked or len(records)
    wrong = next(filter(is_wrong, records), None)
    valid = [record for record in records if record['verdict'] == 'VALID']
    parts = _by_state(valid)
    if wrong:
        used, chosen = records, dict(wrong)
    elif 2 * max(map(len, parts), default=0) > asked:
        used = _alone(max(parts, key=len))
        chosen = dict(used[0])
    elif 2 * len(valid) > asked:
        used, chosen = valid, _of_several_states(valid)
    else:
        used, chosen = records, dict(next(r for r in records if r['verdict'] != 'VALID'))
    chosen['metrics'] = _metrics(used)
    chosen['launches'] = [
        {
            'verdict': record['verdict'],
            'reasons': [reason['reason'] for reason in record['reasons']],
            'nearest_cores_ns': regimes.latencies(record),
            'additions_per_cycle': record.get('additions_per_cycle'),
            'counts': any(record is one for one in used),
            'metrics': {name: row['value'] for name, row in record['metrics'].items()},
        }
        for record in records
    ]
    return chosen


def is_wrong(record: dict) -> bool:
    """INVALID for good, whatever other launches read."""
    return any(r['reason'] in WRONG and not r.get('allowed') for r in record['reasons'])


def _alone(records: list[dict]) -> list[dict]:
    """Those that had their cores to themselves, where they are enough; else all."""
    rates = [record.get('additions_per_cycle') or 0 for record in records]
    alone = [r for r, rate in zip(records, rates, strict=True) if rate >= ALONE * max(rates)]
    return alone if len(alone) >= ENOUGH else records


def _by_state(records: list[dict]) -> list[list[dict]]:
    """[[records of one state of the machine]]; of what measured no pair of cores one of all; a
    launch during which the state changed is in none."""
    pairs = [regimes.latencies(record) for record in records]
    if not all(pairs):
        return [records]
    latencies = [regimes.latency(pair) for pair in pairs]
    states = regimes.groups(latencies)
    numbers = [regimes.number(latency, states) for latency in latencies]
    return [
        [r for r, number in zip(records, numbers, strict=True) if number == state]
        for state in range(len(states))
    ]


def _of_several_states(records: list[dict]) -> dict:
    """The first, with what all of them saw of the nearest cores, and a warning."""
    seen = [ns for record in records for ns in regimes.latencies(record)]
    between = {'looks': len(seen), 'least_ns': min(seen), 'most_ns': max(seen)}
    detail = (
        f'the nearest cores were moved between the launches, {regimes.text(seen)} apart, and no '
        'state of the machine has most of them: the intervals reach from one state to the other'
    )
    warning = {'reason': 'unstable', 'detail': detail}
    first = records[0]
    return {**first, 'core_pair_between': between, 'warnings': [*first['warnings'], warning]}


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
    values = [row['value'] for row in rows]
    return {
        'value': statistics.median(values),
        'low': min(row.get('low', row['value']) for row in rows),
        'high': max(row.get('high', row['value']) for row in rows),
    }
