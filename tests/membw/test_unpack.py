"""Installed without a checkout: the user's folder, from one release to the next."""

import hashlib
import json

import pytest

from membw import checkout


@pytest.fixture
def release(tmp_path, monkeypatch):
    """release({path: text}): a wheel of these files; the folder that it unpacks."""
    monkeypatch.setenv('MEMBW_HOME', str(tmp_path / 'home'))
    monkeypatch.setattr(checkout, 'DATA', tmp_path / 'data')
    monkeypatch.setattr(checkout, 'LIST', tmp_path / 'data/files.json')

    def install(files):
        for name, text in files.items():
            (tmp_path / 'data' / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / 'data' / name).write_text(text)
        sums = {n: hashlib.sha256(text.encode()).hexdigest() for n, text in files.items()}
        (tmp_path / 'data/files.json').write_text(json.dumps(sums))
        checkout.unpacked.cache_clear()
        return checkout.unpacked()

    yield install
    checkout.unpacked.cache_clear()


def test_what_a_site_edited_stays_and_what_it_added_too(release, capsys):
    old = {'systems/thin.yaml': 'thin', 'src/a.c': 'a', 'src/gone.c': 'gone', 'src/b.c': 'b'}
    folder = release(old)
    ours = {'systems/thin.yaml': 'ours', 'systems/mine.yaml': 'mine', 'src/b.c': 'tried'}
    for name, text in ours.items():
        (folder / name).write_text(text)

    def found():
        files = folder.rglob('*.[cy]*')
        return {path.relative_to(folder).as_posix(): path.read_text() for path in files}

    release(old)  # the same release is unpacked once
    assert found() == {**old, **ours}
    capsys.readouterr()
    new = {'systems/thin.yaml': 'newer', 'src/a.c': 'a2', 'src/b.c': 'b2'}
    release(new)
    kept = {'systems/thin.yaml': 'ours', 'systems/mine.yaml': 'mine'}
    assert found() == {**new, **kept, 'systems/thin.yaml.new': 'newer'}
    assert "thin.yaml' was edited and stays" in capsys.readouterr().err
