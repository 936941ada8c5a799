"""The entries in ci/entries: what can be proven of them without GitLab, GitHub, Jenkins, cron.

Each file is checked by its own service's schema or checker, and its commands are run: those that
would measure against a stand-in ci/nightly, which leaves what a night leaves.
"""

import json
import os
import pathlib
import re
import shutil
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


def test_the_workflow_keeps_to_githubs_schema():
    assert schema_checker('github-workflows', '.github/workflows/ci.yml')[0] == 0


def test_the_schema_would_find_a_slip(tmp_path):
    slip = tmp_path / 'slip.yml'
    slip.write_text('nightly:\n  stage: test\n  skript: [true]\n')
    assert schema_checker('gitlab-ci', slip)[0] != 0


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
    assert files == {'gitlab-nightly.yml', 'Jenkinsfile', 'scrontab', 'membw-nightly.service'}


@pytest.mark.parametrize('options', list(calls()))
def test_what_an_entry_asks_of_ci_nightly_is_understood(options):
    words = options.replace('"$MEMBW_SYSTEM"', 'ulysses').split()
    args = build_parser().parse_args(['nightly', *words])
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


def test_the_jenkins_steps_run_and_keep_the_newest_night(checkout):
    steps = re.findall(r"sh\(?(?:script: )?\s*'([^\n]*)'", text('Jenkinsfile'))
    assert len(steps) == 2
    for step in steps:
        assert sh(checkout, step) == 0
    assert (checkout / 'asked').read_text() == '--system ulysses --minutes 240\n'
    assert (checkout / 'night' / 'checks.xml').exists()


def test_the_jenkinsfile_is_groovy(need, tmp_path):
    words = [need('groovyc'), 'Jenkinsfile.groovy']
    env = os.environ | java_home()
    alone = subprocess.run([words[0], '--version'], env=env, capture_output=True, text=True)
    if alone.returncode:  # Debian's groovy comes without a Java of its own
        reason = (alone.stderr + alone.stdout).strip().splitlines() or ['it does not say why']
        pytest.skip(f"'groovyc' does not run: {reason[0]} (apt-get install default-jre-headless)")
    shutil.copy(ENTRIES / 'Jenkinsfile', tmp_path / 'Jenkinsfile.groovy')
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr


def java_home():
    """Debian's groovyc takes the default Java alone, which may be missing beside another one."""
    known = [shutil.which('java'), *sorted(pathlib.Path('/usr/lib/jvm').glob('*/bin/java'))]
    homes = [pathlib.Path(java).resolve().parents[1] for java in known if java]
    return {'JAVA_HOME': str(homes[0])} if homes and 'JAVA_HOME' not in os.environ else {}


def test_systemd_understands_the_timer_and_its_service(need, tmp_path):
    need('systemd-analyze')
    for name in ('membw-nightly.service', 'membw-nightly.timer'):
        shutil.copy(ENTRIES / name, tmp_path)
    units = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(['systemd-analyze', 'verify', *units], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '')
    when = re.search(r'OnCalendar=(.*)', text('membw-nightly.timer'))[1]
    done = subprocess.run(['systemd-analyze', 'calendar', when], capture_output=True)
    assert done.returncode == 0


def test_systemd_would_find_a_slip(need, tmp_path):
    need('systemd-analyze')
    slip = tmp_path / 'membw-nightly.service'
    slip.write_text(text('membw-nightly.service').replace('ExecStart=', 'ExecStart=/no/such'))
    done = subprocess.run(['systemd-analyze', 'verify', slip], capture_output=True)
    assert done.returncode != 0


def test_the_scrontab_is_one_cron_line_that_runs(checkout):
    """tests/test_slurm.py hands its options to a real Slurm."""
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
    assert file.name == f'membw-{config["version"]}.eb'
    assert f'\nversion: {config["version"]}\n' in (ROOT / 'CITATION.cff').read_text()
    copy_checkout(tmp_path, ('src', 'configs'))
    assert sh(tmp_path, f'make {config["buildopts"]}') == 0
    files = [tmp_path / name for names, _ in config['files_to_copy'] for name in names]
    assert all(file.is_file() for file in files)
    record = json.loads((tmp_path / 'out/stream.json').read_text())
    assert record['preset'] == 'gcc-o2' and record['compile_line'][0] == 'gcc'
