"""ci/setup.sh: the second time it says and does nothing; what is missing is named."""

import os
import pathlib
import re
import shutil

import pytest

BARE = {'PATH': '/usr/bin:/bin'}


def stand_in(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)


def test_a_second_set_up_says_nothing(root, call):
    done = call('sh', 'ci/setup.sh', **BARE)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_a_changed_lock_file_is_noticed(root, call, tmp_path):
    """In a copy without a virtual environment, and with a python3 that refuses."""
    shutil.copytree(root / 'ci', tmp_path / 'ci')
    shutil.copy(root / 'pyproject.toml', tmp_path)
    (tmp_path / 'bin').mkdir()
    stand_in(tmp_path / 'bin', 'python3', 'echo Python 3.8.1; exit 1')
    done = call('sh', tmp_path / 'ci' / 'setup.sh', PATH=f'{tmp_path}/bin:/usr/bin:/bin')
    assert done.returncode == 2
    assert 'is Python 3.8.1, membw needs 3.10 or later' in done.stderr
    assert done.stderr.splitlines()[1].startswith('hint: ')


def test_spack_that_cannot_be_had_is_one_line_and_no_failure(root, call, tmp_path):
    """A copy that has the virtual environment's stamp, and a git that reaches nothing."""
    shutil.copytree(root / 'ci', tmp_path / 'ci')
    shutil.copy(root / 'pyproject.toml', tmp_path)
    (tmp_path / 'bin').mkdir()
    stand_in(tmp_path / 'bin', 'git', 'echo "fatal: no network" >&2; exit 128')
    (tmp_path / '.venv' / 'bin').mkdir(parents=True)
    os.symlink(root / '.venv' / 'bin' / 'python', tmp_path / '.venv' / 'bin' / 'python')
    shutil.copytree(root / '.venv' / '.setup', tmp_path / '.venv' / '.setup')
    (tmp_path / '.venv' / '.setup' / 'no-spack').unlink(missing_ok=True)
    done = call('sh', tmp_path / 'ci/setup.sh', PATH=f'{tmp_path}/bin:/usr/bin:/bin')
    assert done.returncode == 0, done.stderr
    assert re.search(
        r'cannot be had here, make builds the same presets: done in \d+ s', done.stdout
    )
    again = call('sh', tmp_path / 'ci/setup.sh', PATH=f'{tmp_path}/bin:/usr/bin:/bin')
    assert (again.returncode, again.stdout, again.stderr) == (0, '', '')


def test_every_requirement_is_pinned_with_a_checksum(root):
    text = (root / 'ci' / 'requirements.txt').read_text()
    blocks = re.findall(r'^([a-z0-9][^\n]*)\n((?:    --hash[^\n]*\n)*)', text, re.M)
    assert len(blocks) > 20
    assert [line for line, hashes in blocks if '==' not in line or not hashes] == []
    assert 'http' not in text.replace('https://', '').split('--hash')[0]


def test_every_requirement_asked_for_is_in_the_lock(root):
    asked = re.findall(r'^([\w.-]+)', (root / 'ci' / 'requirements.in').read_text(), re.M)
    locked = re.findall(r'^([\w.-]+)==', (root / 'ci' / 'requirements.txt').read_text(), re.M)
    plain = {re.sub(r'[-_.]+', '-', name).lower() for name in locked}
    assert {re.sub(r'[-_.]+', '-', name).lower() for name in asked} <= plain


@pytest.mark.parametrize('name', ('SPACK_COMMIT', 'PACKAGES_COMMIT'))
def test_the_clones_are_pinned_to_a_commit(root, name):
    text = (root / 'ci' / 'versions.env').read_text()
    assert re.search(rf'^{name}=[0-9a-f]{{40}}$', text, re.M)
