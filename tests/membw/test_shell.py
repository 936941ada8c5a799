"""Man pages, of what --help says."""

import re
import subprocess

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
