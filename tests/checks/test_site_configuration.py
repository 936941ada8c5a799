"""A centre's own ReFrame configuration with our checks, by the contract of docs/bring-up.md."""

import contextlib
import json
import re

import lib
import pytest
import standin_gcc
from checkout_copy import copy_checkout, variables
from places import ROOT

from membw.site import binder

ALLOWED = 'array-too-small,too-short,disturbed,unstable,oversubscribed'


@pytest.fixture
def site(tmp_path):
    """The file of the page, but for a scheduler and modules that are there, and no prefix:
    ReFrame's is the folder that it is begun in."""
    page = (ROOT / 'docs/bring-up.md').read_text()
    (text,) = re.findall(r'```python\n(site_configuration.*?)```', page, re.S)
    text = text.replace("'slurm'", "'local'").replace("'srun'", "'local'")
    text = re.sub(r"'modules': \[.*?\],|'prefix': '/apps/membw',", '', text)
    (tmp_path / 'site.py').write_text(text.replace("'cc': 'cc'", "'cc': 'gcc'"))
    return tmp_path / 'site.py'


def test_the_configuration_of_the_page_alone_runs_our_checks(call, environment, tmp_path, site):
    """An environment with a preset is built by its line, another one by the site's words."""
    done = call(
        *('reframe', '-C', site, '-c', ROOT / 'reframe-checks', '-r'),
        *('--system', 'daint', '-n', 'stream%pinning=none'),
        *('-S', 'array_size=100000', '-S', 'ntimes=3', '-S', f'allow={ALLOWED}'),
        f'--report-file={tmp_path}/run.json', cwd=tmp_path, MEMBW_BUILD='make', MEMBW_ROOT='',
        RFM_CONFIG_PATH='', PATH=f'{standin_gcc.put_up(tmp_path / "tools")}:{environment["PATH"]}',
    )  # fmt: skip
    report = json.loads((tmp_path / 'run.json').read_text())
    ran = {c['environ']: c for c in report['runs'][-1]['testcases'] if not c['fixture']}
    assert set(ran) == {'PrgEnv-gnu', 'PrgEnv-gnu-o2'}, done.stdout
    assert {case['result'] for case in ran.values()} == {'pass'}, done.stdout
    assert ran['PrgEnv-gnu-o2']['build']['compile_line'].startswith(
        'gcc -O2 -fopenmp -mcmodel=medium '
    )
    assert ran['PrgEnv-gnu']['build']['compile_line'].startswith('gcc -O3 -fopenmp stream.c -o ')
    assert all(case['record'].startswith(f'{tmp_path}/records/') for case in ran.values())


def test_no_check_is_lost_by_a_foreign_configuration(call, tmp_path, site):
    """dgemm was, by "key error: 'preset'", ten times over; no second checkout is unpacked."""
    unpacked = tmp_path / 'unpacked'
    words = ('reframe', '-C', site, '-c', ROOT / 'reframe-checks', '-l', '--system', 'daint')
    done = call(*words, MEMBW_ROOT='', RFM_CONFIG_PATH='', MEMBW_HOME=unpacked)
    assert 'WARNING' not in done.stdout + done.stderr, done.stdout + done.stderr
    for name in ('stream', 'numa_scan', 'ladder', 'loaded', 'dgemm', 'nbody', 'overheads'):
        assert re.search(rf'^- {name}\b', done.stdout, re.M), name
    assert not unpacked.exists()


def test_a_python_without_membw_is_one_line(call, tmp_path, site):
    """It was 25 warnings, 'Found 0 check(s)' and status 0."""
    (packages,) = (ROOT / '.venv/lib').glob('python3*/site-packages')
    # -S: what pip linked into this environment is not there, this checkout's library
    words = (
        'python', '-S', ROOT / '.venv/bin/reframe', '-C', site, '-c', ROOT / 'reframe-checks',
        '-l',
    )  # fmt: skip
    done = call(*words, PYTHONPATH=packages, RFM_CONFIG_PATH='', MEMBW_ROOT='', cwd=tmp_path)
    assert done.returncode == 2 and 'WARNING' not in done.stdout + done.stderr, done.stdout
    said = done.stderr.splitlines()
    assert said[0] == 'membw: the Python of this ReFrame lacks membw'
    assert said[1].endswith(f"-m pip install '{ROOT}'")


VERSIONS = {
    '4.9.3': (2, 'membw: ReFrame 4.9.3 is too old'),
    '4.10.4': (0, ''),
    '4.11.0-dev1': (0, ''),
    '4.12.0': (0, 'WARNING: membw was not tried with ReFrame 4.12.0'),
    '5.0': (0, 'WARNING: membw was not tried with ReFrame 5.0'),
}


@pytest.mark.parametrize('version, told', VERSIONS.items())
def test_a_release_of_reframe_that_is_too_old_or_new_is_one_line(
    version, told, monkeypatch, capsys
):
    status, line = told
    monkeypatch.setattr(lib.reframe, 'VERSION', version)
    with contextlib.ExitStack() as stack:
        if status:
            stack.enter_context(pytest.raises(SystemExit))
        lib.look_at_reframe()
    said = capsys.readouterr().err
    assert said.startswith(line) and bool(said) == bool(line)


def test_what_cannot_be_kept_in_the_checkout_goes_to_the_chosen_folder(monkeypatch, tmp_path):
    """The report went to results/ all the same: a run that measured ended with an error."""
    monkeypatch.setattr(binder, 'root', lambda: tmp_path)
    monkeypatch.setenv('RFM_PREFIX', str(tmp_path / 'mine'))
    assert binder.results() == tmp_path / 'results'
    (tmp_path / 'results').write_text('')  # in the way, of root as well
    assert binder.results() == tmp_path / 'mine'
    monkeypatch.delenv('RFM_PREFIX')
    assert binder.results() == tmp_path / 'results'


def test_the_checks_are_listed_where_results_cannot_be_made(call, tmp_path):
    """A checkout of somebody else's, as root sees it, too: ReFrame would show a traceback."""
    copy = copy_checkout(tmp_path / 'checkout')
    (copy / 'results').write_text('')  # in the way
    words = ('reframe', '-c', copy / 'reframe-checks/stream.py', '-l', '-n', 'stream%pinning=none')
    done = call(*words, cwd=copy, HOME=tmp_path / 'home', **variables(copy))
    assert done.returncode == 0 and 'Found 1 check(s)' in done.stdout, done.stdout + done.stderr
