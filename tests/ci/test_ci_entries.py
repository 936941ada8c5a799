"""The entries in ci/entries: what can be proven of them without GitLab, GitHub, cron.

Each file is checked by its own service's schema or checker, and its commands are run: those that
would measure against a stand-in ci/nightly, which leaves what a night leaves.
"""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import yaml
from checkout_copy import copy_checkout
from places import ROOT

from membw.cli import build_parser

ENTRIES = ROOT / 'ci' / 'entries'
GITLAB = ['.gitlab-ci.yml', 'ci/entries/gitlab-nightly.yml']
CALL = re.compile(r'ci/nightly ((?:"[^"]*"|[^\n\'"])*)')
STAND_IN = """#!/bin/bash
mkdir -p results/nights/2026-11-20 results/nights/2026-11-21
echo '<testsuites/>' >results/nights/2026-11-21/checks.xml
echo "$@" >asked
exit "${STATUS:-0}"
"""


def text(name):
    return (ENTRIES / name).read_text()


def schema_checker(schema, *files):
    words = [sys.executable, '-m', 'check_jsonschema', '--builtin-schema', f'vendor.{schema}']
    done = subprocess.run([*words, *files], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_gitlab_files_keep_to_gitlabs_schema():
    assert schema_checker('gitlab-ci', *GITLAB) == (0, 'ok -- validation done\n')


@pytest.mark.parametrize('name', ['ci', 'develop'])
def test_the_workflow_keeps_to_githubs_schema(name):
    assert schema_checker('github-workflows', f'.github/workflows/{name}.yml')[0] == 0


@pytest.mark.parametrize('file', ['.gitlab-ci.yml', '.github/workflows/ci.yml'])
def test_the_repositorys_own_ci_is_ci_run(file):
    assert 'bash .ci/run' in (ROOT / file).read_text()


def calls():
    for path in sorted(filter(pathlib.Path.is_file, ENTRIES.iterdir())):
        for found in CALL.finditer(path.read_text()):
            if '--system' in found[1]:
                yield pytest.param(found[1], id=path.name)


def test_every_nightly_entry_calls_ci_nightly():
    files = {param.id for param in calls()}
    assert files == {'gitlab-nightly.yml', 'scrontab', 'membw-nightly.service'}


@pytest.mark.parametrize('options', list(calls()))
def test_what_an_entry_asks_of_ci_nightly_is_understood(options):
    words = options.replace('"$MEMBW_SYSTEM"', 'ulysses').split()
    args = build_parser('nightly').parse_args(['nightly', *words])
    assert (args.system, args.minutes) == ('ulysses', 240)
    assert (ROOT / 'systems' / f'{args.system}.yaml').exists()


@pytest.fixture
def checkout(tmp_path):
    """A folder with a stand-in ci/nightly."""
    (tmp_path / 'ci').mkdir()
    (tmp_path / 'ci' / 'nightly').write_text(STAND_IN)
    (tmp_path / 'ci' / 'nightly').chmod(0o755)
    return tmp_path


def sh(folder, command, **variables):
    env = {'PATH': '/usr/bin:/bin', 'HOME': str(folder.parent), 'MEMBW_SYSTEM': 'ulysses'}
    return subprocess.run(
        ['bash', '-ec', command], cwd=folder, env={**env, **variables}
    ).returncode


@pytest.mark.parametrize('status', [0, 1, 2])
def test_the_gitlab_job_ends_as_the_night_does_and_keeps_it(checkout, status):
    job = yaml.safe_load(text('gitlab-nightly.yml'))['nightly']
    assert sh(checkout, '\n'.join(job['script']), STATUS=str(status)) == status
    assert sh(checkout, '\n'.join(job['after_script'])) == 0
    assert list(checkout.glob(job['artifacts']['reports']['junit']))


def test_the_scrontab_is_one_cron_line_that_runs(checkout):
    """tests/checks/test_slurm.py hands its options to a real Slurm."""
    lines = [line for line in text('scrontab').splitlines() if not line.startswith('# ')]
    options = [line.removeprefix('#SCRON ') for line in lines if line.startswith('#SCRON ')]
    crons = [line for line in lines if not line.startswith('#')]
    assert options and len(crons) == 1
    *when, command = crons[0].split(maxsplit=5)
    assert len(when) == 5 and all(re.fullmatch(r'[\d*/,-]+', field) for field in when)
    assert sh(checkout.rename(checkout.parent / 'membw'), command) == 0


def test_easybuilds_file_builds_what_it_installs(tmp_path, need):
    """Its command, in the sources of this release; EasyBuild itself was tried by hand."""
    need('gcc', 'make')
    (file,) = ENTRIES.glob('*.eb')
    config = {'SYSTEM': None, 'SOURCE_TAR_GZ': None}
    exec(file.read_text(), config)
    copy_checkout(tmp_path, ('src', 'configs'))
    # its Python has no other package
    assert sh(tmp_path, f"make {config['buildopts']} PYTHON='{sys.executable} -S'") == 0
    files = [tmp_path / name for names, _ in config['files_to_copy'] for name in names]
    assert all(file.is_file() for file in files)
    record = json.loads((tmp_path / 'out/stream.json').read_text())
    assert record['preset'] == 'gcc-o2' and record['compile_line'][0] == 'gcc'
