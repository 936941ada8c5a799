"""What is written as a whole: nothing but a regular file is ever replaced."""

import contextlib
import errno
import os
import resource

import made_up_records
import pytest

from membw.errors import MembwError
from membw.files import write_whole
from membw.results.hostlist import expected_nodes


def test_what_cannot_be_written_leaves_the_last_good_one(tmp_path):
    with pytest.raises(MembwError, match='cannot write'):
        write_whole(tmp_path / 'gone/file', 'x')
    old = tmp_path / 'old'
    old.write_text('good')
    with pytest.raises(TypeError):
        write_whole(old, 7)
    assert old.read_text() == 'good' and [p.name for p in tmp_path.iterdir()] == ['old']


@pytest.mark.parametrize('words', ['rank --node-check', 'report -o', 'export --output'])
def test_a_disk_that_fills_leaves_the_last_file_alone(tmp_path, stored, membw, monkeypatch, words):
    """A node that is cut off a node-check file would pass for one that nobody measured."""
    fleet = stored(made_up_records.fleet(20))
    file = tmp_path / 'kept' / 'file.png'
    file.parent.mkdir()
    file.write_bytes(b'of last night')
    monkeypatch.setattr('sys.dont_write_bytecode', True)  # cut off, it would stay
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        status, _, err = membw(*words.split(), file, fleet)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 2 and f"membw: cannot write '{file}': File too large" in err
    assert file.read_bytes() == b'of last night' and os.listdir(file.parent) == [file.name]


def test_a_list_of_nodes_as_windows_writes_it(tmp_path):
    (tmp_path / 'nodes').write_bytes(b'\xef\xbb\xbfn001\r\nn002\r\n# rack 2\r\n')
    assert expected_nodes(f'{tmp_path}/nodes') == ['n001', 'n002']


def test_a_folder_that_is_gone_is_said_with_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(MembwError, match="cannot write 'x.html': No such file"):
        write_whole('x.html', '')


@pytest.mark.parametrize('error, is_written', [('EINVAL', 1), ('ENOSYS', 1), ('EIO', 0)])
def test_a_file_system_without_fsync(tmp_path, monkeypatch, error, is_written):
    def refuse(handle):
        raise OSError(getattr(errno, error), error)

    monkeypatch.setattr('os.fsync', refuse)
    with contextlib.nullcontext() if is_written else pytest.raises(MembwError, match=error):
        write_whole(tmp_path / 'x', 'y')
    assert [path.read_text() for path in tmp_path.iterdir()] == ['y'] * is_written
