"""`stream --at-least`: one line and an exit status for NHC, Slurm's health check and prologs."""

import os
import re
import subprocess

import pytest
import silent_kernel

QUIET = ['-n', '1000000', '-t', '3', '--allow']
QUIET += ['array-too-small,too-short,oversubscribed,wrong-pinning']


@pytest.fixture(scope='module')
def stream(build_program):
    return build_program('stream')


def check(stream, *words):
    done = subprocess.run([stream, *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def below(line):
    """FAIL, or of a lower bound on a busy machine UNDECIDED."""
    figure = r'FAIL triad [\d.]+ GB/s, at least 1e\+06'
    bound = r'UNDECIDED triad >= [\d.]+ GB/s, at least 1e\+06: disturbed, measure again'
    return re.fullmatch(f'membw: ({figure}|{bound})\n', line)


def test_a_bound_below_its_floor_is_undecided_and_one_above_it_passes(stream, tmp_path):
    """Three of three healthy nodes were refused at a load of 12."""
    swaps = {**os.environ, **silent_kernel.that_swaps(tmp_path)}
    for floor, said, status in ('1e6', 'UNDECIDED', 1), ('0.001', 'PASS', 0):
        words = [stream, *QUIET, '--at-least', f'triad={floor}']
        done = subprocess.run(words, capture_output=True, text=True, env=swaps)
        assert done.returncode == status and done.stdout.startswith(f'membw: {said} triad >= ')


def test_figures_above_their_floors_pass_in_one_line(stream):
    status, out, err = check(stream, *QUIET, '--at-least', 'triad=0.001,copy=2e-3')
    assert (status, err, out.count('\n')) == (0, '', 1)
    assert out.startswith('membw: PASS copy ') and out.endswith(' GB/s, at least 0.001\n')
    assert '; triad ' in out


def test_a_figure_below_its_floor_fails_and_is_the_one_that_is_named(stream):
    status, out, _ = check(stream, *QUIET, '--at-least', 'triad=1e6,copy=0.001')
    assert status == 1 and out.count('\n') == 1 and below(out)
    assert 'copy' not in out


def test_an_invalid_figure_neither_passes_nor_fails(stream):
    status, out, _ = check(stream, '-n', '1000', '-t', '3', '--at-least', 'triad=0.001')
    assert status == 1 and out.startswith('membw: INVALID array-too-small (1000 elements')


def test_the_time_is_a_bound_whatever_is_measured(stream):
    words = ('--seconds', '0.2', '--at-least', 'triad=0.001', '-n', '20000000', '-t', '9999')
    status, out, _ = check(stream, *words)
    assert (status, out) == (1, 'membw: NOT MEASURED within 0.2 s\n')


def test_floors_come_from_a_file_with_comments_as_well(stream, tmp_path):
    (tmp_path / 'floors').write_text(
        '# of 2026-11\ntriad=1e6 # too much\n\nadd=0.001,scale=0.001\n'
    )
    status, out, _ = check(stream, *QUIET, '--at-least', tmp_path / 'floors')
    assert status == 1 and below(out)


FLOORS = 'quad=1 triad triad= triad=-1 triad=nan =1 triad=1,triad=2 triad=1;copy=2 /no'.split()


@pytest.mark.parametrize('floors', FLOORS)
def test_wrong_floors_are_a_usage_error(stream, floors):
    status, out, err = check(stream, '--at-least', floors)
    assert (status, out) == (2, '') and err.startswith("membw: invalid value for '--at-least'")
