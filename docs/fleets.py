"""Made-up records for the examples of these pages; without a name all of them:

    python "$MEMBW_ROOT/docs/fleets.py" fleet again

lost     64 nodes; n117 lost one of eight memory channels, and was measured three times more
fleet    64 nodes; n007 reads 12.5 % low, n013 5 %
again    both measured again, three times: n007 is low again, n013 is not
history  50 nights of 8 nodes; n007 falls in night 40
first    an acceptance: three runs of seven of eight nodes, n005 misses the contract
n008     three runs of the eighth node
n005     the retest, five runs, reaches the contract
node     one run of two presets on a whole node: the page docs/sample.html
site     results.db of ReFrame: hpl on 64 nodes, 20 nights until now; n007 is low in the last 9
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'tests' / 'lib'))
import made_up_cpus as cpus  # noqa: E402
import made_up_records as made  # noqa: E402
import made_up_reports as reports  # noqa: E402

from membw.results.record import sealed  # noqa: E402

TRIADS = {'n001': 185, 'n002': 185, 'n003': 184.5, 'n004': 185, 'n005': 176, 'n006': 184,
          'n007': 185}  # fmt: skip
CHANNEL = 7 / 8  # of a node that lost one of eight


KEYS = 'codegen', 'llc_mib', 'array_size', 'residency', 'threads'


def nights(nodes, count, low_from):
    """n007 is low from that night on."""
    return [
        row
        for day in range(count)
        for row in made.fleet(
            nodes, days=(day,), seed=day, slow={7: CHANNEL} if day >= low_from else {}
        )
    ]


def again(node, share):
    return [made.record(node, 0.001 * i, made.stream(share=share)) for i in (1, 2, 3)]


def node():
    """A node whose CPUs and modules are known; its figures are made up, as its name says."""
    machine = cpus.identity('EPYC 7742') | {'name': 'AMD EPYC 7742 64-Core Processor'}
    modules = {'dimms_source': 'dmi', 'dimms': cpus.modules(16), 'memory_channels': 16}
    for compiler, triad in (('gcc', 221.2), ('clang', 215.0)):
        rates = {'copy': 0.9 * triad, 'scale': 0.9 * triad, 'add': 0.99 * triad, 'triad': triad,
                 'read': 1.27 * triad}  # fmt: skip
        like = cpus.measured(machine, rates, facts=modules, llc_mib=512)
        yield made.record(
            'made-up-node', rows=made.metrics(rates, half=0.01), facts=like.pop('facts'),
            case={'system': 'made-up', 'environ': f'{compiler}-native'},
            build={**made.BUILD, 'compiler': compiler, 'flags': '-O3 -march=native -fopenmp',
                   'preset': f'{compiler}-native'},
            **{key: like[key] for key in KEYS},
        )  # fmt: skip


def site():
    """A database of ReFrame; n007 is measured three times more, with healthy nodes."""
    first = (time.time() - made.START) / made.DAY - 20
    every = []
    for night in range(20):
        when, slow = first + night, {7: 0.9} if night > 10 else {}
        every.append(reports.report(reports.fleet(64, when, slow), made.START + when * made.DAY))
    nodes = {'n007': 0.9, 'n001': 1, 'n002': 1, 'n003': 1}
    begun = every[-1]['session_info']['time_end_unix'] + 3600
    runs = [(node, nodes[node], begun + 60 * i) for i in (1, 2, 3) for node in nodes]
    every.append(reports.report([reports.hpl(*run) for run in runs], begun))
    return every


FACTS = {'memory_channels': 7, 'mem_total_mib': 229_376}
LOST = [made.record('n117', 0.001 * i, made.stream(share=0.876), facts=FACTS) for i in range(4)]
FLEETS = {
    'lost': lambda: [*made.fleet(63), *LOST],
    'fleet': lambda: made.fleet(64, slow={7: CHANNEL, 13: 0.95}),
    'again': lambda: [*again('n007', 0.876), *again('n013', 1.0)],
    'history': lambda: nights(8, 50, 40),
    'first': lambda: made.runs(TRIADS, 3, '2026-10-01'),
    'n008': lambda: made.runs({'n008': 185}, 3, '2026-10-02'),
    'node': node,
    'n005': lambda: made.runs({'n005': 185}, 5, '2026-10-03'),
}
for name in sys.argv[1:] or FLEETS:
    if name == 'site':
        reports.database('results.db', site())
    else:
        Path(f'{name}.jsonl').write_text(''.join(map(sealed, FLEETS[name]())))
