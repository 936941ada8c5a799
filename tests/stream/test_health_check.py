"""`stream --at-least`: one line and an exit status for NHC, Slurm's health check and prologs."""

import os
import re
import signal as signals
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


# value, low, high, bound, floor: the table of membw.results.verdict, at its borders
WORDS = [
    (20, 19, 21, 'none', 20, 'PASS triad 20.0 GB/s, at least 20'),
    (20, 19, 21, 'none', 19.5, 'PASS triad 20.0 GB/s, at least 19.5'),
    (20, 19, 21, 'none', 20.5, 'UNDECIDED triad 20.0 GB/s (19.0 to 21.0), at least 20.5: measure again'),
    (20, 19, 21, 'none', 21, 'UNDECIDED triad 20.0 GB/s (19.0 to 21.0), at least 21: measure again'),
    (20, 19, 21, 'none', 21.1, 'FAIL triad 20.0 GB/s, at least 21.1'),
    (20, 0, 0, 'lower', 20, 'PASS triad >= 20.0 GB/s, at least 20'),
    (20, 0, 0, 'lower', 21, 'UNDECIDED triad >= 20.0 GB/s, at least 21: disturbed, measure again'),
    (20, 0, 0, 'upper', 19, 'UNDECIDED triad <= 20.0 GB/s, at least 19: a cache may hold the arrays'),
    (20, 0, 0, 'upper', 21, 'UNDECIDED triad <= 20.0 GB/s, at least 21: a cache may hold the arrays'),
    (20, 0, 0, 'unknown', 19, 'UNDECIDED triad <= 20.0 GB/s, at least 19: a cache may hold the arrays'),
    (0, 0, 0, 'lower', 19, 'UNDECIDED triad >= 0.0 GB/s, at least 19: disturbed, measure again'),
]  # fmt: skip


def test_a_floor_is_judged_by_the_table_of_words(tmp_path):
    line = ['gcc', '-w', '-fopenmp', ROOT / 'tests/probes/floors.c', '-o', tmp_path / 'floors']
    subprocess.run(line, check=True)
    text = ''.join(f'{" ".join(map(str, row[:-1]))}\n' for row in WORDS)
    done = subprocess.run([tmp_path / 'floors'], input=text, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f'membw: {row[-1]}' for row in WORDS]


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


def test_a_figure_far_below_its_floor_is_the_one_that_is_named(stream):
    status, out, _ = check(stream, *QUIET, '--at-least', 'read=1e6,copy=0.001')
    figure = r'FAIL read [\d.]+ GB/s, at least 1e\+06'
    bound = r'UNDECIDED read >= [\d.]+ GB/s, at least 1e\+06: disturbed, measure again'
    assert status == 1 and re.fullmatch(f'membw: ({figure}|{bound})\n', out)


def test_an_invalid_figure_neither_passes_nor_fails(stream):
    status, out, _ = check(stream, '-n', '1000', '-t', '3', '--at-least', 'triad=0.001')
    assert status == 1 and out.startswith('membw: INVALID array-too-small (1000 elements')


def test_the_time_is_a_bound_whatever_is_measured(stream):
    words = ('--seconds', '0.2', '--at-least', 'triad=0.001', '-n', '20000000', '-t', '9999')
    status, out, _ = check(stream, *words)
    assert (status, out) == (1, 'membw: MISSING not measured within 0.2 s\n')


def test_floors_come_from_a_file_with_comments_as_well(stream, tmp_path):
    (tmp_path / 'floors').write_text(
        '# of 2026-11\ntriad=1e6 # too much\n\nadd=0.001,scale=0.001\n'
    )
    status, out, _ = check(stream, *QUIET, '--at-least', tmp_path / 'floors')
    assert status == 1 and 'triad' in out and 'at least 1e+06' in out and out.count('\n') == 1


FLOORS = (
    'quad=1 reads=1 triad triad= triad=-1 triad=nan =1 triad=1,triad=2 triad=1;copy=2 /no'.split()
)


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
        'MEMBW_HEALTH': f'{ROOT}/ci/entries/membw-health',
        'MEMBW_STATE': str(floors.parent),
        'SLURMD_NODENAME': 'n2',
        'PATH': f'{floors.parent}:{os.environ["PATH"]}',
    }
    done = subprocess.run([shell, '-c', script], env=env, capture_output=True, text=True)
    return done.returncode, done.stdout


def standin(floors, line):
    """A program that prints that line, with the status of a node that does not pass."""
    program = floors.parent / 'stream'
    program.unlink(missing_ok=True)
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


ENTRIES = [('membw.nhc', NHC), ('slurm-prolog', {}), ('slurm-healthcheck', {})]
DRAINS = {
    'membw.nhc': 'die 1 check_membw: ',
    'slurm-prolog': 'print ',
    'slurm-healthcheck': 'scontrol update nodename=n2 state=drain reason=',
}


def is_drained(name, status, out):
    return status == 1 if name == 'slurm-prolog' else out.startswith(DRAINS[name])


@pytest.mark.parametrize('name, more', ENTRIES)
def test_no_entry_drains_a_node_for_what_is_not_decided(floors, name, more):
    undecided = 'UNDECIDED triad >= 12.1 GB/s, at least 150'
    for said in 'INVALID clock (slow)', undecided, "cannot read '/etc/membw/floors'":
        status, out = entry(name, standin(floors, said), floors, **more)
        assert 'die' not in out and 'scontrol' not in out
        assert status == (3 if name == 'slurm-healthcheck' else 0)  # Slurm only logs this one's


FOUND = 'BUS SEGV ILL ABRT FPE KILL'.split()
STOPPED = 'TERM INT HUP USR1 XCPU'.split()


@pytest.mark.parametrize('name, more', ENTRIES)
@pytest.mark.parametrize('signal', [*FOUND, *STOPPED])
def test_a_program_that_dies_of_a_signal_is_a_finding_unless_it_was_stopped(
    floors, name, more, signal
):
    """A node whose DIMM raises SIGBUS was healthy in all three. Also behind a line that passes."""
    number = getattr(signals, f'SIG{signal}').value
    program = standin(floors, 'PASS triad 160.1 GB/s, at least 150')
    program.write_text(program.read_text().replace('exit 1', f'kill -{signal} $$; sleep 9'))
    status, out = entry(name, program, floors, **more)
    assert is_drained(name, status, out) == (signal in FOUND), out
    if signal in FOUND or name == 'slurm-prolog':
        assert f'membw: stream ended by SIG{signal} (signal {number})' in out


@pytest.mark.parametrize('name, more', ENTRIES)
@pytest.mark.parametrize('mode', [None, 0o644])
def test_a_program_that_cannot_be_run_is_said_and_drains_nothing(floors, name, more, mode):
    program = standin(floors, 'PASS')
    program.chmod(mode or 0o755)
    if mode is None:
        program.unlink()
    (floors.parent / 'logger').write_text('#!/bin/sh\necho "logger $*"\n')
    (floors.parent / 'logger').chmod(0o755)
    status, out = entry(name, program, floors, **more)
    assert not is_drained(name, status, out)
    assert f"membw: '{program}' cannot be run: exit status {127 if mode is None else 126}" in out


@pytest.mark.parametrize('name, more', ENTRIES)
def test_not_measured_in_time_drains_a_node_the_second_time_in_a_row(floors, name, more):
    late, passed = 'MISSING not measured within 20 s', 'INVALID clock (slow)'
    drained = []
    for line in (late, passed, late, late, late):
        status, out = entry(name, standin(floors, line), floors, **more)
        drained.append(is_drained(name, status, out))
    assert drained == [False, False, False, True, True]
    assert 'membw: MISSING not measured within 20 s, twice in a row' in out


def test_where_the_first_time_cannot_be_noted_it_is_said(floors, tmp_path):
    program = standin(floors, 'MISSING not measured within 20 s')
    health = ROOT / 'ci/entries/membw-health'
    env = {**os.environ, 'MEMBW_STREAM': str(program), 'MEMBW_STATE': '/no/such/folder'}
    done = subprocess.run([health], env=env, capture_output=True, text=True)
    assert done.returncode == 3 and 'a second time would not be noticed' in done.stdout


NODE = [
    ('n2 FIT', 0, False),
    ('n2 FIT other processes took CPU time', 0, False),
    ('n2 SLOW a memory module or channel is gone', 1, True),
    ('n2 DEAD ladder: ended by SIGBUS (signal 7)', 1, True),
    ('n2 NOT JUDGED other processes took CPU time: Triad 3 GB/s, SLOW ', 3, False),
    ("membw: no program 'stream' in '/opt/membw/bin'", 3, False),
]


@pytest.fixture
def membw_node(tmp_path, monkeypatch):
    """A stand-in for `membw node` that prints a line; its exit status is that of `membw node`."""

    def put(line):
        status = 2 if line.startswith('membw:') else int(' FIT' not in line)
        command = tmp_path / 'membw'
        command.write_text(f'#!/bin/sh\necho note >&2\necho "{line}"; exit {status}\n')
        command.chmod(0o755)
        monkeypatch.setenv('MEMBW_NODE', str(command))

    return put


@pytest.mark.parametrize('line, finding, drains', NODE)
def test_where_python_is_the_entries_ask_membw_node(floors, membw_node, line, finding, drains):
    membw_node(line)
    for name, more in ENTRIES:
        status, out = entry(name, floors.parent / 'stream', floors, **more)
        assert is_drained(name, status, out) == drains, out
        assert not drains or line in out
    done = subprocess.run([ROOT / 'ci/entries/membw-health'], capture_output=True, text=True)
    assert done.returncode == finding
    status, out = entry('slurm-undrain', floors.parent / 'stream', floors)
    assert ('state=resume' in out) == (finding == 0)
    assert finding == 0 or f'state=drain reason=membw: {line}' in out
