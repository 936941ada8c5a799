"""What a shell and its user find: completion by the tab key, man pages."""

import re
import subprocess

import pytest

from membw.cli import COMMANDS

ASK = """
eval "$(membw completion bash)"
complete -p membw >/dev/null
COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9 IFS=$'\\013' _ARGCOMPLETE=1 _ARGCOMPLETE_IFS=$'\\n' \
    membw 8>&1 9>/dev/null
"""


@pytest.mark.parametrize('line, found', [
    ('membw sum', 'summary'), ('membw run --ro', '--rounds'), ('membw rank --mar', '--margin'),
    ('membw run --system uly', 'ulysses'),
])  # fmt: skip
def test_the_tab_key_completes_commands_options_and_systems(call, line, found):
    done = call('bash', '-euc', ASK, 'bash', line)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [found]


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
