"""`stream --at-least`: one line and an exit status for NHC, Slurm's health check and prologs."""

import os
import re
import subprocess

import pytest
import silent_kernel
from places import ROOT

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
    assert (status, out) == (1, 'membw: FAIL not measured within 0.2 s\n')


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


# --- the entries -----------------------------------------------------------------------------


def entry(name, stream, floors, *, shell='sh', before='', after=''):
    """What an entry does with these floors; `die`, `log` and scontrol only say what they got."""
    (floors.parent / 'scontrol').write_text('#!/bin/sh\necho "scontrol $*"\n')
    (floors.parent / 'scontrol').chmod(0o755)
    script = f'{before}\n. {ROOT}/ci/entries/{name}\n{after}'
    env = {
        **os.environ,
        'MEMBW_STREAM': str(stream),
        'MEMBW_OPTIONS': ' '.join(QUIET),
        'MEMBW_FLOORS': str(floors),
        'SLURMD_NODENAME': 'n2',
        'PATH': f'{floors.parent}:{os.environ["PATH"]}',
    }
    done = subprocess.run([shell, '-c', script], env=env, capture_output=True, text=True)
    return done.returncode, done.stdout


def standin(floors, line):
    """A program that prints that line, with the status of a node that does not pass."""
    program = floors.parent / 'stream'
    program.write_text(f'#!/bin/sh\necho "membw: {line}"; exit 1\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def floors(tmp_path):
    return tmp_path / 'floors'


NHC = {
    'before': 'die() { echo "die $*"; exit 1; }; log() { echo "log $*"; }',
    'shell': 'bash',
    'after': 'check_membw "$MEMBW_FLOORS"',
}


@pytest.mark.parametrize(
    'name, more, said',
    [
        ('membw.nhc', NHC, 'die 1 check_membw: membw: FAIL triad'),
        ('slurm-prolog', {}, 'print membw: FAIL triad'),
        (
            'slurm-healthcheck',
            {},
            'scontrol update nodename=n2 state=drain reason=membw: FAIL triad',
        ),
    ],
)
def test_an_entry_passes_a_healthy_node_and_stops_a_slow_one(stream, floors, name, more, said):
    floors.write_text('triad=0.001\n')
    assert entry(name, stream, floors, **more)[0] == 0
    slow = standin(floors, 'FAIL triad 140.2 GB/s, at least 150')
    status, out = entry(name, slow, floors, **more)
    assert status == 1 and out.startswith(said)


@pytest.mark.parametrize(
    'name, more', [('membw.nhc', NHC), ('slurm-prolog', {}), ('slurm-healthcheck', {})]
)
def test_no_entry_drains_a_node_for_what_is_not_decided(floors, name, more):
    undecided = 'UNDECIDED triad >= 12.1 GB/s, at least 150'
    for said in 'INVALID clock (slow)', undecided, "cannot read '/etc/membw/floors'":
        status, out = entry(name, standin(floors, said), floors, **more)
        assert 'die' not in out and 'scontrol' not in out
        assert status == (name == 'slurm-healthcheck')  # Slurm only logs the status of this one
