"""The border to real sites: their access lines in a dry run; the dangerous ones on a real Slurm,
whose nodes have other names than the host."""

import json
import os
import re
import shlex
import shutil
import types
from pathlib import Path
from typing import NamedTuple

import made_up_records as made
import pytest
import standin_gcc
import tiny_check
import yaml
from checkout_copy import copy_checkout, variables
from lib import batch_job, prerequisites, slurm_nodes
from places import ROOT

from membw import presets
from membw.results.hostlist import expected_nodes
from membw.site import binder, slurm, systems

SITES = yaml.safe_load((ROOT / 'tests/data/sites.yaml').read_text())
OTHERS = 'pbs', 'torque', 'lsf', 'sge', 'oar'  # that this ReFrame can write jobs for
RIGHT = [name for name, site in SITES.items() if 'refused' not in site]


def system_file(name, site):
    """As a person writes it by the site's manual."""
    cores, threads = site['cores']
    part = {
        'name': site.get('name', 'cpu'),
        'descr': 'a node',
        'scheduler': 'slurm',
        'launcher': site.get('launcher', 'srun'),
        'features': site.get('features', ['x86_64']),
        'processor': {'num_cpus': cores * threads, 'num_cpus_per_core': threads},
        'toolchains': {'gcc': {'cc': 'gcc', 'presets': ['gcc-o3']}},
        **{key: site[key] for key in ('access', 'prepare_cmds', 'sched_options') if key in site},
    }
    facts = {'name': name, 'descr': name, 'hostnames': [name], 'sources': ['its manual']}
    return yaml.safe_dump({**facts, 'partitions': [part]})


@pytest.mark.parametrize('name', SITES)
def test_the_file_of_a_real_site_is_right_or_says_what_to_write(tmp_path, name):
    site, file = SITES[name], tmp_path / f'{name}.yaml'
    file.write_text(system_file(name, site))
    _, problems = systems.load_file(file, presets.load())
    if 'refused' in site:
        ((where, fact, hint),) = problems
        assert f'{where}: {fact}' == site['refused'] and hint
    else:
        assert problems == []
    assert slurm.option(site['access'], '-M', '--clusters') == site.get('cluster', '')
    if name != 'lumi-c':
        assert slurm.option(site['access'], '-p', '--partition') == (site.get('queue') or '')


@pytest.mark.slow
def test_each_site_gets_a_job_as_it_takes_them(reframe, tmp_path):
    """One system with a partition for each site, in one session."""
    copy, every = copy_checkout(tmp_path), yaml.safe_load(system_file('all', SITES[RIGHT[0]]))
    files = {name: yaml.safe_load(system_file(name, SITES[name])) for name in RIGHT}
    every['partitions'] = [file['partitions'][0] | {'name': n} for n, file in files.items()]
    one = every['partitions'][0] | {'launcher': 'mpirun', 'access': ['-q work']}
    every['partitions'] += [one | {'name': name, 'scheduler': name} for name in OTHERS]
    (copy / 'systems/all.yaml').write_text(yaml.safe_dump(every))
    words = '-n', '^stream%pinning=omp', '-n', '^cluster_stream'
    number = 1 + 4 * len(RIGHT) + 2 * len(OTHERS)
    done = reframe('', '--dry-run', '--system', 'all', *words, root=copy, MEMBW_BUILD='')
    assert done.code == 0 and f'Ran {number}/{number}' in done.text, done.text
    for name in RIGHT:
        site = SITES[name]
        for test in ('stream', 'cluster_stream'):
            (script,) = (done.folder / f'stage/all/{name}').glob(f'*/{test}*/rfm_job.sh')
            text = script.read_text()
            in_submit = 'sched_access_in_submit' in site.get('sched_options', {})
            assert in_submit or all(f'#SBATCH {one}\n' in text for one in site['access']), name
            assert f'--cpus-per-task={site["cores"][0]}\n' in text
            environment, program = text.index('SLURM_EXPORT_ENV=ALL'), text.index(' --json ')
            assert text.index('SLURM_RESTART_COUNT') < environment < program
    for name in OTHERS:
        (script,) = (done.folder / f'stage/all/{name}').glob('*/stream*/rfm_job.sh')
        assert not re.search('scontrol|sbatch|srun|SLURM_(RESTART|EXPORT)', script.read_text())


class Scheduler:
    registered_name = 'slurm'

    def get_option(self, name):
        return None

    def emit_preamble(self, job):
        return ['#SBATCH -p cpu']


def job_of(*access, **more):
    facts = {'sched_access': access, 'options': [], 'cli_options': [], 'jobid': None}
    facts |= {'num_tasks_per_node': 1, 'num_cpus_per_task': 2, 'scheduler': Scheduler()}
    return types.SimpleNamespace(**facts | more)


@pytest.mark.parametrize('least, limit, free', [(1, 1000, 713), (2, 9, 1), (1, 4, 4), (1, 9, 0)])
def test_slurm_is_asked_how_many_nodes_a_job_would_get_now(tool, tmp_path, least, limit, free):
    """Not once per node: 1,000 nodes are eleven questions. `free` nodes start now, more later."""
    asked = tmp_path / 'asked'
    tool('sbatch', f'year=2020; [ "${{2#--nodes=}}" -le {free} ] || year=2099; echo >>{asked}; '
         'echo "sbatch: Job 7 to start at $year-01-01T00:00:00 using" >&2')  # fmt: skip
    count, said = slurm_nodes.most(job_of('-p cpu'), least, limit)
    assert count == (free if free >= least else 0)
    assert ('not before 2099' in said) == (free < limit)
    assert len(asked.read_text().splitlines()) <= 12


@pytest.mark.parametrize('access, exclude', [
    ([], ['--exclude=c[2-3]']), (['-x n9'], ['--exclude=c[2-3],n9']), (['-w c2,n1'], []),
])  # fmt: skip
def test_a_node_that_is_powered_down_is_left_out_unless_it_is_named(access, exclude):
    """Four virtual machines were bought for a job that wanted 'all idle nodes'."""
    states = {'n1': 'idle', 'c1': 'idle+cloud+powering_up', 'c2': 'idle+cloud+powered_down',
              'c3': 'idle+power', 'n2': 'idle+drain'}  # fmt: skip
    job = job_of(*access)
    awake = slurm_nodes.without_powered_down(job, states)
    assert awake == (['n1', 'c1', 'n2'] if exclude else [*states])
    assert job.options == exclude


@pytest.mark.parametrize('scheduler, command', [
    ('slurm', 'sbatch'), ('squeue', 'sbatch'), ('pbs', 'qsub'), ('torque', 'qsub'),
    ('sge', 'qsub'), ('lsf', 'bsub'), ('oar', 'oarsub'),
])  # fmt: skip
def test_a_scheduler_whose_commands_are_not_here_is_named_before_the_session(
    monkeypatch, tmp_path, scheduler, command
):
    """It was `build failed: [Errno 2] No such file or directory: 'qsub'`."""
    monkeypatch.setenv('PATH', str(tmp_path))
    part = types.SimpleNamespace(
        fullname='x:cpu', access=[], scheduler=types.SimpleNamespace(registered_name=scheduler)
    )
    why = prerequisites.no_scheduler(part)
    assert re.fullmatch(rf"x:cpu needs \w+: no '{command}' on this host", why)
    assert isinstance(why, prerequisites.NotNow)


def test_a_command_that_hangs_once_is_asked_again_but_for_what_changes_something(
    tool, tmp_path, monkeypatch
):
    monkeypatch.setattr(slurm, 'ANSWER_S', 1)
    hangs = f'[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; exec sleep 60; }}'
    tool('sinfo', f'{hangs}; echo "membw|n1"')
    assert slurm.table('sinfo', '%N') == [['n1']]
    for name in ('sinfo', 'sbatch'):
        tool(name, f'echo >>{tmp_path}/{name}.calls; exec sleep 60')
        with pytest.raises(slurm.NoAnswer, match=f"'{name}': no answer within 1 s"):
            slurm.query(name)
    assert [len((tmp_path / f'{n}.calls').read_text()) for n in ('sinfo', 'sbatch')] == [2, 1]


def test_a_further_measurement_is_the_job_whose_number_sbatch_prints(tool, tmp_path):
    """What a site's wrapper printed before it was run by `sh -c 'scancel ...'`."""
    banner = 'echo "--> Verifying valid jobname...OK"; echo "Welcome; touch planted"'
    tool('sbatch', f'{banner}; echo 812; {banner}')
    tool('squeue', f'{banner}; echo "membw|812|COMPLETED"')
    tool('scancel', f'echo "$@" >>{tmp_path}/cancelled')
    said = []
    job = job_of(script_filename='job.sh', jobid='7')
    slurm_nodes.measure_again(job, tmp_path / 'again-1', ['n2'], said.append)
    assert (tmp_path / 'cancelled').read_text() == '812\n' and not said
    tool('sbatch', banner)
    slurm_nodes.measure_again(job, tmp_path / 'again-2', ['n2'], said.append)
    (line,) = said
    assert line.startswith("no further measurement: 'sbatch' printed no number: --> Verifying")
    assert (tmp_path / 'cancelled').read_text() == '812\n'


STATES = {'PENDING': 1, 'RUNNING': 1, 'SUSPENDED': 1, 'COMPLETING': 1, 'STOPPED': 1,
          'COMPLETED': 0, 'CANCELLED': 0, 'NODE_FAIL': 0, 'TIMEOUT': 0, 'PREEMPTED': 0,
          'REVOKED': 0, 'BOOT_FAIL': 0, 'DEADLINE': 0}  # fmt: skip


@pytest.mark.parametrize('state, waits', STATES.items())
def test_only_jobs_of_this_session_that_have_not_ended_are_waited_for(tool, state, waits):
    tool(
        'squeue',
        f'echo "CLUSTER: $SLURM_CLUSTERS"; echo "membw|7|{state}"; echo "membw|8|RUNNING"',
    )
    assert slurm_nodes.under_way(job_of(), ['7', '6']) == ['7'] * waits
    tool('squeue', 'exit 1')  # nothing is known
    assert slurm_nodes.under_way(job_of(), ['7', '6']) == ['7', '6']


def test_the_cluster_of_a_job_is_asked(tool):
    tool('squeue', '[ "$SLURM_CLUSTERS" = doduo ] && echo "membw|7|RUNNING"')
    assert slurm_nodes.under_way(job_of('-p x', '-M doduo'), ['7']) == ['7']
    assert slurm_nodes.under_way(job_of('--clusters=doduo'), ['7']) == ['7']


@pytest.mark.parametrize('access, shell, cluster', [
    ([], {}, 'shinx'),  # else Slurm starts the job on any cluster of the federation
    (['-M doduo'], {}, 'doduo'),
    ([], {'SLURM_CLUSTERS': 'joltik'}, 'joltik'),  # Ghent's `module swap cluster/joltik`
    ([], {'SLURM_CLUSTERS': 'joltik', 'SLURM_JOB_ID': '7'}, 'shinx'),  # of an outer job
])  # fmt: skip
def test_jobs_of_a_federation_stay_on_their_cluster(tool, monkeypatch, access, shell, cluster):
    """The jobs, what is asked of them, and ReFrame's sacct, which knows no variable for it."""
    tool('scontrol', 'echo "Federation: fed"; echo "Self:       shinx:127.0.0.1:6817 ID:1"')
    tool('squeue', f'[ "$SLURM_CLUSTERS" = {cluster} ] && echo "membw|7|RUNNING"')
    for name in ('SLURM_CLUSTERS', 'SLURM_JOB_ID'):
        monkeypatch.setenv(name, shell.get(name, ''))
        if name not in shell:
            monkeypatch.delenv(name)
    slurm.of_federation.cache_clear()
    try:
        assert slurm_nodes.under_way(job_of(*access), ['7']) == ['7']
        part = yaml.safe_load(system_file('x', {'cores': [2, 1], 'access': access}))
        bound, _ = binder.reframe_partition(part, part['partitions'][0], presets.load())
        assert bound['sched_options'] == {'slurm_multi_cluster_mode': [cluster]}
        scheduler = types.SimpleNamespace(registered_name='slurm')
        of_srun = types.SimpleNamespace(registered_name='srun')
        one = types.SimpleNamespace(scheduler=scheduler, launcher_type=of_srun, access=access)
        batch_job.forget_outer_job(types.SimpleNamespace(partitions=[one]))
        assert os.environ['SLURM_CLUSTERS'] == cluster
    finally:
        slurm.of_federation.cache_clear()


# --- on a real Slurm: nodes n1 to n3 of two cores and s1 of one ----------------------------------

MORE = """NodeName=s1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=PORT CPUs=1 Feature=small
PartitionName=mixed Nodes=n[1-3],s1 MaxTime=60 State=UP"""
PARTITION = """- &cpu
  {name: CPU, descr: a node, scheduler: squeue, launcher: srun, access: ['-p regular1'],
   max_pending_time: 60s, features: [x86_64],
   processor: {num_cpus: 2, num_cpus_per_core: 1, num_cpus_per_socket: 2, num_sockets: 1},
   toolchains: {gcc: {cc: gcc, presets: [gcc-o2]}}}
"""
ONE_CPU = '{num_cpus: 1, num_cpus_per_core: 1, num_cpus_per_socket: 1, num_sockets: 1}'
MANY_CPUS = '{num_cpus: 20, num_cpus_per_core: 1, num_cpus_per_socket: 20, num_sockets: 1}'
PARTS = {
    'none': "access: ['-p regular1', '--export=NONE', '-N 1']",
    'nowhere': 'access: []',  # the default partition
    'mixed': "access: ['--partition=mixed']",
    'small': f"access: ['-p mixed -C small'], processor: {ONE_CPU}",
    'large': f"access: ['-p regular1'], processor: {MANY_CPUS}",
    'odd': "access: ['-p regular1'], max_pending_time: 4s, toolchains: {"
    'gcc: {cc: gcc, mpicc: no-such-mpicc, presets: [gcc-o3]}, '
    'bad: {family: gcc, cc: CC, presets: [gcc-o3]}}',
}
BAD_CC = """#!/bin/sh
case $* in *--version*|*-dumpversion*|'-E '*|*/probe.c*) exec gcc "$@" ;; esac
echo 'In file included from stream.c:1:' >&2
echo 'stream.c:7:2: error: planted' >&2
exit 1
"""
ALLOW = 'array-too-small,too-short,disturbed,unstable,oversubscribed,wrong-pinning,incomplete'


@pytest.fixture(scope='module')
def emulated(slurm_emu, call, reframe, free_ports, tmp_path_factory, quick_gcc):
    """(run(partition, *words): {test: case} and the text; the variables of that Slurm)."""
    folder = tmp_path_factory.mktemp('sites')
    copy = copy_checkout(folder / 'checkout')
    parts = ''.join(f'- {{<<: *cpu, name: {name}, {text}}}\n' for name, text in PARTS.items())
    head = 'name: emu\ndescr: virtual\nhostnames: [emu]\nsources: [a test]\npartitions:\n'
    (folder / 'cc').write_text(BAD_CC)
    (folder / 'cc').chmod(0o755)
    parts = parts.replace('CC,', f'{folder}/cc,')
    (copy / 'systems/emu.yaml').write_text(head + PARTITION + parts)
    port = free_ports(5)
    more = {'SLURM_EMU_PORT': port, 'SLURM_EMU_CONF': MORE.replace('PORT', str(port + 4))}
    with slurm_emu(folder / 'slurm', 3, 1, 2, **more) as place:
        path = {'PATH': f'{call("printenv", "PATH").stdout.strip()}:/usr/sbin'}
        started = call('slurmd', '-N', 's1', '-f', place['SLURM_CONF'], **place, **path)
        assert started.returncode == 0, started.stderr

        def run(part, *words, **more):
            words = ('-r', '--system', f'emu:{part}', *words)
            given = {'array_size': 100000, 'ntimes': 3, 'allow': ALLOW}
            more = {'PATH': quick_gcc, **place, **more}
            done = reframe('', *words, root=copy, given=given, **more)
            return {c['name'].split()[0]: c for c in done.cases}, done.text

        yield run, place


def nodes_of(case):
    lines = open(case['record']).read().splitlines()
    return sorted({json.loads(line)['host'] for line in lines})


CLUSTER = ('-n', '^cluster_stream')
# of a partition: the nodes that are measured, and what is said of the others
CASES = [
    ('none', ['n1', 'n2', 'n3'], ''),
    ('nowhere', ['n1', 'n2', 'n3'], ''),
    ('mixed', ['n1', 'n2', 'n3'], r'not measured .*: s1 \(idle\)'),
    ('small', ['s1'], ''),
]


@pytest.mark.slurm
@pytest.mark.slow
@pytest.mark.parametrize('part, nodes, said', CASES, ids=[case[0] for case in CASES])
def test_the_nodes_of_a_job_are_measured_and_the_others_named(emulated, part, nodes, said):
    run, _ = emulated
    of_user = {'SLURM_TIME_FORMAT': 'relative', 'SQUEUE_NAMES': 'mine', 'SINFO_PARTITION': 'mixed'}
    cases, text = run(part, *CLUSTER, '-n', 'stream%pinning=omp', **of_user)
    assert cases['stream']['result'] == 'pass' and cases['stream']['node'] in nodes, text
    cluster = cases['cluster_stream']
    assert nodes_of(cluster) == nodes and cluster['word'] in ('PASS', 'UNDECIDED'), text
    assert re.search(said, cluster['nodes']) and bool(said) == ('not measured' in text)
    assert 'OMP_PLACES=cores' in cluster['run_environment']
    orders = [json.loads(line)['case'] for line in open(cluster['record'])]
    assert [one['measurement'] for one in orders[: len(nodes)]] == [0] * len(nodes)
    submitted = [one['submitted'] for one in orders]
    assert submitted == sorted(submitted)


@pytest.mark.slurm
@pytest.mark.slow
def test_in_a_maintenance_its_nodes_are_measured_and_a_held_job_of_the_user_ends_nothing(
    emulated, call, tmp_path
):
    run, place = emulated
    words = 'reservationname=maint flags=maint,ignore_jobs nodes=n1,n2 users=root duration=60'
    call('scontrol', 'create', 'reservation', *words.split(), 'starttime=now', **place)
    held = ('sbatch', '--hold', '--job-name=rfm_other', '-D', tmp_path, '--wrap=true')
    assert call(*held, **place).returncode == 0
    try:
        cases, text = run('CPU', *CLUSTER, '-J', 'reservation=maint')
    finally:
        call('scontrol', 'delete', 'reservationname=maint', **place)
        call('scancel', '-n', 'rfm_other', **place)
    assert nodes_of(cases['cluster_stream']) == ['n1', 'n2'] and 'waits for' not in text, text


@pytest.mark.slurm
@pytest.mark.slow
def test_a_full_cluster_and_a_controller_without_an_answer_are_missing_with_their_words(
    emulated, call, tool, tmp_path, quick_gcc
):
    run, place = emulated
    nodes = ('scontrol', 'update', 'nodename=n1,n2,n3')
    call('scontrol', 'update', 'partitionname=regular1', 'default=no', **place)
    try:
        _, text = run('nowhere', *CLUSTER, '-n', 'stream%pinning=omp')
        assert "write '-p NAME' to 'access' of the system's file" in text
    finally:
        call('scontrol', 'update', 'partitionname=regular1', 'default=yes', **place)
    call(*nodes, 'state=drain', 'reason=test', **place)
    tool('scontrol', "echo 'slurm_load_node: Socket timed out' >&2; exit 1")
    path = f'{tmp_path}:{quick_gcc}'
    try:
        # the build goes to the node that is left
        _, text = run('small', *CLUSTER, PATH=path)
        assert 'MISSING: slurm_load_node: Socket timed out' in text
        call('scontrol', 'update', 'nodename=s1', 'state=resume', **place)
    finally:
        call(*nodes, 'state=resume', **place)
    assert 'Traceback' not in text


@pytest.mark.slurm
@pytest.mark.slow
def test_what_the_node_lacks_is_a_skip_and_a_failed_build_names_its_error(emulated):
    """It was 'No such file or directory: .../pingpong.json', and a plain 'nothing was built'.
    `--system NAME:PARTITION`, where a toolchain has a name of its own, ended every session with
    "key error: 'fail_info'"."""
    run, _ = emulated
    cases, said = run('odd', '-n', '^pingpong', '-p', '^gcc-o3$')
    assert cases['pingpong_mpi_binary']['result'] == 'skip', said
    assert "'no-such-mpicc' not found on the node of emu:odd" in said
    cases, said = run('odd', '-n', 'stream%pinning=omp', '-p', '^bad-o3$')
    failed = cases['stream_binary']
    assert failed['result'] == 'fail'
    reason = failed['fail_reason']
    assert reason == 'sanity error: nothing was built: stream.c:7:2: error: planted', reason


@pytest.mark.slurm
@pytest.mark.slow
def test_a_build_that_never_starts_ends(emulated, call):
    """It waited for ever, and nothing said so."""
    run, place = emulated
    nodes = ('scontrol', 'update', 'nodename=n[1-3]')
    assert call(*nodes, 'state=drain', 'reason=test', **place).returncode == 0
    try:
        cases, said = run('odd', '-n', 'stream%pinning=omp', '-p', '^gcc-o3$')
    finally:
        call(*nodes, 'state=resume', **place)
    assert cases['stream']['result'] == 'fail_deps', said
    waited = (
        r'nothing was built: job \d+ waited for \d+ s, and did not start: max_pending_time is 4 s'
    )
    assert re.search(waited, cases['stream_binary']['fail_reason'])


@pytest.mark.slurm
@pytest.mark.slow
def test_a_job_for_which_there_is_no_node_is_not_waited_for(emulated):
    """It was PENDING (PartitionConfig) for twelve hours, and nothing said so."""
    run, _ = emulated
    cases, said = run('large', '-n', 'stream%pinning=omp', '-p', '^gcc-o2$')
    reason = cases['stream']['fail_reason']
    assert "MISSING: no node for its job: 'sbatch': " in reason, said
    assert 'Requested node configuration is not available' in reason


# --- a night of each site ------------------------------------------------------------------------

CHOSEN = 'chosen'  # of jobs that name no partition, and none is the default: by the site's plugin
PLUGIN = """function slurm_job_submit(job, part, uid)
	if job.partition == nil then job.partition = 'chosen' end
	return slurm.SUCCESS
end
function slurm_job_modify(job, record, part, uid) return slurm.SUCCESS end
"""
# a login node of several clusters: whoever does not say which one speaks to another than 'doduo'
OTHER = """#!/bin/sh
[ -z "$SLURM_JOB_ID" ] || exec {real} "$@"
for word; do
	shift
	case $word in
	-M | --clusters) is_next=yes ;;
	-M* | --clusters=*) SLURM_CLUSTERS=doduo ;;
	*.sh) script=$word ;;
	*)
		if [ "$is_next" ]; then SLURM_CLUSTERS=$word; else set -- "$@" "$word"; fi
		is_next=
		;;
	esac
done
case {real} in
*sbatch) # the lines of a job say less than the environment
	copy=$(mktemp) line='#SBATCH (-M |--clusters=)doduo'
	cat ${{script:+"$script"}} >"$copy"
	! grep -Eq "$line" "$copy" || SLURM_CLUSTERS=${{SLURM_CLUSTERS:-doduo}}
	sed -Ei "/$line/d" "$copy"
	set -- "$@" "$copy"
	;;
esac
[ "$SLURM_CLUSTERS" = doduo ] || {{ echo 'this is another cluster' >&2; exit 1; }}
unset SLURM_CLUSTERS
exec {real} "$@"
"""
FIVE, SQUEUE = 'n-[01-05]', {'MEMBW_SLURM_BACKEND': 'squeue'}  # there is no accounting
INIT = """export PYTHONPATH=/nowhere CDPATH=/nowhere # as software stacks do
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"""


def conf(port):
    """Nodes with all that jobs of a site ask for, in a partition for each queue."""
    nodes = f'NodeName={FIVE} NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{port}-{port + 4}]'
    queues = {site.get('queue', CHOSEN) for site in SITES.values()}
    lines = [f'PartitionName={name} Nodes={FIVE} State=UP' for name in sorted(queues)]
    more = ['GresTypes=gpu', 'JobSubmitPlugins=lua', 'TopologyPlugin=topology/tree']
    return '\n'.join([f'{nodes} CPUs=2 Feature=mc,cpu Gres=gpu:4', *lines, *more])


class SitePlace(NamedTuple):
    shell: dict  # of a login node
    double: Path  # folder of a gcc that makes a double of stream
    first: Path  # a checkout to measure in, and one for nights, whose row measures nothing
    nights: Path


@pytest.fixture(scope='module')
def site_place(slurm_emu, free_ports, call, environment, tmp_path_factory):
    folder, double, *roots = map(tmp_path_factory.mktemp, ('slurm', 'double', 'first', 'nights'))
    for root in roots:
        copy_checkout(copy_checkout(root), ['ci', 'pyproject.toml', 'setup-env.sh'])
        (root / '.venv').symlink_to(ROOT / '.venv')
        pins = re.findall(r'_COMMIT=(\w+)', (root / 'ci/versions.env').read_text())
        (root / '.spack').mkdir()
        (root / '.spack/ready').write_text(f'{pins[0]} {pins[1]}\n')
        for file in [*root.glob('reframe-checks/*.py'), *root.glob('systems/*.yaml')]:
            if file.stem not in ('stream', 'cluster_stream', 'local'):
                file.unlink()
    row = """tags = {'nightly'}
    max_seconds = variable(float, value=1.0)
    prerun_cmds = ['export SLURM_EXPORT_ENV=ALL']"""
    row = tiny_check.text(row)
    for one, other in ('tiny(', 'stream('), ('gcc-o2', 'gcc-o3'), ("'echo'", "'/bin/echo'"):
        row = row.replace(one, other)
    (roots[1] / 'reframe-checks/stream.py').write_text(row)
    put = standin_gcc.of_doubles(double)
    for name in expected_nodes(FIVE):
        put(f'{name}-stream', made.record(name, case=False, time='@'))
    (folder / 'job_submit.lua').write_text(PLUGIN)
    (folder / 'topology.conf').write_text(f'SwitchName=s0 Nodes=n1,{FIVE}\n')
    for i in range(4):
        (folder / f'gpu{i}').touch()
    (folder / 'gres.conf').write_text(f'NodeName={FIVE} Name=gpu File={folder}/gpu[0-3]\n')
    port = free_ports(7)
    more = {'SLURM_EMU_PORT': port, 'SLURM_EMU_CONF': conf(port + 2), 'SLURM_EMU_DEFAULT': 'NO'}
    with slurm_emu(folder, 1, 1, 2, **more) as place:
        path = f'{environment["PATH"]}:/usr/sbin'
        for name in expected_nodes(FIVE):
            (folder / 'tmp' / name).mkdir(parents=True)
            done = call('slurmd', '-N', name, '-f', place['SLURM_CONF'], **{**place, 'PATH': path})
            assert done.returncode == 0, done.stderr
        yield SitePlace({**place, 'MEMBW_BUILD': 'make', 'PATH': path, **SQUEUE}, double, *roots)


@pytest.mark.slurm
@pytest.mark.night
@pytest.mark.timeout(1200)
@pytest.mark.parametrize('name', SITES)
def test_a_night_of_each_site(site_place, call, quick_gcc, tmp_path, name):
    """system add, the list, a row, then what a night does with its campaign: each is PASS."""
    site, shell = SITES[name], site_place.shell
    before = quick_gcc.partition(':')[0]
    if 'cluster' in site:
        before = f'{tmp_path}:{before}'
        for tool in 'sbatch srun sinfo squeue scontrol scancel sacct'.split():
            (tmp_path / tool).write_text(OTHER.format(real=shutil.which(tool)))
            (tmp_path / tool).chmod(0o755)

    def said(root, *words, before=before):
        own = {**shell, **variables(root), 'PATH': f'{before}:{shell["PATH"]}'}
        done = call(*words, cwd=root, timeout=300, **own)
        text = f'{done.stdout}{done.stderr}'
        print(f'--- {name}: {shlex.join(map(str, words))}: exit status {done.returncode}\n{text}')
        return done.returncode, text

    queue, first, nights = site.get('queue', CHOSEN), site_place.first, site_place.nights
    words = ('membw', 'system', 'add', f'{name}-2', '--partition', queue, '--dry-run')
    status, text = said(first, *words, '--access', ' '.join(site['access']))
    assert status == 0, text
    (part,) = yaml.safe_load(text.partition('\nmembw: ')[0])['partitions']
    assert part['processor']['num_cpus'] == os.cpu_count()
    assert f'-p {queue}' in part['access']

    for root in (first, nights):
        path = site_place.double if root == nights else before
        (root / 'init').write_text(f'{INIT}export PATH={path}:$PATH\n')  # --export=NONE
        site = {**site, 'prepare_cmds': [f'. {root}/init'], 'cores': [2, 1]}
        facts = yaml.safe_load(system_file(name, site))
        if 'refused' in site:  # what `system add` makes of it
            facts['partitions'][0] |= {key: part[key] for key in ('name', 'access')}
        text = yaml.safe_dump(facts)
        (root / f'systems/{name}.yaml').write_text(text)
    _, text = said(first, 'reframe', '-c', 'reframe-checks', '-l', '--system', name)
    assert '- stream %pinning=omp' in text and '- cluster_stream' in text
    words = ['membw', 'run', '--full', '--system', name, '-n', 'stream%pinning=omp']
    words += [f'-S{one}' for one in ('array_size=100000', 'ntimes=3', f'allow={ALLOW}')]
    status, text = said(first, *words)
    assert re.search(r'^  gcc-o3 .* (VALID|UNDECIDED)$', text, re.M)

    shutil.rmtree(nights / 'results', ignore_errors=True)
    with_double = f'{site_place.double}:{before}'
    status, text = said(nights, 'membw', 'nightly', '--system', name, before=with_double)
    (night,) = nights.glob(f'results/nights/{name}/2*')
    lines = (night / 'nodecheck.txt').read_text().splitlines()
    assert lines == [f'{node} PASS' for node in expected_nodes(FIVE)], text
    assert status == 0 and 'all is well' in text
