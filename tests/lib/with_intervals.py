"""Gives made-up records what programs of today write: intervals, the nearest pair of cores."""


def with_intervals(record, half=0.03):
    """Each figure as much lower and higher, a fraction."""
    record['schema'] = 'membw-record-2'
    best = {name: row['best_mbs'] / 1000 for name, row in record['kernels'].items()}
    record['metrics'] = {
        name: {
            'value': gbs,
            'unit': 'GB/s',
            'better': 'higher',
            'low': gbs * (1 - half),
            'high': gbs * (1 + half),
        }
        for name, gbs in best.items()
    }
    return record


def with_pair(record, before, after=None, between=()):
    """ns before and after the repetitions, and the least and most of them between."""
    pair = {'cpus': [0, 1], 'low_ns': before, 'high_ns': before}
    record['core_pair'] = pair | {'ns': before}
    record['core_pair_after'] = pair | {'ns': after or before}
    if between:
        least, most = between
        record['core_pair_between'] = {'looks': 2, 'least_ns': least, 'most_ns': most}
    return record
