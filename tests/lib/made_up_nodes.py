"""Records of `membw node` with figures made up: a healthy node, and nodes with a planted cause."""

import tempfile
from pathlib import Path

import made_up_records as made

from membw.node.assembled import assembled
from membw.node.word import word_of
from membw.results.table import read_table

GOOD = {'rate': 180.0, 'one': 14.0, 'latency': 110.0, 'l1': 1.25, 'l2': 4.0, 'l3': 20.0,
        'cache': 262_144.0, 'loaded': 200.0, 'across': 90.0}  # fmt: skip
LOWER = ('latency', 'l1', 'l2', 'l3')  # is better
METRICS = {
    'stream': {'rate': ('triad', 'GB/s')},
    'one': {'one': ('triad', 'GB/s')},
    'ladder': {'latency': ('memory_latency', 'ns'), 'l1': ('l1_latency', 'ns'),
               'l2': ('l2_latency', 'ns'), 'l3': ('l3_latency', 'ns'),
               'cache': ('l3_size', 'KiB')},
    'loaded': {'loaded': ('max_gbs_1r0w', 'GB/s')},
    'tiers': {'across': ('read_gbs_0_1', 'GB/s')},
    'late': {'rate': ('triad', 'GB/s')},
}  # fmt: skip
QUIET = {'other_share': 0.001, 'stolen_share': 0.0}
COUNTED = {'corrected_errors': 0, 'uncorrected_errors': 0, 'thermal_throttles': 0,
           'machine_checks': 0, 'pages_migrated': 0, 'quota_throttles': 0}  # fmt: skip
MODULES = [{'size_mib': 32_768, 'configured_mts': 3200}] * 8


def node(host='n1', day=0.0, shares=None, facts=None, counted=None, busy=None, noise=None,
         facts_own=None, dies='', late=(), verdicts=(), **fields):  # fmt: skip
    """`shares`: {quantity: of the healthy one, below 1 is worse}, 'late' of the last Triad;
    `noise()`: a factor of each figure; `busy`: {part: what differs from QUIET}; `dies`: a
    part that left no record; `late`: parts that left one, and did not end; `verdicts`:
    {part: (verdict, reason)} of those that are not VALID."""
    shares, noise = shares or {}, noise or (lambda: 1.0)
    parts = []
    for name, metrics in METRICS.items():
        rows = {}
        for quantity, (metric, unit) in metrics.items():
            share = shares.get(quantity, 1.0) * (shares.get('late', 1.0) if name == 'late' else 1)
            value = GOOD[quantity] * (1 / share if quantity in LOWER else share) * noise()
            better = 'lower' if quantity in LOWER else 'higher'
            rows |= made.metrics({metric: value}, unit, better, half=None)
            if name == 'tiers':
                at = {'cpu_domain': 0, 'memory_domain': 1}
                rows[metric] |= {'series': 'read_gbs', 'at': at}
            if unit == 'GB/s' and (busy or {}).get(name):
                rows[metric]['bound'] = 'lower'
        record = {
            'schema': 'membw-record-2', 'program': 'stream' if name in ('one', 'late') else name,
            'host': host, 'time': made.when(day), 'verdict': 'VALID', 'reasons': [],
            'metrics': rows, 'build': made.BUILD,
            'facts': {**made.FACTS, 'dimms': MODULES, **(facts or {})}, 'threads': made.THREADS,
            'busy': {**QUIET, **(busy or {}).get(name, {})},
        }  # fmt: skip
        parts.append({
            'name': name, 'command': name, 'record': record, 'why': '', 'died': False,
        })  # fmt: skip
        if name in verdicts:
            record['verdict'], why = verdicts[name]
            record['reasons'] = [{'reason': why, 'detail': '', 'allowed': False}]
        if name in late:
            parts[-1]['why'] = 'not measured within 20 s'
        if name == dies:
            parts[-1] |= {'record': None, 'died': True, 'why': 'ended by SIGBUS (signal 7)'}
    own = {
        'host': host, 'time': made.when(day), 'version': '1', 'facts': facts_own or {},
        'seconds': 50.0, 'counted': {**COUNTED, **(counted or {})},
    }  # fmt: skip
    return {**assembled(own, parts), 'word': 'PASS', 'why': '', 'causes': [], **fields}


# cause: (what is planted, where its ratios are known from; 'assumed': not published)
PLANTED = {
    'memory-channel': (
        {'shares': {'rate': 0.698, 'loaded': 0.7},
         'facts': {'mem_total_mib': 229_376, 'memory_channels': 7, 'dimms': MODULES[:7]}},
        'club-3090, pull request 919: Triad 69.8 of 100, 7 of 8 modules'),
    'memory-speed': (
        {'shares': {'rate': 1600 / 2133, 'loaded': 1600 / 2133, 'latency': 0.93},
         'facts': {'dimms': [{'size_mib': 32_768, 'configured_mts': 2400}] * 8}},
        'Microway: 1600 in place of 2133 MT/s; latency assumed'),
    'core-clock': (
        {'shares': {'rate': 24 / 45, 'loaded': 24 / 45, 'one': 0.45, 'l1': 0.4, 'l2': 0.4,
                    'l3': 0.42, 'latency': 0.7}},
        'Hofmann, Sandy Bridge-EP at 1.2 GHz: 24 of 45 GB/s; latencies assumed'),
    'core-clock, memory as before': (
        {'shares': {'l1': 0.4, 'l2': 0.4, 'one': 0.7, 'l3': 0.75, 'latency': 0.9}},
        'Hofmann, Haswell-EP at 1.2 GHz: 62 of 62 GB/s; latencies assumed'),
    'core-clock, Ivy Bridge': (
        {'shares': {'rate': 30 / 56, 'loaded': 30 / 56, 'one': 0.45, 'l1': 0.4, 'l2': 0.4,
                    'l3': 0.42, 'latency': 0.7, 'across': 0.6}},
        'Hofmann, Ivy Bridge-EP at 1.2 GHz: 30 of 56 GB/s; latencies assumed'),
    'fabric-clock': (
        {'shares': {'l3': 0.75, 'latency': 0.82, 'rate': 0.85, 'loaded': 0.85, 'one': 0.85}},
        'assumed'),
    'numa-settings': (
        {'shares': {'rate': 715.65 / 753.7}, 'facts': {'numa_nodes': 8}},
        'Oracle: NPS1 716, NPS4 754 GB/s'),
    'numa-settings, cluster on die': (
        {'shares': {'rate': 112.521 / 117.680}, 'facts': {'numa_nodes': 2}},
        'Oracle, SPARC S7-2: 2 x E5-2699 v3, Triad 112.5 without cluster on die, 117.7 with it'),
    'socket-link': (
        {'shares': {'across': 384 / 512}}, 'Lenovo LP1852: three xGMI links of four'),
    'memory-channel, near balanced': (
        {'shares': {'rate': 0.67, 'loaded': 0.67},
         'facts': {'mem_total_mib': 196_608, 'memory_channels': 6, 'dimms': MODULES[:6]}},
        'Dell, Balanced Memory with 2nd Generation Xeon: up to 33 % less'),
    'throttling': (
        {'shares': {'late': 0.8, 'l1': 0.8, 'l2': 0.8, 'rate': 0.9},
         'counted': {'thermal_throttles': 40}}, 'assumed'),
    'corrected-errors': (
        {'shares': {'rate': 0.85}, 'counted': {'corrected_errors': 900}}, 'assumed'),
    'pages-migrate': (
        {'shares': {'rate': 116.242 / 233.120}, 'counted': {'pages_migrated': 200_000}},
        'likwid, issue 664: all pages on the other socket, 116 of 233 GB/s'),
    'large-pages': (
        {'shares': {'latency': 0.75, 'l3': 0.8, 'one': 0.9, 'rate': 0.93},
         'facts': {'thp': 'never'}}, 'assumed'),
    'settings': ({'shares': {'rate': 0.9}, 'facts': {'smt': 'on', 'cpus': 16}}, 'assumed'),
}  # fmt: skip
# what a planted cause may also truly be called
ALSO = {'throttling': {'rate-falls', 'core-clock'}, 'large-pages': {'fabric-clock'}}


def word(one, others=()):
    """What `membw why` says of the node of a record, beside other records of any nodes."""
    with tempfile.TemporaryDirectory() as folder:
        path = made.write(Path(folder, 'r.jsonl'), [*others, one])
        return word_of(one['host'], read_table([str(path)]))


def measured(times=4, host='n1', day=0.0, **planted):
    """One measurement and further ones of a node."""
    return [node(host, day + 0.001 * i, **planted) for i in range(times)]
