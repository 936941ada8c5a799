"""The chase visits each line once per lap, in no order to foresee, and sees a wrong link."""

import subprocess
from pathlib import Path

import pytest
from changed_source import copy_source, other_machine


@pytest.fixture(scope='module')
def chase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the machine whose /sys is in `root` next to it, if there is one."""
    folder = tmp_path_factory.mktemp('probe')
    program, source = folder / 'chase', copy_source(folder, *other_machine(folder / 'root'))
    probe = folder / 'tests/probes/chase.c'
    line = ['gcc', '-O2', '-fopenmp', '-w', f'-I{source}', str(probe), '-o', str(program)]
    subprocess.run(line, check=True, timeout=300)
    return program


def walked(chase: Path, lines: int, seed: int, bent: int = -1) -> list[int]:
    words = [str(chase), str(lines), str(seed), str(bent)]
    out = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    return [int(word) for word in out.split()]


@pytest.mark.parametrize('lines', [64, 512, 1000, 4096, 20000, 131072])
def test_a_lap_visits_each_line_once_and_ends_where_it_began(chase: Path, lines: int) -> None:
    for seed in (0, 1, 12345):
        once, close_by, after_lap, after_more = walked(chase, lines, seed)
        assert (once, after_lap, after_more) == (lines, 1, 1)
        # 16 of a random order: sixteen lines of each line's surroundings
        assert close_by <= 40


def test_a_link_to_a_wrong_line_is_seen_by_where_the_walk_ends(chase: Path) -> None:
    for bent in (0, 17, 500, 998):
        assert walked(chase, 1000, 3, bent)[2:] != [1, 1]


@pytest.mark.parametrize(
    'said, bytes_', [('64', 64), ('128', 128), ('256', 256), ('48', 64), ('32', 64), ('4096', 64)]
)
def test_the_lines_are_as_long_as_the_machines(chase: Path, said: str, bytes_: int) -> None:
    """128 bytes on POWER, 256 on A64FX; what no line can be is not believed."""
    cache = chase.parent / 'root/sys/devices/system/cpu/cpu0/cache'
    for index, line in enumerate(('32', said)):
        (cache / f'index{index}').mkdir(parents=True, exist_ok=True)
        (cache / f'index{index}/coherency_line_size').write_text(f'{line}\n')
    once, _, after_lap, after_more = walked(chase, 64 * 1024, 3)
    assert (once, after_lap, after_more) == (64 * 1024 * 64 // bytes_, 1, 1)
