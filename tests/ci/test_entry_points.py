"""The entry points: false greens turn red, errors are one line, setup-env.sh works anywhere."""

import fcntl
import os
import shutil
import subprocess

import pytest
import tiny_check
from checkout_copy import copy_checkout


@pytest.fixture
def run(call, tmp_path, one_run):
    """membw run on a check file of the test's own, in a folder of its own."""

    def measure(*words, more='', pattern='figure', message='no figure', text=None):
        text = text or tiny_check.text(more, pattern, message)
        (tmp_path / 'tiny.py').write_text(text)
        where = ('-c', tmp_path / 'tiny.py', '--prefix', tmp_path / 'reframe')
        return call('membw', 'run', '--system', 'local', *where, *words)

    return measure


def is_one_clear_error(done):
    lines = done.stderr.splitlines()
    assert done.returncode == 2, done.stdout + done.stderr
    assert [line.split(':')[0] for line in lines[-2:]] == ['membw', 'hint'], done.stderr
    assert 'Traceback' not in done.stdout.replace('ERROR: Traceback', '')
    return lines[-2]


def test_a_good_run_is_green_and_says_so_last(run):
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith('Verdict: VALID: 1 VALID')


def test_a_broken_check_file_is_red(run):
    """ReFrame goes no further."""
    assert 'syntax error' in is_one_clear_error(run(text='import reframe\ndef f(:\n'))


UNLOADED = [
    ({'text': 'import no_such_module\nimport reframe\n'}, 'tiny.py'),
    ({'more': "reference = {'$ref': 'gone.yaml', '$index': ['$partition']}"}, 'gone.yaml'),
    ({'words': ('-c', 'gone.py')}, 'gone.py'),
    ({'words': ('-S', 'moon=1')}, 'moon'),
]


@pytest.mark.parametrize('given, name', UNLOADED, ids=[name for _, name in UNLOADED])
def test_what_cannot_be_loaded_is_red_and_named(run, given, name):
    """A module, a reference file, a check file and a variable that are not there."""
    assert name in is_one_clear_error(run(*given.pop('words', ()), **given))


def test_a_wrong_figure_and_a_failed_sanity_are_red_and_a_figure_of_that_is_not_shown(run):
    """Two checks: the figure of one lies outside its reference, the other's sanity fails. What a
    check that is not ours calls its word is none."""
    low = tiny_check.text("reference = {'*': {'triad': (6.0, -0.1, 0.1, 'GB/s')}}")
    said = "word = variable(str, value='INVALID', loggable=True)\n"
    said += "    reasons = variable(str, value='array-too-small', loggable=True)"
    invalid = tiny_check.text(said, pattern='validates')
    invalid = invalid.replace('class tiny', 'class other').replace('3.0', '98765.0')
    done = run(text=low + invalid)
    assert done.returncode == 1
    assert 'FAIL' in done.stdout and 'triad 3 GB/s, at least 5.4 wanted' in done.stdout
    assert 'array-too-small' not in done.stdout
    assert '98765' not in done.stdout
    verdict = done.stdout.splitlines()[-1]
    assert '1 MISSING, 1 FAIL' in verdict, verdict


def test_all_skipped_is_no_green_pass(run):
    skip = "\n    @run_after('setup')\n    def no(self):\n        self.skip_if(True, 'no moon')"
    done = run(more=skip)
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith('Verdict: ')
    assert 'no moon' in done.stdout


def test_make_alone_lists_its_targets(call):
    out = call('make').stdout
    assert all(f'make {word} ' in out for word in ('run', 'test', 'check', 'setup', 'clean'))


def test_make_clean_spares_what_was_measured(root, call, tmp_path):
    """A year of nights is no rubbish of a build."""
    copy = shutil.copy(root / 'Makefile', tmp_path)
    kept = [tmp_path / 'results' / name for name in ('results.db', 'records/x', 'nights/y')]
    left = [tmp_path / name for name in ('build/x', 'results/stage/x', '.venv/x', '.spack/x')]
    for path in (*kept, *left):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert call('make', '-f', copy, 'distclean', cwd=tmp_path).returncode == 0
    assert all(path.exists() for path in kept) and not any(path.exists() for path in left)


@pytest.mark.parametrize('shell', ('bash', 'dash'))
def test_setup_env_works_from_any_folder_and_twice(root, call, need, tmp_path, shell):
    need(shell)
    text = f". '{root}/setup-env.sh'; . '{root}/setup-env.sh'; "
    text += (
        'echo "$MEMBW_ROOT $RFM_CONFIG_PATH"; command -v reframe; command -v membw; echo "$PATH"'
    )
    done = call(shell, '-uc', text, cwd=tmp_path, PATH='/usr/bin:/bin', MEMBW_ROOT='')
    assert done.returncode == 0, done.stderr
    first, reframe, membw, path = done.stdout.splitlines()
    assert first == f'{root} {root}/configs'
    assert [reframe, membw] == [f'{root}/.venv/bin/reframe', f'{root}/.venv/bin/membw']
    assert path.split(':').count(f'{root}/.venv/bin') == 1
    assert path.split(':')[-2:] == [f'{root}/build/gcc-o2', f'{root}/build/gcc-o3']


def test_a_shell_that_cannot_source_has_a_command_for_it(root, call, tmp_path):
    """csh, tcsh and fish."""
    words = ('sh', '-c', 'echo "$MEMBW_ROOT"; command -v reframe; pwd; exit 3')
    done = call(root / 'ci/in-env', *words, cwd=tmp_path, PATH='/usr/bin:/bin', MEMBW_ROOT='')
    lines = [str(root), f'{root}/.venv/bin/reframe', str(tmp_path)]
    assert done.stdout.splitlines() == lines and done.returncode == 3, done.stderr
    assert call(root / 'ci/in-env', '--help').stdout.startswith('Runs a command as from a shell')


@pytest.mark.parametrize('shell', ('bash', 'dash'))
def test_setup_env_says_what_to_do_before_the_set_up(root, call, need, tmp_path, shell):
    need(shell)
    shutil.copy(root / 'setup-env.sh', tmp_path)
    done = call(shell, '-c', '. ./setup-env.sh; echo $?', cwd=tmp_path, MEMBW_ROOT='')
    assert done.stdout.strip() == '2'
    assert 'is not set up' in done.stderr and f'hint: make -C {tmp_path} setup' in done.stderr


@pytest.mark.parametrize('shell', ('bash', 'dash'))
def test_setup_env_knows_a_checkout_that_was_moved_or_copied(root, call, need, tmp_path, shell):
    """Of one that was moved no command could be executed; a copy ran the original's code."""
    need(shell)
    shutil.copy(root / 'setup-env.sh', tmp_path)
    command = tmp_path / '.venv/bin/membw'
    command.parent.mkdir(parents=True)
    for python in ('/no/such/folder/.venv/bin/python', f'{root}/.venv/bin/python'):
        command.write_text(f'#!{python}\n')
        command.chmod(0o755)
        script = 'set -e; . ./setup-env.sh || echo $?'
        done = call(shell, '-c', script, cwd=tmp_path, MEMBW_ROOT='')
        assert done.stdout.strip() == '2', done.stderr
        assert 'was set up in another folder: moved, or copied?\nhint: rm -rf' in done.stderr


@pytest.mark.parametrize('shell', ('sh', 'bash', 'zsh'))
def test_a_checkout_under_another_name_is_the_same(call, need, root, tmp_path, shell):
    """An automounter's, or a bind mount's: the scripts name the folder as it was at the set-up."""
    need(shell, 'unshare')
    if call('unshare', '-m', 'true').returncode:
        pytest.skip('no mounts of its own without root')
    script = f'mount --bind {root} {tmp_path} && cd {tmp_path} && . ./setup-env.sh && membw --help'
    done = call('unshare', '-m', shell, '-c', script, MEMBW_ROOT='')
    assert (done.returncode, done.stderr) == (0, '') and 'usage: membw ' in done.stdout, done


@pytest.fixture
def hostile(tmp_path):
    """A folder of packages of another Python, as a module of a site puts it on PYTHONPATH."""
    for name in 'numpy yaml reframe jinja2 jsonschema enum typing sitecustomize'.split():
        (tmp_path / f'{name}.py').write_text(f'raise ImportError("{name} of another Python")')
    return tmp_path


def test_what_a_module_sets_for_another_python_does_not_reach_ours(root, call, hostile):
    """After setup-env.sh as well: a module may be loaded later."""
    set_ = {'PYTHONPATH': hostile}
    for words in (
        ['env', 'PYTHONOPTIMIZE=2', 'membw', 'rank', '--help'],
        ['reframe', '-c', 'reframe-checks/stream.py', '-l', '--system', 'local'],
        ['python', '-c', 'import os, sys; assert "PYTHONPATH" not in os.environ'],
    ):
        done = call(*words, **set_)
        assert done.returncode == 0 and 'another Python' not in done.stdout + done.stderr, done
    more = {**set_, 'PYTHONHOME': hostile, 'PYTHONSTARTUP': hostile / 'yaml.py'}
    more |= {'PYTHONPLATLIBDIR': 'lib', 'PYTHONEXECUTABLE': '/x', '__PYVENV_LAUNCHER__': '/x'}
    for words in (['ci/in-env'], ['sh', '-c', '. ./setup-env.sh && exec "$@"', 'sh']):
        done = call(*words, 'python', '-c', 'import os, numpy, yaml; print(*os.environ)', **more)
        assert done.returncode == 0 and not set(more) & {*done.stdout.split()}, done


@pytest.mark.parametrize('given, kept', [
    ('{root}/src', '{root}/src'), ('{hostile}:{root}/tests/lib', '{root}/tests/lib'),
    ('{copy}/src:{hostile}', '{copy}/src'), ('{packages}:{hostile}', '{packages}'),
    ('{hostile}', ''), ('{stdlib}', ''), ('/', ''),
])  # fmt: skip
def test_a_pythonpath_of_this_checkout_or_of_a_copy_stays(root, call, hostile, given, kept):
    copy = copy_checkout(hostile / 'copy', ['src/membw'])
    packages, stdlib = os.path.dirname(pytest.__path__[0]), os.path.dirname(os.__file__)
    places = {'root': root, 'hostile': hostile, 'packages': packages, 'stdlib': stdlib}
    code = 'import os, numpy, yaml, enum, membw; print(os.environ.get("PYTHONPATH", ""))'
    done = call('python', '-c', code, PYTHONPATH=given.format(**places, copy=copy))
    assert (done.stderr, done.stdout) == ('', f'{kept.format(**places, copy=copy)}\n')


@pytest.mark.parametrize('words', [
    ['sh', 'ci/setup.sh', '--no-spack'], ['ci/in-env', 'membw', '--version'],
    ['make', '-s', 'help'], ['sh', 'ci/test-packages.sh'], ['make', '-s', '-C', 'src', 'help'],
    ['sh', 'src/build.sh', 'plan', 'gcc-o3', 'stream'],
], ids=' '.join)  # fmt: skip
def test_cdpath_leads_no_script_elsewhere(call, tmp_path, words):
    for name in 'ci', 'src', 'configs':
        (tmp_path / name).mkdir()
    done = call(*words, CDPATH=tmp_path)
    assert done.returncode == 0 and str(tmp_path) not in done.stdout + done.stderr, done


def test_every_script_of_ci_forgets_cdpath_before_it_changes_folder(root):
    scripts = [path for path in [root / '.ci/run', *root.glob('ci/*')] if path.is_file()]
    lines = {path.name: path.read_text().split('\n') for path in scripts}
    moves = {
        n: [x for x in every if x.startswith(('cd ', 'unset CDPATH'))]
        for n, every in lines.items()
    }
    moves = {name: found for name, found in moves.items() if found}
    assert len(moves) > 10
    assert [name for name, found in moves.items() if not found[0].startswith('unset')] == []


NOPE, FULL = "no system 'nope' in systems/\nhint: there are ", "\nhint: did you mean '--full'?"


@pytest.mark.parametrize('words, fact', [
    (['make', 'run', 'SYSTEM=nope'], NOPE), (['make', 'run', 'SYSTEM=nope:part'], "'nope:part'"),
    (['make', 'run', 'ARGS=-n stream --system=nope'], NOPE),
    (['make', 'run', 'ARGS=--system nope -n stream'], NOPE),
    (['ci/nightly', '--system', 'nope'], NOPE),
    (['make', 'run', 'ARGS=--ful'], FULL), (['make', 'run', 'ARGS=full'], "argument 'full'"),
    (['ci/nightly', '--minute', '3'], "'--minutes'?"),
    (['make', 'test', 'ARGS=tests/x'], "no test 'tests/x'"),
    (['make', 'run', 'ARGS=-C own.py --system nope'], ''), (['make', 'run'], ''),
    (['make', 'run', "ARGS=-J '#SBATCH --x'"], ''), (['make', 'run', 'ARGS=--repeat=3'], ''),
    (['make', 'run', 'SYSTEM=thin:thin'], ''), (['ci/nightly', '--minutes', '3'], ''),
])  # fmt: skip
def test_what_is_mistyped_is_refused_before_the_set_up(root, call, tmp_path, words, fact):
    """A copy without .venv, whose Python is too old for one: the sentence came after 385 s."""
    for name in ('ci', 'configs', 'systems'):
        shutil.copytree(root / name, tmp_path / name)
    for name in ('Makefile', 'pyproject.toml', 'setup-env.sh'):
        shutil.copy(root / name, tmp_path)
    (tmp_path / 'python').write_text('#!/bin/sh\nexit 3\n')
    (tmp_path / 'python').chmod(0o755)
    done = call(*words, cwd=tmp_path, PYTHON=tmp_path / 'python', NO_APT=1, MEMBW_ROOT='')
    assert done.returncode == 2 and (fact or 'needs 3.10 or') in done.stderr, done


def test_a_checkout_of_another_owner_knows_its_commit(call, tmp_path):
    """A service account's: git refuses it, and the record had no commit."""
    if os.geteuid():
        pytest.skip('another owner can be made by root alone')
    identity = ('-c', 'user.name=a', '-c', 'user.email=a@b')
    for words in ['init', '-q'], [*identity, 'commit', '-q', '--allow-empty', '-m', 'x']:
        assert call('git', *words, cwd=tmp_path).returncode == 0
    head = call('git', 'rev-parse', 'HEAD', cwd=tmp_path).stdout.strip()
    (tmp_path / 'reframe-checks').mkdir()
    for path in (tmp_path, *tmp_path.rglob('*')):
        os.chown(path, 65534, 65534)
    assert call('git', 'rev-parse', 'HEAD', cwd=tmp_path).returncode != 0
    code = 'from membw.presets import sources; print(sources.commit())'
    assert call('python', '-c', code, MEMBW_ROOT=tmp_path).stdout.strip() == head


def test_a_second_run_at_the_same_time_is_refused(call, root, one_run):
    (root / 'results').mkdir(exist_ok=True)
    with open(root / 'results' / 'run.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = call('membw', 'run', '-n', 'stream')
    assert done.returncode == 2
    assert 'another run is under way here' in done.stderr


def test_a_user_without_an_entry_in_passwd_has_a_name(root, tmp_path):
    """In a container of any number: ReFrame stopped with a type error."""
    (tmp_path / 'id').write_text('#!/bin/sh\n[ "$1" = -u ] && echo 4242\n')  # TEST DOUBLE
    (tmp_path / 'id').chmod(0o755)
    bare = {'PATH': f'{tmp_path}:{os.environ["PATH"]}', 'HOME': '/'}
    for user, name in ({}, '4242'), ({'LOGNAME': 'ci'}, ''):
        words = ['sh', '-c', '. ./setup-env.sh; echo "$USER"']
        done = subprocess.run(
            words, cwd=root, env={**bare, **user}, capture_output=True, text=True
        )
        assert done.stdout == f'{name}\n', done.stderr


@pytest.mark.parametrize('words, without', [
    ((), ' --no-spack'), (('ARGS=--full',), ''), (('SYSTEM=thin',), ''),
])  # fmt: skip
def test_the_first_run_does_not_wait_for_spack(root, call, tmp_path, words, without):
    shutil.copy(root / 'Makefile', tmp_path)
    (tmp_path / 'ci').mkdir()
    (tmp_path / 'ci/setup.sh').write_text('echo set-up "$@"\n')
    (tmp_path / 'setup-env.sh').write_text('PATH=$PWD:$PATH\n')
    (tmp_path / 'membw').write_text('#!/bin/sh\necho membw "$@"\n')
    (tmp_path / 'membw').chmod(0o755)
    out = call('make', '-s', 'run', *words, cwd=tmp_path).stdout
    assert out.splitlines()[0] == f'set-up{without}' and out.splitlines()[1].startswith(
        'membw run'
    )


def test_what_is_left_out_of_pythonpath_is_said_where_it_is_missed(call, tmp_path):
    """`PYTHONPATH=. reframe -C config/surf_snellius.py`: "No module named 'eessi'", no more."""
    (tmp_path / 'eessi').mkdir()
    code = (
        f'import os, runpy; os.environ["PYTHONPATH"] = {str(tmp_path)!r}\n'
        'runpy.run_path("ci/no_pythonpath.py")\nimport {}'
    )
    done = call('python', '-c', code.format('eessi.testsuite'))
    assert f"membw: '{tmp_path}' of PYTHONPATH, which has 'eessi', is left out" in done.stderr
    done = call('python', '-c', code.format('no_such_module'))
    assert 'left out' not in done.stderr and 'No module named' in done.stderr
