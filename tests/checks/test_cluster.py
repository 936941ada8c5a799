"""The checks of a whole cluster under a real Slurm of six virtual nodes, posing as Ulysses.

The nodes share this host's cores and memory, so that rates mean nothing here: where nodes are
compared the programs are doubles that leave made-up records. gcc is a stand-in that builds them,
or plants a fault; ci/slurm-emu stands in for real nodes.
"""

import json
import os
import pathlib
import re
import signal
import subprocess

import cluster_pairs
import lying_opencl
import made_up_nodes
import made_up_records
import pytest
import record_schema
import standin_gcc
from lib import batch_job
from measuring import until_measuring
from places import ROOT

from membw import cli

NODES = [f'n{i}' for i in range(1, 7)]
PLANTED = ('-include', str(ROOT / 'tests/data/slow.h'))
DEFECTS = 'array-too-small,too-short,wrong-pinning,oversubscribed,disturbed,unstable'
MPI = {
    'OMPI_ALLOW_RUN_AS_ROOT': 1, 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': 1,
    'OMPI_MCA_rmaps_base_oversubscribe': 1, 'OMPI_MCA_mpi_yield_when_idle': 1,
    # not Open MPI 4's own TCP: of two ranks that connect to each other at once it may lose both
    'OMPI_MCA_pml': 'ucx', 'OMPI_MCA_opal_common_ucx_tls': 'any',
    'OMPI_MCA_opal_common_ucx_devices': 'any', 'UCX_TLS': 'tcp,self',
    'UCX_NET_DEVICES': 'lo',  # the nodes are all here
    'SLURM_MPI_TYPE': 'pmix', 'MEMBW_SLURM_BACKEND': 'squeue', 'MEMBW_BUILD': 'make',
}  # fmt: skip


def slurmed(test):
    return pytest.mark.slurm(pytest.mark.slow(test))


@pytest.fixture(scope='module')
def slurm(slurm_emu, tmp_path_factory):
    with slurm_emu(tmp_path_factory.mktemp('emu'), 6, 2, 10) as place:
        yield {**place, **MPI}


@pytest.fixture
def state(call, slurm):
    """state('nodename=n4', 'state=drain'): changes Slurm's; undone at the end."""
    undo = []

    def change(*words, back):
        assert call('scontrol', 'update', *words, **slurm).returncode == 0
        undo.append(back)

    yield change
    for words in undo:
        call('scontrol', 'update', *words, **slurm)


class Run:
    """One `membw run -n CHECK`, begun: what it printed, its test case, its records."""

    def __init__(self, root, variables, folder, check, **given):
        self.root, self.folder = root, folder
        words = ['membw', 'run', '--system', 'ulysses', '-n', check, '-p', 'gcc-o2']
        words += [f'--prefix={folder}', *(f'-S{name}={given[name]}' for name in given)]
        self.process = subprocess.Popen(
            words, cwd=root, env={k: str(v) for k, v in variables.items()}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def wait(self):
        self.text = self.process.communicate(timeout=300)[0]
        self.status = self.process.returncode
        report = self.root / re.search(r'^report (\S+\.json)', self.text, re.M)[1]
        cases = json.loads(report.read_text())['runs'][-1]['testcases']
        (self.case,) = [case for case in cases if not case['fixture']]
        self.nodes, self.records = {}, []
        if self.case['node_check']:
            with open(self.case['node_check']) as file:  # {node: 'FAIL triad ...'}
                self.nodes = dict(line.rstrip('\n').split(' ', 1) for line in file)
            self.records = [json.loads(line) for line in open(self.case['record'])]
        return self


@pytest.fixture
def run(own_checkout, environment, slurm, tmp_path):
    """run(check, fault, ..., name=value): begins it with a gcc that plants the faults."""

    def begin(check, *faults, cards=0, variables=(), **given):
        root, own = own_checkout
        if cards:
            file = root / 'systems/ulysses.yaml'
            text, name = file.read_text(), '- name: regular\n'
            devices = f'  devices: [{{type: gpu, num_devices: {cards}}}]\n'
            file.write_text(text.replace(name, name + devices))
        if not (tmp_path / 'gcc').exists():
            standin_gcc.put_up(tmp_path, *faults)
        path = f'{tmp_path}:{environment["PATH"]}'
        env = {**environment, **slurm, **own, 'PATH': path, **dict(variables)}
        return Run(root, env, tmp_path, check, **given)

    return begin


@pytest.fixture
def made_up(tmp_path):
    """made_up(name, record): what the double of a program leaves, and gcc builds doubles."""
    return standin_gcc.of_doubles(tmp_path)


def put_stream(made_up, first, always):
    """Records of STREAM on every node, `first` low in the first measurement alone."""
    for node in NODES:
        for again in range(4):
            share = 0.6 if node == always or node == first and not again else 1.0
            rows = made_up_records.stream(share=share)
            record = made_up_records.record(node, rows=rows, time=made_up_records.when(0, again))
            made_up(f'{node}-stream' + (f'-again-{again}' if again else ''), record)


@slurmed
def test_low_nodes_are_measured_again_and_those_that_stay_so_fail(run, made_up):
    put_stream(made_up, first='n4', always='n3')
    done = run('cluster_stream').wait()
    assert done.status == 1 and done.case['result'] == 'fail', done.text
    assert done.nodes['n3'].startswith('FAIL copy'), done.text
    assert done.nodes['n4'].startswith('PASS'), done.text
    assert all('measured again 3 times' in done.nodes[low] for low in ('n3', 'n4'))
    hosts = [record['host'] for record in done.records]
    assert [hosts.count(node) for node in NODES] == [4, 4, 4, 4, 4, 1]  # healthy ones beside
    orders = [record['case']['measurement'] for record in done.records]
    assert orders == sorted(orders) and orders[-1] == 3
    assert 'n3 FAIL' in done.text and 'slow_nodes=1' in done.case['fail_reason']


@slurmed
def test_a_partition_that_gives_fewer_nodes_than_are_idle_is_measured_as_far_as_it_goes(
    run, made_up, state
):
    put_stream(made_up, first='', always='')
    unlimited, resume = ('partition=regular1', 'MaxNodes=UNLIMITED'), 'state=resume'
    state('partition=regular1', 'MaxNodes=4', back=unlimited)
    state('nodename=n6', 'state=drain', 'reason=test', back=('nodename=n6', resume))
    done = run('cluster_stream').wait()
    assert sorted(done.nodes) == NODES[:4], done.text
    assert re.search(r'not measured .*: n5 \(idle\), n6 \(idle\+drain\)', done.text)


@slurmed
def test_of_the_battery_one_is_slow_for_a_reason_one_died_and_after_repair_all_pass(
    run, made_up, state, capsys, call, slurm
):
    def put(**planted):
        for node in (made_up_nodes.node(host, **planted.get(host, {})) for host in NODES):
            for part in node['parts']:
                name = 'stream' if part['name'] == 'late' else part['name']
                made_up(f'{node["host"]}-{name}', None if part['died'] else part['record'])

    given = {'battery_seconds': 45}
    channel, _ = made_up_nodes.PLANTED['memory-channel']
    resume = ('nodename=n6', 'state=resume')
    state('nodename=n6', 'state=drain', 'reason=test', back=resume)
    put(n4=channel, n5={'dies': 'ladder'})
    done = run('cluster_node', **given).wait()
    assert done.status == 1 and sorted(done.nodes) == NODES[:5], done.text
    assert done.nodes['n4'].startswith('FAIL ') and 'dimms' in done.nodes['n4'], done.text
    assert done.nodes['n5'] == 'DIED ladder: ended by SIGBUS (signal 7)'
    assert [done.nodes[n].split()[0] for n in NODES[:3]] == ['PASS'] * 3, done.text
    assert done.case['word'] == 'DIED' and 'n6 (idle+drain)' in done.case['nodes']
    hosts = [record['host'] for record in done.records]
    assert hosts.count('n4') == 4  # measured again, beside those whose figures are no bounds
    assert cli.main(['why', 'n4', done.case['record']]) == 1
    assert 'memory channels: 7, not 8' in capsys.readouterr().out

    call('scontrol', 'update', *resume, **slurm)
    put()
    done = run('cluster_node', **given).wait()
    assert {line.split()[0] for line in done.nodes.values()} == {'PASS'}, done.text
    assert sorted(done.nodes) == NODES and done.status == 0


@slurmed
@pytest.mark.parametrize(
    'starter, of_node, why, measured',
    [
        ('srun', 'DIED ended by SIGKILL (signal 9) on n3', 'n3: ended by SIGKILL', 3),
        # who of the ranks died is not noted
        ('mpirun', 'MISSING', 'the MPI job: ended by SIGKILL', 0),
    ],
)
def test_a_node_killed_in_mid_run_makes_the_row_died(run, need, starter, of_node, why, measured):
    need('mpicc', 'mpirun')
    node = 'n3'
    done = killed(run, starter, node)
    if starter == 'mpirun' and not done.records:  # rank 0 was ended before it wrote
        assert 'the MPI job: ' in done.case['reasons'] and not done.nodes, done.text
        return
    assert ('-DMEMBW_MPI' in done.case['build']['compile_line']) == (starter == 'mpirun')
    assert sorted(done.nodes) == NODES[:4] and done.nodes[node].startswith(of_node)
    assert f'{why} (signal 9)' in done.case['reasons']
    whole = [record for record in done.records if record.get('complete')]
    assert len(record_schema.check_all(whole)) >= measured
    assert node not in {record['host'] for record in whole}
    record = pathlib.Path(done.case['record'])
    job = json.loads((record.parents[1] / 'jobs' / record.stem / 'job.json').read_text())
    assert job['record_in_stage'] == 'cluster.jsonl'  # what membw reproduce compares


@slurmed
def test_an_mpi_job_that_leaves_no_record_blames_no_node(run, need):
    need('mpicc', 'mpirun')
    done = killed(run, 'mpirun', *NODES[:4])
    assert 'the MPI job: ' in done.case['reasons'] and 'SIGKILL' in done.case['reasons']
    assert not done.nodes and not any(f'{node}: ' in done.case['reasons'] for node in NODES)


def killed(run, starter, *nodes):
    """The run, ended, of whose programs those of these nodes were killed. All take 100 times as
    long, so that there is a middle to kill one in."""
    begun = run('cluster_stream', *PLANTED, '-DSLOW=100', array_size=50000, ntimes=40,
                rank_threads=1, allow=DEFECTS, starter=starter, max_nodes=4)  # fmt: skip
    try:
        programs = until_measuring(begun.folder, 4)
        for node in nodes:
            os.kill(programs[node], signal.SIGKILL)
        done = begun.wait()
    finally:
        begun.process.kill()
    assert done.status == 1 and done.case['word'] == 'DIED', done.text
    return done


@slurmed
def test_a_slow_node_and_a_slow_link_of_mpi_are_named(run, need):
    """us per round trip: 1000 of each end, so that what else runs here is little beside; rank
    5 with all others; ranks 0 and 2."""
    need('mpicc', 'mpirun')
    links = [*(f'{{{rank},-1,1000}}' for rank in range(5)), '{5,-1,9000}', '{0,2,10000}']
    faults = f'-DSLOW_LINKS={",".join(links)}', '-include', f'{ROOT}/tests/data/slow_links.h'
    allow = 'oversubscribed,disturbed,unstable,too-short'
    done = run('cluster_pairs', *faults, allow=allow, sizes='0', seconds=0.01).wait()
    assert done.status == 1 and done.case['word'] == 'UNDECIDED', done.text
    host = {record['rank']: record['host'] for record in done.records}
    assert sorted(host.values()) == NODES
    assert all(len(record['links']) == 5 for record in done.records)
    assert {link['round'] for r in done.records for link in r['links']} == set(range(5))
    # under MPI it is not measured again by itself
    said = done.nodes[host[5]]
    assert re.match(r'UNDECIDED \(?(one machine .*latency .*low once|allowed)', said), done.text
    assert f'{" - ".join(sorted((host[0], host[2])))}: 0 B in ' in done.case['links']


@slurmed
def test_each_card_of_each_node_is_measured_and_one_that_is_gone_is_missing(run, tmp_path):
    """Of three cards that the system file names pocl shows two."""
    liar = lying_opencl.variables(tmp_path)
    given = {'cpu': 'true', 'array_size': 100000, 'rounds': 10, 'max_nodes': 3, 'allow': DEFECTS}
    pocl = {'POCL_DEVICES': 'pthread pthread', 'LIE': 'named', **liar}
    done = run('cluster_device', cards=3, variables=pocl, **given).wait()
    assert done.status == 1, done.text
    measured = [(r['host'], r['device']['index']) for r in done.records if r['metrics']]
    assert sorted(measured) == [(node, card) for node in NODES[:3] for card in (0, 1)]
    # the nodes of ci/slurm-emu are one machine, and small arrays were allowed: UNDECIDED
    assert sorted(done.nodes) == NODES[:3] and 'PASS' not in ' '.join(done.nodes.values())
    assert all('card 2: no record' in line for line in done.nodes.values()), done.nodes


# --- without a Slurm -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    'given, with_mpi, launcher',
    [
        ({}, False, 'srun --cpus-per-task=20 --no-kill --kill-on-bad-exit=0 --wait=300 '),
        ({'use_mpi': 1}, True, 'srun --cpus-per-task=20 --no-kill --kill-on-bad-exit=0 /'),
    ],
)
def test_mpi_is_used_only_on_request(reframe, given, with_mpi, launcher):
    words = ('--dry-run', '--system', 'ulysses', '-p', 'gcc-o2')
    done = reframe('cluster_stream.py', *words, given=given)
    assert done.code == 0 and 'skipping' not in done.text, done.text
    scripts = [path.read_text() for path in done.folder.rglob('rfm_*.sh')]
    (build,) = [text for text in scripts if 'make -C' in text]
    (job,) = [text for text in scripts if '--json cluster.jsonl' in text]
    assert (' MPI=1 ' in build) == with_mpi == ('hwloc_default_binding_policy:=none' in job)
    assert f'\n{launcher}' in job and '#SBATCH --no-kill\n' in job


def test_a_battery_that_cannot_be_is_refused(reframe):
    done = reframe('cluster_node.py', '-l', given={'battery_seconds': 20})
    assert done.code == 2 and 'battery_seconds=20: 30 to 180 s' in done.text


def printed(script, *words, **variables):
    """What a shell says with these variables alone."""
    env = {'PATH': os.environ['PATH'], **variables}
    return subprocess.run(['sh', '-c', script, *words], env=env, capture_output=True).stdout


def test_no_launcher_binds_a_rank_unless_the_site_says_so():
    """One core per rank is Open MPI's default, and 5 refuses a rank on two sockets."""
    lines = batch_job.given_or(batch_job.UNBOUND)
    script = '\n'.join([*lines, 'env | grep -E "^(OMPI|PRTE|I_MPI)" | sort'])
    of_4, of_5 = 'OMPI_MCA_hwloc_base_binding_policy', 'PRTE_MCA_hwloc_default_binding_policy'
    expected = ['I_MPI_PIN=off', f'{of_4}=none', f'{of_5}=none']
    assert printed(script).decode().split() == expected
    assert f'{of_5}=package' in printed(script, **{of_5: 'package'}).decode().split()


def test_the_slowest_links_are_named():
    def link(node, us):
        return {'node': node, 'reason': None, 'messages': [{'bytes': 4 << 20, 'median_us': us}]}

    records = [
        {'host': 'n1', 'links': [link('n2', 100.0), link('n3', 200.0)]},
        {'host': 'n2', 'links': [link('n1', 100.0), link('n3', 100.0)]},
    ]
    slowest = 'n1 - n3: 4 MiB in 200 us, 2.00 times the median of 3 links'
    assert cluster_pairs.slowest_links(records, 1) == [slowest]
