"""The checks of pairs, run here through ReFrame."""

import json
import os

import mpi_job
import pytest
import standin_gcc
from places import ROOT

from membw.results.reframe import outcome

TWO = sorted(os.sched_getaffinity(0))[:2]
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(len(TWO) < 2, reason='this machine has one CPU, a pair takes two'),
]
NOISE = 'disturbed,unstable'


@pytest.fixture
def run(call, environment, tmp_path):
    """run(check, name=value): (what reframe said, its case of that check)"""

    def session(check, **variables):
        report = tmp_path / 'report.json'
        words = [f'-S{check}.{name}={value}' for name, value in variables.items()]
        path = f'{standin_gcc.put_up(tmp_path / "tools")}:{environment["PATH"]}'
        done = call(
            *('reframe', '--nocolor', '-c', ROOT / f'reframe-checks/{check}.py', '-r'),
            *('-n', f'^{check}$', *words, f'--prefix={tmp_path}', '--report-file', report),
            MEMBW_BUILD='make',
            PATH=path,
            **mpi_job.LAUNCHER,
        )
        assert report.is_file(), done.stdout + done.stderr
        (cases,) = [r['testcases'] for r in json.loads(report.read_text())['runs']]
        (case,) = [c for c in cases if c['name'] == check]
        return done, case

    return session


@pytest.mark.skipif(bool(mpi_job.lacking()), reason=f'no {mpi_job.lacking()}')
def test_the_check_starts_two_ranks_and_takes_the_median_of_three_launches(run):
    done, case = run('pingpong', sizes='0,64', allow=NOISE, launches=3)
    assert done.returncode == 0 and case['verdict'] == 'VALID', done.stdout
    record = json.loads(open(case['record']).read())
    name = next(iter(record['metrics']))
    values = sorted(launch['metrics'][name] for launch in record['launches'])
    row = record['metrics'][name]
    if 'bound' in row:  # of a busy machine
        assert row['value'] == values[1] and row['bound'] == 'upper'
    else:
        assert row['low'] <= row['value'] <= row['high'] and row['value'] <= values[2]
    units = {name: figure[4] for name, figure in case['perfvalues'].items()}
    assert {name.rpartition(':')[2] for name in units} == set(record['metrics'])
    assert set(units.values()) == {'us', 'GB/s'}


@pytest.mark.shared
@pytest.mark.skipif(bool(mpi_job.lacking()), reason=f'no {mpi_job.lacking()}')
@pytest.mark.parametrize(
    'does, why',
    [
        # of another MPI: each program is alone, and measured threads: VALID
        ('shift 2; "$@"', ' started two single programs'),
        ('exit 5', ': exit status 5'),
    ],
)
def test_an_mpirun_that_is_not_the_right_one_is_named(run, tmp_path, does, why):
    mpirun = tmp_path / 'tools/mpirun'
    mpirun.parent.mkdir()
    mpirun.write_text(f'#!/bin/sh\n{does}\n')
    mpirun.chmod(0o755)
    done, case = run('pingpong', allow=NOISE, launches=1)
    assert done.returncode == 1 and f'{mpirun}{why}' in case['fail_reason'], case['fail_reason']
    assert outcome(case, {})[0] == 'MISSING'


def test_the_check_without_mpi_takes_every_figure_of_its_pair(run):
    pair = f'{TWO[0]}-{TWO[1]}'
    done, case = run('core_pairs', pairs=pair, allow=NOISE)
    assert done.returncode == 0 and case['verdict'] == 'VALID', done.stdout
    record = json.loads(open(case['record']).read())
    names = {name.rpartition(':')[2] for name in case['perfvalues']}
    assert names == set(record['metrics']) and f'cas_{TWO[0]}_{TWO[1]}' in names


@pytest.mark.shared
def test_a_pair_of_another_class_than_requested_fails_with_the_reason(run):
    done, case = run('core_pairs', pair_class='smt', allow=NOISE)
    assert done.returncode == 1 and case['verdict'] == 'INVALID', done.stdout
    assert 'wrong-pinning' in case['reasons'] and 'not smt' in case['reasons']


@pytest.mark.shared
def test_what_the_page_sets_is_of_one_type_in_all_checks_that_have_it(call):
    """ReFrame sets it in each of them: one that took a number would end the session."""
    words = '-S pairs=all -S sizes=0,64 -S launches=1 -S max_nodes=32'.split()
    names = '^(core_pairs|pingpong|cluster_pairs)$'
    checks = ROOT / 'reframe-checks'
    done = call('reframe', '--nocolor', '-c', checks, '-l', '-n', names, *words)
    assert done.returncode == 0 and '- core_pairs' in done.stdout, done.stdout + done.stderr
