"""The entries in ci/entries: what can be proven of them without GitLab, GitHub, cron.

Each file is checked by its own service's schema or checker, and its commands are run:
GitLab's in a real night, with a check that measures nothing.
"""

import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import made_up_records as made
import pytest
import standin_gcc
import tiny_check
import yaml
from checkout_copy import copy_checkout
from places import ROOT

from membw.cli import build_parser

ENTRIES = ROOT / 'ci' / 'entries'
GITLAB = ['.gitlab-ci.yml', 'ci/entries/gitlab-nightly.yml']
CALL = re.compile(r'ci/nightly ((?:"[^"]*"|[^\n\'"])*)')


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


def sh(folder, command, **variables):
    env = {'PATH': '/usr/bin:/bin', 'HOME': str(folder.parent), 'USER': 'hpc', **variables}
    done = subprocess.run(
        ['bash', '-ec', command], cwd=folder, env=env, capture_output=True, text=True
    )
    print(done.stdout + done.stderr)
    return done.returncode


@pytest.fixture
def checkout(own_checkout):
    """A copy with ci/nightly, and with one check, of no figure, that is in each night."""
    folder, _ = own_checkout
    for name in ('ci', 'pyproject.toml'):
        copy_checkout(folder, [name])
    for file in folder.glob('reframe-checks/*.py'):
        file.unlink()
    more = "tags = {'nightly'}\n    max_seconds = variable(float, value=1.0)"  # of `run --full`
    more += "\n    reference_expired = variable(str, value='', loggable=True)"  # a check of ours
    check = tiny_check.text(more).replace('class tiny(', 'class stream(')
    (folder / 'reframe-checks/stream.py').write_text(check)
    (folder / 'results/records').mkdir(parents=True)
    made.write(folder / 'results/records/1.json', [made.record('n1')])  # of an earlier night
    (folder / '.spack').mkdir(exist_ok=True)
    pins = re.findall(r'_COMMIT=(\w+)', (folder / 'ci/versions.env').read_text())
    (folder / '.spack/ready').write_text(f'{pins[0]} {pins[1]}\n')
    return folder


def test_the_gitlab_job_ends_as_the_night_does_and_shows_its_tests(checkout):
    job = yaml.safe_load(text('gitlab-nightly.yml'))['nightly']
    (checkout / 'results/nights/other/2026-01-01').mkdir(parents=True)
    (checkout / 'results/nights/other/2026-01-01/state.json').write_text('{"run-1.json": 0}')
    # its check writes no record: there is nothing to export
    assert sh(checkout, '\n'.join(job['script']), MEMBW_SYSTEM='local') == 2
    for _ in 1, 2:
        assert sh(checkout, '\n'.join(job['after_script'])) == 0
    (junit,) = checkout.glob(job['artifacts']['reports']['junit'])
    names = [case.get('classname') for case in ET.parse(junit).iter('testcase')]
    assert names == ['local:default.stream', *['night'] * 4]
    assert 'Subject: membw local' in (checkout / 'night/summary.txt').read_text()


# what Slurm and PBS set in a job, and what a user or a job script may set for it
OUTER = 'SLURM_JOB_ID SLURM_RESTART_COUNT SLURM_MEM_PER_CPU SLURM_EXPORT_ENV SLURM_CLUSTERS'
OUTER += ' SLURM_CPU_BIND SBATCH_PARTITION SRUN_CPUS_PER_TASK SALLOC_PARTITION PBS_JOBID PMI_RANK'
KEPT = {'SLURM_CONF': '/x', 'SLURMD_NODENAME': 'n1', 'PBS_SERVER': 's', 'HOME': '/home/x'}


@pytest.mark.parametrize('variables, gone', [
    (dict.fromkeys(OUTER.split(), '1'), True),
    ({'PBS_JOBID': '1', 'PBS_NODEFILE': '/x'}, True),
    ({'SBATCH_ACCOUNT': 'a', 'SLURM_TIME_FORMAT': 'x'}, False),  # no job: the user's own
])  # fmt: skip
def test_the_jobs_of_a_night_get_nothing_of_the_job_that_it_is(tmp_path, variables, gone):
    """Slurm's cron requeues its job: each job of the second night took itself for requeued."""
    copy_checkout(tmp_path, ['ci'])
    (tmp_path / 'ci/setup.sh').write_text('')
    (tmp_path / 'setup-env.sh').write_text('PATH=$PWD:$PATH\n')
    (tmp_path / 'membw').write_text('#!/bin/sh\nenv >seen\n')
    (tmp_path / 'membw').chmod(0o755)
    assert sh(tmp_path, 'ci/nightly', **variables, **KEPT) == 0
    seen = dict(line.split('=', 1) for line in (tmp_path / 'seen').read_text().splitlines())
    assert KEPT.items() <= seen.items()
    assert {name in seen for name in variables} == {not gone}


def test_the_scrontab_is_one_cron_line(tmp_path):
    """tests/checks/test_slurm.py hands its options to a real Slurm."""
    lines = [line for line in text('scrontab').splitlines() if not line.startswith('# ')]
    options = [line.removeprefix('#SCRON ') for line in lines if line.startswith('#SCRON ')]
    crons = [line for line in lines if not line.startswith('#')]
    assert options and len(crons) == 1
    *when, command = crons[0].split(maxsplit=5)
    assert len(when) == 5 and all(re.fullmatch(r'[\d*/,-]+', field) for field in when)
    (tmp_path / 'membw/ci').mkdir(parents=True)
    (tmp_path / 'membw/ci/nightly').write_text('#!/bin/sh\nexit 7\n')
    (tmp_path / 'membw/ci/nightly').chmod(0o755)
    assert sh(tmp_path / 'membw', command) == 7


def test_easybuilds_file_builds_what_it_installs(tmp_path, need):
    """Its command, in the sources of this release; EasyBuild itself was tried by hand."""
    need('gcc', 'make')
    (file,) = ENTRIES.glob('*.eb')
    config = {'SYSTEM': None, 'SOURCE_TAR_GZ': None}
    exec(file.read_text(), config)
    copy_checkout(tmp_path, ('src', 'configs'))
    # its Python has no other package
    path = f'{standin_gcc.put_up(tmp_path / "tools")}:/usr/bin:/bin'
    line = f"make {config['buildopts']} PYTHON='{sys.executable} -S'"
    assert sh(tmp_path, line, PATH=path) == 0
    copied = [(*pair, to) for pairs, to in config['files_to_copy'] for pair in pairs]
    assert all((tmp_path / source).is_file() for source, _, _ in copied)
    wanted = config['sanity_check_paths']['files']
    assert wanted == [f'{to}/{name}' for _, name, to in copied] == [
        'bin/membw-stream', 'share/membw/membw-stream.json'
    ]  # fmt: skip
    record = json.loads((tmp_path / 'out/stream.json').read_text())
    assert record['preset'] == 'gcc-o3' and record['compile_line'][0] == 'gcc'
