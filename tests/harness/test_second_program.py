"""A second program: one C file on the harness has options, evidence, verdict and record."""

import json
import os
import shutil
import subprocess

import pytest
from places import ROOT
from record_schema import check


@pytest.fixture(scope='module')
def chase(tmp_path_factory):
    """The pointer chase of the tests' data, built beside a copy of the harness."""
    src = tmp_path_factory.mktemp('second') / 'src'
    shutil.copytree(ROOT / 'src/harness', src / 'harness')
    shutil.copytree(ROOT / 'tests/data/chase', src / 'chase')
    line = 'gcc -O2 -fopenmp -Wall -Wextra -Werror chase.c -o chase'.split()
    done = subprocess.run(line, cwd=src / 'chase', capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return src / 'chase/chase'


def run(*command):
    env = os.environ | {'OMP_NUM_THREADS': '1'}
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, env=env
    )


def test_its_record_is_as_the_common_schema_says(chase, tmp_path):
    done = run(chase, '-m', '8', '--json', tmp_path / 'r.json')
    record = check(json.loads((tmp_path / 'r.json').read_text()))
    latency = record['metrics']['latency']
    assert (latency['unit'], latency['better']) == ('ns', 'lower') and latency['value'] > 0
    assert len(latency['samples']) == 5
    assert record['program'] == 'chase' and record['memory_mib'] == 8
    assert record['exit_status'] == done.returncode
    assert done.stdout.splitlines()[-1].startswith(f'Verdict: {record["verdict"]}')


def test_a_table_that_a_full_disk_cut_is_no_success(chase):
    words = [str(chase), '-m', '1', '--allow', 'array-too-small']
    for out, status, said in (('/dev/null', 0, ''), ('/dev/full', 1, 'is not complete\nhint: ')):
        line = ['sh', '-c', f'exec "$@" >{out}', 'sh', *words]
        done = run(*line)
        assert done.returncode == status and said in done.stderr, done.stderr
    assert run('sh', '-c', 'exec "$@" >&-', 'sh', *words).returncode == 0


def test_its_options_stand_in_the_help_before_those_of_all_programs(chase):
    done = run(chase, '--help')
    places = [done.stdout.index(word) for word in ('--memory MIB', '--json FILE', '--version')]
    assert done.returncode == 0 and places == sorted(places)
    assert '--peak' not in done.stdout  # it has none


def test_reasons_of_its_own_can_be_allowed_and_are_listed(chase):
    assert run(chase, '-m', '1', '--allow', 'chain-broken').returncode in (0, 1)
    done = run(chase, '--allow', 'chain-broke')
    assert done.returncode == 2 and "invalid value for '--allow': 'chain-broke'" in done.stderr
    assert ' chain-broken\n' in done.stderr


@pytest.mark.parametrize(
    'options, fact',
    [
        ('-m 0', "invalid value for '-m': '0'"),
        ('-m x', "invalid value for '-m': 'x'"),
        ('--memory', "'--memory' needs a value"),
        ('--what', "unknown option '--what'"),
        ('stray', "unexpected argument 'stray'"),
    ],
)
def test_a_usage_error_is_two_lines_and_status_2(chase, options, fact):
    done = run(chase, *options.split())
    first, second = done.stderr.splitlines()
    assert done.returncode == 2
    assert first == f'membw: {fact}' and second.startswith('hint: ')
