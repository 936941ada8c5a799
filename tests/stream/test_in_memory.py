"""How stream knows that its arrays lie in memory, and what it does where they do not."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from record_schema import check

Run = Callable[..., tuple[dict[str, Any], str]]
MIB = 2**20


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """run(program, *options): (record, stdout)."""

    def of(program: Path, *options: str) -> tuple[dict[str, Any], str]:
        words = [program, '-t', '2', '--json', tmp_path / 'r.json', *options]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        return check(json.loads((tmp_path / 'r.json').read_text())), done.stdout

    return of


def with_rates(declared: int, cache: int) -> list[tuple[str, str, str]]:
    """A machine that declares so many bytes, and reads 90 GB/s up to CACHE bytes, 40 beyond."""
    loop = 'for (i = 0; i < sizes->count; i++) '
    rates = f'{loop}sizes->best[i] = bytes_of(sizes->of[i]) <= {cache}UL ? 90 : 40, '
    file = 'stream/in_memory.c'
    return [
        (
            file,
            'for (round = 0; round < ROUNDS; round++) {',
            f'{rates}sizes->windows[i] = 99;\n\tfor (round = 0; round < 0; round++) {{',
        ),
        (file, 'TOUCH_SECONDS = 0.9', 'TOUCH_SECONDS = 90'),
        (
            'stream/main.c',
            'run.llc_bytes = run.llc.bytes ?',
            f'run.llc.bytes = {declared};\n'
            '\trun.llc.from = LLC_FROM_SYSFS;\n\trun.llc_bytes = run.llc.bytes ?',
        ),
    ]


@pytest.fixture(scope='module')
def build(build_program: Callable[..., Path]) -> Callable[..., Path]:
    return lambda *rates: build_program('stream', changes=with_rates(*rates))


def test_a_size_of_the_rule_that_lies_in_a_cache_becomes_a_proven_one(build, run: Run) -> None:
    """8 MiB declared, so three arrays of 32 MiB; 200 MiB of cache."""
    record, output = run(build(8 * MIB, 200 * MIB))
    assert record['residency']['known'] == 'proven' and 'Arrays lie in memory: proven' in output
    assert 3 * 8 * record['array_size'] > 2 * 200 * MIB
    assert 'in their place: proven' in output
    assert not [r for r in record['reasons'] if r['reason'] == 'array-too-small']


@pytest.mark.shared
def test_a_size_given_that_lies_in_a_cache_is_invalid(build, run: Run) -> None:
    record, output = run(build(8 * MIB, 200 * MIB), '-n', str(4 * MIB))
    assert record['residency']['known'] == 'contradicted' and record['array_size'] == 4 * MIB
    assert 'invalid: array-too-small: arrays of 32.0 MiB lie in a cache' in output


def test_a_size_below_the_rule_that_is_proven_is_valid(build, run: Run) -> None:
    record, output = run(build(64 * MIB, 20 * MIB), '-n', str(8 * MIB))
    assert record['residency']['known'] == 'proven'
    assert 'array-too-small' not in output


def test_a_size_of_the_rule_that_takes_long_to_touch_becomes_the_smallest_proven(
    build_program, run: Run
) -> None:
    """Caches of 64 MiB ask for three arrays of 256 MiB, and 800 MiB can be touched."""
    changes = with_rates(64 * MIB, 30 * MIB)
    limit = (
        'for (i = 0; i < sizes->count && bytes_of(sizes->of[i]) <= 800UL << 20; i++) {\n\t\tconst'
    )
    slow = ('stream/in_memory.c', 'for (i = 0; i < sizes->count; i++) {\n\t\tconst', limit)
    record, _ = run(build_program('stream', changes=[*changes, slow]))
    assert record['residency']['known'] == 'proven'
    assert record['array_size'] < 32 * MIB


def test_here_arrays_of_8_mib_are_unknown_untimed_and_the_automatic_ones_lie_in_memory(
    build_program, run: Run
) -> None:
    """No timing proves a size that the declared caches could hold: 2 s less."""
    small, output = run(build_program('stream'), '-n', str(MIB))
    assert (small['residency']['known'], small['residency']['seconds']) == ('unknown', 0)
    assert 'invalid: array-too-small: arrays of 8.0 MiB are not proven' in output
    large, _ = run(build_program('stream'))
    assert large['residency']['known'] in ('proven', 'declared')
