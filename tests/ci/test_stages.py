"""ci/stages.sh: what failed with others in parallel gets one more try, alone, and is named."""

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
NAMED = 'ci: failed with others in parallel, passed alone: test_it.test_disturbed[{}]'
# disturbed, wrong, wrong alone; exit status of the stages, what ci/count.py says and its status
ROWS = {
    'none': ((0, 0, 0), 0, ['2 passed, 0 failed, 2 skipped']),
    'few disturbed': ((3, 0, 0), 0, [
        *(NAMED.format(number) for number in range(3)),
        '5 passed, 3 of them when run again alone, 0 failed, 1 skipped']),
    'more than few': ((4, 0, 0), 1, ['2 passed, 4 failed, 1 skipped']),
    'one disturbed, one wrong': ((1, 1, 0), 1, [
        NAMED.format(0), '3 passed, 1 of them when run again alone, 1 failed, 0 skipped']),
    'alone: no second try': ((0, 0, 1), 1, ['1 passed, 1 failed, 2 skipped']),
}  # fmt: skip


@pytest.mark.parametrize('numbers, status, lines', ROWS.values(), ids=ROWS)
def test_few_that_failed_with_others_in_parallel_get_one_try_alone(
    tmp_path, call, numbers, status, lines
):
    (tmp_path / 'pytest.ini').write_text(INI)
    text = TESTS.format(**dict(zip(('disturbed', 'wrong', 'alone'), numbers, strict=True)))
    (tmp_path / 'test_it.py').write_text(text)
    done = call('bash', ROOT / 'ci/stages.sh', '2', cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    results = sorted((tmp_path / 'results').glob('tests*.xml'))
    words = [sys.executable, ROOT / 'ci/count.py', *results]
    counted = subprocess.run(words, capture_output=True, text=True)
    assert counted.returncode == status
    said = [line for line in counted.stdout.splitlines() if ' skipped ' not in line]
    assert said == lines
