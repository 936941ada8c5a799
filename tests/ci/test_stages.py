"""ci/stages.sh: each of few that failed is run once more, with nothing in parallel, and named."""

import subprocess
import sys

import pytest
from places import ROOT

INI = '[pytest]\nmarkers =\n    alone\n    shared\n'
# what is disturbed by others fails in a worker of pytest-xdist
TESTS = """import os
import pytest

@pytest.mark.parametrize('number', range({disturbed}))
def test_disturbed(number):
    assert 'PYTEST_XDIST_WORKER' not in os.environ

@pytest.mark.parametrize('number', range({wrong}))
def test_wrong(number):
    assert False

@pytest.mark.alone
def test_alone():
    from pathlib import Path
    tried = Path('tried')
    first = not tried.exists()
    tried.touch()
    assert not (first and {alone})

def test_right():
    pass
"""
NAMED = 'ci: failed, and passed when run again with nothing in parallel: test_it.test_{}'
# disturbed, wrong, wrong alone; exit status of the stages, what ci/count.py says and its status
ROWS = {
    'none': ((0, 0, 0), 0, ['2 passed, 0 failed, 2 skipped']),
    'few disturbed': ((3, 0, 0), 0, [
        *(NAMED.format(f'disturbed[{number}]') for number in range(3)),
        '5 passed, 3 of them when run again, 0 failed, 1 skipped']),
    'more than few': ((4, 0, 0), 1, ['2 passed, 4 failed, 1 skipped']),
    'one disturbed, one wrong': ((1, 1, 0), 1, [
        NAMED.format('disturbed[0]'), '3 passed, 1 of them when run again, 1 failed, 0 skipped']),
    'alone, too': ((1, 0, 1), 0, [
        NAMED.format('alone'), NAMED.format('disturbed[0]'),
        '3 passed, 2 of them when run again, 0 failed, 1 skipped']),
    'more than few in both': ((3, 0, 1), 1, ['1 passed, 4 failed, 1 skipped']),
}  # fmt: skip


@pytest.mark.parametrize('numbers, status, lines', ROWS.values(), ids=ROWS)
def test_few_that_failed_get_one_more_try(tmp_path, call, numbers, status, lines):
    (tmp_path / 'pytest.ini').write_text(INI)
    text = TESTS.format(**dict(zip(('disturbed', 'wrong', 'alone'), numbers, strict=True)))
    (tmp_path / 'test_it.py').write_text(text)
    # a worker of this session has the variable
    stages = ['env', '-u', 'PYTEST_XDIST_WORKER', 'bash', ROOT / 'ci/stages.sh', '2']
    done = call(*stages, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    results = sorted((tmp_path / 'results').glob('tests*.xml'))
    words = [sys.executable, ROOT / 'ci/count.py', *results]
    counted = subprocess.run(words, capture_output=True, text=True)
    assert counted.returncode == status
    said = [line for line in counted.stdout.splitlines() if ' skipped ' not in line]
    assert said == lines
