"""Reads an acceptance protocol: schema, sense, checksum, signatures; all problems at once."""

import copy
import hashlib
import io
import json
import math
import statistics
from importlib import resources

from membw import schema
from membw.accept import pairs
from membw.errors import MembwError
from membw.files import open_to_read
from membw.presets import presets
from membw.printable import printable
from membw.results.hostlist import expected_nodes
from membw.results.metrics import HIGHER, Metric
from membw.results.record import HOST
from membw.site.references import DGEMM, PINNINGS

PROTOCOL, PROCEDURE = 'membw-protocol-1', 'membw-procedure-1'
MOST_CHARACTERS, MOST_LEVELS = 1_000_000, 20
STATISTICS = {'median': statistics.median, 'worst': min, 'best': max}
# what a pattern of the schema asks for, by how it begins
SHAPES = {'^[^': 'text of one line', '^[A': 'a name', '^[0': 'a date or checksum'}
FIGURES_OF_PAIRS = ' and '.join(f'{m.name} in {m.unit}' for m in pairs.FIGURES)
HINT = "'membw accept --template' prints a protocol that is right, with comments"


def template(name='protocol'):
    """The text of a template: of a protocol, or of Intel's `node` procedure."""
    return resources.files('membw.accept').joinpath(f'{name}_template.yaml').read_text()


def own_schema():
    return json.loads(resources.files('membw.accept').joinpath('protocol.schema.json').read_text())


def load(path):
    """The one protocol of a file that is no procedure."""
    (protocol,) = load_parts(path)
    return protocol


def load_parts(path):
    """[protocol, ...], one for each part of a procedure, of which each has a contract and runs of
    its own: as dicts, with 'names' (a list, or None), 'part' and 'checksum' (of the file) added.

    `names` and `nodes` are of pairs where the runs are (pairs.py).  `contract` is {kernel: rate}
    then, `metrics` says of what, `within` what is held to the fleet,
    and 'signed' is the content of the file.  Raises MembwError with all problems of the file, and
    for a signature of another content.
    """
    content = _read(path)
    parts = _parts(content)
    problems = [text for part in parts.values() for text in _of_schema(part) or _of_sense(part)]
    if problems:
        lines = dict.fromkeys(f'{path}: {text}' for text in problems)
        raise MembwError('\nmembw: '.join(lines), HINT)
    return [_loaded(path, name, part, content) for name, part in parts.items()]


def _parts(content):
    """{name: protocol} of a procedure; {'': itself} of a protocol."""
    if not isinstance(content, dict) or content.get('schema') != PROCEDURE:
        return {'': content}
    parts = content.get('parts')
    values = parts.values() if isinstance(parts, dict) else ()
    if not values or not all(isinstance(part, dict) for part in values):
        raise MembwError("'parts' is missing: {stream: {contract: .., runs: ..}, dgemm: ..}", HINT)
    shared = {key: value for key, value in content.items() if key != 'parts'}
    return {
        name: {**shared, 'schema': PROTOCOL, 'title': f'{content.get("title")}: {name}', **part}
        for name, part in parts.items()
    }


def _loaded(path, part, protocol, content):
    protocol['signed'] = copy.deepcopy(protocol)
    protocol['checksum'] = checksum(content)
    protocol['part'] = part
    protocol['within'] = {
        name: least['within']
        for name, least in protocol['contract'].items()
        if isinstance(least, dict) and 'within' in least
    }
    names = protocol['nodes'].get('names')
    protocol['names'] = expected_nodes(names) if names else None
    if pairs.are_held(protocol['runs']):
        protocol['nodes'] = pairs.counted(protocol['nodes'])
        protocol['names'] = names and pairs.names(protocol['names'])
    contract = {name: _agreed(name, least) for name, least in protocol['contract'].items()}
    protocol['metrics'] = {name: metric for name, (metric, _) in contract.items()}
    protocol['contract'] = {name: metric.rate(least) for name, (metric, least) in contract.items()}
    forged = [s for s in protocol['signatures'] if s['protocol_sha256'] != protocol['checksum']]
    if forged:
        who = ', '.join(f'{s["name"]} ({s["party"]})' for s in forged)
        raise MembwError(
            f'{path}: is not what {who} signed: its checksum is {protocol["checksum"]}',
            'restore the protocol that was signed, or have this one signed anew',
        )
    return protocol


def checksum(protocol):
    """sha256 of the content without the signatures: layout and comments do not count."""
    content = {k: v for k, v in as_signed(protocol).items() if k != 'signatures'}
    text = json.dumps(content, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _agreed(name, least):
    """(Metric, figure) of a line of the contract: a number is GB/s, at least."""
    if not isinstance(least, dict):
        return Metric(name), least
    # within so much of the fleet: what that is follows from the runs (held_to_fleet)
    return Metric(name, least['unit'], least['better']), least.get('value', 1.0)


def figures(protocol, rates):
    """{kernel: figure} of rates: of the contract in its units."""
    metrics = protocol['metrics']
    return {name: metrics[name].figure(rate) for name, rate in rates.items() if name in metrics}


def contract_lines(protocol):
    """'triad at least 300 GB/s', 'latency at most 95 ns'."""
    for name, metric in protocol['metrics'].items():
        bound = 'at least' if metric.better == HIGHER else 'at most'
        share, fleet = protocol['within'].get(name), protocol.get('fleet', {}).get(name)
        text = f'{bound} {metric.figure(protocol["contract"][name]):g} {metric.unit}'
        if share:
            within = f'within {share:.1%} of the fleet'
            median = f', whose median is {metric.figure(fleet):g}' if fleet else ''
            text = f'{text}, {within}{median}' if fleet else within
        yield f'{name} {text}'


def held_to_fleet(protocol, runs):
    """The protocol whose relative lines of the contract are figures: of the median over all nodes,
    each by its first valid runs. Itself where there is none of either."""
    first = {}
    for run in sorted(runs, key=lambda run: run.time):
        of_node = first.setdefault(run.node, [])
        if not run.outside and not run.invalid and len(of_node) < protocol['runs']['repetitions']:
            of_node.append(run.rates)
    values = [statistic(protocol, rates) for rates in first.values() if rates]
    if not protocol['within'] or not values:
        return protocol
    fleet = {name: statistics.median(v[name] for v in values) for name in protocol['within']}
    contract = {name: fleet[name] * (1 - share) for name, share in protocol['within'].items()}
    return {**protocol, 'fleet': fleet, 'contract': {**protocol['contract'], **contract}}


def _read(path):
    from ruamel.yaml import YAML, YAMLError

    reader = YAML(typ='safe')  # refuses a key given twice
    try:
        with io.TextIOWrapper(open_to_read(path, HINT), encoding='utf-8') as file:
            text = file.read(MOST_CHARACTERS + 1)
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f'more than {MOST_CHARACTERS} characters')
        _refuse_deep(YAML().parse(text))
        return _plain(reader.load(text))
    except OSError as err:
        raise MembwError(f"cannot read '{path}': {err.strerror}", HINT) from err
    except RecursionError as err:
        raise MembwError(f"'{path}' is not a protocol: nested too deep", HINT) from err
    except (YAMLError, ValueError) as err:
        raise MembwError(f"'{path}' is not YAML: {' '.join(str(err).split())}", HINT) from err


def _refuse_deep(events):
    """Aliases and nesting can make a small file endless; a protocol needs neither."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += (kind.endswith('StartEvent')) - (kind.endswith('EndEvent'))
        if kind == 'AliasEvent':
            raise ValueError('an alias (*name): a protocol says each thing in full')
        if depth > MOST_LEVELS:
            raise ValueError(f'nested more than {MOST_LEVELS} levels deep')


def _plain(value):
    """Dates as text: YAML reads 2026-12-01 as a date, JSON knows none."""
    if isinstance(value, dict):
        return {str(key): _plain(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _of_schema(protocol):
    return [*_of_own_schema(protocol), *_of_pinning(protocol)]


def _of_pinning(protocol):
    """A name in any case; of DGEMM it is that of a library."""
    runs = protocol.get('runs') if isinstance(protocol, dict) else None
    pinning = runs.get('pinning') if isinstance(runs, dict) else None
    known = tuple(presets.load_blas()) if pinning and runs.get('test') in DGEMM else PINNINGS
    if pinning and pinning not in known:
        yield printable(f'runs.pinning: {pinning!r} is not one of {", ".join(known)}')[:300]


def _of_own_schema(protocol):
    return [
        printable(f'{where or "the protocol"}: {_said(fact, hint)}')[:300]
        for where, fact, hint in schema.problems(own_schema(), protocol, '', '')
    ]


def _said(fact, hint):
    """A pattern says what it is for; a reader of a protocol need not know patterns."""
    asked = [SHAPES[begin] for begin in SHAPES if hint.startswith(f"must match '{begin}")]
    if asked:
        return f'{fact.split(" does not match ")[0]} is not {asked[0]}'
    return f'{fact}; {hint}' if hint.startswith('did you mean') else fact


def _of_sense(protocol):
    """What a schema cannot say."""
    nodes = protocol['nodes']
    problems = [
        f'contract.{kernel}: {least} is no figure'
        for kernel, least in protocol['contract'].items()
        if not math.isfinite(_agreed(kernel, least)[1])
    ]
    count = nodes['count']
    if nodes.get('of', count) < count:
        problems.append(f'nodes.of: {nodes["of"]} nodes, but {count} of them are measured')
    if protocol['rule']['allowed_failures'] >= count:
        problems.append(
            'rule.allowed_failures: as many as there are nodes: nothing could be refused'
        )
    runs, nights = protocol['runs'], protocol['runs'].get('nights', 1)
    if pairs.are_held(runs):
        problems += [
            f'contract.{name}: of pairs, {FIGURES_OF_PAIRS} alone are known'
            for name, least in protocol['contract'].items()
            if _agreed(name, least)[0] not in pairs.FIGURES
        ]
        problems += ['nodes.count: a pair takes two'] * (count < 2)
    if nights > runs['repetitions']:
        problems.append(f'runs.nights: {nights} nights, but {runs["repetitions"]} repetitions')
    if protocol['period']['to'] < protocol['period']['from']:
        problems.append('period: ends before it begins')
    problems += [
        f'signatures: no party {s["party"]!r}, there are {", ".join(protocol["parties"])}'
        for s in protocol['signatures']
        if s['party'] not in protocol['parties']
    ]
    return problems + _of_names(nodes)


def _of_names(nodes):
    if 'names' not in nodes:
        return []
    try:
        names = expected_nodes(nodes['names'])
    except MembwError as err:
        return [f'nodes.names: {err}']
    strange = [name for name in names if not HOST.fullmatch(name)]
    if strange:
        return [f'nodes.names: {printable(repr(strange[0]))} is no name of a node']
    if len(names) == nodes['count']:
        return []
    return [f'nodes.names: {len(names)} names, count is {nodes["count"]}']


def unsigned(protocol):
    """Parties that have not signed."""
    signed = {s['party'] for s in protocol['signatures']}
    return [party for party in protocol['parties'] if party not in signed]


def as_signed(protocol):
    """The content of the file: what is signed, and shown in a report."""
    return protocol.get('signed', protocol)


def statistic(protocol, runs):
    """{kernel: rate} of some runs of a node, each {kernel: rate}."""
    of = STATISTICS[protocol['runs']['statistic']]
    return {kernel: of([run[kernel] for run in runs]) for kernel in protocol['contract']}


def below(protocol, values):
    """Kernels whose value does not reach the contract."""
    return [k for k, least in protocol['contract'].items() if values[k] < least]
