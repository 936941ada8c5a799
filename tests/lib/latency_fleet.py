"""Records of a synthetic latency benchmark: one metric, in ns, of which less is better."""

from datetime import datetime, timedelta, timezone

import fleet_generator
import numpy as np

USUAL_NS = 90.0
NOISE = 0.004
BEGIN = datetime(2026, 10, 1, 3, tzinfo=timezone.utc)


def records(shares, run=0, hours=24, seed=1):
    """One run of each node; `shares` of the usual latency: 1.05 is 5 % slower."""
    rng = np.random.default_rng((seed, run))
    time = BEGIN + timedelta(hours=hours * run)
    made = fleet_generator.records(fleet_generator.healthy(len(shares), 1))
    for row, share in zip(made, shares, strict=True):
        del row['kernels']
        figure = USUAL_NS * share * (1 + rng.normal(0, NOISE))
        row |= {
            'schema': 'membw-record-2', 'program': 'chase', 'time': f'{time:%Y-%m-%dT%H:%M:%SZ}',
            'rank': 0, 'ranks': 1, 'threads': 1, 'array_size': 1_000_000,
            'metrics': {'latency': {'value': float(figure), 'unit': 'ns', 'better': 'lower'}},
        }  # fmt: skip
    return made
