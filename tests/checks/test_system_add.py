"""Bring-up in one command, on a virtual Slurm with a real Lmod; the file written is used."""

import re
import shutil

import modules_systems
import pytest
import standin_gcc
import yaml
from checkout_copy import copy_checkout, variables

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

ALLOWED = 'array-too-small,too-short,disturbed,unstable,oversubscribed,wrong-pinning'


@pytest.fixture
def cluster(slurm_emu, root, environment, tmp_path):
    """(a checkout of its own, the variables of a shell there): two nodes, gcc in a module too."""
    checkout = copy_checkout(tmp_path / 'checkout')
    shutil.copy(root / 'setup-env.sh', checkout)
    (checkout / '.venv').symlink_to(root / '.venv')
    compilers, files = tmp_path / 'gcc', tmp_path / 'modulefiles/site-gcc'
    files.mkdir(parents=True)
    standin_gcc.put_up(compilers)
    for version in ('9.4', '12.2'):
        (files / version).write_text(f'#%Module\nprepend-path PATH {compilers}\n')
    shell = modules_systems.shell('lmod', tmp_path, files.parent)
    shell['PATH'] = f'{environment["PATH"]}:{shell["PATH"]}'
    with slurm_emu(tmp_path / 'emu', 2, 1, 2) as place:
        # Spack would build every row of the login host's compilers, and none is measured
        yield checkout, {**shell, **variables(checkout), **place, 'MEMBW_BUILD': 'make'}


def test_one_command_describes_a_cluster_and_its_checks_are_listed(cluster, call):
    checkout, shell = cluster
    done = call('membw', 'system', 'add', 'lyra', '--partition', 'cpu', cwd=checkout, **shell)
    assert done.returncode == 2
    assert done.stderr == "membw: Slurm has no partition 'cpu'\nhint: known here: regular1\n"
    words = ('membw', 'system', 'add', 'lyra', '--partition', 'regular1')
    words += ('--access', '--get-user-env=60L')  # which srun does not take
    done = call(*words, cwd=checkout, **shell)
    assert done.returncode == 0, done.stderr
    written = yaml.safe_load((checkout / 'systems/lyra.yaml').read_text())
    (partition,) = written['partitions']
    assert partition['scheduler'] == 'squeue' and partition['access'] == [
        '-p regular1',
        '--get-user-env=60L',
    ]
    assert partition['toolchains']['gcc']['cc'] == 'gcc'
    (of_module,) = [c for c in partition['toolchains'].values() if c.get('modules')]
    assert of_module['modules'] == ['site-gcc/12.2']  # the newest
    assert (of_module['family'], of_module['cc']) == ('gcc', 'gcc')
    assert re.search('not tried, as a newer version is there.*: site-gcc/9.4', done.stderr)
    assert "membw run --system lyra -n '^stream%.*pinning=omp' -p '^gcc-o2$'" in done.stderr
    assert call(*words, cwd=checkout, **shell).returncode == 2  # it is there already
    words = 'reframe -c reframe-checks -l --system lyra -n stream'.split()
    done = call(*words, cwd=checkout, **shell)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'stream %pinning=none' in done.stdout
