"""Installed without a checkout: the user's folder, from one release to the next."""

import hashlib
import json

import pytest

from membw import unpack


@pytest.fixture
def release(tmp_path, monkeypatch):
    """release({path: text}): a wheel of these files; the folder that it unpacks."""
    monkeypatch.setenv('MEMBW_HOME', str(tmp_path / 'home'))
    monkeypatch.setattr(unpack, 'DATA', tmp_path / 'data')
    monkeypatch.setattr(unpack, 'LIST', tmp_path / 'data/files.json')

    def install(files):
        for name, text in files.items():
            (tmp_path / 'data' / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / 'data' / name).write_text(text)
        sums = {n: hashlib.sha256(text.encode()).hexdigest() for n, text in files.items()}
        (tmp_path / 'data/files.json').write_text(json.dumps(sums))
        unpack.unpacked.cache_clear()
        return unpack.unpacked()

    yield install
    unpack.unpacked.cache_clear()


def test_what_a_site_edited_stays_and_what_it_added_too(release, capsys):
    old = {'systems/thin.yaml': 'thin', 'src/a.c': 'a', 'src/gone.c': 'gone', 'src/b.c': 'b'}
    folder = release(old)
    assert (folder / 'systems/thin.yaml').read_text() == 'thin'
    (folder / 'systems/thin.yaml').write_text('ours')
    (folder / 'systems/mine.yaml').write_text('mine')
    (folder / 'src/b.c').write_text('tried')
    capsys.readouterr()
    release({'systems/thin.yaml': 'newer', 'src/a.c': 'a2', 'src/b.c': 'b2'})
    found = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob('*.[cy]*')}
    assert found == {
        'systems/thin.yaml': 'ours',
        'systems/thin.yaml.new': 'newer',
        'systems/mine.yaml': 'mine',
        'src/a.c': 'a2',
        'src/b.c': 'b2',
    }
    assert "thin.yaml' was edited and stays" in capsys.readouterr().err


def test_the_same_release_is_unpacked_once(release):
    folder = release({'src/a.c': 'a'})
    (folder / 'src/a.c').write_text('edited in between')
    release({'src/a.c': 'a'})
    assert (folder / 'src/a.c').read_text() == 'edited in between'
