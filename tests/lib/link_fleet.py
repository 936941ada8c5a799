"""Records of a synthetic `pingpong --nodes`: every pair of nodes, with planted slow ones."""

import fleet_generator
import numpy as np
from record_schema import check

USUAL_US = {0: 1.3, 4 << 20: 360.0}
NOISE = 0.01
BEGIN = '2026-11-20T03:00:00Z'


class Cluster:
    """Times of each pair; `share` is how much longer something takes: 0.2 is 20 %."""

    def __init__(self, nodes, seed, noise=NOISE):
        rng = np.random.default_rng(seed)
        self.names = [fleet_generator.name(i) for i in range(nodes)]
        own = rng.normal(0, noise / 3, nodes)
        self.times = {}
        for size, us in USUAL_US.items():
            of_link = np.triu(rng.normal(0, noise, (nodes, nodes)), 1)
            self.times[size] = us * np.exp(own[:, None] + own + of_link + of_link.T)
        self.reasons = {}

    def slow_node(self, node, share):
        for times in self.times.values():
            times[node] *= 1 + share
            times[:, node] *= 1 + share

    def slow_link(self, one, other, share, sizes=tuple(USUAL_US)):
        for size in sizes:
            self.times[size][one, other] *= 1 + share
            self.times[size][other, one] *= 1 + share

    def two_switches(self, first, share):
        """What crosses from the first nodes to the others takes longer."""
        for times in self.times.values():
            times[:first, first:] *= 1 + share
            times[first:, :first] *= 1 + share

    def spoil(self, one, other, reason):
        self.reasons[one, other] = self.reasons[other, one] = reason

    def link(self, me, other):
        messages = [
            {'bytes': size, 'median_us': float(times[me, other])}
            for size, times in self.times.items()
        ]
        row = {'node': self.names[other], 'rank': other, 'round': 0}
        return row | {'reason': self.reasons.get((me, other)), 'messages': messages}

    def records(self):
        count = len(self.names)
        made = fleet_generator.records(fleet_generator.healthy(count, 1))
        for me, row in enumerate(made):
            del row['kernels']
            links = [self.link(me, other) for other in range(count) if other != me]
            small, large = (
                float(np.median([link['messages'][i]['median_us'] for link in links]))
                for i in (0, 1)
            )
            row |= {
                'schema': 'membw-record-2', 'program': 'pingpong', 'time': BEGIN, 'exit_status': 0,
                'rank': me, 'ranks': count, 'threads': 1, 'links': links,
                'metrics': {
                    'latency': {'value': small, 'unit': 'us', 'better': 'lower'},
                    'bandwidth': {'value': (4 << 20) / large / 1000, 'unit': 'GB/s',
                                  'better': 'higher'},
                },
            }  # fmt: skip
        check(made[0])
        return made
