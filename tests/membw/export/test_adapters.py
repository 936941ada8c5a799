"""JUBE's entry: a figure with `Verdict: VALID` alone. JUBE itself is Debian's package."""

import os
import re
import subprocess

import pytest
import yaml
from places import ROOT

ENTRY = ROOT / 'ci/entries/jube.yaml'
ALLOWED = 'array-too-small,too-short,disturbed,unstable,oversubscribed,cpu-not-where-asked'
OPTIONS = {'VALID': f'-n 200000 -t 3 --allow {ALLOWED}', 'INVALID': '-n 1000 -t 3'}


@pytest.fixture(scope='module', params=OPTIONS)
def case(request, build_program, tmp_path_factory):
    """(verdict, folder with the output in stdout, environment with stream on its PATH)."""
    folder, program = tmp_path_factory.mktemp(request.param), build_program('stream')
    env = {**os.environ, 'PATH': f'{program.parent}:{os.environ["PATH"]}', 'OMP_PLACES': 'cores',
           'OMP_PROC_BIND': 'close'}  # fmt: skip
    with open(folder / 'stdout', 'w') as out:
        subprocess.run(['stream', *OPTIONS[request.param].split()], stdout=out, env=env)
    return request.param, folder, env


def test_jubes_patterns_find_a_figure_with_a_valid_verdict_alone(case):
    verdict, folder, _ = case
    patterns = yaml.safe_load(ENTRY.read_text())['patternset']['pattern']
    text = (folder / 'stdout').read_text()
    found = {p['name']: re.findall(p['_'], text, re.M) for p in patterns}
    assert found['verdict'] == [verdict]
    assert len(found['triad']) == (verdict == 'VALID')


def test_jube_itself_makes_the_table(case, need, tmp_path):
    need('jube')
    verdict, _, env = case
    text = ENTRY.read_text().replace('_: ""', f'_: "{OPTIONS[verdict]}"')
    (tmp_path / 'jube.yaml').write_text(text)
    for words in (['run', 'jube.yaml'], ['result', 'membw_run', '-a']):
        done = subprocess.run(['jube', *words], cwd=tmp_path, env=env, capture_output=True,
                              text=True)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    row = next(x for x in done.stdout.splitlines() if x.startswith('2,')).split(',')
    assert row[1] == verdict and bool(row[2]) == (verdict == 'VALID')
