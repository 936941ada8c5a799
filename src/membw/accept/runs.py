"""From records to the runs of an acceptance: one a node and time, each counted or told why not."""

from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path

from membw.accept.rule import Run
from membw.rank.nodes import RUN_SPAN_S
from membw.results.find_one import kept_build, kept_job
from membw.results.hostlist import match_expected
from membw.results.read import read_results

BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'spack_hash', 'binary_sha256')
# what a bare record shows of a pinning method
SHOWS = {'none': 'free', 'numactl': 'free'}
BOUND = 'one CPU a thread'


def read_runs(protocol, paths):
    """(Runs, problems of reading) of record files, reports, databases and folders."""
    records, problems = read_results(paths)
    renamed = _names(protocol, records)
    by_node = defaultdict(list)
    for record in records:
        by_node[renamed.get(record.host, record.host)].append(record)
    together = [(node, ranks) for node, found in by_node.items() for ranks in _runs(found)]
    usual = defaultdict(int)  # ranks a node, in each file
    for _, ranks in together:
        usual[ranks[0].file] = max(usual[ranks[0].file], len(ranks))
    return [_run(protocol, *run, usual[run[1][0].file]) for run in together], problems


def _names(protocol, records):
    """{host of a record: the protocol's name of it}: n1.site.org is n1."""
    names = protocol['names'] or []
    matched = match_expected({r.host for r in records}, names)
    return dict(zip(matched, names, strict=True))


def _runs(records):
    """Lists of the ranks of one node that ran together."""
    group = []
    for record in sorted(records, key=lambda r: (r.time, r.file, r.rank)):
        if group and not _together(group, record):
            yield group
            group = []
        group.append(record)
    yield group


def _together(group, record):
    first = group[0]
    same = record.ranks == first.ranks > 1 and record.file == first.file
    return (
        same
        and record.time - first.time <= RUN_SPAN_S
        and record.rank not in {r.rank for r in group}
    )


def _run(protocol, node, ranks, usual):
    first = ranks[0]
    kernels = [k for k in first.rates if all(k in r.rates for r in ranks)]
    rates = {k: sum(r.rates[k] for r in ranks) for k in kernels}
    known = {**_job(first.file), **first.traits, **first.provenance}
    build = {name: known[name] for name in BUILD if name in known}
    build |= {'preset': known.get('environ', 'not recorded')}
    invalid = _invalid(protocol, ranks)
    if len(ranks) < usual:
        invalid += (f'{usual - len(ranks)} of {usual} ranks did not report',)
    return Run(
        node, first.time, rates, invalid,
        '; '.join(_outside(protocol, first, known, rates)), first.file, build,
    )  # fmt: skip


def _job(file):
    """What was kept of the job that wrote a record, where no report is left of it."""
    results, stem = Path(file).parent.parent, Path(file).stem
    job = kept_job(results, stem)
    build = kept_build(results, job.get('binary_sha256'))
    found = {name: build.get(name) for name in BUILD}
    found['compile_line'] = ' '.join(build.get('compile_line', []))
    found |= {'environ': job.get('environ'), 'test': job.get('test', '').split(' ')[0]}
    return {name: value for name, value in found.items() if value}


def _invalid(protocol, ranks):
    """Why the run may not be believed; what the protocol allows is none of it."""
    agreed, found = protocol['runs'].get('allow', []), {}
    for r in ranks:
        texts = r.findings if len(r.findings) == len(r.invalid) else r.invalid
        found |= dict(zip(r.invalid, texts, strict=True))
        found |= {a: f'{a} (allowed by the run, not by the protocol)' for a in r.allowed}
    return tuple(text for reason, text in found.items() if reason not in agreed)


def _outside(protocol, record, known, rates):
    """Why the run is not one that the parties agreed on."""
    runs, test = protocol['runs'], known.get('test', 'stream')
    if 'stream' not in test:
        yield f'test {test}'
    lacks = [kernel for kernel in protocol['contract'] if kernel not in rates]
    if lacks:
        yield f'no {", ".join(lacks)}'
    yield from _outside_period(protocol['period'], record.time)
    if known.get('environ', runs['preset']) != runs['preset']:
        yield f'preset {known["environ"]}'
    pinning, asked = known.get('pinning', 'unknown'), runs['pinning']
    if pinning not in (asked, SHOWS.get(asked, BOUND)):
        yield f'pinning {pinning}'
    size = record.traits.get('array_size')
    if runs['array_size'] not in ('auto', size):
        yield f'arrays of {size} elements'
    for name in ('source_sha256', 'binary_sha256'):
        found = known.get(name, 'not recorded')
        if runs.get(name, found) != found:
            yield f'{name} {found[:12]}'


def _outside_period(period, time):
    day = datetime.fromtimestamp(time, timezone.utc).strftime('%Y-%m-%d')
    if not period['from'] <= day <= period['to']:
        yield f'measured on {day}'
