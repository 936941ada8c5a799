"""What each job asks of its scheduler, as scripts; and jobs that wait, or whose build fails, on a
real Slurm."""

import re
import subprocess
import types

import pytest
from checkout_copy import copy_checkout
from lib import batch_job

SYSTEM = """name: many
descr: a node by each scheduler
hostnames: [many]
sources: [a test]
partitions:
"""
PARTITION = """- name: {name}
  descr: two sockets of 32 cores
  scheduler: {name}
  launcher: local
  access: {access}
  time_limit: 1h
  features: [x86_64]
  processor: {{num_cpus: 64, num_cpus_per_core: 1, num_cpus_per_socket: 32, num_sockets: 2}}
  toolchains: {{gcc: {{cc: gcc, presets: [gcc-o2]}}}}
"""
# scheduler: (the site's own words, the options of a job)
SCRIPTS = {
    'slurm': (
        ['-p cpu'],
        """#SBATCH --ntasks=1
           #SBATCH --ntasks-per-node=1
           #SBATCH --cpus-per-task=64
           #SBATCH --time=1:0:0
           #SBATCH --exclusive
           #SBATCH -p cpu
           #SBATCH --mem=0
           #SBATCH --no-requeue""",
    ),
    'squeue': (
        ['--mem=10G', '-A me'],
        """#SBATCH --ntasks=1
           #SBATCH --ntasks-per-node=1
           #SBATCH --cpus-per-task=64
           #SBATCH --time=1:0:0
           #SBATCH --exclusive
           #SBATCH --mem=10G
           #SBATCH -A me
           #SBATCH --no-requeue""",
    ),
    'pbspro': (
        ['-q cpu'],
        """#PBS -l walltime=1:0:0
           #PBS -l select=1:mpiprocs=1:ncpus=64
           #PBS -q cpu""",
    ),
}
# files, names and folders of the job are ReFrame's
ITS_OWN = re.compile(r'--job-name=|--output=|--error=|-[NnJ] "?rfm_|-[oeOE] rfm_|-wd |-J rfm')


@pytest.fixture(scope='module')
def scripts(reframe, tmp_path_factory):
    """{scheduler: the script of `stream` on a whole node}, by one dry run."""
    copy = copy_checkout(tmp_path_factory.mktemp('many'))
    parts = [PARTITION.format(name=name, access=words) for name, (words, _) in SCRIPTS.items()]
    (copy / 'systems/many.yaml').write_text(SYSTEM + ''.join(parts))
    words = ('--dry-run', '--system', 'many', '-n', 'stream%pinning=omp')
    done = reframe('stream.py', *words, root=copy)
    assert done.code == 0, done.text
    folder = done.folder / 'stage/many'
    return {
        name: next((folder / name).glob('gcc-o2/stream_[0-9a-f]*/rfm_job.sh')).read_text()
        for name in SCRIPTS
    }


@pytest.mark.parametrize('name', SCRIPTS)
def test_a_job_has_a_whole_node_once(scripts, name):
    lines = [line for line in scripts[name].splitlines() if re.match(r'#[A-Z$]+ ', line)]
    wanted = [line.strip() for line in SCRIPTS[name][1].strip().splitlines()]
    assert [line for line in lines if not ITS_OWN.search(line)] == wanted


def test_a_job_that_is_started_again_measures_nothing(scripts):
    """On the next node, while the first one failed: the row was PASS."""
    line = next(x for x in scripts['slurm'].splitlines() if 'SLURM_RESTART_COUNT' in x)
    before, after = scripts['slurm'].split(line)
    assert '/stream --json' not in before and '/stream --json' in after
    for given, status in (({}, 0), ({'SLURM_RESTART_COUNT': '1'}, 1)):
        done = subprocess.run(['bash', '-c', line], env=given, capture_output=True, text=True)
        assert done.returncode == status
        assert done.stderr.startswith('membw: the scheduler' if status else '')


OF_OUTER = {
    'SLURM_JOB_ID': '7', 'SLURM_RESTART_COUNT': '1', 'SLURM_MEM_PER_CPU': '100',
    'SLURM_CLUSTERS': 'other', 'SLURM_EXPORT_ENV': 'NONE', 'SLURM_CPU_BIND': 'none',
}  # fmt: skip
OF_SITE = {'SLURM_CONF': '/etc/s.conf', 'SLURM_MPI_TYPE': 'pmix', 'PATH': '/bin'}


@pytest.mark.parametrize(
    'given, scheduler, launcher, left',
    [
        (OF_OUTER | OF_SITE, 'slurm', 'srun', OF_SITE),
        (OF_OUTER | OF_SITE, 'local', 'srun', OF_OUTER | OF_SITE),  # measures in this very job
        (OF_OUTER | OF_SITE, 'local', 'local', OF_SITE),
        ({'SLURM_CLUSTERS': 'doduo'}, 'slurm', 'srun', {'SLURM_CLUSTERS': 'doduo'}),  # of a shell
    ],
)
def test_variables_of_an_outer_job_do_not_reach_the_inner(
    monkeypatch, given, scheduler, launcher, left
):
    monkeypatch.setattr('os.environ', dict(given))
    part = types.SimpleNamespace(
        scheduler=types.SimpleNamespace(registered_name=scheduler),
        launcher_type=types.SimpleNamespace(registered_name=launcher),
        access=[],
    )
    batch_job.forget_outer_job(types.SimpleNamespace(partitions=[part]))
    assert batch_job.os.environ == left


# --- on a real Slurm -----------------------------------------------------------------------------

EMULATED = """name: emu
descr: virtual nodes
hostnames: [emu]
sources: [a test]
partitions:
- name: cpu
  descr: a virtual node
  scheduler: squeue
  launcher: srun
  access: ['-p regular1']
  max_pending_time: 4s
  features: []
  processor: {num_cpus: 2, num_cpus_per_core: 1, num_cpus_per_socket: 2, num_sockets: 1}
  toolchains:
    gcc: {cc: gcc, mpicc: no-such-mpicc, presets: [gcc-o3]}
    bad: {family: gcc, cc: CC, presets: [gcc-o3]}
"""


@pytest.fixture(scope='module')
def emulated(slurm_emu, reframe, tmp_path_factory):
    """run(words): {test and environment: case} of a session on one virtual node, and its lines.

    `--system NAME:PARTITION`, where a toolchain has a name of its own, ended every session with
    "key error: 'fail_info'".
    """
    folder = tmp_path_factory.mktemp('emu')
    copy, compiler = copy_checkout(folder / 'checkout'), folder / 'cc'
    compiler.write_text(
        '#!/bin/sh\ncase $* in *--version*|*-dumpversion*) exec gcc "$@" ;; esac\n'
        "echo 'In file included from stream.c:1:' >&2\n"
        "echo 'stream.c:7:2: error: planted' >&2\nexit 1\n"
    )
    compiler.chmod(0o755)
    (copy / 'systems/emu.yaml').write_text(EMULATED.replace('CC', str(compiler)))
    with slurm_emu(folder / 'slurm', 1, 1, 2) as place:

        def run(*words):
            words = ('-r', '--system', 'emu:cpu', *words)
            done = reframe('', *words, root=copy, given={'array_size': 100000}, **place)
            return {(c['name'].split()[0], c['environ']): c for c in done.cases}, done.text

        yield run, place


@pytest.mark.slurm
@pytest.mark.slow
def test_what_the_node_lacks_is_a_skip_and_a_failed_build_names_its_error(emulated):
    """It was 'No such file or directory: .../pingpong.json', and a plain 'nothing was built'."""
    run, _ = emulated
    cases, said = run('-n', '^pingpong|^stream%pinning=omp', '-p', '^(gcc|bad)-o3$')
    assert cases['pingpong_mpi_binary', 'gcc-o3']['result'] == 'skip', said
    assert "'no-such-mpicc' not found on the node of emu:cpu" in said
    failed = cases['stream_binary', 'bad-o3']
    assert failed['result'] == 'fail'
    reason = failed['fail_reason']
    assert reason == 'sanity error: nothing was built: stream.c:7:2: error: planted', reason


@pytest.mark.slurm
@pytest.mark.slow
def test_a_build_that_never_starts_ends(emulated, call):
    """It waited for ever, and nothing said so."""
    run, place = emulated
    drain = ('scontrol', 'update', 'nodename=n1', 'state=drain', 'reason=test')
    assert call(*drain, **place).returncode == 0
    try:
        cases, said = run('-n', '^stream%pinning=omp', '-p', '^gcc-o3$')
    finally:
        call('scontrol', 'update', 'nodename=n1', 'state=resume', **place)
    build, row = cases['stream_binary', 'gcc-o3'], cases['stream', 'gcc-o3']
    assert row['result'] == 'fail_deps', said
    assert re.search(
        r'nothing was built: job \d+ waited for 4 s \(max_pending_time\) and was cancelled before '
        r'it started',
        build['fail_reason'],
    ), build
