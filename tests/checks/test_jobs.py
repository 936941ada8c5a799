"""What each job asks of its scheduler, as scripts."""

import re
import subprocess
import types

import posed
import pytest
from checkout_copy import copy_checkout
from lib import batch_job

OF_SLURM = '--ntasks=1|--ntasks-per-node=1|--cpus-per-task=64|--time=1:0:0|--exclusive'
# scheduler: (the site's own words, how its lines begin, the options of a job)
SCRIPTS = {
    'slurm': (['-p cpu'], '#SBATCH', f'{OF_SLURM}|-p cpu|--mem=0|--no-requeue'),
    'squeue': (['--mem=10G', '-A me'], '#SBATCH', f'{OF_SLURM}|--mem=10G|-A me|--no-requeue'),
    'pbspro': (['-q cpu'], '#PBS', '-l walltime=1:0:0|-l select=1:mpiprocs=1:ncpus=64|-q cpu'),
}
# files, names and folders of the job are ReFrame's
ITS_OWN = re.compile(r'--job-name=|--output=|--error=|-[NnJ] "?rfm_|-[oeOE] rfm_|-wd |-J rfm')


@pytest.fixture(scope='module')
def scripts(reframe, tmp_path_factory):
    """{scheduler: the script of `stream` on a whole node}, by one dry run."""
    copy = copy_checkout(tmp_path_factory.mktemp('many'))
    cpus = {'num_cpus': 64, 'num_cpus_per_core': 1, 'num_cpus_per_socket': 32, 'num_sockets': 2}
    node = {'processor': cpus, 'time_limit': '1h'}
    parts = {name: {'scheduler': name, 'access': words} for name, (words, *_) in SCRIPTS.items()}
    posed.write(copy, *({**node, 'name': name, **part} for name, part in parts.items()))
    words = ('--dry-run', '--system', 'posed', '-n', 'stream%pinning=omp')
    done = reframe('stream.py', *words, root=copy)
    assert done.code == 0, done.text
    folder = done.folder / 'stage/posed'
    return {
        name: next((folder / name).glob('gcc-o3/stream_[0-9a-f]*/rfm_job.sh')).read_text()
        for name in SCRIPTS
    }


@pytest.mark.parametrize('name', SCRIPTS)
def test_a_job_has_a_whole_node_once(scripts, name):
    lines = [line for line in scripts[name].splitlines() if re.match(r'#[A-Z$]+ ', line)]
    _, begin, options = SCRIPTS[name]
    wanted = [f'{begin} {option}' for option in options.split('|')]
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
OF_SITE = {'SLURM_CONF': '/etc/s.conf', 'SLURM_MPI_TYPE': 'pmix', 'PATH': '/no/slurm'}


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
