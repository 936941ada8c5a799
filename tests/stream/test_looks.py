"""What follows the repetitions: a pure read, half of the threads, both kinds of stores."""

import platform
import re
import subprocess

import pytest
from changed_source import OTHER_MACHINE, write_files
from clang_here import CLANG

# the rates that are looked at are planted
ALLOWED = ('--allow', 'array-too-small,too-short,oversubscribed,wrong-pinning')
LOOKS = 'stream/looks/looks.c'
READ = 'sum = wide_part ? wide_read(at, wide_part, 1) : 0;'
WRITE = 'at[i] = value;'


@pytest.fixture(params=['double', 'float'])
def program(request, build_program):
    return build_program('stream', f'-DSTREAM_TYPE={request.param}', usual=('-O0', '-fopenmp'))


@pytest.fixture
def measured(run_program):
    """measured(program, options): (its record, what it said)"""

    def run(program, *options, threads=2, **variables):
        words = [program, '-n', '100003', '-t', '7', *ALLOWED, *options]
        _, said, record = run_program(*words, OMP_NUM_THREADS=threads, **variables)
        return record, said

    return run


def test_read_and_write_are_metrics_beside_the_four_and_streams_table_stays(program, measured):
    record, said = measured(program)
    assert list(record['metrics']) == ['read', 'write', 'copy', 'scale', 'add', 'triad']
    looks = {'read', 'write', 'half_threads', 'domains'}
    assert record['headline'] == 'triad' and set(record['looks']) == looks
    assert record['verdict'] == 'VALID', said
    assert not re.search('^(Read|Write):', said, re.M)
    assert re.search(', read .*, write .*', said)


@pytest.mark.parametrize('threads, looks', [
    (1, {'read', 'ordinary', 'nontemporal'}),
    (2, {'read', 'ordinary', 'nontemporal', 'half'}),
    (3, {'read', 'ordinary', 'nontemporal', 'half', 'one'}),
])  # fmt: skip
def test_explain_looks_at_triad_by_fewer_threads_and_leaves_the_arrays_right(
    program, measured, threads, looks
):
    record, said = measured(program, '--explain', threads=threads)
    both = platform.machine() in ('x86_64', 'aarch64')
    expected = looks if both else looks - {'nontemporal'}
    further = {'write', 'half_threads', 'domains', 'write_allocate_avoided'}
    assert expected <= set(record['looks']) <= looks | further
    assert record['looks']['half_threads'] == ((threads + 1) // 2 if threads > 1 else None)
    assert record['validation']['ok'] and record['verdict'] == 'VALID', said
    assert 'Of triad by ordinary stores: ' in said
    assert not re.search('triad.*GB/s', said.partition('Of triad')[2])


@pytest.mark.parametrize('line, planted, text', [
    (READ, ' sum ^= at == NULL || 1;', "read: .* are not those of its elements"),
    (WRITE, ' if (value > 0) at[n / 2] = -value;', "write: 6 elements are not what was written"),
])  # fmt: skip
def test_a_sum_or_an_element_that_is_wrong_makes_the_run_invalid(
    line, planted, text, build_program, measured
):
    """Each of the seven writes another value: what the last one left out shows."""
    changes = ((LOOKS, line, line + planted),)
    record, said = measured(build_program('stream', changes=changes))
    assert record['verdict'] == 'INVALID' and re.search(text, said)
    assert record['validation']['ok']  # of the four kernels


def test_what_a_store_costs_is_told_on_a_saturated_memory_alone(build_program, measured):
    """Planted rates: reads avoided as far as non-temporal stores gain less than 4/3."""
    names = 'ORDINARY', 'NONTEMPORAL', 'HALF'
    rates = ', '.join(f'atof(getenv("{name}"))' for name in names)
    whole = 'return l->complete[look] > 1 ? 1e-9 * l->of[look].rate.value : 0;'
    changed = f'return l->complete[look] > 1 ? (double[]){{ 0, 0, {rates}, 0 }}[look] : 0;'
    program = build_program('stream', changes=((LOOKS, whole, changed),))
    for *planted, avoided in (
        (30, 40, 30, 0), (40, 40, 39, 1), (35, 40, 33, 0.5714), (40, 36, 40, 1), (30, 40, 20, None)
    ):  # fmt: skip
        record, _ = measured(program, '--explain', **dict(zip(names, planted, strict=True)))
        told = record['looks'].get('write_allocate_avoided')
        assert told == (avoided if avoided is None else pytest.approx(avoided, abs=1e-3))


@pytest.mark.parametrize('element', ['double', 'float'])
@pytest.mark.parametrize('compiler, flags, cpu', [
    ('gcc', '-O3 -march=native', []), ('gcc', '-O0', []),
    (CLANG, '-O2', []),
    ('aarch64-linux-gnu-gcc', '-O2 -static', ['qemu-aarch64', '-cpu', 'cortex-a57']),
])  # fmt: skip
def test_both_kinds_of_stores_are_right_at_awkward_sizes_and_addresses(
    compiler, flags, cpu, element, build_program, need
):
    line = [*flags.split(), '-Wall', '-Wextra', '-Werror', f'-DSTREAM_TYPE={element}']
    stores = build_program('tests/probes/stores.c', *line, cc=need(compiler), usual=())
    for word in cpu[:1]:
        need(word)
    done = subprocess.run([*cpu, stores], capture_output=True, text=True)
    both = bool(cpu) or platform.machine() in ('x86_64', 'aarch64')
    assert done.stdout == f'{1 + both} 0\n'


@pytest.mark.parametrize('slow', [-1, 0, 1])
def test_a_slow_domain_is_named_in_one_run(slow, build_program, measured, tmp_path):
    """A thread that is done 0.1 s later; whatever else runs here is no matter."""
    again = 'done[omp_get_thread_num()] = clock_now();'
    late = 'omp_get_thread_num() == atoi(getenv("SLOW"))'
    planted = f'const double until = clock_now() + ({late} ? 0.1 : 0); '
    planted += f'while (clock_now() < until) ; {again}'
    system = 'sys/devices/system'
    lists = {f'{system}/node/{name}': '0-1' for name in ('online', 'has_cpu', 'has_memory')}
    for cpu in (0, 1):
        (tmp_path / f'{system}/cpu/cpu{cpu}/node{cpu}').mkdir(parents=True)
        lists[f'{system}/node/node{cpu}/cpulist'] = cpu
    write_files(tmp_path, {**lists, f'{system}/cpu/online': '0-1'})
    changes = (
        *OTHER_MACHINE,
        (LOOKS, again, planted),
        (LOOKS, 'return !rate->is_bound && rate->value > 0;', 'return 1;'),
        (LOOKS, 'rate->high - rate->low : 0;', '0 : 0;'),
        (LOOKS, 'APART = 0.03', 'APART = 0.75'),
    )
    record, said = measured(build_program('stream', changes=changes), OMP_PLACES='{0},{1}',
                            MACHINE=tmp_path, SLOW=slow)  # fmt: skip
    domains = record['looks']['domains']
    assert set(domains) == {'0', '1'}
    named = {number for number, own in domains.items() if own['apart'] < 0}
    assert named == ({str(slow)} if slow >= 0 else set()), said
    assert slow < 0 or f'NUMA domain {slow} reads ' in said
