"""Where the command begins."""

import os
import subprocess
import sys

import pytest

READ = """import sys
from membw import cli, start
cli.main = lambda: print(sys.flags.utf8_mode, open(sys.argv[1]).read())
start.main()
"""


@pytest.mark.parametrize('words', [[], ['-X', 'utf8=0']], ids=' '.join)
def test_files_are_utf8_where_the_locale_is_ascii(tmp_path, words):
    """Each file with a letter of another alphabet was 'text that is not ascii'. Who insists on the
    locale (-X) has it, and the command does not begin again for ever."""
    (tmp_path / 'file').write_text('Zürich', encoding='utf-8')
    line = [sys.executable, *words, '-c', READ, tmp_path / 'file']
    env = {**os.environ, 'LC_ALL': 'C', 'PYTHONUTF8': '0'}
    done = subprocess.run(line, env=env, capture_output=True, timeout=60)
    if words:
        assert b'UnicodeDecodeError' in done.stderr
    else:
        assert done.stdout == '1 Zürich\n'.encode(), done.stderr
