"""INVALID, the third verdict: each reason provoked for real, and clean runs that are valid."""

import json
import os
import pathlib
import subprocess
import threading

import pytest
import silent_kernel
from changed_source import OTHER_MACHINE, SHORT_LOOKS, write_files
from cpu_used import until_cpu_used
from sides import side

SMALL = ['-n', '1e6', '--allow', 'array-too-small']
SHORT = [*SMALL, '-t', '3']
CPUS = sorted(os.sched_getaffinity(0))
TWO_CPUS = ('taskset', '-c', ','.join(map(str, CPUS[:2])))


class Done:
    """The record of a program that has ended, as its status and last line have it."""

    def __init__(self, status, said, record):
        self.said, self.record = said, record
        self.reasons = {r['reason'] for r in record['reasons'] if not r['allowed']}
        self.warnings = {w['reason'] for w in record['warnings']}
        assert status == (1 if self.reasons else 0)
        undecided = 'UNDECIDED (not-proven)' if self.reasons == {'not-proven'} else 'INVALID ('
        assert f'\nVerdict: {undecided if self.reasons else "VALID"}' in said


@pytest.fixture
def stream(build_program):
    return build_program('stream', changes=[SHORT_LOOKS])


@pytest.fixture
def run(run_program):
    return lambda *command, **variables: Done(
        *run_program(*command, **{'OMP_NUM_THREADS': None, **variables})
    )


@pytest.fixture
def machine(build_program, tmp_path, monkeypatch):
    """The program on the /sys of another machine, given as {path: text}."""

    def of(files):
        monkeypatch.setenv('MACHINE', str(write_files(tmp_path / 'root/sys', files).parent))
        return build_program('stream', changes=OTHER_MACHINE)

    return of


def cache(cpu, size, sharers):
    folder = f'devices/system/cpu/cpu{cpu}/cache/index0'
    facts = {'level': '3', 'type': 'Unified', 'size': size, 'shared_cpu_list': sharers}
    return {f'{folder}/{name}': text for name, text in facts.items()}


@pytest.mark.alone
def test_clean_pinned_runs_are_valid(stream, machine, run):
    """Of a size that is given, and of one that the program chose for its caches."""
    done = run(stream, *SMALL, '-t', '50', OMP_PROC_BIND='true')
    assert done.reasons == set()
    assert [t['moved'] for t in done.record['threads_on']] == [False] * len(CPUS)
    program = machine(cache(0, '2048K', '0') | cache(1, '2048K', '1'))
    done = run(program, '-t', '50', *SMALL[2:], OMP_PROC_BIND='true')
    assert done.reasons == set() and done.record['array_size_from'] == 'auto'
    assert done.record['array_size'] == 4 * len(CPUS[:2]) * 2048 * 1024 // 8


@pytest.mark.parametrize(
    'size, reason', [('999999', 'array-too-small'), ('1000000', 'not-proven')]
)
def test_arrays_under_the_rule_are_too_small_or_not_known_to_lie_in_memory(
    machine, run, size, reason
):
    """A size that only a declared cache speaks against is UNDECIDED."""
    program = machine(cache(0, '24M', '0-1') | cache(1, '24M', '0-1'))
    done = run(program, '-n', size, '-t', '3')
    assert reason in done.reasons
    assert done.record['verdict'] == ('INVALID' if reason == 'array-too-small' else 'UNDECIDED')


def test_what_a_person_allows_is_recorded_and_valid(stream, run):
    allowed = 'array-too-small,too-short,oversubscribed,wrong-pinning'
    done = run(stream, '-n', '10', '-t', '10', '--allow', allowed, before=TWO_CPUS)
    assert not done.reasons
    first = done.record['reasons'][0]
    assert (first['reason'], first['allowed']) == ('array-too-small', True)


def test_kernels_of_nanoseconds_are_too_short(build_program, run):
    """Without OpenMP: its region alone takes as long as the 20 ticks that are asked."""
    program = build_program('stream', usual=('-O1',))
    assert 'too-short' in run(program, '-n', '10', '-t', '100').reasons


def test_more_threads_than_the_mask_has_cpus(stream, run):
    one = ('taskset', '-c', CPUS[0])
    done = run(stream, '-n', '1e3', '-t', '3', before=one, OMP_NUM_THREADS=2)
    assert 'oversubscribed' in done.reasons


def quota(cpus, version=2):
    """Of the group above, as cgroup v1 or v2 writes it; the process's own group may have more."""
    if version == 2:
        files = {'': f'{cpus * 100000:.0f} 100000', 'job/': '900000 100000'}
        files = {f'fs/cgroup/{group}cpu.max': text for group, text in files.items()}
    else:
        files = {'': f'{cpus * 100000:.0f}', 'job/': '900000'}
        files = {f'fs/cgroup/cpu/{group}cpu.cfs_quota_us': text for group, text in files.items()}
        files |= {name.replace('quota', 'period'): '100000' for name in files}
    return {'../proc/self/cgroup': '0::/job' if version == 2 else '4:cpu,cpuacct:/job', **files}


@pytest.mark.parametrize('cpus, version', [(0.5, 1), (1, 2), (1.8, 2)])
def test_more_threads_than_the_cgroup_quota_are_noise(machine, run, cpus, version):
    done = run(machine(quota(cpus, version)), *SHORT, OMP_NUM_THREADS=2)
    assert not done.reasons and 'disturbed' in done.warnings
    assert done.record['facts']['cgroup_cpus'] == cpus


@pytest.mark.parametrize('cpus, threads', [(0.5, 1), (1.8, 1), (2, 2), (100, len(CPUS))])
def test_as_many_threads_as_whole_cpus_of_the_quota(machine, run, cpus, threads):
    done = run(machine(quota(cpus)), *SHORT, before=TWO_CPUS)
    assert done.record['threads'] == min(threads, 2)
    assert ("the cgroup's quota is" in done.said) == (cpus < 2)
    assert not done.reasons


@pytest.mark.parametrize('letter', ['v', 'd'])
def test_the_automatic_size_keeps_to_ulimit(machine, run, letter):
    limited = 'bash', '-c', f'ulimit -{letter} 300000; exec "$@"', '-'
    program = machine(cache(0, '32M', '0'))
    done = run(program, '-t', '2', *SMALL[2:], before=limited, OMP_NUM_THREADS=1)
    assert 75e6 < 3 * 8 * done.record['array_size'] < 300e6


@pytest.mark.parametrize('key, unit', [('throttled_time', 10**9), ('throttled_usec', 10**6)])
def test_a_quota_that_throttles_is_named(machine, run, tmp_path, key, unit):
    """Whoever is throttled finds nobody on the CPUs: they are idle then. By cgroup v1 and v2."""
    stat = f'nr_periods 9\nnr_throttled 9\n{key}'
    names = {f'fs/cgroup/{name}' for name in ('cpu/cpu.stat', 'cpu.stat')}
    program = machine(dict.fromkeys(names, f'{stat} 0'))
    ended = threading.Event()

    def throttle(seconds=1):
        while not ended.wait(0.02):
            for name in names:
                written = tmp_path / 'next'
                written.write_text(f'{stat} {seconds * unit}\n')
                written.rename(tmp_path / 'root/sys' / name)
            seconds += 1

    writer = threading.Thread(target=throttle)
    writer.start()
    try:
        done = run(program, '-n', '1e6', '-t', '150', OMP_NUM_THREADS=1)
    finally:
        ended.set()
        writer.join()
    assert 1 <= done.record['busy']['throttled_s'] < 1000
    assert 'by the CPU quota of the cgroup, which throttled its tasks for' in done.said
    assert 'disturbed' in done.reasons | done.warnings


def test_pages_that_came_back_from_swap_leave_a_lower_bound(stream, run):
    """A thread that waits for its page is not ready to run, and seemed to have lost nothing."""
    done = run(stream, *SMALL, '-t', '20', **silent_kernel.preloaded('swaps'))
    assert 'disturbed' in done.warnings and not done.reasons
    assert done.record['metrics']['triad']['bound'] == side(done.record)
    assert 'of its pages that came back from swap: memory is short here' in done.said
    assert done.record['busy']['major_faults'] > 100


def test_a_clock_that_the_cpu_time_contradicts_is_invalid(stream, run):
    """With one at half its speed Copy read 83 GB/s on a machine of 42, VALID."""
    slow = silent_kernel.with_a_slow_clock()
    done = run(stream, *SMALL, '-t', '150', OMP_NUM_THREADS=1, **slow)
    assert done.reasons == {'clock'} and 'the clock is slow' in done.said
    # on a busy node the thread had less than half of its CPU
    assert '1 thread used ' in done.said or f"the node's {os.cpu_count()} CPU" in done.said


@pytest.mark.alone
@pytest.mark.parametrize('every', [0, 1])
def test_a_clock_at_half_speed_on_a_busy_node_is_invalid(stream, run, every):
    """Threads that lose half of their CPUs used no more CPU time than went by, and the record had
    "other processes used 121 % of the CPUs", VALID. The kernel's ticks go on by the right time."""
    slow = silent_kernel.with_a_slow_clock(2, every)
    loops = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in CPUS]
    try:
        done = run(stream, *SMALL, '-t', '300', OMP_NUM_THREADS=len(CPUS), **slow)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert done.reasons == {'clock'}
    if every:  # else the CPU time of this process may be what is too long
        assert f"the node's {os.cpu_count()} CPU" in done.said


def test_where_the_kernel_does_not_say_how_busy_it_is_figures_are_bounds(stream, run, tmp_path):
    """A container that masks /proc/stat: half of the CPUs were taken, and it was an estimate."""
    hidden = silent_kernel.without_load(tmp_path, '')
    done = run(stream, *SMALL, '-t', '30', before=hidden, OMP_NUM_THREADS=1)
    assert 'not known: /proc/stat does not say' in done.said and not done.reasons
    assert 'how busy the CPUs were is not known' in done.said
    assert {metric['bound'] for metric in done.record['metrics'].values()} == {side(done.record)}


# two on one core lose their time to each other: these repetitions do not count, and a warning says
# so; what was measured before they were put there may be an estimate
MOVED = {
    'pinned': (('taskset', '-c', CPUS[0]), {}, 1, 'reasons'),
    'places of one core': ((), {'OMP_PLACES': f'{{{CPUS[0]}}},{{{CPUS[1 % len(CPUS)]}}}'}, 0,
                           'reasons'),
    **{
        places: ((), {'OMP_PLACES': places}, 0, 'warnings')
        for places in ('sockets', 'numa_domains', f'{{{CPUS[0]},{CPUS[1 % len(CPUS)]}}}')
    },
}  # fmt: skip


@pytest.mark.parametrize('before, places, to, finding', MOVED.values(), ids=MOVED)
def test_a_thread_put_elsewhere_from_outside(stream, tmp_path, before, places, to, finding):
    """Where in its place a thread runs is no wrong pinning."""
    words = [*before, stream, *SMALL, '-t', '150', '--json', tmp_path / 'r']
    env = {k: v for k, v in os.environ.items() if not k.startswith('OMP_')}
    env |= {'OMP_WAIT_POLICY': 'passive', **places, **({'OMP_NUM_THREADS': '2'} if places else {})}
    process = subprocess.Popen(list(map(str, words)), env=env, stdout=subprocess.PIPE, text=True)
    until_cpu_used(process, 0.2)
    subprocess.run(['taskset', '-acp', str(CPUS[to]), str(process.pid)], check=True)
    said = process.communicate(timeout=300)[0]
    done = Done(process.returncode, said, json.loads((tmp_path / 'r').read_text()))
    assert 'wrong-pinning' in getattr(done, finding)
    if finding == 'warnings':
        assert not done.reasons and 'the places of OMP_PLACES have several cores' in said


def test_the_real_affinity_of_each_thread_is_recorded(stream, run):
    cores = dict(OMP_PROC_BIND='true', OMP_PLACES=f'{{{CPUS[1]}}},{{{CPUS[0]}}}')
    done = run(stream, *SHORT, OMP_NUM_THREADS=2, **cores)
    assert [t['affinity'] for t in done.record['threads_on']] == [str(CPUS[1]), str(CPUS[0])]
    assert 'wrong-pinning' not in done.reasons


def test_where_the_kernel_does_not_say_where_threads_run_the_run_says_so(stream, run):
    line = stream, '--allow', 'array-too-small,oversubscribed', '-n', '1000', '-t', '3'
    pinned = {'OMP_NUM_THREADS': 2, 'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'}
    done = run(*line, **pinned, **silent_kernel.preloaded('no_cpu'))
    assert 'wrong-pinning' in done.warnings - done.reasons, done.said
    assert 'not known: the kernel does not say on which CPU' in done.said
    assert all(t['cpu'] is t['cpus_seen'] is None for t in done.record['threads_on'])


@pytest.mark.parametrize('peak, is_too_good', [('0.001', True), ('100000', False)])
def test_more_than_the_peak_is_too_good(stream, run, peak, is_too_good):
    done = run(stream, *SHORT, '--peak', peak)
    assert ('too-good' in done.reasons) == is_too_good
    assert done.record['peak']['value'] == float(peak)


def test_pages_where_numactl_put_them(stream, run):
    done = run(stream, *SHORT, before=('numactl', '--membind=0'))
    assert 'wrong-placement' not in done.reasons
    assert done.record['placement_before']['policy'] == 'bind'


@pytest.mark.alone  # memory that others take is in pieces
def test_requested_huge_pages_are_used_or_refused(stream, run_program):
    enabled = pathlib.Path('/sys/kernel/mm/transparent_hugepage/enabled').read_text()
    status, _, record = run_program(stream, '-n', '4e6', '-t', '3', '--pages', 'thp')
    assert status == 2 if '[never]' in enabled else record['pages']['huge_mib'] > 45


@pytest.mark.parametrize('kind', ['2M', '1G'])
def test_reserved_pages_that_are_not_there_are_refused(stream, kind, run_program):
    """More than any machine of these tests has reserved: half of its memory."""
    half = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // 1024 // 2
    status, said, _ = run_program(stream, '-m', half, '--pages', kind)
    assert status == 2 and f"'--pages {kind}'" in said


# variables, what is found, what is said of it, of which one is enough
NUMBER = "OMP_NUM_THREADS='{}' is no number of threads: "
NOTHING = ' pinned nothing: each thread may run', ' is no valid value', ': the runtime has '
PLACES = (
    '{7777} {0},{7777} {0}:2:5000 {0},!{7777} '
    '{cores} '  # a parser of ours looked for the number, for ever
    '{a {} {0: '  # the last looks like places of several cores
    'numa_domains(0) socket'
).split()
REFUSED = [('OMP_PLACES', value) for value in PLACES]
REFUSED += [('OMP_PROC_BIND', 'nonsense'), ('GOMP_CPU_AFFINITY', '5000-5003:2')]
SETTINGS = [
    ({'OMP_NUM_THREADS': 2, 'OMP_THREAD_LIMIT': 1}, 'reasons',
     ['2 threads were requested, there is 1']),
    # libgomp takes as many as it likes, and nothing in the record said so
    *(({'OMP_NUM_THREADS': value}, 'warnings', [NUMBER.format(value)])
      for value in ('a', '0', '-1', '2x', '2,x', '2 3', '2,')),
    # nothing was requested, and a variable of whichever name leaves less than there is
    *(({'OMP_NUM_THREADS': None, name: value}, *(('warnings', ['1 thread, though ']) if
        len(CPUS) > 1 else ('', [''])))
      for name, value in (('OMP_THREAD_LIMIT', 1), ('OMP_MAX_ACTIVE_LEVELS', 0))),
    ({'OMP_NUM_THREADS': len(CPUS), 'OMP_DYNAMIC': 'true'}, '', ['']),  # each region has as many
    *(({'OMP_NUM_THREADS': 1, name: value}, 'reasons',
       [f"{name}='{value}'{words}" for words in NOTHING])
      for name, value in REFUSED),
    *(({'OMP_NUM_THREADS': 1, 'OMP_PLACES': places}, '', [''])
      for places in ('cores', 'threads(1)', ' { 0 }:1:9', '0:1', 'sockets', '{0:2}',
                     'Cores ( 1 )', '{0:1:+1}')),
]  # fmt: skip


def test_threads_and_places_that_the_runtime_refuses_are_named(stream, run):
    """Each time the same: whether a thread has moved or not."""
    for variables, finding, texts in SETTINGS:
        done = run(stream, '-n', '1e5', *SHORT[2:], **variables)
        assert not finding or 'wrong-pinning' in getattr(done, finding), variables
        assert any(text in done.said for text in texts), (variables, done.said)
        assert finding == 'reasons' or 'pinned nothing' not in done.said, variables
        assert finding or 'OMP_PLACES=' not in done.said, variables
        ran = f'{NUMBER[-4:]}{done.record["threads"]} ran'
        assert NUMBER[-4:] not in texts[0] or ran in done.said


def test_sysconf_counts_where_nothing_else_knows_a_third_level(machine, run):
    done = run(machine({}), '-n', '1e6', '-t', '3', LLC_BYTES=64000000)
    assert 'not-proven' in done.reasons and 'cache-size' in done.warnings
    assert (done.record['llc_from'], done.record['llc_mib']) == ('sysconf', 64000000 / 2**20)


def test_where_sysfs_has_no_l3_the_cache_is_that_of_cpuid(stream, run, tmp_path):
    """Virtual machines, containers: Copy read 155 GB/s on a machine of 42, VALID."""
    shared = pathlib.Path('/sys/devices/system/cpu/cpu0/cache/index3/size')
    if not shared.exists() or subprocess.run(['unshare', '-m', 'true']).returncode:
        pytest.skip('no L3 in /sys, or unshare -m: not permitted here')
    mount = f'for i in /sys/devices/system/cpu/cpu*/cache/index3; do mount -B {tmp_path} $i; done'
    hidden = ('unshare', '-m', 'sh', '-c', f'{mount}; exec "$@"', 'sh')
    done = run(stream, '-t', '2', before=hidden)
    by = done.record['llc_by']
    assert by['sysfs_mib'] < by['cpuid_mib'] == done.record['llc_mib']
    if done.record['residency']['known'] == 'declared':
        assert done.record['array_size'] >= 4 * by['cpuid_mib'] * 2**20 / 8
    assert 'cache-size' in done.warnings
    said = f'{by["sysfs_mib"]:.1f} MiB from sysfs, {by["cpuid_mib"]:.1f} from CPUID, '
    assert said in done.said


def test_caches_of_unknown_size_make_no_automatic_size_valid(machine, run, run_program):
    program = machine({'../proc/meminfo': 'MemAvailable: 195312 kB'})
    done = run(program, '-t', '3')
    # not-proven: the largest sizes were undisturbed for long enough, and agree
    assert 'not-proven' in done.reasons, done.said
    assert (done.record['llc_from'], done.record['llc_mib']) == ('unknown', 0)
    given = run(program, '-n', '1e6', '-t', '3')
    assert 'not-proven' in given.reasons and 'caches is not known' in given.said
    # where the arrays alone fit, the kernel killed it: 199.2 MB of 200
    status, said, _ = run_program(program, '-n', '8300000')
    text = 'make three arrays that need 198 MiB with their page tables, more than the 191 MiB'
    assert status == 2 and text in said
