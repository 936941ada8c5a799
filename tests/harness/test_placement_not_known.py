"""A kernel that refuses to place memory, or to say where it lies: never silently VALID."""

import errno
import os
import re
import subprocess

import pytest
from changed_source import OTHER_MACHINE, write_files

ALLOW = 'array-too-small,oversubscribed,wrong-pinning,too-short'
PROGRAMS = {
    'stream': ('-n', '100000', '-t', '3'),
    'ladder': ('--quick',),
    'loaded': '--mixes 1r0w --rounds 3 --window 0.005 --chain-mib 8 --allow '
    'generators-stopped'.split(),
    'tiers': ('--array-mib', '1', '--rounds', '3'),
    'pingpong': ('--seconds', '0.005'),
}
TWO_CPUS = ('taskset', '-c', ','.join(map(str, sorted(os.sched_getaffinity(0))[:2])))
ALL = 'docker'  # without CAP_SYS_NICE
UNKNOWN = 'the kernel does not say on which NUMA domain pages lie: move_pages: '
UNBOUND = 'the kernel does not bind memory to NUMA domain 0: set_mempolicy: '
SAYS = {'EPERM': 'Operation not permitted', 'ENOSYS': 'Function not implemented'}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """machine(domains, allowed, home): what the programs find from then on; CPUs are of `home`."""
    monkeypatch.setenv('LLC_BYTES', str(1 << 20))

    def become(count, allowed, home=(0,)):
        nodes = 'sys/devices/system/node'
        files = {f'{nodes}/online': f'0-{count - 1}',
                 'proc/self/status': f'Mems_allowed_list:\t{allowed}'}  # fmt: skip
        for n in range(count):
            files[f'{nodes}/node{n}/cpulist'] = '0-8191' if n in home else ''
            files[f'{nodes}/node{n}/distance'] = '10 21'
            files[f'{nodes}/node{n}/meminfo'] = f'Node {n} MemTotal: 9000000 kB'
        tree = write_files(tmp_path / f'{count}-{allowed}-{home}', files)
        monkeypatch.setenv('MACHINE', str(tree))

    return become


@pytest.fixture
def refuse(build_program):
    """The probe that runs a command under a filter."""
    return build_program('tests/probes/refuse_calls.c', '-Wall', '-Wextra', '-Werror')


@pytest.fixture
def said(machine, refuse, build_program, run_program):
    """said(program, error, calls, domains, allowed) -> (exit status, lines on the placement)"""

    def run(program, error='EPERM', calls=ALL, domains=2, allowed='0-1', home=(0,)):
        machine(domains, allowed, home)
        before = [*TWO_CPUS, *([refuse, error, calls] if calls else [])]
        words = [build_program(program, changes=OTHER_MACHINE), *PROGRAMS[program]]
        status, text, _ = run_program(*words, '--allow', ALLOW, before=before)
        assert 'Verdict: ' in text, text
        lines = [line for line in text.splitlines() if ': wrong-placement: ' in line]
        return status, '\n'.join(lines)

    return run


def refused(program, error):
    fact = UNBOUND if program == 'tiers' else f'not known: {UNKNOWN}'
    way_out = 'a container needs --cap-add SYS_NICE'
    return f'invalid: wrong-placement: {fact}{SAYS[error]}; {way_out}'


# program, the machine and what is refused there, the status, a pattern of what is said
CASES = [
    *((p, {}, 1, re.escape(refused(p, 'EPERM'))) for p in PROGRAMS),
    *((p, {'error': 'ENOSYS'}, 1, re.escape(refused(p, 'ENOSYS'))) for p in ('stream', 'tiers')),
    # pages that cannot be looked up are enough
    *((p, {'calls': 'get_mempolicy,move_pages'}, 1, f'.*not known: {UNKNOWN}.*')
      for p in ('stream', 'pingpong')),
    # the way out: Docker lets move_pages through in no case, get_mempolicy with SYS_NICE
    *((p, {'calls': 'docker+SYS_NICE'}, 0, '') for p in ('stream', 'pingpong')),
    # a cpuset leaves one domain; a machine of one
    *((p, {'allowed': '0'}, 0, 'warning: .*--cap-add SYS_NICE.*') for p in ('stream', 'tiers')),
    *((p, {'allowed': '0', 'domains': 1}, 0, '') for p in ('stream', 'tiers')),
    # numa=fake, as kernels of the Raspberry Pi have it: each domain lists all CPUs
    *((p, {'calls': '', 'domains': 3, 'allowed': '0-2', 'home': home}, 0, '')
      for p in ('stream', 'pingpong') for home in ((0, 1), (0, 1, 2))),
    *((p, {'calls': ''}, 0, '') for p in ('stream', 'pingpong')),
]  # fmt: skip


@pytest.mark.parametrize('program', PROGRAMS)
def test_where_pages_may_lie_on_several_domains_a_refusal_is_invalid(said, program):
    for of, there, wanted, pattern in CASES:
        if of == program:
            status, lines = said(program, **there)
            assert status == wanted and re.fullmatch(pattern, lines), (there, status, lines)


@pytest.mark.parametrize('files', [20, 64, 300])
def test_more_threads_than_files_may_be_open_hide_no_remote_memory(
    machine, build_program, run_program, files
):
    """Each kept one open, and whatever of /sys was read then was not there: VALID."""
    machine(2, '0-1', home=(1,))  # the pages are of the real domain 0
    limited = ('sh', '-c', f'ulimit -n {files}; exec "$@"', 'sh', *TWO_CPUS)
    words = [build_program('stream', changes=OTHER_MACHINE), '-n', '1000000', '-t', '2']
    _, text, record = run_program(*words, '--allow', ALLOW, before=limited, OMP_NUM_THREADS=80)
    assert [r['reason'] for r in record['reasons'] if not r['allowed']] == ['wrong-placement']
    assert 'do not lie on the local NUMA domain 1' in text
    assert record['placement_after']['pages_on'].keys() == {'0'}
    assert record['repetitions']['lost_time_from'] == ('schedstat' if files == 300 else 'switches')


def test_what_cannot_be_opened_is_not_what_is_not_there(build_program):
    words = ['sh', '-c', 'ulimit -n 4; exec "$@"', 'sh', build_program('stream'), '-n', '1000000']
    done = subprocess.run([*words, '-t', '2'], capture_output=True, text=True)
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


def test_a_machine_whose_domains_may_not_be_read_has_not_one(build_program, run_program):
    opened = 'return fopen(path, "r");'
    refusal = 'const char *to = getenv("REFUSED");\n\tif (!strncmp(path, to, strlen(to))) return '
    refusal += 'errno = atoi(getenv("ERROR")), NULL;\n\t'
    program = build_program('stream', changes=[('harness/sysfile.c', opened, refusal + opened)])
    for path, error, wanted in REFUSED:
        words = [program, *PROGRAMS['stream'], '--allow', ALLOW]
        status, text, _ = run_program(*words, REFUSED=path, ERROR=getattr(errno, error))
        assert status == wanted and (f"membw: cannot read '{path}" in text) == bool(wanted), text


def test_cpus_that_the_kernel_does_not_say_are_those_of_proc(
    machine, refuse, build_program, run_program
):
    """A filter refuses the call: "2 threads on 0 CPUs ()", INVALID three times."""
    machine(2, '0-1')
    words = [build_program('stream', changes=OTHER_MACHINE), *PROGRAMS['stream'], '--allow', ALLOW]
    status, text, _ = run_program(*words, before=(refuse, 'EPERM', 'sched_getaffinity'))
    assert status == 0, text
    assert '2 threads on CPUs 0' in text and '()' not in text
