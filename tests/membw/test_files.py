"""What is written as a whole: nothing but a regular file is ever replaced."""

import errno
import os
import resource
import shutil
import threading

import made_up_records
import pytest

from membw.cli import main
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


@pytest.mark.parametrize('command', [['rank'], ['history'], ['report', '-o', '/dev/null']])
def test_a_folder_of_another_user_is_not_empty(tmp_path, fleet, capsys, monkeypatch, command):
    """umask 077: it was 'nothing was measured'. Root may read all: the kernel's no is planted."""
    results = tmp_path / 'results'
    for name in ('theirs', 'lost+found'):
        (results / name).mkdir(parents=True)
    listed = os.scandir

    def scandir(path):
        if str(path).endswith(('theirs', 'lost+found')):
            raise PermissionError(errno.EACCES, 'Permission denied', str(path))
        return listed(path)

    monkeypatch.setattr(os, 'scandir', scandir)
    judged = 0 if command[0] == 'report' else 1  # it is written, and says so
    for status in (2, judged):  # with nothing else there; then the rest is judged
        assert main([*command, str(results)]) == status
        err = capsys.readouterr().err
        assert "theirs': Permission denied: another user's?" in err and 'lost+found' not in err
        shutil.copy(fleet, results)


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


@pytest.fixture
def fleet(tmp_path):
    return made_up_records.write(tmp_path / 'fleet.jsonl', made_up_records.fleet(20))


@pytest.mark.parametrize(
    'words', [['rank', '--node-check'], ['report', '-o'], ['export', '--output']], ids=' '.join
)
def test_a_disk_that_fills_leaves_the_last_file_and_nothing_beside_it(
    tmp_path, fleet, capsys, words
):
    """A node that is cut off a node-check file would pass for one that nobody measured."""
    file = tmp_path / 'kept' / 'file.png'
    file.parent.mkdir()
    file.write_bytes(b'of last night')
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        assert main([words[0], str(fleet), *words[1:], str(file)]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert f"membw: cannot write '{file}': File too large" in capsys.readouterr().err
    assert file.read_bytes() == (b'of last night')
    assert os.listdir(file.parent) == [file.name]
