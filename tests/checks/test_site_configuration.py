"""A centre's own ReFrame configuration with our checks, by the contract of docs/bring-up.md."""

import json
import re

import standin_gcc
from checkout_copy import copy_checkout, variables
from places import ROOT

from membw.site import binder

ALLOWED = 'array-too-small,too-short,disturbed,unstable,oversubscribed'


def test_the_configuration_of_the_page_runs_our_checks(call, environment, tmp_path):
    """As the page has it, but for a scheduler that is there; the site's environment without a
    preset stays the site's own."""
    page = (ROOT / 'docs/bring-up.md').read_text()
    (text,) = re.findall(r'```python\n(site_configuration.*?)```', page, re.S)
    text = text.replace("'slurm'", "'local'").replace("'srun'", "'local'")
    text = re.sub(r"'modules': \[.*?\],", '', text).replace('/apps/membw', str(tmp_path))
    (tmp_path / 'site.py').write_text(text)
    done = call(
        *('reframe', '-C', tmp_path / 'site.py', '-c', 'reframe-checks/stream.py', '-r'),
        *('--system', 'daint', '-n', 'stream%pinning=none'),
        *('-S', 'array_size=100000', '-S', 'ntimes=3', '-S', f'allow={ALLOWED}'),
        f'--report-file={tmp_path}/run.json',
        MEMBW_BUILD='make',
        PATH=f'{standin_gcc.put_up(tmp_path / "tools")}:{environment["PATH"]}',
    )
    report = json.loads((tmp_path / 'run.json').read_text())
    ran = {c['environ']: c for c in report['runs'][-1]['testcases'] if not c['fixture']}
    assert set(ran) == {'gcc-o3', 'PrgEnv-gnu-o2'}, done.stdout
    assert {case['result'] for case in ran.values()} == {'pass'}, done.stdout
    assert ran['PrgEnv-gnu-o2']['compile_line'].startswith('gcc -O2 -fopenmp -mcmodel=medium ')
    assert all(case['record'].startswith(f'{tmp_path}/records/') for case in ran.values())


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
