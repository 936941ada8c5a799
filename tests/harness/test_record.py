"""What a record says of itself, by whatever way its program was started."""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from changed_source import OTHER_MACHINE, SHORT_LOOKS
from places import ROOT
from quick_runs import quick

from membw.codegen.elf import code_sha256
from membw.presets.build import ask
from membw.presets.provenance import sha256, source_sha256
from membw.results import ledger
from membw.results.record import read_record

WRONG_HERE = 'array-too-small,too-short,oversubscribed,wrong-pinning'
STREAM = ['-n', '1e5', '-t', '5']
# a metric more, behind the others, as anybody may add one
ONE_MORE = (
    'stream/output/record.c',
    'return record_text(&stream_program, run, size);',
    'metric("slowest_s", 1, "s", LOWER);\n\treturn record_text(&stream_program, run, size);',
)
NO_TRIAD = ('stream/output/record.c', '.headline = "triad"', '.headline = "triads"')


def record_of(run_program, program, *options):
    return run_program(program, *options, '--allow', WRONG_HERE)[2]


@pytest.mark.parametrize('change, headline', [(ONE_MORE, 'triad'), (NO_TRIAD, 'read')])
def test_the_metric_that_stands_for_a_run_is_its_programs_not_the_last(
    build_program, run_program, change, headline
):
    record = record_of(run_program, build_program('stream', changes=(change,)), *STREAM)
    assert record['headline'] == headline


# what a scheduler or a person set, and the node's name by it; the host calls itself h7
NAMES = [
    ({}, 'h7'),
    ({'SLURMD_NODENAME': 'n1'}, 'n1'),  # in a batch script, too, where no srun has set a step
    ({'SLURMD_NODENAME': '', 'NODE_NAME': 'jenkins'}, 'h7'),
    ({'KUBERNETES_SERVICE_HOST': '10.0.0.1', 'NODE_NAME': 'ip-10-0-0-7.eu'}, 'ip-10-0-0-7.eu'),
    ({'KUBERNETES_SERVICE_HOST': '10.0.0.1'}, 'h7'),
    ({'HOSTNAME': 'login1', 'PBS_O_HOST': 'login1', 'LSB_SUB_HOST': 'l', 'SGE_O_HOST': 'l'}, 'h7'),
    ({'host': '(none)'}, 'localhost'),
    ({'host': ''}, 'localhost'),
]  # fmt: skip


def test_a_node_is_named_as_its_scheduler_has_it(build_program, tmp_path, call):
    """By the program, by Python and in the ledger of a job."""
    program = build_program('stream', changes=[SHORT_LOOKS])
    words = f'{program} -n 1e5 -t 2 --allow {WRONG_HERE} --json r.json'
    for number, (given, name) in enumerate(NAMES):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / 'job.sh').write_text(
            f'echo {given.get("host", "h7")!r} >/proc/sys/kernel/hostname\n{ledger.begun()}\n'
            f'unset MEMBW_LEDGER\n{words}\n'
            "python -c 'from membw.site import machine; print(machine.node_name())' >python\n"
        )
        done = call('unshare', '--uts', 'sh', 'job.sh', cwd=folder, **given)
        if 'unshare' in done.stderr:
            pytest.skip(done.stderr)
        assert read_record((folder / 'r.json').read_bytes()).host == name, done.stderr
        found = (folder / 'python').read_text().strip(), ledger.read(folder).node
        assert found == (name, name)


CPUS = sorted(os.sched_getaffinity(0))
ONE, OTHER = CPUS[0], CPUS[-1]
PAIR = {'cpu': ONE, 'other_cpu': OTHER}
FLAGS = {'dgemm': ['-O0', str(ROOT / 'tests/data/plain_dgemm.c')]}
# where each pair is disturbed there is no figure
QUIET = {'overheads': [('overheads/measure.c', 'if (after.left != before.left)', 'if (0)')]}
# program, options (none: the quick run), the headline, a point of each series
PROGRAMS = [
    ('stream', '-n 1e5 -t 5', 'triad', {}),
    ('ladder', '', '*_latency', {'l1_latency': ('latency', {'level': 'L1', 'threads': 1})}),
    ('loaded', '', '*',
     {'max_gbs_2r1w': ('max_gbs', {'read_share': pytest.approx(2 / 3)})}),
    ('tiers', '', 'triad_gbs_*',
     {'read_gbs_0_0': ('read_gbs', {'cpu_domain': 0, 'memory_domain': 0})}),
    ('pingpong', f'--seconds 0.01 --pairs {ONE}-{OTHER}', f'cas_{ONE}_{OTHER}',
     {f'cas_{ONE}_{OTHER}_home_b': ('cas_home_b', PAIR)}),
    ('dgemm', '-n 50 -t 1', 'square',
     {'k192': ('gflops', {'m': 50, 'n': 50, 'k': 192})}),
    ('nbody', '--threads 1,2 --bodies 500 --rounds 6', 'speedup_*',
     {'gflops_2': ('gflops', {'threads': 2})}),
    ('overheads', '--threads 2 --constructs barrier,copyprivate --pairs 31', 'barrier_t2',
     {'copyprivate_72_t2': ('copyprivate', {'threads': 2, 'bytes': 72})}),
]  # fmt: skip


# a busy node hides a level of the ladder, a curve of loaded
MEASURED = [pytest.param(*row, marks=pytest.mark.alone if row[0] in ('ladder', 'loaded', 'tiers')
                         else ()) for row in PROGRAMS]  # fmt: skip


@pytest.mark.skipif(len(CPUS) < 2, reason='a pair takes two CPUs')
@pytest.mark.parametrize('program, options, headline, points', MEASURED)
def test_a_metric_whose_name_ends_in_a_number_says_of_which_series_and_at_what(
    build_program, run_program, program, options, headline, points
):
    """Whoever draws a curve or a map takes no name apart."""
    if options:
        built = build_program(program, *FLAGS.get(program, []), changes=QUIET.get(program, ()))
        record = record_of(run_program, built, *options.split())
    else:
        record = quick(program, **({'metric': 'l1_latency'} if program == 'ladder' else {}))[2]
    metrics = record['metrics']
    assert {name for name, m in metrics.items() if name[-1].isdigit() and 'at' not in m} == set()
    for name, (series, at) in points.items():
        assert (metrics[name]['series'], metrics[name]['at']) == (series, at)
    places = [(m['series'], *sorted(m['at'].items())) for m in metrics.values() if 'at' in m]
    assert len(set(places)) == len(places)
    like = [name for name in metrics if fnmatch.fnmatch(name, headline)]
    assert record['headline'] == like[0 if headline == '*' else -1]


# --- what it was built by ------------------------------------------------------------------------

NAMED = '-DTEXT="a, \\"preset\\": \\"no\\" ü"'
LINE = ['gcc', '-O1', NAMED, '-I/usr/x', 'stream.c', '-o', 'stream']


@pytest.fixture
def installed(build_program, tmp_path):
    """prefix/bin/stream and the record of its build as make writes it beside it."""
    program = tmp_path / 'prefix/bin/stream'
    program.parent.mkdir(parents=True)
    shutil.copy(build_program('stream'), program)
    ask('record', 'gcc-o2', str(program), str(ROOT / 'src/stream'), '--', *LINE)
    return program


def where_spack_writes(program, record):
    share = program.parent.parent / 'share/membw'
    share.mkdir(parents=True)
    text = json.loads(record.read_text()) | {'built_with': 'spack', 'dag_hash': 'h' * 32}
    record.rename(share / 'stream.json').write_text(json.dumps(text, indent=1))


@pytest.mark.parametrize('change', [None, where_spack_writes, 'strip'])
def test_a_program_knows_what_it_was_built_by(installed, run_program, change):
    """Nobody else knows, where it was started by hand."""
    before = code_sha256(installed)
    if change == 'strip':
        subprocess.run(['strip', installed], check=True)
    elif change:
        change(installed, pathlib.Path(f'{installed}.json'))
    build = record_of(run_program, installed, *STREAM)['build']
    assert (build['unknown'], build['preset']) == (None, 'gcc-o2')
    assert build['source_sha256'] == source_sha256(ROOT / 'src/stream')
    assert build['compile_line'].replace('??', '?') == ' '.join(LINE).replace('ü', '?')
    assert build['flags'].replace('??', '?') == '-O1 -DTEXT="a, \\"preset\\": \\"no\\" ?"'
    assert build['code_sha256'] == code_sha256(installed) == before
    record = json.loads(next(installed.parents[1].rglob('stream.json')).read_text())
    assert build['target_cpu'] == record['target_cpu'] != ''
    assert build['binary_sha256'] == sha256(installed)
    if change is where_spack_writes:
        assert (build['built_with'], build['spack_hash']) == ('spack', 'h' * 32)


def cut(program, record):
    record.write_text(record.read_text().partition('code_sha256')[0])


def no_checksum(program, record):
    text = record.read_text().replace(code_sha256(program), '')
    record.write_text(text.replace(sha256(program), ''))


ANOTHER = "'{}.json' is of another program than '{}'"


@pytest.mark.parametrize('change, why', [
    (lambda program, record: record.unlink(), "no '{}.json', as make and Spack write it"),
    (lambda program, record: None, ANOTHER), (cut, ANOTHER), (no_checksum, ANOTHER),
])  # fmt: skip
def test_a_build_that_is_not_known_is_said_and_its_code_is(
    installed, build_program, run_program, change, why
):
    change(installed, pathlib.Path(f'{installed}.json'))
    if change not in (cut, no_checksum):
        shutil.copy(build_program('stream', changes=OTHER_MACHINE), installed)
    _, said, record = run_program(installed, *STREAM, '--allow', WRONG_HERE)
    build = record['build']
    assert build['unknown'] == why.format(installed, installed)
    known = {name for name, value in build.items() if value and name != 'unknown'}
    assert known == {'compiler', 'openmp', 'code_sha256', 'binary_sha256'}
    assert build['code_sha256'] == code_sha256(installed)
    assert f'Build: not known: {build["unknown"]}' in said


def test_the_checksum_of_a_file_is_that_of_sha256sum(installed, run_program):
    """Its length within a block decides how it ends."""
    data = installed.read_bytes()
    for rest in (0, 55, 56, 63):
        installed.write_bytes(data + b'x' * ((rest - len(data)) % 64))
        assert installed.stat().st_size % 64 == rest
        build = record_of(run_program, installed, *STREAM)['build']
        assert build['binary_sha256'] == sha256(installed)


# --- a run that was stopped ----------------------------------------------------------------------

LONG = {
    'dgemm': ['--shape', 'square', '-n', '300', '-t', '1000'],
    'ladder': [],
    'loaded': ['--chain-mib', '8'],  # of default size its preparations alone take half a minute
    'nbody': ['--bodies', '2000', '--rounds', '101', '--seconds', '0.02'],
    'overheads': ['--pairs', '1000'],
    'pingpong': ['--seconds', '6'],
    'tiers': ['--array-mib', '64', '--rounds', '15'],
}


def until_it_heeds(process, number):
    """From its preparations on: what is caught, the kernel says."""
    caught = 0
    while process.poll() is None and not caught >> (number - 1) & 1:
        time.sleep(0.005)
        status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
        caught = int(re.search(r'^SigCgt:\s*(\w+)', status, re.M)[1], 16)


@pytest.mark.parametrize('program', LONG)
@pytest.mark.parametrize('later_s', [0, 0.5])
def test_a_signal_ends_every_program_with_what_is_complete(
    build_program, tmp_path, program, later_s
):
    """Batch systems send it before the limit, also in the first touch."""
    path = tmp_path / 'r'
    words = [build_program(program, *FLAGS.get(program, [])), *LONG[program]]
    words = [*map(str, words), '--allow', WRONG_HERE, '--json', path]
    env = os.environ | {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env=env)
    until_it_heeds(process, signal.SIGUSR1)
    time.sleep(later_s)
    process.send_signal(signal.SIGUSR1)
    process.communicate(timeout=200)
    record = json.loads(path.read_text())
    assert record['ended_by'] == 'SIGUSR1 (signal 10)'
    assert process.returncode == record['exit_status']
