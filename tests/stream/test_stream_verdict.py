"""INVALID, the third verdict: each reason provoked for real, and clean runs that are valid."""

import json
import os
import pathlib
import subprocess
import threading
import time
from functools import partial

import pytest
import silent_kernel
from changed_source import other_machine
from cpu_used import until_cpu_used
from record_schema import check

SMALL = ['--allow', 'array-too-small']
CPUS = sorted(os.sched_getaffinity(0))
OURS = ('OMP_', 'KMP_', 'GOMP_')


@pytest.fixture(scope='session')
def build(build_program):
    """build('-D...', changes=): the program."""
    return partial(build_program, 'stream')


@pytest.fixture
def stream(build):
    return build()


class Run:
    """A started program, its record when it has ended."""

    def __init__(self, folder, *command, **variables):
        self.json = folder / f'{time.monotonic_ns()}.json'
        clean = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        self.process = subprocess.Popen(
            [*map(str, command), '--json', self.json],
            env={**clean, 'OMP_WAIT_POLICY': 'passive', **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self):
        self.stdout, self.stderr = self.process.communicate(timeout=300)
        self.status = self.process.returncode
        self.record = json.loads(self.json.read_text())
        check(self.record)
        self.reasons = {r['reason'] for r in self.record['reasons'] if not r['allowed']}
        self.warnings = {w['reason'] for w in self.record['warnings']}
        assert self.status == (1 if self.reasons else 0)
        undecided = 'UNDECIDED (not-proven)' if self.reasons == {'not-proven'} else 'INVALID ('
        verdict = undecided if self.reasons else 'VALID'
        assert self.stdout.splitlines()[-1].startswith(f'Verdict: {verdict}')
        return self


@pytest.fixture
def run(tmp_path):
    return lambda *command, **variables: Run(tmp_path, *command, **variables).end()


@pytest.fixture
def begin(tmp_path):
    """Starts one that goes on for a second, waits until it measures."""

    def start(*command, **variables):
        started = Run(tmp_path, *command, '-n', '1000000', '-t', '300', **variables)
        until_cpu_used(started.process, 0.4)
        return started

    return start


@pytest.fixture(scope='module')
def elsewhere(build_program, tmp_path_factory):
    """(a link, the program that takes the folder behind it for the root of its machine)."""
    link = tmp_path_factory.mktemp('elsewhere') / 'root'
    return link, build_program('stream', changes=other_machine(link))


@pytest.fixture
def recorded_machine(elsewhere, tmp_path):
    """The program on the /sys of another machine, given as {path: text}."""

    def of(files):
        for path, text in files.items():
            file = tmp_path / 'root/sys' / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + '\n')
        link, program = elsewhere
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / 'root')
        return program

    return of


def cache(cpu, size, sharers, level=3):
    folder = f'devices/system/cpu/cpu{cpu}/cache/index0'
    facts = {'level': str(level), 'type': 'Unified', 'size': size, 'shared_cpu_list': sharers}
    return {f'{folder}/{name}': text for name, text in facts.items()}


@pytest.mark.alone
def test_a_clean_pinned_run_is_valid(stream, run):
    done = run(stream, '-n', '1e6', '-t', '50', *SMALL, OMP_PROC_BIND='true')
    assert done.reasons == set()
    assert [t['moved'] for t in done.record['threads_on']] == [False] * len(CPUS)


@pytest.mark.alone
def test_a_clean_run_with_arrays_of_its_own_choice_is_valid(recorded_machine, run):
    program = recorded_machine(cache(0, '2048K', '0') | cache(1, '2048K', '1'))
    done = run(program, '-t', '50', OMP_PROC_BIND='true')
    assert done.reasons == set()
    assert done.record['array_size_from'] == 'auto'
    assert done.record['array_size'] == 4 * len(CPUS[:2]) * 2048 * 1024 // 8


@pytest.mark.parametrize(
    'size, reason', [('999999', 'array-too-small'), ('1000000', 'not-proven')]
)
def test_arrays_under_the_rule_are_too_small_or_not_known_to_lie_in_memory(
    recorded_machine, run, size, reason
):
    """A size that only a declared cache speaks against is UNDECIDED."""
    program = recorded_machine(cache(0, '24M', '0-1') | cache(1, '24M', '0-1'))
    done = run(program, '-n', size, '-t', '3')
    assert reason in done.reasons
    assert done.record['verdict'] == ('INVALID' if reason == 'array-too-small' else 'UNDECIDED')


def test_what_a_person_allows_is_recorded_and_valid(stream, run):
    allowed = 'array-too-small,too-short,oversubscribed,wrong-pinning'
    done = run('taskset', '-c', CPUS[0], stream, '-n', '10', '-t', '10', '--allow', allowed)
    assert done.status == 0
    assert {'reason': 'array-too-small', 'allowed': True}.items() <= done.record['reasons'][
        0
    ].items()


def test_kernels_of_nanoseconds_are_too_short(build, run):
    """Without OpenMP: its region alone takes as long as the 20 ticks that are asked."""
    assert 'too-short' in run(build('-fno-openmp'), '-n', '10', '-t', '100').reasons


def test_more_threads_than_the_mask_has_cpus(stream, run):
    done = run('taskset', '-c', CPUS[0], stream, '-n', '1e3', '-t', '3', OMP_NUM_THREADS='2')
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
def test_more_threads_than_the_cgroup_quota_are_noise(recorded_machine, run, cpus, version):
    done = run(
        recorded_machine(quota(cpus, version)), '-n', '1e6', '-t', '3', *SMALL, OMP_NUM_THREADS='2'
    )
    assert not done.reasons and 'disturbed' in done.warnings
    assert done.record['facts']['cgroup_cpus'] == cpus


@pytest.mark.parametrize('cpus, threads', [(0.5, 1), (1.8, 1), (2, 2), (100, len(CPUS))])
def test_as_many_threads_as_whole_cpus_of_the_quota(recorded_machine, run, cpus, threads):
    program = recorded_machine(quota(cpus))
    done = run('taskset', '-c', f'{CPUS[0]},{CPUS[1]}', program, '-n', '1e6', '-t', '3', *SMALL)
    assert done.record['threads'] == min(threads, 2)
    assert ("the cgroup's quota is" in done.stderr) == (cpus < 2)
    assert not done.reasons


@pytest.mark.parametrize('letter', ['v', 'd'])
def test_the_automatic_size_keeps_to_ulimit(recorded_machine, run, letter):
    program = recorded_machine(cache(0, '64M', '0'))
    limited = 'bash', '-c', f'ulimit -{letter} 600000; exec "$@"', '-'
    done = run(*limited, program, '-t', '3', *SMALL, OMP_NUM_THREADS='1')
    assert 150e6 < 3 * 8 * done.record['array_size'] < 600e6


@pytest.mark.parametrize('key, unit', [('throttled_time', 10**9), ('throttled_usec', 10**6)])
def test_a_quota_that_throttles_is_named(recorded_machine, run, tmp_path, key, unit):
    """Whoever is throttled finds nobody on the CPUs: they are idle then. By cgroup v1 and v2."""
    stat = f'nr_periods 9\nnr_throttled 9\n{key}'
    names = {f'fs/cgroup/{name}' for name in ('cpu/cpu.stat', 'cpu.stat')}
    program = recorded_machine(dict.fromkeys(names, f'{stat} 0'))
    done, ended = [], threading.Event()

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
        done = run(program, '-n', '1e6', '-t', '40', OMP_NUM_THREADS='1')
    finally:
        ended.set()
        writer.join()
    said = [
        f for f in done.record['reasons'] + done.record['warnings'] if f['reason'] == 'disturbed'
    ]
    assert 1 <= done.record['busy']['throttled_s'] < 1000
    assert 'by the CPU quota of the cgroup, which throttled its tasks for' in said[0]['detail']


def test_pages_that_came_back_from_swap_leave_a_lower_bound(stream, run, tmp_path):
    """A thread that waits for its page is not ready to run, and seemed to have lost nothing."""
    done = run(stream, '-n', '1e6', '-t', '20', *SMALL, **silent_kernel.that_swaps(tmp_path))
    assert 'disturbed' in done.warnings and not done.reasons
    assert done.record['metrics']['triad']['bound'] == 'lower'
    assert 'of its pages that came back from swap: memory is short here' in done.stdout
    assert done.record['busy']['major_faults'] > 100


def test_a_clock_that_the_cpu_time_contradicts_is_invalid(stream, run, tmp_path):
    """With one at half its speed Copy read 83 GB/s on a machine of 42, VALID."""
    slow = silent_kernel.with_a_slow_clock(tmp_path)
    done = run(stream, '-n', '1e6', '-t', '300', *SMALL, OMP_NUM_THREADS='1', **slow)
    assert done.reasons == {'clock'} and 'the clock is slow' in done.stdout
    # on a busy node the thread had less than half of its CPU
    assert '1 thread used ' in done.stdout or f"the node's {os.cpu_count()} CPU" in done.stdout


@pytest.mark.alone
@pytest.mark.parametrize('every', [0, 1])
def test_a_clock_at_half_speed_on_a_busy_node_is_invalid(stream, run, tmp_path, every):
    """Threads that lose half of their CPUs used no more CPU time than went by, and the record had
    "other processes used 121 % of the CPUs", VALID. The kernel's ticks go on by the right time."""
    slow = silent_kernel.with_a_slow_clock(tmp_path, 2, every)
    loops = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in CPUS]
    try:
        threads = {'OMP_NUM_THREADS': str(len(CPUS))}
        done = run(stream, '-n', '1e6', '-t', '300', *SMALL, **threads, **slow)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert done.reasons == {'clock'}
    if every:  # else the CPU time of this process may be what is too long
        assert f"the node's {os.cpu_count()} CPU" in done.stdout


def test_where_the_kernel_does_not_say_how_busy_it_is_figures_are_bounds(stream, run, tmp_path):
    """A container that masks /proc/stat: half of the CPUs were taken, and it was an estimate."""
    (tmp_path / 'stat').touch()
    hidden = f'mount --bind {tmp_path}/stat /proc/stat && exec "$@"'
    inside = ['unshare', '-m', 'sh', '-c', hidden, 'sh']
    if subprocess.run([*inside, 'true'], capture_output=True).returncode:
        pytest.skip('unshare -m: not permitted here')
    done = run(*inside, stream, '-n', '1000000', '-t', '60', *SMALL, OMP_NUM_THREADS='1')
    assert 'not known: /proc/stat does not say' in done.stdout and not done.reasons
    assert 'how busy the CPUs were is not known' in done.stdout
    assert {metric['bound'] for metric in done.record['metrics'].values()} == {'lower'}


@pytest.mark.alone
def test_a_pinned_thread_moved_from_outside(stream, begin):
    started = begin('taskset', '-c', CPUS[0], stream, *SMALL)
    subprocess.run(['taskset', '-acp', str(CPUS[1]), str(started.process.pid)], check=True)
    assert 'wrong-pinning' in started.end().reasons


def herd(started):
    """Puts all threads on one CPU while they run."""
    subprocess.run(['taskset', '-acp', str(CPUS[0]), str(started.process.pid)], check=True)


@pytest.mark.alone
@pytest.mark.parametrize('places', ['sockets', 'numa_domains', f'{{{CPUS[0]},{CPUS[1]}}}'])
def test_where_in_its_place_a_thread_runs_is_no_wrong_pinning(stream, begin, places):
    """Two on one core lose their time to each other: these repetitions do not count, and a warning
    says so. What was measured before they were put there may be an estimate."""
    started = begin(stream, *SMALL, OMP_PLACES=places, OMP_NUM_THREADS='2')
    herd(started)
    done = started.end()
    assert not done.reasons and 'wrong-pinning' in done.warnings
    assert 'the places of OMP_PLACES have several cores' in done.stdout


@pytest.mark.alone
def test_two_threads_of_places_of_one_core_are_on_two_cores(stream, begin):
    places = f'{{{CPUS[0]}}},{{{CPUS[1]}}}'
    started = begin(stream, *SMALL, OMP_PLACES=places, OMP_NUM_THREADS='2')
    herd(started)
    assert 'wrong-pinning' in started.end().reasons


def test_the_real_affinity_of_each_thread_is_recorded(stream, run):
    cores = dict(OMP_PROC_BIND='true', OMP_PLACES=f'{{{CPUS[1]}}},{{{CPUS[0]}}}')
    done = run(stream, '-n', '1e6', '-t', '3', OMP_NUM_THREADS='2', **cores)
    assert [t['affinity'] for t in done.record['threads_on']] == [str(CPUS[1]), str(CPUS[0])]
    assert 'wrong-pinning' not in done.reasons


def test_where_the_kernel_does_not_say_where_threads_run_the_run_says_so(stream, run, tmp_path):
    """It was two threads on one core, and INVALID."""
    line = stream, '--allow', 'array-too-small,oversubscribed', '-n', '1000', '-t', '3'
    pinned = {'OMP_NUM_THREADS': '2', 'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'}
    done = run(*line, **pinned, **silent_kernel.no_cpu(tmp_path))
    assert 'wrong-pinning' in done.warnings - done.reasons, done.stdout
    assert 'not known: the kernel does not say on which CPU' in done.stdout
    assert all(t['cpu'] is t['cpus_seen'] is None for t in done.record['threads_on'])


@pytest.mark.parametrize('peak, is_too_good', [('0.001', True), ('100000', False)])
def test_more_than_the_peak_is_too_good(stream, run, peak, is_too_good):
    done = run(stream, '-n', '1e6', '-t', '3', '--peak', peak)
    assert ('too-good' in done.reasons) == is_too_good
    assert done.record['peak']['value'] == float(peak)


def test_pages_on_a_remote_domain(recorded_machine, run):
    """A /sys that says the CPUs belong to domain 1; the pages really lie on domain 0."""
    nodes = 'devices/system/node'
    files = {
        f'{nodes}/online': '0-1',
        f'{nodes}/node0/cpulist': '',
        f'{nodes}/node1/cpulist': '0-63',
        '../proc/self/status': 'Mems_allowed_list:\t0-1',
        f'{nodes}/node0/meminfo': 'Node 0 MemTotal:       16777216 kB',
        f'{nodes}/node1/meminfo': 'Node 1 MemTotal:       16777216 kB',
    }
    done = run(recorded_machine(files), '-n', '1e6', '-t', '3')
    assert 'wrong-placement' in done.reasons
    assert done.record['placement_after']['pages_on'].keys() == {'0'}


def test_pages_where_numactl_put_them(stream, run):
    done = run('numactl', '--membind=0', stream, '-n', '1e6', '-t', '3')
    assert 'wrong-placement' not in done.reasons
    assert done.record['placement_before']['policy'] == 'bind'


def thp():
    return pathlib.Path('/sys/kernel/mm/transparent_hugepage/enabled').read_text()


@pytest.mark.alone
def test_requested_huge_pages_are_used_or_refused(stream, tmp_path):
    started = Run(tmp_path, stream, '-n', '4e6', '-t', '3', '--pages', 'thp')
    if '[never]' in thp():
        started.process.communicate(timeout=300)
        assert started.process.returncode == 2
    else:
        assert started.end().record['pages']['huge_mib'] > 45


@pytest.mark.parametrize('kind', ['2M', '1G'])
def test_reserved_pages_that_are_not_there_are_refused(stream, kind):
    """More than any machine of these tests has reserved: half of its memory."""
    half = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // 1024 // 2
    done = subprocess.run(
        [stream, '-m', str(half), '--pages', kind], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 2 and f"'--pages {kind}'" in done.stderr


def test_fewer_threads_than_requested_are_a_reason(stream, run):
    done = run(stream, '-n', '1e6', '-t', '3', OMP_NUM_THREADS='2', OMP_THREAD_LIMIT='1')
    assert 'wrong-pinning' in done.reasons
    assert '2 threads were requested, there is 1' in done.stdout


@pytest.mark.parametrize('value', ['a', '0', '-1', '2x'])
def test_a_number_of_threads_that_is_none_is_named_with_what_ran(stream, run, value):
    """libgomp takes as many as it likes, and nothing in the record said so."""
    done = run(stream, '-n', '1e6', '-t', '3', OMP_NUM_THREADS=value)
    said = f"OMP_NUM_THREADS='{value}' is no number of threads: {done.record['threads']} ran"
    assert 'wrong-pinning' in done.warnings and said in done.stdout


REFUSED = [
    ('OMP_PLACES', '{7777}'),
    ('OMP_PLACES', '{0},{7777}'),
    ('OMP_PLACES', '{0}:2:5000'),
    ('OMP_PLACES', '{0},!{7777}'),
    ('OMP_PLACES', '{cores}'),  # a parser of ours looked for the number, for ever
    ('OMP_PLACES', '{a'),
    ('OMP_PLACES', '{}'),
    ('OMP_PLACES', '{0:'),  # it looks like places of several cores
    ('OMP_PLACES', 'numa_domains(0)'),
    ('OMP_PLACES', 'socket'),
    ('OMP_PROC_BIND', 'nonsense'),
    ('GOMP_CPU_AFFINITY', '5000-5003:2'),
]


@pytest.mark.parametrize('variable, value', REFUSED)
def test_a_pinning_that_the_runtime_refuses_is_a_reason(stream, run, variable, value):
    """Each time the same: whether a thread has moved or not."""
    given = {variable: value}
    done = run(stream, '-n', '1e6', '-t', '3', OMP_NUM_THREADS='1', **given)
    assert 'wrong-pinning' in done.reasons
    said = (
        ' pinned nothing: each thread may run on CPUs',
        ' is no valid value',
        ': the runtime has ',
    )
    assert any(f"{variable}='{value}'{words}" in done.stdout for words in said)


PLACES = 'cores', 'threads(1)', ' { 0 }:1:9', '0:1', 'sockets', '{0:2}', 'Cores ( 1 )', '{0:1:+1}'


@pytest.mark.parametrize('places', PLACES)
def test_places_that_are_there_are_no_reason(stream, run, places):
    done = run(stream, '-n', '1e6', '-t', '3', OMP_NUM_THREADS='1', OMP_PLACES=places)
    assert 'pinned nothing' not in done.stdout and 'OMP_PLACES=' not in done.stdout


def test_sysconf_counts_where_nothing_else_knows_a_third_level(recorded_machine, build, tmp_path):
    (tmp_path / 'root').mkdir()
    program = build(changes=other_machine(tmp_path / 'root', 64000000))
    done = Run(tmp_path, program, '-n', '1e6', '-t', '3').end()
    assert 'not-proven' in done.reasons and 'cache-size' in done.warnings
    assert (done.record['llc_from'], done.record['llc_mib']) == ('sysconf', 64000000 / 2**20)


def test_where_sysfs_has_no_l3_the_cache_is_that_of_cpuid(stream, run, tmp_path):
    """Virtual machines, containers: Copy read 155 GB/s on a machine of 42, VALID."""
    shared = pathlib.Path('/sys/devices/system/cpu/cpu0/cache/index3/size')
    if not shared.exists() or subprocess.run(['unshare', '-m', 'true']).returncode:
        pytest.skip('no L3 in /sys, or unshare -m: not permitted here')
    mount = f'for i in /sys/devices/system/cpu/cpu*/cache/index3; do mount -B {tmp_path} $i; done'
    hidden = ('unshare', '-m', 'sh', '-c', f'{mount}; exec "$@"', 'sh')
    done = run(*hidden, stream, '-t', '2')
    by = done.record['llc_by']
    assert by['sysfs_mib'] < by['cpuid_mib'] == done.record['llc_mib']
    if done.record['residency']['known'] == 'declared':
        assert done.record['array_size'] >= 4 * by['cpuid_mib'] * 2**20 / 8
    assert 'cache-size' in done.warnings
    said = f'{by["sysfs_mib"]:.1f} MiB from sysfs, {by["cpuid_mib"]:.1f} from CPUID, '
    assert said in done.stdout


def test_caches_of_unknown_size_make_no_automatic_size_valid(build, run, tmp_path):
    root = tmp_path / 'root'
    root.mkdir()
    (root / 'proc').mkdir()
    (root / 'proc/meminfo').write_text('MemAvailable: 195312 kB\n')
    program = build(changes=other_machine(root))
    done = run(program, '-t', '3')
    # not-proven: the largest sizes were undisturbed for long enough, and agree
    assert 'not-proven' in done.reasons, done.stdout
    assert (done.record['llc_from'], done.record['llc_mib']) == ('unknown', 0)
    given = run(program, '-n', '1e6', '-t', '3')
    assert 'not-proven' in given.reasons and 'caches is not known' in given.stdout
    # where the arrays alone fit, the kernel killed it: 199.2 MB of 200
    too_large = subprocess.run([program, '-n', '8300000'], capture_output=True, text=True)
    said = 'make three arrays that need 198 MiB with their page tables, more than the 191 MiB'
    assert too_large.returncode == 2 and said in too_large.stderr
