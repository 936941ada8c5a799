"""Man pages, of what --help says."""

import re
import subprocess

import pytest

from membw.cli import COMMANDS


def test_every_command_and_program_has_a_man_page(call, need, build_program, root, tmp_path):
    need('mandoc')
    done = call('python', root / 'ci/man.py', tmp_path, build_program('stream'))
    assert done.returncode == 0, done.stderr
    pages = sorted((tmp_path / 'man1').iterdir())
    named = {'membw.1', 'stream.1', *(f'membw-{name}.1' for name in COMMANDS)}
    assert {page.name for page in pages} == named
    lint = subprocess.run(['mandoc', '-T', 'lint', '-W', 'error', *pages], capture_output=True)
    assert lint.returncode == 0, lint.stdout
    run = (tmp_path / 'man1/membw-run.1').read_text()
    assert '.TH MEMBW-RUN "1"' in run and re.search(r'^membw\\-run \\- measure', run, re.M)
    rank = (tmp_path / 'man1/membw-rank.1').read_text()
    assert {'SYNOPSIS', 'EXAMPLES', 'EXIT STATUS'} <= set(re.findall(r'^\.SH (.*)', rank, re.M))
    assert re.search(r'^  membw rank results/.*\n  membw rank', rank, re.M), 'a line per example'
    shown = subprocess.run(
        ['mandoc', tmp_path / 'man1/membw-run.1'], capture_output=True, text=True
    )
    assert '--rounds' in re.sub('.\b', '', shown.stdout)


@pytest.mark.parametrize('line, word', [
    ('membw ra', 'rank'), ('membw rank --node-', '--node-check'), ('membw run --ful', '--full'),
    ('membw export --format open', 'openmetrics'), ('membw accept --p', '--plan'),
])  # fmt: skip
def test_the_shell_completes_commands_options_and_their_values(call, line, word):
    script = 'eval "$(register-python-argcomplete membw)"; COMP_WORDS=($COMP_LINE)'
    last = '_python_argcomplete membw; printf "%s\\n" "${COMPREPLY[@]}"'
    number = {'COMP_LINE': line, 'COMP_POINT': str(len(line)), 'COMP_TYPE': '9'}
    place = 'COMP_CWORD=$((${#COMP_WORDS[@]} - 1))'
    done = call('bash', '-c', f'{script}; {place}; {last}', **number)
    assert word in done.stdout.split(), done.stdout + done.stderr


@pytest.mark.parametrize('file, shell', [('membw', 'bash'), ('_membw', 'zsh')])
def test_the_files_that_pip_installs_are_read_by_their_shell(call, need, root, file, shell):
    need(shell)
    begin = 'autoload -Uz compinit; compinit -u;' if shell == 'zsh' else ''
    path = root / 'ci/completion' / file
    done = call(shell, '-c', f'{begin} . {path} && (type _python_argcomplete || type compdef)')
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_without_membw_s_packages_the_programs_have_theirs(call, build_program, root, tmp_path):
    """As by `make install`: the machine's own Python."""
    done = call('python', '-S', root / 'ci/man.py', tmp_path, build_program('stream'))
    assert done.returncode == 0, done.stderr
    assert [page.name for page in (tmp_path / 'man1').iterdir()] == ['stream.1']
