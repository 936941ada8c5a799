"""Installed without a checkout: the user's folder, from one release to the next."""

import hashlib
import json
import os
import string
import subprocess
from pathlib import Path

import pytest
import yaml
from places import ROOT

from membw import unpack
from membw.errors import MembwError
from membw.presets import presets


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


def test_a_folder_that_cannot_be_is_told(release, monkeypatch, tmp_path):
    (tmp_path / 'file').write_text('')
    for name, said in (('a b', 'a space or a sign'), ('file/home', 'cannot write')):
        monkeypatch.setenv('MEMBW_HOME', str(tmp_path / name))
        with pytest.raises(MembwError, match=said):
            release({'src/a.c': 'a'})


def test_a_checkout_and_an_installed_membw_refuse_the_same_paths():
    """The set-up has no Python yet: its list is a shell's."""
    script = Path(ROOT, 'ci/setup.sh').read_text()
    function = script[script.index('path_is_fit() {') : script.index('# Two shells')]
    code = f'die() {{ printf x; }}; {function}\nfor root; do path_is_fit; echo; done'
    signs = [f'/a{sign}b' for sign in (*string.punctuation, ' ', '\t', '\n', 'é', 'x')]
    done = subprocess.run(['sh', '-c', code, 'sh', *signs], capture_output=True, text=True)
    assert [line == 'x' for line in done.stdout.splitlines()] == [
        bool(unpack.READ_BY_SHELLS.search(path)) for path in signs
    ]


def test_without_a_word_it_is_where_a_users_data_are(monkeypatch):
    monkeypatch.delenv('MEMBW_HOME', raising=False)
    monkeypatch.setenv('XDG_DATA_HOME', '/data')
    assert unpack.home().as_posix() == '/data/membw'
    monkeypatch.delenv('XDG_DATA_HOME')
    assert unpack.home().as_posix() == os.path.expanduser('~/.local/share/membw')


def test_the_release_is_the_same_wherever_it_is_said(root):
    """One place (src/harness/config.h), and the file that cannot read it."""
    cited = yaml.safe_load((root / 'CITATION.cff').read_text())
    assert cited['version'] == presets.version()
