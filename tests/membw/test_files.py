"""What is written as a whole: nothing but a regular file is ever replaced."""

import os
import subprocess
import sys
import threading

import pytest

from membw.errors import MembwError
from membw.files import write_whole


def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path):
    """So do devices: `membw report -o /dev/null` by root once made a file of it."""
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    texts = []
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, 'a page')
    reader.join(10)
    assert texts == ['a page'] and pipe.is_fifo()
    write_whole('/dev/null', 'x')
    assert not os.path.isfile('/dev/null')


@pytest.mark.parametrize('redirected', [False, True])
def test_dev_stdout_is_written_through(tmp_path, redirected):
    """Where stdout is a file, too: its name is not the file's."""
    words = [
        sys.executable,
        '-c',
        "from membw.files import write_whole as w; w('/dev/stdout', 'x')",
    ]
    with open(tmp_path / 'out', 'w') as file:
        stdout = file if redirected else subprocess.PIPE
        done = subprocess.run(words, stdout=stdout, text=True, check=True)
    assert (tmp_path / 'out').read_text() == ('x' if redirected else '')
    assert done.stdout == (None if redirected else 'x')
    assert [p.name for p in tmp_path.iterdir()] == ['out']


def test_a_link_stays_a_link_and_its_target_keeps_its_mode(tmp_path):
    target, link = tmp_path / 'target', tmp_path / 'link'
    target.write_text('old')
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, 'new')
    assert link.is_symlink() and target.read_text() == 'new'
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ['link', 'target']


def test_what_cannot_be_written_leaves_the_last_good_one(tmp_path):
    with pytest.raises(MembwError, match='cannot write'):
        write_whole(tmp_path / 'gone/file', 'x')
    old = tmp_path / 'old'
    old.write_text('good')
    with pytest.raises(TypeError):
        write_whole(old, 7)
    assert old.read_text() == 'good' and [p.name for p in tmp_path.iterdir()] == ['old']
