"""Sizes as people write them: -n 1M, -m 24M."""

import subprocess

import pytest


@pytest.mark.parametrize(
    'words, elements',
    [('-n 1M', 1000000), ('-n 900k', 900000), ('-m 24M', 1048576), ('-m 24576K', 1048576)],
)
def test_a_size_may_have_a_unit(build_program, words, elements):
    line = [build_program('stream'), *words.split(), '-t', '2', '--allow', 'array-too-small']
    done = subprocess.run(line, capture_output=True, text=True)
    assert f'Array size = {elements} (elements, option)' in done.stdout, done.stderr


@pytest.mark.parametrize('words', ['-n 10Q', '-n 10MM', '-n M', '-m G', '-n 1.5M', '-t 2kk'])
def test_no_size_is_guessed(build_program, words):
    done = subprocess.run(
        [build_program('stream'), *words.split()], capture_output=True, text=True
    )
    assert done.returncode == 2 and 'hint: give a whole number' in done.stderr
