"""cluster_stream under a real Slurm of four virtual nodes: idle, slow and dead ones.

The nodes share this host's cores, so that rates mean nothing here, but for the one node that a
planted fault makes many times slower. gcc is a stand-in that adds the fault to the line, as
ci/slurm-emu is a stand-in for real nodes.
"""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

import cluster_stream
import pytest
import record_schema
import standin_gcc
from lib import batch_job
from places import ROOT

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

DEFECTS = 'array-too-small,too-short,wrong-pinning,oversubscribed,disturbed,unstable'
SLOW = 20  # times: a node that is measured alone has the memory of all
VIRTUAL = ('-include', str(ROOT / 'tests/data/virtual_node.h'))
PLANTED = ('-include', str(ROOT / 'tests/data/slow.h'))
MPI = {
    'OMPI_ALLOW_RUN_AS_ROOT': 1,
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': 1,
    'OMPI_MCA_rmaps_base_oversubscribe': 1,
    'SLURM_MPI_TYPE': 'pmix',
    'MEMBW_SLURM_BACKEND': 'squeue',
    'MEMBW_BUILD': 'make',  # Spack's rows are not needed here
}


@pytest.fixture(scope='module')
def slurm(slurm_emu, tmp_path_factory):
    """Nodes n1..n4 in partition regular1, posing as Ulysses."""
    with slurm_emu(tmp_path_factory.mktemp('emu'), 4, 2, 10) as place:
        yield {**place, **MPI}


class Session:
    """One `membw run -n cluster_stream`: what it printed, its test case, its records."""

    def __init__(self, place, size, times, *faults, **options):
        (self.root, own), self.environment, slurm, self.folder = place
        standin_gcc.put_up(self.folder, *faults)
        allow = options.pop('allow', DEFECTS)
        asked = {'array_size': size, 'ntimes': times, 'rank_threads': 1, 'allow': allow}
        asked |= options
        self.words = ['membw', 'run', '--system', 'ulysses', '-n', 'cluster_stream']
        self.words += ['-p', 'gcc-o2', f'--prefix={self.folder}']
        self.words += [word for k, v in asked.items() for word in ('-S', f'{k}={v}')]
        self.variables = {**slurm, **own, 'PATH': f'{self.folder}:{self.environment["PATH"]}'}

    def start(self):
        variables = {k: str(v) for k, v in self.variables.items()}
        self.process = subprocess.Popen(
            self.words,
            cwd=self.root,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self

    def wait(self):
        self.text = self.process.communicate(timeout=300)[0]
        self.status = self.process.returncode
        report = self.root / re.search(r'^report (\S+\.json)', self.text, re.M)[1]
        cases = json.loads(report.read_text())['runs'][-1]['testcases']
        (self.case,) = [case for case in cases if not case['fixture']]
        return self

    def run(self):
        return self.start().wait()

    def verdicts(self):
        """{node: (verdict, reason)} of the node-check file."""
        lines = pathlib.Path(self.case['node_check']).read_text().splitlines()
        split = [line.split(' ', 2) for line in lines]
        return {node: (word, ' '.join(rest)) for node, word, *rest in split}

    def records(self):
        lines = pathlib.Path(self.case['record']).read_text().splitlines()
        every = [json.loads(line) for line in lines]
        return record_schema.check_all([record for record in every if record['metrics']])


@pytest.fixture
def session(own_checkout, environment, slurm, tmp_path):
    def make(*words, **options):
        return Session((own_checkout, environment, slurm, tmp_path), *words, **options)

    return make


def test_one_node_made_slow_is_named_and_the_figures_stay(session, need):
    """Three healthy nodes and one that takes 20 times as long; under mpirun no node is measured
    again."""
    need('mpicc', 'mpirun')
    faults = (*VIRTUAL, *PLANTED, '-DSLOW_RANK=2', f'-DSLOW={SLOW}')
    run = session(100000, 20, *faults, starter='mpirun').run()
    assert run.status == 1, run.text
    assert '-DMEMBW_MPI' in run.case['compile_line']
    records = {record['host']: record for record in run.records()}
    assert sorted(records) == ['n1', 'n2', 'n3', 'n4']
    assert sorted(record['rank'] for record in records.values()) == [0, 1, 2, 3]
    (slow,) = [host for host, record in records.items() if record['rank'] == 2]
    verdicts = run.verdicts()
    assert sorted(verdicts) == ['n1', 'n2', 'n3', 'n4']
    assert verdicts[slow][0] == 'SUSPECT', run.text
    assert run.case['result'] == 'fail' and 'UNDECIDED: ' in run.case['fail_reason']
    assert f'{slow} SUSPECT' in run.case['fail_reason']
    triad = {host: record['metrics']['triad']['value'] for host, record in records.items()}
    assert triad[slow] < sorted(triad.values())[2] / 2


def until_measuring(folder, nodes):
    """{node: process} of the program's ranks, once all of them have used CPU time."""
    for _ in range(3000):
        found = {}
        for entry in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if not os.readlink(entry / 'exe').startswith(f'{folder}/stage'):
                    continue
                variables = dict(
                    pair.split('=', 1)
                    for pair in (entry / 'environ').read_text().split('\0')
                    if '=' in pair
                )
                ticks = int((entry / 'stat').read_text().rpartition(')')[2].split()[11])
            except (OSError, ValueError):
                continue
            if ticks >= 30:
                found[variables['SLURMD_NODENAME']] = int(entry.name)
        if len(found) == nodes:
            return found
        time.sleep(0.1)
    raise AssertionError(f'only {sorted(found)} run')


def test_a_node_killed_in_mid_run_costs_its_own_figure_alone(session):
    """All nodes take 100 times as long, so that there is a middle to kill one in."""
    run = session(50000, 40, *PLANTED, '-DSLOW=100').start()
    try:
        os.kill(until_measuring(run.folder, 4)['n3'], signal.SIGKILL)
        run.wait()
    finally:
        run.process.kill()
    assert run.status == 1, run.text
    verdicts = run.verdicts()
    assert sorted(verdicts) == ['n1', 'n2', 'n3', 'n4'] and verdicts['n3'][0] == 'DIED'
    records = {record['host']: record for record in run.records()}
    assert sorted(records) == ['n1', 'n2', 'n4']
    assert all(record['complete'] and record['validation']['ok'] for record in records.values())
    assert run.case['result'] == 'fail' and run.case['word'] == 'DIED'
    assert 'n3: ended by SIGKILL (signal 9)' in run.case['reasons']
    record = pathlib.Path(run.case['record'])
    job = json.loads((record.parents[1] / 'jobs' / record.stem / 'job.json').read_text())
    assert job['record_in_stage'] == 'cluster.jsonl'  # what membw reproduce compares
    assert 'n3 DIED ended by SIGKILL (signal 9) on n3' in run.text


def test_a_rank_killed_under_mpi_makes_the_row_died(session, need):
    """Who of the ranks died is not noted: nodes without a record are MISSING."""
    need('mpicc', 'mpirun')
    run = session(50000, 40, *PLANTED, '-DSLOW=100', starter='mpirun').start()
    try:
        os.kill(until_measuring(run.folder, 4)['n3'], signal.SIGKILL)
        run.wait()
    finally:
        run.process.kill()
    assert run.status == 1 and run.case['word'] == 'DIED', run.text
    assert 'the MPI job: ended by SIGKILL (signal 9)' in run.case['reasons']
    assert run.verdicts()['n3'][0] == 'MISSING'


def test_a_partition_that_gives_fewer_nodes_than_are_idle_is_measured_as_far_as_it_goes(
    session, call, slurm
):
    call('scontrol', 'update', 'partition=regular1', 'MaxNodes=2', **slurm)
    call('scontrol', 'update', 'nodename=n4', 'state=drain', 'reason=test', **slurm)
    try:
        run = session(100000, 3).run()
    finally:
        call('scontrol', 'update', 'nodename=n4', 'state=resume', **slurm)
        call('scontrol', 'update', 'partition=regular1', 'MaxNodes=UNLIMITED', **slurm)
    assert sorted(run.verdicts()) == ['n1', 'n2']
    assert re.search(r'not measured .*: n3 \(idle\), n4 \(idle\+drain\)', run.text)


@pytest.mark.parametrize(
    'options, with_mpi, launcher',
    [
        ('', False, 'srun --cpus-per-task=20 --no-kill --kill-on-bad-exit=0 --wait=300 '),
        ('-S use_mpi=1', True, 'srun --cpus-per-task=20 --no-kill --kill-on-bad-exit=0 /'),
        ('-S starter=mpirun', True, 'mpirun -np 1 /'),
        ('-S per=domain', True, 'srun --cpus-per-task=10 --no-kill --kill-on-bad-exit=0 /'),
    ],
)
def test_mpi_is_used_only_on_request(call, tmp_path, options, with_mpi, launcher):
    words = ['-c', 'reframe-checks/cluster_stream.py', '--dry-run', '--system', 'ulysses']
    words += ['-p', 'gcc-o2', '--prefix', tmp_path, *options.split()]
    done = call('reframe', *words, MEMBW_BUILD='make')
    assert done.returncode == 0 and 'skipping' not in done.stdout, done.stdout + done.stderr
    scripts = [path.read_text() for path in tmp_path.rglob('rfm_*.sh')]
    (build,) = [text for text in scripts if 'make -C' in text]
    (job,) = [text for text in scripts if '--json cluster.jsonl' in text]
    assert (' MPI=1 ' in build) == with_mpi == ('hwloc_default_binding_policy:=none' in job)
    assert f'\n{launcher}' in job
    assert '#SBATCH --no-kill\n' in job


def test_a_rank_of_a_domain_gets_the_cores_of_that_domain_from_any_mpirun():
    words = cluster_stream.places_of_rank([[0, 1], [8, 9]])
    line = f'sh {shlex.join(words)} env | grep OMP_PLACES'

    def places(**rank):
        return subprocess.run(
            ['sh', '-c', line], env={'PATH': os.environ['PATH'], **rank}, capture_output=True
        ).stdout.decode()

    assert places(OMPI_COMM_WORLD_LOCAL_RANK='0') == 'OMP_PLACES={0},{1}\n'
    assert places(OMPI_COMM_WORLD_LOCAL_RANK='1') == 'OMP_PLACES={8},{9}\n'
    assert places(MPI_LOCALRANKID='1') == 'OMP_PLACES={8},{9}\n'
    assert places() == ''


def test_no_launcher_binds_a_rank_unless_the_site_says_so():
    """One core per rank is Open MPI's default, and 5 refuses a rank on two sockets."""
    lines = batch_job.given_or(batch_job.UNBOUND)
    script = '\n'.join([*lines, 'env | grep -E "^(OMPI|PRTE|I_MPI)" | sort'])

    def environment(**site):
        done = subprocess.run(
            ['sh', '-c', script], env={'PATH': os.environ['PATH'], **site}, capture_output=True
        )
        return done.stdout.decode().split()

    of_4, of_5 = 'OMPI_MCA_hwloc_base_binding_policy', 'PRTE_MCA_hwloc_default_binding_policy'
    assert environment() == ['I_MPI_PIN=off', f'{of_4}=none', f'{of_5}=none']
    assert f'{of_5}=package' in environment(**{of_5: 'package'})


SLOW_NODE = (*VIRTUAL, *PLANTED, '-DSLOW_NODE="n3"')


def test_a_node_that_stays_slow_is_measured_again_and_fails(session):
    run = session(100000, 40, *SLOW_NODE, f'-DSLOW={SLOW}').run()
    word, reason = run.verdicts()['n3']
    # on a busy host a further measurement may be a lower bound, which fails no node
    is_bound = 'a lower bound among these decides nothing' in reason
    assert (run.status, word) == (1, 'UNDECIDED' if is_bound else 'FAIL'), run.text
    assert 'measured again three times' in reason
    hosts = [record['host'] for record in run.records()]
    assert hosts.count('n3') == 4 and hosts.count('n1') == 4  # healthy ones beside it
    assert f'n3 {word}' in run.text


# alone: six workers on a busy machine made it FAIL once, all three measurements of 'read' 40 % low
@pytest.mark.alone
def test_a_node_slow_in_the_first_measurement_alone_passes(session):
    """Its peers are half as fast as they could be: one host's memory changes by the second."""
    faults = ('-DSLOW=10', '-DSLOW_OTHERS=2', '-DSLOW_FIRST')
    run = session(100000, 300, *SLOW_NODE, *faults).run()
    word, reason = run.verdicts()['n3']
    assert word == 'PASS' and 'measured again three times' in reason, run.text
