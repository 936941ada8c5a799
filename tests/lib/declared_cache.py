"""A machine whose sysfs declares another last-level cache, as a slice of a large socket does."""

import pathlib
import subprocess

import pytest

CACHES = '/sys/devices/system/cpu/cpu*/cache/index*'


def words(folder, mib):
    """The words in front of a command for which each last-level cache has `mib` MiB. Only sysfs
    says so; the programs take the larger of it and CPUID."""
    caches = [path for path in pathlib.Path('/').glob(CACHES[1:]) if (path / 'size').exists()]
    if not caches:
        pytest.skip('sysfs has no caches here')
    last = max(int((path / 'level').read_text()) for path in caches)
    (folder / 'llc_size').write_text(f'{mib * 1024}K\n')
    mounts = [
        f'mount --bind {folder}/llc_size {path}/size'
        for path in caches
        if int((path / 'level').read_text()) == last
    ]
    before = ['unshare', '-m', 'sh', '-c', ' && '.join([*mounts, 'exec "$@"']), 'sh']
    if subprocess.run([*before, 'true'], capture_output=True).returncode:
        pytest.skip('unshare -m: not permitted here')
    return before
