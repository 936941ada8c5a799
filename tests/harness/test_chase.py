"""The chase visits each line once per lap, in no order to foresee, and sees a wrong link."""

import subprocess

import pytest
from changed_source import OTHER_MACHINE, write_files


@pytest.fixture
def walked(build_program, tmp_path, monkeypatch):
    """walked(lines, seed, bent): what the probe says of it, on the machine in tmp_path."""
    monkeypatch.setenv('MACHINE', str(tmp_path))
    chase = build_program('tests/probes/chase.c', '-O2', changes=OTHER_MACHINE)

    def of(lines, seed, bent=-1):
        words = [chase, str(lines), str(seed), str(bent)]
        done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60)
        return [int(word) for word in done.stdout.split()]

    return of


def test_a_lap_visits_each_line_once_and_ends_where_it_began(walked):
    for lines in (64, 512, 1000, 4096, 20000, 131072):
        for seed in (0, 1, 12345):
            once, close_by, after_lap, after_more = walked(lines, seed)
            assert (once, after_lap, after_more) == (lines, 1, 1)
            # 16 of a random order: sixteen lines of each line's surroundings
            assert close_by <= 40


def test_a_link_to_a_wrong_line_is_seen_by_where_the_walk_ends(walked):
    for bent in (0, 17, 500, 998):
        assert walked(1000, 3, bent)[2:] != [1, 1]


@pytest.mark.parametrize(
    'said, bytes_', [('64', 64), ('128', 128), ('256', 256), ('48', 64), ('32', 64), ('4096', 64)]
)
def test_the_lines_are_as_long_as_the_machines(walked, tmp_path, said, bytes_):
    """128 bytes on POWER, 256 on A64FX; what no line can be is not believed."""
    cache = 'sys/devices/system/cpu/cpu0/cache/index{}/coherency_line_size'
    write_files(tmp_path, {cache.format(0): '32', cache.format(1): said})
    once, _, after_lap, after_more = walked(64 * 1024, 3)
    assert (once, after_lap, after_more) == (64 * 1024 * 64 // bytes_, 1, 1)
