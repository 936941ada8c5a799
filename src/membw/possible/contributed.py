"""Records of real machines as published figures: systems/facts/published/ID.json is the row."""

from collections.abc import Iterator

from membw.presets.table import Facts
from membw.results.verdict import TOO_GOOD
from membw.site import cpu_peak as peak

LEAST = 2.0  # last-level caches that an array fills
CLAIMED = 0.7  # share of the reads that are avoided: like the CPUs that claim their lines
MOVED = 4 / 3  # of Triad's bytes, where each line that is written is read before
NOT_SAID = 'not said'
DISTURBED = 0.05  # share of the CPUs that others used: as src/harness calls it disturbed
STORES = {'ordinary': 'ordinary', 'nontemporal': 'non-temporal'}  # as membw codegen says it
# of a record: what the row says, and what it is checked by; no thread, no process, no path
KEPT = ('schema', 'program', 'version', 'time', 'host', 'ranks', 'threads', 'metrics', 'headline',
        'kernels_set', 'array_size', 'element_bytes', 'iterations', 'llc_mib',
        'memory_side_cache_mib', 'residency', 'codegen', 'validation', 'verdict', 'reasons',
        'warnings', 'facts', 'looks')  # fmt: skip
KEPT_OF = {
    'case': ('system', 'environ', 'pinning'),
    'build': ('compiler', 'flags', 'preset', 'unknown', 'source_sha256', 'code_sha256'),
    'busy': ('wall_s', 'other_share', 'stolen_share'),
}


def kept(record: Facts) -> Facts:
    parts = {
        part: {key: (record.get(part) or {}).get(key) for key in keys}
        for part, keys in KEPT_OF.items()
    }
    return {key: record[key] for key in KEPT if key in record} | parts


def machine_of(record: Facts) -> str:
    system = (record.get('case') or {}).get('system') or 'local'
    return record['host'] if system == 'local' else system


def size_of(record: Facts) -> float:
    """An array, in last-level caches; 0: not known."""
    llc = max(record.get('llc_mib') or 0, record.get('memory_side_cache_mib') or 0)
    array = (record.get('array_size') or 0) * (record.get('element_bytes') or 8)
    return array / 2**20 / llc if llc else 0


def refusals(record: Facts) -> Iterator[str]:
    """Why it is no figure that others may be compared with; by the record alone."""
    triad = (record.get('metrics') or {}).get('triad') or {}
    build, facts = record.get('build') or {}, record.get('facts') or {}
    residency, others = record.get('residency') or {}, record['busy']['other_share']
    if record.get('program') != 'stream' or triad.get('unit') != 'GB/s' or not triad.get('value'):
        yield 'no Triad in GB/s of stream'
        return
    if record['verdict'] != 'VALID':
        yield f'its verdict is {record["verdict"]}'
    for one in [*(record.get('reasons') or ()), *(record.get('warnings') or ())]:
        if one['reason'] != 'cache-size':  # the larger is taken, and the arrays are proven
            yield f'{one["reason"]}: {one.get("detail", "")}'
    if not (record.get('validation') or {}).get('ok'):
        yield 'its results were not validated'
    if record.get('kernels_set', 'standard') != 'standard' or record.get('element_bytes') != 8:
        yield 'not the standard kernels, of elements of 8 bytes'
    if others is None or others > DISTURBED:
        yield 'other processes used the CPUs'
    if triad.get('bound') or triad.get('low') is None:
        yield 'Triad has no interval: it was disturbed, or did not settle'
    if residency.get('known') != 'proven':
        known = residency.get('known', 'unknown')
        yield f"arrays in memory: '{known}', where 'proven' is wanted"
    elif triad['value'] > (1 + TOO_GOOD) * (residency.get('largest_triad_gbs') or 0):
        yield 'Triad is above that of the largest arrays which were tried: a cache'
    if size_of(record) < LEAST:
        yield f'an array is {size_of(record):.1f} last-level caches, {LEAST:g} are wanted: -n'
    if stores_of(record) == NOT_SAID:
        yield "the stores of its code are not known: 'membw run' records them"
    if build.get('unknown') or not build.get('code_sha256'):
        yield 'its build is not known'
    if record.get('ranks', 1) != 1 or (record.get('threads') or 0) < (facts.get('cores') or 1):
        yield 'not one process with a thread on each core'
    yield from _of_memory(peak.of_node({'facts': facts}), triad['value'])


def _of_memory(top: peak.Peak, gbs: float) -> Iterator[str]:
    """Of a whole machine, with all that its CPUs should have."""
    if not top.row:
        yield f'its CPU is not known: {top.what}'
    elif not top.gbs or top.is_slice:
        yield f'its peak is not known: {top.what}'
    elif not top.here:
        yield 'its memory modules are not known: measure as root, on no virtual machine'
    elif top.lacks:
        yield f'its memory is not what it should be: {"; ".join(top.lacks)}'
    elif gbs > top.gbs:
        yield f'Triad is above the peak of {top.gbs:.4g} GB/s ({top.what})'


def is_claiming(record: Facts, top: peak.Peak, gbs: float) -> bool:
    """Whether ordinary stores read no line before; a rate beyond their reach says so, too."""
    avoided = (record.get('looks') or {}).get('write_allocate_avoided') or 0
    return bool(top.row.get('claims') or avoided >= CLAIMED or 0 < top.gbs < MOVED * gbs)


def stores_of(record: Facts) -> str:
    """Of Triad, by the code that was measured."""
    kernel = (record.get('codegen') or {}).get('triad') or {}
    return STORES.get(kernel.get('stores') or '', NOT_SAID)


def row_of(name: str, record: Facts) -> Facts:
    """As the rows of published.yaml."""
    top, facts, build = peak.of_node(record), record['facts'], record['build']
    rates = {key: metric['value'] for key, metric in record['metrics'].items() if key != 'read'}
    kind = stores_of(record)
    if kind == 'ordinary' and is_claiming(record, top, rates['triad']):
        kind = 'claimed'
    return {
        'id': name, 'machine': machine_of(record), 'cpu': f'{top.sockets}x {facts["cpu_model"]}',
        'family': top.row['name'], 'memory': top.what, 'scope': 'node', 'sockets': top.sockets,
        'stores': kind, **rates, 'peak': top.gbs, 'peak_from': 'its modules',
        'threads': record['threads'], 'elements': record['array_size'],
        'llc_mib': record['llc_mib'], 'compiler': build['compiler'], 'flags': build['flags'],
        'pinning': record['case']['pinning'], 'use': 'reference', 'trust': 'record',
        'source': f'its record, systems/facts/published/{name}.json', 'program': 'STREAM',
    }  # fmt: skip
