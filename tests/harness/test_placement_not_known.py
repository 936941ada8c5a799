"""A kernel that refuses to place memory, or to say where it lies: never silently VALID."""

import json
import os
import re
import subprocess

import pytest
from changed_source import other_machine
from places import ROOT
from program_build import USUAL

ALLOW = 'array-too-small,oversubscribed,wrong-pinning,too-short'
PROGRAMS = {
    'stream': ('-n', '100000', '-t', '3'),
    'ladder': ('--quick',),
    'loaded': (
        *('--mixes', '1r0w', '--rounds', '3', '--window', '0.005', '--chain-mib', '8'),
        *('--allow', 'generators-stopped'),
    ),
    'tiers': ('--array-mib', '1', '--rounds', '3'),
    'pingpong': ('--seconds', '0.005'),
}
ALL = 'docker'  # without CAP_SYS_NICE
UNKNOWN = 'the kernel does not say on which NUMA domain pages lie: move_pages: '
UNBOUND = 'the kernel does not bind memory to NUMA domain 0: set_mempolicy: '
SAYS = {'EPERM': 'Operation not permitted', 'ENOSYS': 'Function not implemented'}


@pytest.fixture(scope='module')
def machine(tmp_path_factory):
    """machine(domains, allowed, home): what the programs find from then on; CPUs are of `home`."""
    folder = tmp_path_factory.mktemp('machine')

    def become(count, allowed, home=(0,)):
        tree = folder / f'{count}-{allowed}-{home}'
        (folder / 'root').unlink(missing_ok=True)
        (folder / 'root').symlink_to(tree)
        nodes = tree / 'sys/devices/system/node'
        for n in range(count):
            (nodes / f'node{n}').mkdir(parents=True, exist_ok=True)
            (nodes / f'node{n}/cpulist').write_text('0-8191\n' if n in home else '\n')
            (nodes / f'node{n}/distance').write_text('10 21\n')
            (nodes / f'node{n}/meminfo').write_text(f'Node {n} MemTotal: 9000000 kB\n')
        (nodes / 'online').write_text(f'0-{count - 1}\n')
        (tree / 'proc/self').mkdir(parents=True, exist_ok=True)
        (tree / 'proc/self/status').write_text(f'Mems_allowed_list:\t{allowed}\n')

    become.root = folder / 'root'
    return become


@pytest.fixture(scope='module')
def refuse(tmp_path_factory):
    """The probe that runs a command under a filter."""
    program = tmp_path_factory.mktemp('refuse') / 'refuse_calls'
    source = ROOT / 'tests/probes/refuse_calls.c'
    subprocess.run(['gcc', '-Wall', '-Wextra', '-Werror', source, '-o', program], check=True)
    return program


@pytest.fixture
def said(machine, refuse, build_program):
    """said(program, error, calls, domains, allowed) -> (exit status, lines on the placement)"""

    def run(program, error='EPERM', calls=ALL, domains=2, allowed='0-1', home=(0,)):
        changes = other_machine(machine.root, 1 << 20)
        built = build_program(program, changes=changes, usual=USUAL)
        machine(domains, allowed, home)
        cpus = sorted(os.sched_getaffinity(0))[:2]
        words = ['taskset', '-c', ','.join(map(str, cpus))]
        words += [refuse, error, calls] if calls else []
        words += [built, *PROGRAMS[program], '--allow', ALLOW]
        env = {**os.environ, 'OMP_NUM_THREADS': '2'}
        done = subprocess.run(words, env=env, capture_output=True, text=True)
        assert 'Verdict: ' in done.stdout, done.stdout + done.stderr
        lines = [line for line in done.stdout.splitlines() if ': wrong-placement: ' in line]
        return done.returncode, '\n'.join(lines)

    return run


@pytest.mark.parametrize(
    'program, error',
    [(p, 'EPERM') for p in PROGRAMS] + [('stream', 'ENOSYS'), ('tiers', 'ENOSYS')],
)
def test_a_refusal_is_invalid_where_pages_may_lie_on_several_domains(said, program, error):
    status, line = said(program, error)
    fact = UNBOUND if program == 'tiers' else f'not known: {UNKNOWN}'
    way_out = 'a container needs --cap-add SYS_NICE'
    assert (status, line) == (1, f'invalid: wrong-placement: {fact}{SAYS[error]}; {way_out}')


@pytest.mark.parametrize('program', ['stream', 'pingpong'])
def test_pages_that_cannot_be_looked_up_are_enough(said, program):
    status, line = said(program, calls='get_mempolicy,move_pages')
    assert status == 1 and f'not known: {UNKNOWN}' in line


@pytest.mark.parametrize('program', ['stream', 'pingpong'])
def test_the_way_out_that_it_names_is_one(said, program):
    """Docker lets move_pages through in no case, get_mempolicy with --cap-add SYS_NICE."""
    assert said(program, calls='docker+SYS_NICE') == (0, '')


@pytest.mark.parametrize('program', ['stream', 'tiers'])
def test_where_a_cpuset_leaves_one_domain_it_is_a_warning(said, program):
    status, line = said(program, allowed='0')
    assert status == 0 and line.startswith('warning: ') and '--cap-add SYS_NICE' in line


@pytest.mark.parametrize('program', ['stream', 'tiers'])
def test_on_a_machine_of_one_domain_it_is_nothing(said, program):
    assert said(program, domains=1, allowed='0') == (0, '')


@pytest.mark.parametrize('program', ['stream', 'pingpong'])
def test_without_a_refusal_the_pages_are_known(said, program):
    assert said(program, calls='') == (0, '')


@pytest.mark.parametrize('files', [20, 64, 300])
def test_more_threads_than_files_may_be_open_hide_no_remote_memory(
    machine, build_program, files, tmp_path
):
    """Each kept one open, and whatever of /sys was read then was not there: VALID."""
    program = build_program('stream', changes=other_machine(machine.root, 1 << 20), usual=USUAL)
    machine(2, '0-1', home=(1,))  # the pages are of the real domain 0
    cpu = str(min(os.sched_getaffinity(0)))
    limited = ['sh', '-c', f'ulimit -n {files}; exec "$@"', 'sh', 'taskset', '-c', cpu]
    words = [program, '-n', '1000000', '-t', '2', '--allow', ALLOW, '--json', tmp_path / 'r.json']
    env = {**os.environ, 'OMP_NUM_THREADS': '80', 'OMP_WAIT_POLICY': 'passive'}
    done = subprocess.run([*limited, *words], env=env, capture_output=True, text=True)
    record = json.loads((tmp_path / 'r.json').read_text())
    assert [r['reason'] for r in record['reasons'] if not r['allowed']] == ['wrong-placement']
    assert 'do not lie on the local NUMA domain 1' in done.stdout
    assert record['repetitions']['lost_time_from'] == ('schedstat' if files == 300 else 'switches')


def test_what_cannot_be_opened_is_not_what_is_not_there(build_program):
    program = build_program('stream', usual=USUAL)
    words = ['sh', '-c', 'ulimit -n 4; exec "$@"', 'sh', program, '-n', '1000000', '-t', '2']
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and 'Verdict' not in done.stdout
    assert re.fullmatch(
        "membw: cannot read '/.*': Too many open files\nhint: raise 'ulimit -n'\n", done.stderr
    )


REFUSED = [
    ('/sys/devices/system/node', 'EACCES', 2),
    ('/sys/devices/system/node/node0/cpulist', 'EIO', 2),
    ('/sys/devices/system/cpu/cpu0/topology', 'ENOTCONN', 2),  # lxcfs has ended
    ('/sys/devices/system/node', 'ENOENT', 0),  # no NUMA in the kernel
    ('/sys/firmware', 'EACCES', 0),  # root's
    ('/sys/devices/system/cpu/cpu0/cpufreq', 'EBUSY', 0),
    ('/proc/', 'EACCES', 0),
]


@pytest.mark.parametrize('path, error, status', REFUSED)
def test_a_machine_whose_domains_may_not_be_read_has_not_one(build_program, path, error, status):
    opened = 'return fopen(path, "r");'
    refusal = f'if (!strncmp(path, "{path}", {len(path)})) return errno = {error}, NULL;\n\t'
    change = ('harness/sysfile.c', opened, refusal + opened)
    program = build_program('stream', changes=(change,), usual=USUAL)
    words = [program, *PROGRAMS['stream'], '--allow', ALLOW]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("membw: cannot read '" + path in done.stderr) == bool(status), done.stderr


@pytest.mark.parametrize('home', [(0, 1), (0, 1, 2)])
def test_a_cpu_of_several_domains_has_the_memory_of_each(said, machine, home):
    """numa=fake, as kernels of the Raspberry Pi have it: each domain lists all CPUs."""
    for program in ('stream', 'pingpong'):
        assert said(program, calls='', domains=3, allowed='0-2', home=home) == (0, '')


def test_cpus_that_the_kernel_does_not_say_are_those_of_proc(machine, refuse, build_program):
    """A filter refuses the call: "2 threads on 0 CPUs ()", INVALID three times."""
    program = build_program('stream', changes=other_machine(machine.root, 1 << 20), usual=USUAL)
    machine(2, '0-1')
    words = [refuse, 'EPERM', 'sched_getaffinity', program, *PROGRAMS['stream'], '--allow', ALLOW]
    env = {**os.environ, 'OMP_NUM_THREADS': '2'}
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert '2 threads on CPUs 0' in done.stdout and '()' not in done.stdout
