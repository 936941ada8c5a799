"""A real Slurm on this host, posing as Ulysses: jobs run under it, only honest failures fail."""

import json
import re

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

PORT = 26817
# 20 threads on nodes that only pose as 2 x 10 cores: a pinned run must not succeed, and says why
HONEST = re.compile(r'cpu-not-where-asked|oversubscribed|not measured, no record')
TINY = ('-S', 'array_size=100000', '-S', 'ntimes=3', '-S', 'allow=array-too-small,too-short')


@pytest.fixture(scope='module')
def slurm(root, call, need, tmp_path_factory):
    """Two nodes of 2 x 10 cores in partition regular1; stopped whatever happens."""
    need('munged', 'slurmctld', 'slurmd', 'sinfo', 'sbatch')
    folder = tmp_path_factory.mktemp('emu')
    place = {'SLURM_EMU_DIR': folder, 'SLURM_EMU_PORT': PORT, 'SLURM_CONF': folder / 'slurm.conf'}
    emu = root / 'ci' / 'slurm-emu'
    try:
        started = call(emu, 'start', 2, 2, 10, 'regular1', **place)
        assert started.returncode == 0, started.stdout + started.stderr
        yield place
    finally:
        call(emu, 'stop', **place)
        assert not list(folder.glob('*.pid'))


@pytest.fixture(scope='module')
def cases(slurm, call, tmp_path_factory):
    """The test cases of one session on the posed Ulysses, by the plain reframe command."""
    folder = tmp_path_factory.mktemp('session')
    files = (f'--report-file={folder}/run.json', '--prefix', folder)
    words = ('reframe', '-c', 'reframe-checks', '-r', '--system', 'ulysses', *TINY, *files)
    done = call(*words, '-p', 'gcc-o2', MEMBW_SLURM_BACKEND='squeue', **slurm)
    assert 'Ran 0/0' not in done.stdout, done.stdout
    report = json.loads((folder / 'run.json').read_text())
    return [case for case in report['runs'][-1]['testcases'] if not case['fixture']]


def test_the_nodes_pose_as_two_sockets_of_ten_cores(slurm, call):
    out = call('sinfo', '-h', '-N', '-o', '%N %P %X %Y', **slurm).stdout.split('\n')
    assert out[:2] == ['n1 regular1* 2 10', 'n2 regular1* 2 10']


def test_jobs_run_under_slurm_and_are_measured(cases):
    free = [case for case in cases if case.get('pinning') == 'none']
    assert free and all(case['result'] == 'pass' for case in free), free
    assert {case['scheduler'] for case in free} == {'squeue'}
    assert all(str(case['jobid']).isdigit() and case['threads'] == 20 for case in free)
    assert all(figure[0] > 0 for case in free for figure in case['perfvalues'].values())


def test_only_honest_failures_fail(cases):
    failed = [case for case in cases if case['result'] == 'fail']
    dishonest = [c['fail_reason'] for c in failed if not HONEST.search(c['fail_reason'])]
    assert dishonest == []
    assert {c['result'] for c in cases} <= {'pass', 'fail', 'skip'}


def test_without_a_controller_all_is_skipped_with_a_reason(environment, call, tmp_path):
    (tmp_path / 'sinfo').write_text('#!/bin/sh\nexit 1\n')
    (tmp_path / 'sinfo').chmod(0o755)
    done = call(
        *('membw', 'run', '--system', 'ulysses', '--prefix', tmp_path / 'reframe'),
        PATH=f'{tmp_path}:{environment["PATH"]}',
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'ulysses:regular needs Slurm' in done.stdout
    assert done.stdout.splitlines()[-1].startswith('Verdict: NOTHING MEASURED')
