"""Entries for other drivers: `Verdict: VALID` is success, and what is INVALID gives no number.

The commands and patterns of the files are run on the program's real output; JUBE itself by
Debian's package (it is on no package index; docs/adapters.md says what else was run by hand).
"""

import os
import re
import subprocess
import sys
import types

import pytest
import yaml
from places import ROOT

ENTRIES = ROOT / 'ci/entries'
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
    patterns = yaml.safe_load((ENTRIES / 'jube.yaml').read_text())['patternset']['pattern']
    text = (folder / 'stdout').read_text()
    found = {p['name']: re.findall(p['_'], text, re.M) for p in patterns}
    assert found['verdict'] == [verdict]
    assert len(found['triad']) == (verdict == 'VALID')


def test_jube_itself_makes_the_table(case, need, tmp_path):
    need('jube')
    verdict, _, env = case
    text = (ENTRIES / 'jube.yaml').read_text()
    (tmp_path / 'jube.yaml').write_text(text.replace('_: ""', f'_: "{OPTIONS[verdict]}"'))
    for words in (['run', 'jube.yaml'], ['result', 'membw_run', '-a']):
        done = subprocess.run(['jube', *words], cwd=tmp_path, env=env, capture_output=True,
                              text=True)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    row = next(x for x in done.stdout.splitlines() if x.startswith('2,')).split(',')
    assert row[1] == verdict and bool(row[2]) == (verdict == 'VALID')


def test_pavilions_commands_leave_figures_with_a_valid_verdict_alone(case, tmp_path):
    verdict, _, env = case
    test = yaml.safe_load((ENTRIES / 'pavilion.yaml').read_text())['stream']
    script = '\n'.join(test['run']['cmds']).replace('{{options}}', OPTIONS[verdict])
    assert subprocess.run(['bash', '-ec', script], cwd=tmp_path, env=env).returncode == 0
    parse = test['result_parse']['regex']
    said = re.search(parse['verdict']['regex'], (tmp_path / 'stream.out').read_text(), re.M)
    assert said[1] == verdict and test['result_evaluate']['result'] == 'verdict == "VALID"'
    figures = tmp_path / parse['triad_mbs']['files']
    assert figures.exists() == (verdict == 'VALID')
    if figures.exists():
        assert float(re.search(parse['triad_mbs']['regex'], figures.read_text())[1]) > 0


def application():
    """What the application says, by a stand-in of Ramble's words: {directive: [(words, more)]}."""
    told = {}

    def directive(name):
        return lambda *words, **more: told.setdefault(name, []).append((words, more))

    names = ('software_spec', 'executable', 'workload', 'workload_variable', 'success_criteria',
             'figure_of_merit')  # fmt: skip
    kit = types.ModuleType('ramble.appkit')
    kit.__dict__.update({name: directive(name) for name in names}, ExecutableApplication=object)
    before = {name: sys.modules.get(name) for name in ('ramble', 'ramble.appkit')}
    sys.modules |= {'ramble': types.ModuleType('ramble'), 'ramble.appkit': kit}
    try:
        exec((ENTRIES / 'ramble_application.py').read_text(), {'__name__': 'application'})
    finally:
        for name in before:
            del sys.modules[name]
    return told


def test_benchparks_experiment_sets_what_the_application_asks_for():
    data = yaml.safe_load((ENTRIES / 'benchpark_ramble.yaml').read_text())
    (workloads,) = data['ramble']['applications'].values()
    told = application()
    assert list(workloads['workloads']) == [words[0] for words, _ in told['workload']]
    (experiment,) = workloads['workloads']['stream']['experiments'].values()
    assert {words[0] for words, _ in told['workload_variable']} <= set(experiment['variables'])


def test_rambles_experiment_is_a_success_with_a_valid_verdict_alone(case, tmp_path):
    verdict, folder, env = case
    told = application()
    text = (folder / 'stdout').read_text()
    match = told['success_criteria'][0][1]['match']
    assert bool(re.search(match, text, re.M)) == (verdict == 'VALID')
    words = dict(words for words, _ in told['executable'])
    script = words['figures'].replace('{log_file}', str(folder / 'stdout'))
    subprocess.run(['bash', '-c', script], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / 'figures').exists() == (verdict == 'VALID')
    if verdict == 'VALID':
        merit = told['figure_of_merit'][0][1]
        found = re.search(merit['fom_regex'], (tmp_path / 'figures').read_text())
        assert float(found[merit['group_name']]) > 0
