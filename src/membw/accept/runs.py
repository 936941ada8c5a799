"""From records to the runs of an acceptance: each run of a node, counted or with the reason."""

from collections import defaultdict
from pathlib import Path

from membw.accept import pairs
from membw.accept.agreed import other_build, other_kind
from membw.accept.environs import preset_of
from membw.accept.rule import Run
from membw.accept.unsteady import unsteady
from membw.moments import day, utc
from membw.printable import printable
from membw.results.find_one import kept_build, kept_job
from membw.results.hostlist import match_expected
from membw.results.runs import rates_of, split_runs

BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'spack_hash', 'binary_sha256')
# what a bare record shows of a pinning method
SHOWS = {'none': 'free', 'numactl': 'free'}
BOUND = 'one CPU a thread'
RESOLUTION_S = 1  # of a record's time


def runs_of(protocol, records):
    """Runs, of the records of read_results: each counted or with the reason."""
    renamed = _names(protocol, records)
    if pairs.are_held(protocol['runs']):
        records, renamed = pairs.of_links(records, renamed), {}
    by_node = defaultdict(list)
    for record in records:
        by_node[renamed.get(record.host, record.host)].append(record)
    together = [(node, run) for node, rows in by_node.items() for run in split_runs(rows)]
    usual = defaultdict(int)  # ranks per node, in each file
    for _, ranks in together:
        usual[ranks[0].file] = max(usual[ranks[0].file], len(ranks))
    kinds = Kinds(protocol)
    runs = [(ranks[0], _run(protocol, node, ranks, usual[ranks[0].file], kinds.of(ranks[0])))
            for node, ranks in together]  # fmt: skip
    _only_distinct(runs)
    return [run for _, run in runs]


def _only_distinct(runs):
    """Copies of one run, and runs that begin before the one before them can have ended, are told
    apart from runs: no node measures twice at a time."""
    last, figures = {}, {}
    for record, run in sorted(runs, key=lambda pair: (pair[1].time, pair[1].source)):
        if run.outside or run.invalid:
            continue
        same = run.node, tuple(sorted(record.rates.items())), record.steadiness
        before = last.get(run.node)
        if same in figures:
            run.outside = f'a copy of the run of {utc(figures[same])}: every figure is the same'
        elif before and _too_soon(before, record, run):
            run.outside = (
                f'{run.time - before[1].time:.3g} s after the run before it, '
                f'which takes {before[0].lasted:.3g} s'
            )
        else:
            figures[same], last[run.node] = run.time, (record, run)


def _too_soon(before, record, run):
    """Records tell their time in whole seconds: two may be a second further apart than told."""
    apart = run.time - before[1].time + RESOLUTION_S
    return apart < min(before[0].lasted, record.lasted)


def _names(protocol, records):
    """{host of a record: the protocol's name of it}: n1.site.org is n1."""
    names = protocol['names'] or []
    if pairs.are_held(protocol['runs']):
        names = sorted({end for pair in names for end in pairs.ends(pair)})
    matched = match_expected({r.host for r in records}, names)
    return dict(zip(matched, names, strict=True))


class Kinds:
    """What was built and run, and why it is not what was agreed: worked out once for all records
    of a file that say the same, of which there may be a million."""

    def __init__(self, protocol):
        self.protocol, self.known = protocol, {}

    def of(self, record):
        """(build, why not agreed)"""
        key = record.file, record.setting, record.metrics
        if key not in self.known:
            self.known[key] = self._of(record)
        return self.known[key]

    def _of(self, record):
        known = {**_job(record.file), **record.traits, **record.provenance}
        build = {name: known[name] for name in BUILD if name in known}
        build['preset'] = preset_of(self.protocol['runs'], known) or 'not recorded'
        return build, tuple(_not_agreed(self.protocol, record, known))


def _run(protocol, node, ranks, usual, kind):
    first, (build, other) = ranks[0], kind
    invalid = _invalid(protocol, ranks)
    if len(ranks) < usual:
        invalid += (f'{usual - len(ranks)} of {usual} ranks did not report',)
    return Run(
        node, first.time, rates_of(ranks), (*invalid, *unsteady(protocol, ranks)),
        '; '.join([*other, *_outside_period(protocol['period'], first.time)]), first.file, build,
    )  # fmt: skip


def _job(file):
    """What was kept of the job that wrote a record, where no report is left of it."""
    results, stem = Path(file).parent.parent, Path(file).stem
    job = kept_job(results, stem)
    build = kept_build(results, job.get('binary_sha256'))
    known = {name: build.get(name) for name in (*BUILD, 'preset')}
    known['compile_line'] = ' '.join(build.get('compile_line', []))
    known |= {'environ': job.get('environ'), 'test': job.get('test', '').split(' ')[0]}
    return {name: value for name, value in known.items() if value}


def _invalid(protocol, ranks):
    """Why the run may not be believed; what the protocol allows is none of it."""
    agreed, reasons = protocol['runs'].get('allow', []), {}
    for r in ranks:
        if not (r.invalid or r.allowed):  # as nearly all of a million
            continue
        texts = r.findings if len(r.findings) == len(r.invalid) else r.invalid
        reasons |= dict(zip(r.invalid, texts, strict=True))
        reasons |= {a: f'{a} (allowed by the run, not by the protocol)' for a in r.allowed}
    return tuple(text for reason, text in reasons.items() if reason not in agreed)


def _not_agreed(protocol, record, known):
    """Why the run is not one that the parties agreed on, whenever it was."""
    runs = protocol['runs']
    wanted = runs.get('test', 'stream')
    if wanted not in known.get('test', wanted):  # cluster_stream is stream
        yield printable(f'test {known["test"]}')
    yield from other_kind(runs, known)
    yield from other_build(runs, known)
    lacks = [m for m in protocol['metrics'].values() if m not in record.metrics]
    if lacks:
        yield f'no {", ".join(f"{m.name} in {m.unit}" for m in lacks)}'
    preset = preset_of(runs, known)
    if preset not in (None, runs['preset']):
        yield printable(f'preset {preset}')
    pinning, asked = known.get('pinning', 'unknown'), runs['pinning']
    is_pinned = not pairs.are_held(runs)  # one rank per node, wherever its MPI has it
    if is_pinned and pinning not in (asked, SHOWS.get(asked, BOUND)):
        yield printable(f'pinning {pinning}')
    size = record.traits.get('array_size')
    if runs['array_size'] not in ('auto', size):
        yield f'arrays of {size} elements'
    for name in ('source_sha256', 'binary_sha256'):
        checksum = known.get(name, 'not recorded')
        if runs.get(name, checksum) != checksum:
            yield printable(f'{name} {checksum[:12]}')


def _outside_period(period, time):
    measured = day(time)
    if not period['from'] <= measured <= period['to']:
        yield f'measured on {measured}'
