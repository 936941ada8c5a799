"""A place of its own for `membw run`: no other run of this checkout is waited for, or seen."""

import pytest
from places import ROOT


@pytest.fixture
def own_place(own_root, monkeypatch, environment):
    """The checks and systems of this checkout, results of its own, a Slurm that is down."""
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
