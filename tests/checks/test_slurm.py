"""A real Slurm on this host, posing as Ulysses: jobs run under it, only honest failures fail."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import threading
import time

import posed
import pytest
from checkout_copy import copy_checkout, variables
from measuring import until_measuring
from record_schema import check

from membw.campaign.slurm_queue import Queue

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

# 20 threads on nodes that only pose as 2 x 10 cores: no such run may be believed
# numactl: no CPU 19, no domain 1 here; likwid-pin dies of the CPUs that it does not find
HONEST = re.compile(r'wrong-pinning|oversubscribed')
# likwid-pin and numactl refuse, or die of, CPUs that are not there, and nothing is measured
REFUSED = re.compile(r'^sanity error: (DIED|MISSING)')
SMALL = 'array-too-small,too-short,disturbed,unstable'
CROWDED = 'oversubscribed,wrong-pinning'


@pytest.fixture(scope='module')
def slurm(slurm_emu, tmp_path_factory):
    """Two nodes of 2 x 10 cores in partition regular1."""
    with slurm_emu(tmp_path_factory.mktemp('emu'), 2, 2, 10) as place:
        yield place


@pytest.fixture(scope='module')
def session(slurm, reframe, quick_gcc):
    """The test cases of a session on the posed Ulysses, by the plain reframe command."""
    slurm = {**slurm, 'MEMBW_SLURM_BACKEND': 'squeue', 'PATH': quick_gcc}

    def run(allow, *words, ntimes=3, folder=None):
        words = ('-r', '--system', 'ulysses', '-p', 'gcc-o2', *words)
        given = {'array_size': 100000, 'ntimes': ntimes, 'allow': allow}
        done = reframe('stream.py', *words, given=given, folder=folder, **slurm)
        assert 'Ran 0/0' not in done.text, done.text
        return done.ran

    return run


def test_the_nodes_pose_as_two_sockets_of_ten_cores(slurm, call):
    out = call('sinfo', '-h', '-N', '-o', '%N %P %X %Y', **slurm).stdout.split('\n')
    assert out[:2] == ['n1 regular1* 2 10', 'n2 regular1* 2 10']


@pytest.fixture(scope='module')
def measured(session):
    (case,) = session(f'{SMALL},{CROWDED}', '-n', 'stream%pinning=omp')
    return case


def test_jobs_run_under_slurm_and_are_measured(measured):
    case = measured
    assert case['scheduler'] == 'squeue' and str(case['jobid']).isdigit()
    record = check(json.loads(pathlib.Path(case['record']).read_text()))
    assert record['verdict'] == 'VALID' and record['threads'] == 20
    assert all(kernel['best_mbs'] > 0 for kernel in record['kernels'].values())
    # the program was told to bear it; the check was not, and knows that the cores are not there
    assert case['result'] == 'pass' or HONEST.search(case['fail_reason'])


def test_a_job_of_slurm_is_made_again_under_slurm(
    measured, slurm, call, tmp_path, one_run, quick_gcc
):
    """`membw reproduce` submits the job script that ReFrame wrote, with the binary built anew."""
    record, again = pathlib.Path(measured['record']), tmp_path / 'again'
    words = (record.name, '--results', record.parent.parent, '--run', '--json', '--margin', '99')
    done = call('membw', 'reproduce', *words, '--folder', again, PATH=quick_gcc, **slurm)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert 'binary: the same, bit for bit' in found['notes'], found
    assert 'job' in (again / 'reproduce.log').read_text()


def test_nothing_passes_unseen_and_only_honest_failures_fail(session):
    """20 threads share two CPUs: every run must fail, each for that reason or one that follows."""
    cases = session(SMALL, '-n', '^stream')
    ran = [case for case in cases if case['result'] != 'skip']
    assert {'none', 'omp'} <= {case.get('pinning') for case in ran}
    assert all(str(case['jobid']).isdigit() for case in ran)
    told = {case.get('pinning') or case['name']: case['fail_reason'] or 'passed' for case in ran}
    assert all(HONEST.search(told.pop(pinning)) for pinning in ('none', 'omp')), told
    assert [t for t in told.values() if not HONEST.search(t) and not REFUSED.search(t)] == []


def test_slurm_takes_the_options_of_the_scrontab_entry(root, slurm, call, tmp_path):
    """Those of scrontab are sbatch's; this Slurm's package has no scrontab itself."""
    lines = (root / 'ci' / 'entries' / 'scrontab').read_text().splitlines()
    asked = [line.replace('#SCRON', '#SBATCH') for line in lines if line.startswith('#SCRON')]
    assert '#SBATCH --partition=service' in asked  # the only one here has another name
    asked = [line.replace('=service', '=regular1') for line in asked]
    job = tmp_path / 'job'
    job.write_text('\n'.join(['#!/bin/sh', *asked, 'true', '']))
    done = call('sbatch', '--test-only', job, **slurm)
    assert done.returncode == 0, done.stderr
    job.write_text('\n'.join(['#!/bin/sh', '#SBATCH --no-such-option', 'true', '']))
    assert call('sbatch', '--test-only', job, **slurm).returncode != 0


def test_slurm_itself_drains_the_node_that_is_below_its_floor(
    root, call, slurm_emu, tmp_path_factory, tmp_path, monkeypatch
):
    """HealthCheckProgram on two nodes. They share this host, so that neither is quiet: a stand-in
    for `stream --at-least` says PASS on n1 and FAIL on n2. A campaign says so of n2."""
    folder = tmp_path_factory.mktemp('health')
    stream, program = folder / 'stream', folder / 'check'
    stream.write_text(
        '#!/bin/sh\nword=FAIL\n[ $SLURMD_NODENAME != n1 ] || word=PASS\n'
        'echo "membw: $word triad 140 GB/s, at least 150"\n[ $word = PASS ]\n'
    )
    program.write_text(
        f'#!/bin/sh\nexport MEMBW_HEALTH={root}/ci/entries/membw-health MEMBW_STATE={folder}\n'
        f'export MEMBW_STREAM={stream} SLURM_CONF={folder}/slurm.conf\n'
        f'export MEMBW_FLOORS=/dev/null PATH=$PATH:/usr/bin:/usr/sbin\n'
        f'exec {root}/ci/entries/slurm-healthcheck\n'
    )
    stream.chmod(0o755)
    program.chmod(0o755)
    more = f'HealthCheckProgram={program}\nHealthCheckInterval=3\nHealthCheckNodeState=IDLE'
    until, states = time.monotonic() + 120, ''
    with slurm_emu(folder, 2, 1, 2, SLURM_EMU_CONF=more) as place:
        while 'n2 drained' not in states and time.monotonic() < until:
            time.sleep(0.5)
            states = call('sinfo', '-h', '-N', '-o', '%N %T %E', **place).stdout
        monkeypatch.setenv('SLURM_CONF', str(place['SLURM_CONF']))
        (tmp_path / 'job.sh').write_text('#SBATCH -p regular1\n')
        nodes = Queue(tmp_path / 'job.sh', 'campaign', 1).nodes
    assert re.match(r"drained since 20\d\d-.*T.*: 'membw: FAIL triad 140 ", nodes['n2'].why)
    assert nodes['n1'].why == ''
    assert 'n2 drained membw: FAIL triad 140 GB/s' in states, states
    assert 'n1 idle none' in states


def test_the_cores_of_a_node_are_found_by_a_job_of_reframe(root, call, slurm, tmp_path):
    """ReFrame's own detection, with the ReFrame of this checkout: nothing is fetched there."""
    copy_checkout(tmp_path)
    shutil.copy(root / 'setup-env.sh', tmp_path)
    (tmp_path / '.venv').symlink_to(root / '.venv')
    how = {'scheduler': 'squeue', 'launcher': 'srun', 'access': ['-p regular1']}
    posed.write(tmp_path, how)
    words = ('reframe', '-c', 'reframe-checks/stream.py', '-l', '--system', 'posed')
    done = call(*words, cwd=tmp_path, **variables(tmp_path), **slurm)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / 'results/topology/posed-here/processor.json').read_text())
    assert found['num_cpus'] == os.cpu_count() and 'topology' in found
    assert 'stream %pinning=omp' in done.stdout


def test_jobs_that_are_ended_are_died_with_their_nodes(slurm, call, session, tmp_path):
    """One is cancelled, the node of the other fails. It was PASS with a bound, or measured on
    another node without a word."""
    programs = {}

    def end():
        programs.update(until_measuring(tmp_path, 2))
        job = call('squeue', '-h', '-w', 'n1', '-o', '%i', **slurm).stdout.strip()
        call('scancel', job, **slurm)
        call('scontrol', 'update', 'NodeName=n2', 'State=DOWN', 'Reason=test', **slurm)

    other = threading.Thread(target=end)
    other.start()
    words = ('-n', 'stream%pinning=(omp|none)')
    cases = session(f'{SMALL},{CROWDED}', *words, ntimes=900000, folder=tmp_path)
    other.join()
    for process in programs.values():  # what goes on there, and its node waits
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    call('scontrol', 'update', 'NodeName=n2', 'State=RESUME', **slurm)
    reasons = {case['node']: case['reasons'] for case in cases}
    assert [case['word'] for case in cases] == ['DIED'] * 2, reasons
    assert re.search(r'^ended by SIGTERM \(signal 15\), cancelled on n1', reasons['n1']), reasons
    assert 'node failed' in reasons['n2'] and 'n2' in reasons['n2']
