"""The command in this process, records in a file, a place of its own for `membw run`."""

import made_up_records
import pytest
from made_run import MadeRun
from places import ROOT

from membw.cli import main


@pytest.fixture
def membw(capsys):
    """membw('rank', FILE): (exit status, standard output, standard error)."""

    def call(*words):
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def stored(tmp_path):
    """stored(RECORDS): the path of a file of them."""

    def of(rows, name='r.jsonl'):
        return str(made_up_records.write(tmp_path / name, rows))

    return of


@pytest.fixture
def made(tmp_path):
    return MadeRun(tmp_path)


@pytest.fixture
def own_place(own_root, monkeypatch, environment):
    """The checks and systems of this checkout, results that no other run sees, no Slurm."""
    for name in ('systems', 'reframe-checks'):
        (own_root / name).rmdir()
    for name in ('systems', 'reframe-checks', 'configs', 'src'):
        (own_root / name).symlink_to(ROOT / name)
    for tool in ('sbatch', 'sinfo'):
        (own_root / tool).write_text('#!/bin/sh\nexit 1\n')
        (own_root / tool).chmod(0o755)
    monkeypatch.setenv('PATH', f'{own_root}:{environment["PATH"]}')
    monkeypatch.setenv('RFM_CONFIG_PATH', str(own_root / 'configs'))
    return own_root
