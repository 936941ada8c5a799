"""What follows the repetitions: a pure read, half of the threads, both kinds of stores."""

import json
import os
import platform
import re
import shutil
import subprocess

import pytest
from changed_source import other_machine
from places import ROOT
from record_schema import check

pytestmark = pytest.mark.shared  # the rates that are looked at are planted

OPTIONS = [
    '-n',
    '1000003',
    '-t',
    '7',
    '--allow',
    'array-too-small,too-short,oversubscribed,wrong-pinning',
]
READ = 'sum = wide_part ? wide_read(at, wide_part, 1) : 0;'
WRITE = 'at[i] = value;'
# seven repetitions, the last of which writes more than 0
SEVEN = ('stream/looks/looks.c', 'LASTS = 0.12', 'LASTS = 0')


@pytest.fixture(scope='module', params=['double', 'float'])
def program(request, build_program):
    return build_program('stream', f'-DSTREAM_TYPE={request.param}')


def measured(program, folder, *options, threads=2, **variables):
    path = folder / 'record.json'
    env = {
        **os.environ,
        'OMP_NUM_THREADS': str(threads),
        'OMP_WAIT_POLICY': 'passive',
        **variables,
    }
    done = subprocess.run(
        [program, *OPTIONS, '--json', path, *options], capture_output=True, text=True, env=env
    )
    return check(json.loads(path.read_text())), done


def test_read_and_write_are_metrics_beside_the_four_and_streams_table_stays(program, tmp_path):
    record, done = measured(program, tmp_path)
    assert list(record['metrics']) == ['read', 'write', 'copy', 'scale', 'add', 'triad']
    looks = {'read', 'write', 'half_threads', 'domains'}
    assert record['headline'] == 'triad' and set(record['looks']) == looks
    assert record['verdict'] == 'VALID', done.stdout
    table = [line for line in done.stdout.splitlines() if line.endswith(':') or '0.0' in line]
    assert not any(line.startswith(('Read:', 'Write:')) for line in table)
    assert re.search(', read .*, write .*', done.stdout)


@pytest.mark.parametrize('threads, looks', [
    (1, {'read', 'ordinary', 'nontemporal'}),
    (2, {'read', 'ordinary', 'nontemporal', 'half'}),
    (3, {'read', 'ordinary', 'nontemporal', 'half', 'one'}),
])  # fmt: skip
def test_explain_looks_at_triad_by_fewer_threads_and_leaves_the_arrays_right(
    program, tmp_path, threads, looks
):
    record, done = measured(program, tmp_path, '--explain', threads=threads)
    both = platform.machine() in ('x86_64', 'aarch64')
    expected = looks if both else looks - {'nontemporal'}
    further = {'write', 'half_threads', 'domains', 'write_allocate_avoided'}
    assert expected <= set(record['looks']) <= looks | further
    assert record['looks']['half_threads'] == ((threads + 1) // 2 if threads > 1 else None)
    assert record['validation']['ok'] and record['verdict'] == 'VALID', done.stdout
    assert 'Of triad by ordinary stores: ' in done.stdout
    assert not re.search('triad.*GB/s', done.stdout.partition('Of triad')[2])


@pytest.mark.parametrize('line, planted, said', [
    (READ, ' sum ^= at == NULL || 1;', "read: .* are not those of its elements"),
    (WRITE, ' if (value > 0) at[n / 2] = -value;', "write: 6 elements are not what was written"),
])  # fmt: skip
def test_a_sum_or_an_element_that_is_wrong_makes_the_run_invalid(
    line, planted, said, build_program, tmp_path
):
    """Each repetition writes another value: what the last one left out shows."""
    changes = (('stream/looks/looks.c', line, line + planted), SEVEN)
    record, done = measured(build_program('stream', changes=changes), tmp_path)
    assert done.returncode == 1 and record['verdict'] == 'INVALID'
    assert re.search(said, done.stdout)
    assert record['validation']['ok']  # of the four kernels


@pytest.mark.parametrize('ordinary, nontemporal, half, avoided', [
    (30, 40, 30, 0), (40, 40, 39, 1), (35, 40, 33, 0.5714), (40, 36, 40, 1), (30, 40, 20, None),
])  # fmt: skip
def test_what_a_store_costs_is_told_on_a_saturated_memory_alone(
    ordinary, nontemporal, half, avoided, build_program, tmp_path
):
    """Planted rates: reads avoided as far as non-temporal stores gain less than 4/3."""
    rates = f'(double[]){{ 0, 0, {ordinary}, {nontemporal}, {half}, 0 }}[look]'
    whole = 'return l->complete[look] > 1 ? 1e-9 * l->of[look].rate.value : 0;'
    changed = f'return l->complete[look] > 1 ? {rates} : 0;'
    planted = build_program('stream', changes=(('stream/looks/looks.c', whole, changed),))
    record, _ = measured(planted, tmp_path, '--explain')
    told = record['looks'].get('write_allocate_avoided')
    assert told == (avoided if avoided is None else pytest.approx(avoided, abs=1e-3))


@pytest.mark.parametrize('element', ['double', 'float'])
@pytest.mark.parametrize('compiler, flags, cpu', [
    ('gcc', '-O3 -march=native', []), ('gcc', '-O0', []),
    (shutil.which('clang-19') or 'clang', '-O2', []),
    ('aarch64-linux-gnu-gcc', '-O2 -static', ['qemu-aarch64', '-cpu', 'cortex-a57']),
])  # fmt: skip
def test_both_kinds_of_stores_are_right_at_awkward_sizes_and_addresses(
    compiler, flags, cpu, element, tmp_path, need
):
    line = [need(compiler), *flags.split(), '-Wall', '-Wextra', '-Werror']
    line += [f'-DSTREAM_TYPE={element}', ROOT / 'tests/probes/stores.c', '-o', tmp_path / 'stores']
    subprocess.run(line, check=True)
    for word in cpu[:1]:
        need(word)
    done = subprocess.run([*cpu, tmp_path / 'stores'], capture_output=True, text=True)
    both = bool(cpu) or platform.machine() in ('x86_64', 'aarch64')
    assert done.stdout == f'{1 + both} 0\n'


def two_domains(root):
    """A /sys of two NUMA domains, a CPU each."""
    for cpu in (0, 1):
        node = root / f'sys/devices/system/node/node{cpu}'
        node.mkdir(parents=True)
        (node / 'cpulist').write_text(f'{cpu}\n')
        (root / f'sys/devices/system/cpu/cpu{cpu}/node{cpu}').mkdir(parents=True)
    for name in ('online', 'has_cpu', 'has_memory'):
        (root / f'sys/devices/system/node/{name}').write_text('0-1\n')
    (root / 'sys/devices/system/cpu/online').write_text('0-1\n')


@pytest.mark.parametrize('slow', [None, 0, 1])
def test_a_slow_domain_is_named_in_one_run(slow, build_program, tmp_path):
    """A thread that is done 0.1 s later; whatever else runs here is no matter."""
    again = 'done[omp_get_thread_num()] = clock_now();'
    late = f'omp_get_thread_num() == {-1 if slow is None else slow}'
    planted = f'const double until = clock_now() + ({late} ? 0.1 : 0); ' + (
        f'while (clock_now() < until) ; {again}'
    )
    root = tmp_path / 'root'
    two_domains(root)
    changes = (
        *other_machine(root),
        ('stream/looks/looks.c', again, planted),
        ('stream/looks/looks.c', 'return !rate->is_bound && rate->value > 0;', 'return 1;'),
        ('stream/looks/looks.c', 'rate->high - rate->low : 0;', '0 : 0;'),
        ('stream/looks/looks.c', 'APART = 0.03', 'APART = 0.75'),
    )
    record, done = measured(
        build_program('stream', changes=changes), tmp_path, OMP_PLACES='{0},{1}'
    )
    domains = record['looks']['domains']
    assert set(domains) == {'0', '1'}
    named = {number for number, own in domains.items() if own['apart'] < 0}
    assert named == (set() if slow is None else {str(slow)}), done.stdout
    if slow is not None:
        assert f'NUMA domain {slow} reads ' in done.stdout
