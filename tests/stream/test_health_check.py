"""`stream --at-least`: one line and an exit status for NHC, Slurm's health check and prologs."""

import os
import re
import subprocess

import pytest
import silent_kernel
from changed_source import SHORT_LOOKS

QUIET = ['-n', '1000000', '-t', '3', '--allow']
QUIET += ['array-too-small,too-short,oversubscribed,wrong-pinning']
# such a short run as if it needed no --allow
BIG_ENOUGH = [
    ('stream/health/floors.c', 'verdict_set(ALLOWED)', '0'),
    ('harness/verdict.c', 'verdict_set(FOUND) | verdict_set(ALLOWED)', 'verdict_set(FOUND)'),
]


@pytest.fixture(scope='module')
def stream(build_program):
    return build_program('stream', changes=[SHORT_LOOKS, *BIG_ENOUGH])


def check(stream, *words):
    done = subprocess.run([stream, *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


# value, low, high, bound, floor, word, what is said of it: membw.results.verdict at its borders
CACHE, NOISE, TWICE = 'a cache may hold the arrays', 'disturbed, measure again', 'measure again'
WORDS = [
    (20, 19, 21, 'none', 19.5, 'PASS', '20.0', ''),
    (20, 19, 21, 'none', 20, 'PASS', '20.0', ''),
    (20, 19, 21, 'none', 20.5, 'UNDECIDED', '20.0', TWICE),
    (20, 19, 21, 'none', 21, 'UNDECIDED', '20.0', TWICE),
    (20, 19, 21, 'none', 21.1, 'FAIL', '20.0', ''),
    (20, 0, 0, 'lower', 20, 'PASS', '>= 20.0', ''),
    (20, 0, 0, 'lower', 21, 'UNDECIDED', '>= 20.0', NOISE),
    (20, 0, 0, 'upper', 19, 'UNDECIDED', '<= 20.0', CACHE),
    (20, 0, 0, 'upper', 21, 'UNDECIDED', '<= 20.0', CACHE),
    (20, 0, 0, 'unknown', 19, 'UNDECIDED', '~ 20.0', CACHE),
    (0, 0, 0, 'lower', 19, 'UNDECIDED', '>= 0.0', NOISE),
    ('nan', 0, 0, 'none', 19, 'UNDECIDED', 'nan', TWICE),
]


@pytest.fixture(scope='module')
def floors(build_program):
    return build_program('tests/probes/floors.c', '-O1', '-ffast-math')


def test_a_floor_is_judged_by_the_table_of_words(floors):
    text = ''.join(f'{" ".join(map(str, row[:5]))}\n' for row in WORDS)
    done = subprocess.run([floors], input=text, capture_output=True, text=True)
    for row, said in zip(WORDS, done.stdout.splitlines(), strict=True):
        *_, floor, word, figure, why = row
        interval = ' (19.0 to 21.0)' if why == TWICE and row[0] == 20 else ''
        assert said.startswith(f'membw: {word} triad {figure} GB/s{interval}'), row
        assert said.endswith(f', at least {floor}: {why}' if why else f', at least {floor}'), row


@pytest.mark.parametrize('status', [0, 1, 2])
def test_a_pass_does_not_hide_the_status_of_the_run(floors, status):
    """A record that could not be written is no PASS for who reads the exit status."""
    done = subprocess.run([floors, str(status)], capture_output=True, text=True)
    assert done.stdout == 'membw: PASS triad 20.0 GB/s, at least 19\n'
    assert done.returncode == status


def test_a_line_that_could_not_be_written_is_no_pass(floors):
    with open('/dev/full', 'w') as full:
        assert subprocess.run([floors, '0'], stdout=full).returncode == 1


def test_a_bound_below_its_floor_is_undecided_and_one_above_it_passes(stream):
    swaps = {**os.environ, **silent_kernel.preloaded('swaps')}
    for floor, said, status in ('1e6', 'UNDECIDED', 1), ('0.001', 'PASS', 0):
        words = [stream, *QUIET, '--at-least', f'triad={floor}']
        done = subprocess.run(words, capture_output=True, text=True, env=swaps)
        assert done.returncode == status and done.stdout.startswith(f'membw: {said} triad >= ')


def test_figures_above_their_floors_pass_in_one_line(stream):
    status, out, err = check(stream, *QUIET, '--at-least', 'triad=0.001,copy=2e-3')
    assert (status, err, out.count('\n')) == (0, '', 1)
    assert out.startswith('membw: PASS copy ') and out.endswith(' GB/s, at least 0.001\n')
    assert '; triad ' in out


def test_a_figure_far_below_its_floor_is_the_one_that_is_named(stream):
    status, out, _ = check(stream, *QUIET, '--at-least', 'read=1e6,copy=0.001')
    figure = r'FAIL read [\d.]+ GB/s, at least 1000000'
    bound = r'UNDECIDED read >= [\d.]+ GB/s, at least 1000000: disturbed, measure again'
    assert status == 1 and re.fullmatch(f'membw: ({figure}|{bound})\n', out)


def test_an_invalid_figure_neither_passes_nor_fails(stream):
    status, out, _ = check(stream, '-n', '1000', '-t', '3', '--at-least', 'triad=0.001')
    assert status == 1 and out.startswith('membw: INVALID array-too-small (1000 elements')


def test_what_was_allowed_decides_nothing(build_program):
    status, out, _ = check(build_program('stream'), *QUIET, '--at-least', 'triad=0.001')
    assert status == 1 and out.startswith('membw: UNDECIDED allowed: array-too-small (')


def test_the_time_is_a_bound_whatever_is_measured(stream):
    words = ('--seconds', '0.2', '--at-least', 'triad=0.001', '-n', '20000000', '-t', '9999')
    status, out, _ = check(stream, *words)
    assert (status, out) == (1, 'membw: MISSING not measured within 0.2 s\n')


def test_floors_come_from_a_file_with_comments_as_well(stream, tmp_path):
    text = '# of 2026-11\ntriad=1e6 # too much\n\nadd=0.001,scale=0.001\n'
    (tmp_path / 'floors').write_text(text)
    status, out, _ = check(stream, *QUIET, '--at-least', tmp_path / 'floors')
    assert status == 1 and 'triad' in out and 'at least 1000000' in out and out.count('\n') == 1


def test_wrong_floors_are_a_usage_error(stream):
    for floors in (
        'quad=1 reads=1 triad triad= triad=-1 triad=nan =1 triad=1,triad=2 triad=1;copy=2 /no'
    ).split():
        status, out, err = check(stream, '--at-least', floors)
        assert (status, out) == (2, ''), floors
        assert err.startswith("membw: invalid value for '--at-least'")
