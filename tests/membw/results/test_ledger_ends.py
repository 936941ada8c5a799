"""DIED is what began and was ended; what else left no record was refused, and by whom is said."""

import signal

import pytest

from membw.results import ledger

CUT = 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-25T20:00:00'
LIMIT, CANCELLED = f'{CUT} DUE TO TIME LIMIT ***', f'{CUT} ***'
OOM = 'slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.'
KILLED = '/stage/rfm_job.sh: line 5: 30092 Killed                  /bin/stream --json record.json'
# what stands before the program says so, each with its exit status; none of them began
REFUSED = [
    (1, 'numactl: This system does not support NUMA policy'),
    (1, 'set_mempolicy: Operation not permitted'),  # numactl under docker's filter
    (1, 'libnuma: Warning: node argument 1 is out of range'),
    (1, "taskset: failed to set pid 7's affinity: Invalid argument"),
    (1, 'hwloc-bind: failed to bind'),
    (1, 'ERROR: CPU 9 not in domain N'),  # likwid-pin
    (2, 'slurmstepd: error: execve(): likwid-pin: No such file or directory'),
    (2, 'slurmstepd: error: execve(): sh: No such file or directory'),
    (8, 'slurmstepd: error: execve(): /b/stream: Exec format error'),
    (13, 'slurmstepd: error: execve(): /b/stream: Permission denied'),
    (126, 'rfm_job.sh: line 9: /b/stream: cannot execute binary file: Exec format error'),
    (126, 'rfm_job.sh: line 9: /b/stream: Permission denied'),
    (127, 'rfm_job.sh: line 9: likwid-pin: command not found'),
    (127, '/b/stream: error while loading shared libraries: libgomp.so.1: cannot open'),
    (1, 'srun: error: Unable to create step for job 7: Requested node configuration'),
    (1, 'There are not enough slots available'),  # mpirun
    (2, "membw: no file 'x'"),
    (1, ''),
    (255, ''),
]


@pytest.mark.parametrize('status, said', REFUSED, ids=lambda one: str(one)[:40])
def test_what_never_began_is_missing_with_the_words_of_who_refused(status, said):
    """After the program began it is its death, but for what our own program refuses, and says."""
    end = ledger.judge(status, printed=said)
    assert not end.died and end.why == f'exit status {status}' + (f': {said}' if said else '')
    assert ledger.judge(status, printed=said, started=True).died == (not said.startswith('membw:'))


def test_a_signal_is_a_death_but_of_code_for_another_cpu_and_of_a_filter():
    for number in (*range(1, 32), 35):
        end = ledger.judge(128 + number)
        assert end.died == (number != signal.SIGSYS) and f'signal {number}' in end.why, number
        of_other = ledger.judge(128 + number, other_cpu=True)
        assert of_other.died == (number not in (signal.SIGILL, signal.SIGSYS)), number
        assert ledger.judge(128 + number, 'VALID').why.endswith('after its record'), number


# status, verdict of its record, stderr, state of the job: why, died
ENDS = [
    (0, 'VALID', '', '', None),
    (1, 'INVALID', '', '', None),
    (1, 'UNDECIDED', '', '', None),
    (0, None, '', '', ('no record: it printed nothing', False)),
    (0, None, 'srun: error: Node failure on n1', '', ('node failed', True)),
    (0, None, '', 'NODE_FAIL', ('node failed', True)),
    (1, 'VALID', '', '', ('exit status 1 after its record', True)),
    (2, 'INVALID', '', '', ('exit status 2 after its record', True)),
    (137, None, KILLED, '', ('ended by SIGKILL (signal 9): perhaps as memory', True)),
    (137, None, OOM, '', ('ended by SIGKILL (signal 9), memory limit reached', True)),
    (137, None, '', 'OUT_OF_MEMORY', ('ended by SIGKILL (signal 9), memory limit reached', True)),
    (137, 'VALID', OOM, '', ('ended by SIGKILL (signal 9), memory limit reached after its', True)),
    (1, None, LIMIT, '', ('exit status 1, time limit reached', True)),
    (2, None, CANCELLED, '', ('exit status 2, cancelled', False)),  # by srun, of what it refused
    (None, None, '', 'TIMEOUT', ('time limit reached', True)),
    (None, None, LIMIT, 'COMPLETED', ('time limit reached', True)),
    (None, None, OOM, 'COMPLETED', ('memory limit reached', True)),
    (None, None, '', 'CANCELLED by 0', ('cancelled', False)),  # before it began to measure
    (143, None, '', 'PREEMPTED', ('ended by SIGTERM (signal 15), cancelled', False)),
    (None, 'VALID', '', 'CANCELLED', ('cancelled after its record', True)),
    (None, None, 'module: no such thing', 'FAILED', ('module: no such thing', False)),
    (None, 'VALID', '', 'NODE_FAIL', ('node failed after its record', True)),
]  # fmt: skip


@pytest.mark.parametrize('status, verdict, printed, state, expected', ENDS)
def test_how_a_launch_ended(status, verdict, printed, state, expected):
    end = ledger.judge(status, verdict, printed, state)
    assert (end is None) == (expected is None)
    assert not end or (end.why.startswith(expected[0]) and end.died is expected[1]), end
    assert not end or state == '' or ledger.judge(status, verdict, printed, state, True).died


# of a job that ended before its script did: did what had not begun to measure die?
STATES = {
    **dict.fromkeys('TIMEOUT DEADLINE NODE_FAIL OUT_OF_MEMORY'.split(), True),
    **dict.fromkeys('CANCELLED PREEMPTED REVOKED'.split(), False),
    **dict.fromkeys('BOOT_FAIL LAUNCH_FAILED RECONFIG_FAIL'.split(), False),
    **dict.fromkeys('COMPLETED FAILED SPECIAL_EXIT STAGE_OUT REQUEUED UNHEARD_OF'.split(), False),
}


@pytest.mark.parametrize('state, died', STATES.items())
def test_a_job_ended_by_slurm_died_if_it_began_to_measure(state, died):
    assert ledger.judge(None, state=state, started=True).died
    assert ledger.judge(None, state=state).died is died
    assert ledger.judge(None, 'VALID', state=state).died  # with its record, which is VALID


@pytest.mark.parametrize('stderr, shown', [
    ("warm-up\nmembw: no file 'x'", "membw: no file 'x'"),
    ('-----\n\nThere are not enough slots available', 'There are not'),
    ('make: warning\ncc: error: no such file', 'cc: error'),
    ('srun: error: n1: task 0: Exited with exit code 2', 'srun: error: n1'),
    ('/s/rfm_job.sh: line 8: 23644 Bus error               /b/stream --json r.json', ''),
])  # fmt: skip
def test_the_last_words_are_the_programs_own(stderr, shown):
    said = ledger.last_words(stderr)
    assert said.startswith(shown) and bool(said) == bool(shown)


NAMES = ['n1', 'n10', 'n01', 'N1', 'gpu-1', 'gpu-1-2', 'a-gpu-1', 'n1.site.org', 'x.n1']


@pytest.mark.parametrize('name', NAMES)
def test_the_lines_of_a_node_are_not_those_of_one_with_a_name_like_it(name):
    for line in 'srun: error: {}: task 0: Killed', 'slurmstepd-{}: error', 'node {}.', '{}':
        printed = '\n'.join(line.format(one) for one in NAMES)
        assert ledger.lines_of(name, printed) == line.format(name)


def test_a_ledger_knows_who_started_and_on_what(tmp_path):
    lines = 'begun n1 doduo\nstarted a.json n1.site\nended a.json 132 77 5\nended - 1 77 5\n'
    (tmp_path / ledger.NAME).write_text(lines)
    known = ledger.read(tmp_path)
    assert known.ended == {'a.json': 132, '-': 1} and known.cpus['a.json'] == '77 5'
    assert known.started == {'a.json', 'n1'} and known.node == 'n1' and known.cluster == 'doduo'
    assert (known.name('a.json'), ledger.Ledger('ended - 0').name('a.json')) == ('a.json', '-')
