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


def copy_stamps(root, copy):
    """What says that the copy is set up as its lock file wants it; nothing of Spack."""
    (copy / '.venv/.setup').mkdir()
    for stamp in filter(pathlib.Path.is_file, (root / '.venv/.setup').iterdir()):
        if stamp.name != 'no-spack':
            shutil.copy(stamp, copy / '.venv/.setup')


def test_a_second_set_up_says_nothing(root, call):
    done = call('sh', 'ci/setup.sh', **BARE)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_a_changed_lock_file_is_noticed(root, call, tmp_path):
    """In a copy without a virtual environment, and with a python3 that refuses."""
    shutil.copytree(root / 'ci', tmp_path / 'ci')
    shutil.copy(root / 'pyproject.toml', tmp_path)
    (tmp_path / 'bin').mkdir()
    stand_in(tmp_path / 'bin', 'python3', 'echo Python 3.8.1; exit 1')
    done = call(
        'sh', tmp_path / 'ci' / 'setup.sh', PATH=f'{tmp_path}/bin:/usr/bin:/bin', PYTHON='python3'
    )
    assert done.returncode == 2
    assert 'is Python 3.8.1, membw needs 3.10 or later' in done.stderr
    assert done.stderr.splitlines()[1].startswith('hint: ')


@pytest.fixture
def copied(root, call, tmp_path):
    """copied(name=script, ...): set-up of a copy with these stand-ins and plain tools alone."""

    def run(
        folder='copy', tools='sh cat dirname sha256sum cut date grep sed id flock sleep', **scripts
    ):
        copy, bin_ = tmp_path / folder, tmp_path / 'bin'
        shutil.copytree(root / 'ci', copy / 'ci', dirs_exist_ok=True)
        shutil.copy(root / 'pyproject.toml', copy)
        bin_.mkdir(exist_ok=True)
        for tool in tools.split():
            if not (bin_ / tool).exists():
                os.symlink(shutil.which(tool), bin_ / tool)
        for name, text in scripts.items():
            stand_in(bin_, name.replace('_', '.'), text)
        run.copy = copy
        # the real /sbin is appended by the script: nothing of what is looked for here lies there
        return call(bin_ / 'sh', copy / 'ci/setup.sh', PATH=str(bin_), PYTHON='')

    return run


OLD = 'echo Python 3.9.18; [ "$1" = --version ]'


def test_a_python_of_another_name_is_taken_where_python3_is_too_old(copied):
    """RHEL 9: python3 is 3.9, python3.11 is there by its version."""
    new = 'case "$*" in *venv*) exit 1;; esac; exit 0'
    done = copied(python3=OLD, python3_11=new, dnf='exit 1')
    assert "'python3.11' has no module 'venv'" in done.stderr


@pytest.mark.parametrize('no_apt, installs', [('', 'yes'), ('1', 'no')])
def test_root_installs_nothing_where_that_is_not_wanted(root, call, no_apt, installs):
    code = 'id() { echo 0; }; apt-get() { :; }; . ci/packages.sh; can_apt && echo yes || echo no'
    assert call('bash', '-c', code, cwd=root, NO_APT=no_apt).stdout.strip() == installs


@pytest.mark.parametrize('folder', ['my checkout', "o'clock", 'a$b', 'a:b', 'a&b', 'a;b', 'a\\b'])
def test_a_path_that_shells_would_read_is_refused_in_the_first_second(copied, folder):
    done = copied(folder=folder, python3='exit 0')
    assert done.returncode == 2
    assert 'has a space or a special character: ' in done.stderr and folder in done.stderr


def test_spack_out_of_reach_is_one_line_and_no_failure(root, call, tmp_path):
    """A copy that has the virtual environment's stamp, and a git that reaches nothing."""
    shutil.copytree(root / 'ci', tmp_path / 'ci')
    shutil.copy(root / 'pyproject.toml', tmp_path)
    (tmp_path / 'bin').mkdir()
    stand_in(tmp_path / 'bin', 'git', 'echo "fatal: no network" >&2; exit 128')
    (tmp_path / '.venv' / 'bin').mkdir(parents=True)
    os.symlink(root / '.venv' / 'bin' / 'python', tmp_path / '.venv' / 'bin' / 'python')
    copy_stamps(root, tmp_path)
    done = call('sh', tmp_path / 'ci/setup.sh', PATH=f'{tmp_path}/bin:/usr/bin:/bin')
    assert done.returncode == 0, done.stderr
    assert re.search(
        r'is not available here, make builds the same presets: done in \d+ s', done.stdout
    )
    again = call('sh', tmp_path / 'ci/setup.sh', PATH=f'{tmp_path}/bin:/usr/bin:/bin')
    assert (again.returncode, again.stdout, again.stderr) == (0, '', '')


@pytest.fixture
def with_own_spack(root, call, tmp_path):
    """with_own_spack(version): set-up of a copy with that Spack of the user's, a stand-in."""
    commit = re.search(r'^PACKAGES_COMMIT=(\w+)', (root / 'ci/versions.env').read_text(), re.M)[1]
    shutil.copytree(root / 'ci', tmp_path / 'ci')
    for name in ('pyproject.toml', 'setup-env.sh'):
        shutil.copy(root / name, tmp_path)
    for folder in ('bin', 'own/bin', '.venv/bin'):
        (tmp_path / folder).mkdir(parents=True)
    stand_in(tmp_path / 'bin', 'git', f'echo {commit}')
    os.symlink(root / '.venv/bin/python', tmp_path / '.venv/bin/python')
    stand_in(tmp_path / '.venv/bin', 'membw', f'exec {root}/.venv/bin/membw "$@"')
    copy_stamps(root, tmp_path)

    def run(version):
        stand_in(tmp_path / 'own/bin', 'spack', f'[ "$1" != --version ] || echo {version}')
        return call(
            'sh',
            tmp_path / 'ci/setup.sh',
            PATH=f'{tmp_path}/bin:/usr/bin:/bin',
            SPACK_ROOT=tmp_path / 'own',
        )

    run.copy = tmp_path
    return run


def test_a_spack_of_the_user_is_taken_and_a_killed_set_up_indexes_again(with_own_spack):
    done, copy = with_own_spack('1.1.0'), with_own_spack.copy
    assert done.returncode == 0 and f"using '{copy}/own'" in done.stdout, done.stderr
    assert (copy / '.spack/ready').exists() and not (copy / '.spack/indexing').exists()
    assert not (copy / '.spack/user/mirrors.yaml').exists()
    (copy / '.spack/indexing').touch()
    assert 'indexing' in with_own_spack('1.1.0').stdout


@pytest.mark.parametrize('error', ['ENOSYS', 'ENOLCK', 'EOPNOTSUPP'])
@pytest.mark.parametrize(
    'words', [['sh', 'ci/setup.sh', '--no-spack'], ['ci/nightly', '--help']], ids=' '.join
)
def test_a_file_system_without_locks_is_one_line(root, call, tmp_path, need, words, error):
    """Lustre without -o flock, by a filter of system calls."""
    need('gcc', 'flock')
    refuse = tmp_path / 'refuse'
    assert call('gcc', '-o', refuse, 'tests/probes/refuse_calls.c').returncode == 0
    done = call(refuse, error, 'flock', *words)
    said = [line for line in done.stderr.splitlines() if 'no locks on the file system' in line]
    assert (done.returncode, len(said)) == (0, 2 if 'nightly' in words[0] else 1), done
    assert 'waiting' not in done.stdout and 'flock:' not in done.stderr


@pytest.mark.parametrize('name', ['requirements', 'requirements-develop'])
def test_every_requirement_is_pinned_with_a_checksum(root, name):
    text = (root / 'ci' / f'{name}.txt').read_text()
    blocks = re.findall(r'^([a-z0-9][^\n]*)\n((?:    --hash[^\n]*\n)*)', text, re.M)
    assert len(blocks) > 15
    assert [line for line, hashes in blocks if '==' not in line or not hashes] == []
    assert 'http' not in text.replace('https://', '').split('--hash')[0]


def test_a_run_needs_no_tool_of_developers_and_no_wheel_that_a_machine_lacks(root):
    text = (root / 'ci' / 'requirements.txt').read_text()
    pinned = {line.partition('==')[0]: line for line in text.splitlines() if '==' in line}
    assert not {'pytest', 'mypy', 'ruff', 'clang-format', 'check-jsonschema'} & {*pinned}
    assert "platform_machine == 'x86_64'" in pinned['capstone']
    assert not {'scipy', 'polars'} & {*pinned}  # 325 of 476 MB
