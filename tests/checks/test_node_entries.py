"""The entries that look at one node, in ci/entries: what they make of the lines and the ends of a
program, and what they write into Slurm. Programs, NHC's functions and Slurm's failures are
stand-ins; the states of a node are those of a real Slurm."""

import os
import signal as signals
import subprocess
import time

import pytest
from places import ROOT

ENTRIES = ROOT / 'ci/entries'
NHC = """die() { echo "die $*"; exit 1; }; log() { echo "log $*"; }
. {entry}
check_membw "$MEMBW_FLOORS"
"""


def program(folder, text, name='stream'):
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)
    return path


def run(folder, entry, *words, **more):
    """(status, what it printed) of an entry on node n1, with the program in that folder."""
    env = {
        **os.environ, 'MEMBW_STREAM': f'{folder}/stream', 'MEMBW_FLOORS': f'{folder}/floors',
        'MEMBW_HEALTH': f'{ENTRIES}/membw-health', 'MEMBW_STATE': str(folder),
        'SLURMD_NODENAME': 'n1', 'TMPDIR': str(folder), 'PATH': f'{folder}:{os.environ["PATH"]}',
        **more,
    }  # fmt: skip
    line = [ENTRIES / entry, *words]
    if entry == 'membw.nhc':
        line = ['bash', '-c', NHC.replace('{entry}', str(ENTRIES / entry))]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


# --- the rule ----------------------------------------------------------------------------------

FAIL = 'echo "membw: FAIL triad 140.2 GB/s, at least 150"'
PASS = 'echo "membw: PASS triad 160.1 GB/s, at least 150"'
BEFORE = 'echo; echo "libgomp: Affinity not supported on this configuration" >&2; '
ENDS = [
    (f'{PASS}; exit 0', 0, 'membw: PASS triad 160.1'),
    (f'{FAIL}; exit 1', 1, 'membw: FAIL triad 140.2'),
    (f'{BEFORE}{PASS}; exit 0', 0, 'membw: PASS '),
    (f'{BEFORE}echo "membw: 1 thread of 2, as the quota has it"; {FAIL}; exit 1', 1, 'membw: F'),
    (f'{PASS}; {FAIL}; exit 1', 1, 'membw: FAIL '),
    (f'printf "libf\\351e: \\000\\n"; {FAIL}; exit 1', 1, 'membw: FAIL '),  # no text for grep
    (f'printf "hwloc: no newline" >&2; echo; {FAIL} >&2; exit 1', 1, 'membw: FAIL '),
    (f'(sleep 1; echo late) & {FAIL}; exit 1', 1, 'membw: FAIL '),  # a child of a runtime
    (f'{FAIL}; exit 2', 1, 'membw: FAIL '),  # the record could not be written
    (f'{FAIL}; kill -TERM $$', 1, 'membw: FAIL '),
    (f'{PASS}; exit 2', 3, 'membw: PASS '),
    ('echo "membw: FAILED to start"; exit 2', 3, 'membw: FAILED to start'),
    ('echo "membw: UNDECIDED triad >= 12.1 GB/s, at least 150"; exit 1', 3, 'membw: UNDECIDED '),
    ('echo "membw: INVALID clock (slow)"; exit 1', 3, 'membw: INVALID clock'),
    (f'{BEFORE}echo "membw: cannot read /etc/floors"; exit 2', 3, 'membw: cannot read'),
    (f'{BEFORE}exit 1', 3, 'libgomp: Affinity'),
    ('echo "libfoo: FAIL to pin"; exit 1', 3, 'libfoo: FAIL to pin'),  # no word of ours
    (f'echo "libfoo FAIL to pin"; {PASS}; exit 0', 0, 'membw: PASS '),
    ('exit 1', 3, 'printed nothing, exit status 1'),
    ('exit 255', 3, 'printed nothing, exit status 255'),  # of a wrapper: there is no signal 127
    ('exit 193', 3, 'printed nothing, exit status 193'),
    ('exit 127', 3, "stream' cannot be run: exit status 127"),
    ('exit 126', 3, "stream' cannot be run: exit status 126"),
]  # fmt: skip
FOUND = dict.fromkeys('BUS SEGV ABRT FPE'.split(), 1)
STOPPED = dict.fromkeys('TERM INT HUP USR1 USR2 XCPU KILL ILL'.split(), 3)  # ILL: of another CPU
ENDS += [
    (f'{PASS}; kill -{name} $$; sleep 9', finding,
     f'membw: stream ended by SIG{name} (signal {getattr(signals, "SIG" + name).value})')
    for name, finding in (FOUND | STOPPED).items()
]  # fmt: skip


@pytest.mark.parametrize('text, finding, line', ENDS)
def test_the_rule_finds_the_line_and_decides_slow_before_all_else(tmp_path, text, finding, line):
    program(tmp_path, text)
    status, said = run(tmp_path, 'membw-health')
    assert status == finding and line in said and said.count('\n') == 1, said


NODE = [
    ('n1 PASS', 0), ('n1 PASS (12 peers)', 0), ('n1 FAIL a memory channel is gone', 1),
    ('n1 DIED ladder: ended by SIGBUS (signal 7)', 1),
    ('n1 UNDECIDED other processes took CPU time: Triad 3 GB/s, FAIL ', 3),
    ('n1 INVALID array-too-small', 3), ('n1 MISSING stream: not built', 3),
    ("membw: no program 'stream' in '/opt/membw/bin'", 3),
]  # fmt: skip


@pytest.mark.parametrize('line, finding', NODE)
@pytest.mark.parametrize('status', [0, 1, 2])
def test_the_rule_asks_membw_node_where_python_is(tmp_path, line, finding, status):
    program(tmp_path, f'echo "libgomp: x" >&2; echo "{line}"; exit {status}', 'membw')
    found, said = run(tmp_path, 'membw-health', MEMBW_NODE=f'{tmp_path}/membw')
    assert found == (3 if finding == 0 and status else finding) and said == f'{line}\n'


@pytest.mark.parametrize('word', ['NOT MEASURED', 'MISSING', 'DIED'])
def test_too_late_is_a_finding_the_second_time_in_a_row(tmp_path, word):
    late = f'echo "membw: {word} within 20 s"; exit 1'
    found = []
    for text in late, 'echo "membw: INVALID x"; exit 1', late, late, late:
        program(tmp_path, text)
        status, said = run(tmp_path, 'membw-health')
        found.append(status)
    assert found == [3, 3, 3, 1, 1] and f'{word} within 20 s, twice in a row' in said
    said = run(tmp_path, 'membw-health', MEMBW_STATE='/no/such/folder')[1]
    assert 'a second time would not be noticed' in said


@pytest.mark.parametrize('by', ['stream', 'node'])
def test_sigkill_is_a_finding_the_second_time_in_a_row(tmp_path, by):
    """The OOM killer, Slurm's own end of a health check, or a person."""
    node = 'echo "n1 DIED ladder: ended by SIGKILL (signal 9)"; exit 1'
    killed, well = (
        ('kill -KILL $$', f'{PASS}; exit 0') if by == 'stream' else (node, 'echo n1 PASS')
    )
    more = {'MEMBW_NODE': f'{tmp_path}/membw'} if by == 'node' else {}
    found = []
    for text in killed, well, killed, killed:
        program(tmp_path, text, 'membw' if by == 'node' else 'stream')
        found.append(run(tmp_path, 'membw-health', **more)[0])
    assert found == [3, 0, 3, 1]


@pytest.mark.parametrize('text, nhc, prolog', [
    (f'{PASS}; exit 0', (0, ''), (0, 'print membw: PASS')),
    (f'{FAIL}; exit 1', (1, 'die 1 check_membw: membw: FAIL'), (1, 'print membw: FAIL')),
    ('exit 255', (0, 'log membw: '), (0, 'print membw: ')),
])  # fmt: skip
def test_nhc_and_the_prolog_stop_a_slow_node_alone(tmp_path, text, nhc, prolog):
    program(tmp_path, text)
    for entry, (status, line) in ('membw.nhc', nhc), ('slurm-prolog', prolog):
        found, said = run(tmp_path, entry)
        assert found == status and said.startswith(line) and bool(said) == bool(line), said


# --- what stands in Slurm ----------------------------------------------------------------------

TICKET = 'ticket 4711: DIMM A3 ordered, leave down'
STATES = {
    'idle': ['state=resume'],
    'ours': ['state=drain', 'reason=membw: FAIL triad 1 GB/s'],
    'drained': ['state=drain', f'reason={TICKET}'],
    'nhc': ['state=drain', 'reason=NHC: check_membw: membw: FAIL triad 1 GB/s'],
    'down': ['state=down', f'reason={TICKET}'],
}
SAME = None
FOUND_NOW = {
    'FAIL': (1, 'membw: n1 FAIL triad 140.2 GB/s, at least 150'),
    'DIED': (1, 'membw: n1 DIED ladder: ended by SIGBUS (signal 7)'),
}
WORDS = {
    'PASS': ('PASS', 0), 'FAIL': ('FAIL triad 140.2 GB/s, at least 150', 1),
    'UNDECIDED': ('UNDECIDED other processes', 1), 'INVALID': ('INVALID x', 1),
    'DIED': ('DIED ladder: ended by SIGBUS (signal 7)', 1), 'none': ('', 127),
}  # fmt: skip
# {(entry, state): {word: (status, reason afterwards; SAME; '' of a node that is back)}}
UNTOUCHED = {word: (2, SAME) for word in WORDS}
NO_FINDING = {'PASS': (0, SAME), 'UNDECIDED': (3, SAME), 'INVALID': (3, SAME), 'none': (3, SAME)}
LEFT = {**NO_FINDING, 'FAIL': (1, SAME), 'DIED': (1, SAME)}
TABLE = {
    ('slurm-healthcheck', 'idle'): NO_FINDING | FOUND_NOW,
    **{('slurm-healthcheck', state): LEFT for state in ('ours', 'drained', 'nhc', 'down')},
    ('slurm-undrain', 'ours'): NO_FINDING | FOUND_NOW | {'PASS': (0, '')},
    **{('slurm-undrain', state): UNTOUCHED for state in ('idle', 'drained', 'nhc', 'down')},
}  # fmt: skip


@pytest.fixture(scope='module')
def slurm(slurm_emu, tmp_path_factory):
    more = 'ReturnToService=0'  # Slurm itself leaves what is down alone
    with slurm_emu(tmp_path_factory.mktemp('emu'), 1, 1, 2, SLURM_EMU_CONF=more) as place:
        yield {name: str(value) for name, value in place.items()}


@pytest.fixture
def node(slurm, call):
    """node(): what Slurm says of n1; node(NAME=VALUE, ...): changes it."""

    def of(*words):
        if words:
            call('scontrol', 'update', 'nodename=n1', 'state=resume', **slurm)
            if words != ('state=resume',):
                done = call('scontrol', 'update', 'nodename=n1', *words, **slurm)
                assert done.returncode == 0, done.stderr
        # its slurmd answers or not yet: drained*; of a node that was resumed the reason may stay
        said = call('sinfo', '-h', '-n', 'n1', '-o', '%T|%E', **slurm).stdout
        said = said.strip().replace('*', '')
        return 'idle|none' if said.startswith('idle|') else said

    return of


def by_membw(folder, word):
    """The command `membw`, a stand-in whose `node` says that word; or none."""
    line, status = WORDS[word]
    if line:
        program(folder, f'echo "$@" >{folder}/asked; echo "n1 {line}"; exit {status}', 'membw')
    return {'MEMBW_NODE': f'{folder}/membw', 'MEMBW_STREAM': f'{folder}/stream'}


@pytest.mark.slurm
@pytest.mark.parametrize('word', WORDS)
@pytest.mark.parametrize('entry, state', TABLE)
def test_what_somebody_wrote_into_slurm_stays(slurm, node, tmp_path, entry, state, word):
    before = node(*STATES[state])
    status, reason = TABLE[entry, state][word]
    of_shell = {'SLURM_CLUSTERS': 'joltik', 'SINFO_PARTITION': 'none'}
    found, said = run(tmp_path, entry, **by_membw(tmp_path, word), **slurm, **of_shell)
    assert found == status, said
    after = node()
    if reason is SAME:
        assert after == before, said
    else:
        assert after == (f'drained|{reason}' if reason else 'idle|none')
    if after == before and (state, word) != ('idle', 'PASS'):
        assert 'n1' in said or word == 'PASS' or 'cannot be run' in said


@pytest.mark.parametrize('old, kept', [
    ('none', ''), ('membw: FAIL triad 1 GB/s', ''), ('DIMM A3', ' (before: DIMM A3)'),
])  # fmt: skip
def test_the_reason_of_a_node_that_was_resumed_is_kept_if_it_is_a_persons(tmp_path, old, kept):
    """Slurm 24.11 leaves it there; so our own lines grew with each round."""
    banner = 'echo "Welcome: drained|all users"'
    program(tmp_path, f"{banner}; echo 'membw|idle|{old}'; {banner}", 'sinfo')
    program(tmp_path, f'echo "$@" >{tmp_path}/written', 'scontrol')
    status, said = run(tmp_path, 'slurm-healthcheck', **by_membw(tmp_path, 'FAIL'))
    assert status == 1, said
    wanted = f'update nodename=n1 state=drain reason={FOUND_NOW["FAIL"][1]}{kept}\n'
    assert (tmp_path / 'written').read_text() == wanted


@pytest.mark.parametrize('tool', ['sinfo', 'scontrol', 'logger'])
def test_the_finding_is_said_before_slurm_is_asked_and_what_hangs_is_named(tmp_path, tool):
    """A health check that Slurm ends after 60 s said nothing of a node at two thirds."""
    for name in ('sinfo', 'scontrol', 'logger'):
        says = "echo 'membw|idle|none'" if name == 'sinfo' else 'cat >/dev/null'
        program(tmp_path, 'sleep 100' if name == tool else says, name)
    begun = time.monotonic()
    status, said = run(tmp_path, 'slurm-healthcheck', **by_membw(tmp_path, 'FAIL'))
    assert time.monotonic() - begun < 50  # what hangs does so for 100
    lines = said.splitlines()
    assert 'FAIL triad 140.2 GB/s' in lines[0]
    assert status == (1 if tool == 'logger' else 2)
    assert tool == 'logger' or f'{tool}: no answer within 4 s' in lines[-1]


def test_a_banner_alone_is_no_state(tmp_path):
    program(tmp_path, 'echo "Welcome to Example3: idle|all"', 'sinfo')
    program(tmp_path, f'touch {tmp_path}/written', 'scontrol')
    status, said = run(tmp_path, 'slurm-healthcheck', **by_membw(tmp_path, 'FAIL'))
    assert status == 2 and 'nothing is changed: Welcome to Example3' in said
    assert not (tmp_path / 'written').exists()


@pytest.mark.slurm
def test_what_a_person_writes_while_the_gate_measures_stays(slurm, node, tmp_path):
    node(*STATES['ours'])
    script = f"scontrol update nodename=n1 reason='{TICKET}'; echo n1 PASS"
    program(tmp_path, script, 'membw')
    status, said = run(tmp_path, 'slurm-undrain', MEMBW_NODE=f'{tmp_path}/membw', **slurm)
    assert (status, node()) == (2, f'drained|{TICKET}'), said


@pytest.mark.slurm
def test_the_gate_compares_with_no_run_of_the_node_before_its_repair(slurm, node, tmp_path):
    node(*STATES['ours'])
    words = ('--peers', '/shared/nodes', '--records', '/shared/nodes')
    status, said = run(tmp_path, 'slurm-undrain', *words, **by_membw(tmp_path, 'PASS'), **slurm)
    asked = (tmp_path / 'asked').read_text().split()
    assert status == 0 and asked[:2] == ['node', '--line'] and '--peers' in asked
    records = asked[-1]
    assert asked[-2] == '--records' and records.startswith(f'{tmp_path}/membw-undrain.')
    assert f"the record is in '{records}'" in said


@pytest.mark.slurm
@pytest.mark.parametrize('state, entry, word', [
    ('idle', 'slurm-healthcheck', 'FAIL'), ('ours', 'slurm-undrain', 'PASS'),
])  # fmt: skip
@pytest.mark.parametrize('tool, script, reason', [
    ('sinfo', 'echo "slurm_load_node: Unable to contact slurm controller" >&2; exit 1',
     'Unable to contact'),
    ('sinfo', 'exit 0', 'it has no such node'),
    ('scontrol', 'echo "slurm_update error: Invalid user id" >&2; exit 1', 'Invalid user id'),
])  # fmt: skip
def test_slurm_that_refuses_is_a_failure_that_is_printed(
    slurm, node, tmp_path, state, entry, word, tool, script, reason
):
    before = node(*STATES[state])
    program(tmp_path, script, tool)
    status, said = run(tmp_path, entry, **by_membw(tmp_path, word), **slurm)
    assert status == 2 and reason in said and node() == before
