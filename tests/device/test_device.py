"""src/device: its figures, what makes them INVALID, and what is MISSING by name."""

import itertools
import math
import subprocess

import lying_opencl
import pytest
from lying_opencl import QUICK
from places import ROOT

KERNELS = ('copy', 'scale', 'add', 'triad', 'read', 'write')
WAYS = ('h2d_pinned', 'd2h_pinned', 'h2d_pageable', 'd2h_pageable')
TWO = {'POCL_DEVICES': 'pthread pthread'}
ALONE = (*QUICK, '--no-transfers')


@pytest.fixture(scope='session')
def lying(tmp_path_factory):
    return lying_opencl.variables(tmp_path_factory.mktemp('opencl'))


@pytest.fixture
def device(build_program, run_program, lying):
    """device(*options, LIE=, KERNEL=): (exit status, output, record)"""

    def run(*options, changes=(), **variables):
        program = build_program('device', changes=changes)
        return run_program(program, *options, **{**lying, **variables})

    return run


def reasons(record, kind='reasons'):
    return [one['reason'] for one in record[kind] if not one.get('allowed')]


# --- what is measured ----------------------------------------------------------------------------


@pytest.mark.alone
def test_each_kernel_and_each_way_has_a_figure_and_each_launch_two_times(device):
    status, output, record = device('--cpu', *QUICK)
    assert status == 0 and record['verdict'] == 'VALID', output
    assert [*record['metrics']][:6] == [*KERNELS]
    assert {f'{way}_0' for way in WAYS} <= {*record['metrics']}
    assert record['headline'] == 'triad' and record['threads'] == 1
    assert all(metric['unit'] == 'GB/s' for metric in record['metrics'].values())
    for kernel in KERNELS:
        times = record['seconds'][kernel]
        assert len(times['host']) == len(times['device']) == 10
        pairs = zip(times['host'], times['device'], strict=True)
        assert all(0 < of_device <= host for host, of_device in pairs)
        assert record['launch_shapes'][kernel]['local'] == 64


def test_the_record_says_which_device_it_is_and_what_opencl_cannot_know(device):
    _, output, record = device('--cpu', *ALONE, LIE='named')
    of = record['device']
    assert of['name'] == 'NVIDIA H200' and of['pci'] == '0000:01:00.0' and of['count'] == 1
    assert of['uuid'] == '30313233-3435-3637-3839-616263646566'
    assert of['memory_mib'] > 0 and of['units'] > 0 and of['driver'] and of['clock_max_mhz']
    unknown = ('other_processes', 'clock_now_mhz', 'power_cap_w')
    assert all(of[name] is None for name in unknown)


def test_without_double_precision_floats_are_measured_and_it_is_said(device):
    _, output, record = device('--cpu', *ALONE, LIE='single')
    assert record['precision'] == 'single' and record['element_bytes'] == 4
    assert record['verdict'] == 'VALID' and 'single-precision' in reasons(record, 'warnings')


def test_the_shape_is_searched_and_the_best_is_taken(device):
    words = ['-n', '300000', '--rounds', '10', '--no-transfers']
    allow = ['--allow', 'array-too-small,too-short']
    _, _, record = device('--cpu', *words, *allow, '--width', '2')
    assert record['shapes_tried'] == 15  # 5 groups' sizes, 3 numbers of groups
    assert record['worst_shape_triad_gbs'] < record['best_shape_triad_gbs']
    assert {shape['width'] for shape in record['launch_shapes'].values()} == {2}


def test_cards_are_listed_by_their_pci_address(device):
    status, output, record = device('--list', LIE='gpu,named', **TWO)
    assert (status, record) == (0, None)
    assert [line.split()[:4] for line in output.splitlines()] == [
        ['0', 'NVIDIA', 'H200', '0000:01:00.0'], ['1', 'NVIDIA', 'H200', '0000:02:00.0'],
    ]  # fmt: skip


@pytest.mark.alone
def test_of_two_devices_the_slow_one_is_slow_and_each_reaches_the_other(device):
    """Each kernel is done twice on device 1."""
    best = [math.inf, math.inf]
    for number in (0, 1) * 5:
        _, output, record = device(
            '--cpu', '-d', number, *QUICK, '--rounds', '40', LIE='slow', **TWO
        )
        assert record['verdict'] == 'VALID', output
        assert record['device']['index'] == number and record['device']['count'] == 2
        assert f'to_card_{1 - number}' in record['metrics']
        best[number] = min(best[number], *record['seconds']['triad']['device'])
        if number and best[1] > 1.3 * best[0]:  # on a busy node all launches may be disturbed
            break
    assert 1.3 * best[0] < best[1] < math.inf


@pytest.mark.alone
def test_arrays_are_proven_to_lie_in_memory_by_measuring(device):
    """Beyond twice what its caches declare, in a plateau."""
    few = ['--local', '64', '--width', '4', '--rounds', '10', '--no-transfers']
    _, output, record = device('--cpu', *few)
    found = record['residency']
    assert found['bytes'] == found['largest_bytes'] == found['readings'][-1]['bytes']
    assert found['bytes'] >= 2 * record['device']['cache_bytes'] and found['bytes'] >= 1 << 30
    sizes = [one['bytes'] for one in found['readings']]
    assert all(b > 1.9 * a for a, b in itertools.pairwise(sizes))
    if found['known'] != 'proven':  # of a busy machine
        assert reasons(record) == ['not-proven'] and record['verdict'] == 'UNDECIDED', output


def test_arrays_that_a_cache_may_hold_are_undecided(device):
    status, output, record = device('--cpu', *ALONE[:-3], '--no-transfers', '--allow', 'clock')
    assert status == 1 and record['verdict'] in ('UNDECIDED', 'INVALID')
    assert {'not-proven', 'array-too-small'} & {*reasons(record)}, output


# --- what is wrong -------------------------------------------------------------------------------

FAULTY = {
    'copy does nothing': 'EACH c[i] = a[i];=>',
    'copy of another array': '{ EACH c[i] = a[i]=>{ EACH c[i] = b[i]',
    'scale by another number': 's * c[i]; }\n=>2 * c[i]; }\n',
    'add subtracts': 'a[i] + b[i]=>a[i] - b[i]',
    'triad with another sign': 'a[i] = b[i] + s=>a[i] = b[i] - s',
    'triad leaves out an element': 'EACH a[i] = b[i]=>EACH if (i != 77777) a[i] = b[i]',
    'write does nothing': 'EACH c[i] = s;=>',
    'write of another number': 'c[i] = s;=>c[i] = s + 1;',
    'read leaves out an element': 'x += AS_BITS(a[i])=>if (i) x += AS_BITS(a[i])',
    'read sums nothing': 'PARTS + (BITS)s=>(BITS)s',
}


@pytest.mark.parametrize('fault', FAULTY)
def test_a_faulty_kernel_is_not_validated(device, fault):
    """In double precision; where the fault leaves out one element, in single precision."""
    lie = 'single' if 'leaves out' in fault else ''
    status, output, record = device('--cpu', *ALONE, KERNEL=FAULTY[fault], LIE=lie)
    assert status == 1 and reasons(record) == ['not-validated'], output


LIES = {  # what the device does: (the reason, what is said)
    'nothing': ('not-validated', 'elements differ'),
    'flip': ('not-validated', '1 of 299008 elements differ, first a[1543]: bits'),
    'fast': ('clock', "ms by the host's clock"),
}


@pytest.mark.parametrize('lie', LIES)
def test_a_device_that_lies_is_invalid_by_name(device, lie):
    reason, said = LIES[lie]
    status, output, record = device('--cpu', *ALONE, LIE=lie)
    assert status == 1 and reason in reasons(record) and said in output, output


def test_a_shared_card_has_bounds_as_a_cpu_with_neighbours_has(device):
    """Of arrays that a cache may hold, which is allowed here, on neither side."""
    status, output, record = device('--cpu', *ALONE, LIE='busy')
    assert status == 0 and reasons(record) == [], output
    assert 'card-shared' in reasons(record, 'warnings') and 'were not free' in output
    assert {metric['bound'] for metric in record['metrics'].values()} == {'unknown'}


@pytest.mark.alone
def test_a_clock_that_counts_too_little_makes_a_bound_of_a_figure_by_the_hosts(device):
    """Of arrays so large that a launch weighs nothing."""
    size = ('-n', '4000000', *ALONE[2:])
    _, output, record = device('--cpu', *size, LIE='late')
    assert 'clocks-differ' in reasons(record, 'warnings'), output
    assert record['metrics']['triad']['bound'] == 'unknown'  # and allowed to lie in a cache
    times = record['seconds']['triad']
    assert 2e-9 * 12 * 4000000 / min(times['host']) == pytest.approx(
        record['metrics']['triad']['value'], rel=0.03
    )


@pytest.mark.alone
def test_a_cpu_in_disguise_is_no_card(device):
    """Whether it has many CPUs or one: threads of a driver sleep while a card works."""
    status, output, record = device(*ALONE, LIE='gpu')
    assert status == 1 and reasons(record) == ['not-a-card'], output


def test_a_transfer_that_brings_something_else_is_not_validated(device):
    wrong = ('device/transfers.c', 'stamp(from, count, turn + 1);', 'stamp(from, count, turn);')
    status, output, record = device('--cpu', *QUICK, changes=[wrong])
    assert status == 1 and reasons(record) == ['not-validated'], output
    assert '40 transfers did not bring what was sent' not in output
    assert '20 transfers did not bring what was sent' in output


# --- what is missing -----------------------------------------------------------------------------

MISSING = {
    'gone': ([], 'no card: no driver has registered with OpenCL'),
    'hidden': ([], 'no card: OpenCL has drivers (1), and none shows a device'),
    '': ([], "no card: OpenCL has no device but a CPU, '"),
    'taken': (['--cpu'], "card 0, 'pthread-"),
    'lost': (['--cpu'], "the device fails in 'clFinish', error -5: out of resources"),
    'gpu': (['-d', '3'], 'no card 3: this node shows 1, the last is card 0'),
}


@pytest.mark.parametrize('lie', MISSING)
def test_what_cannot_be_measured_is_named_with_status_2_and_without_a_record(device, lie):
    options, said = MISSING[lie]
    status, output, record = device(*options, *ALONE, LIE=lie)
    assert (status, record) == (2, None) and f'membw: {said}' in output, output
    assert ('is not available: another process has it' in output) == (lie == 'taken')


def test_a_node_without_opencl_is_named(build_program, run_program):
    """No other library is there by this name."""
    changes = [('device/opencl.c', '"libOpenCL.so.1", RTLD', '"libNoSuchCL.so.1", RTLD')]
    status, output, record = run_program(build_program('device', changes=changes))
    assert (status, record) == (2, None)
    assert 'membw: no OpenCL on this node: libNoSuchCL.so.1: cannot open' in output


def test_a_card_that_may_not_be_opened_is_named(device):
    """As of a user who is not in the group of the device."""
    denied = ('device/card.c', 'access(nodes[n], R_OK | W_OK) != 0', '1')
    there = ('device/card.c', '"/dev/nvidia0", ', '"/dev/null", ')
    status, output, record = device(changes=[denied, there])
    assert (status, record) == (2, None)
    assert "no card: no permission to open '/dev/null'" in output


def test_a_library_that_lacks_a_function_is_named(build_program, run_program, tmp_path):
    (tmp_path / 'empty.c').write_text('int nothing_of_opencl;\n')
    line = ['gcc', '-shared', '-fPIC', '-o', tmp_path / 'libOpenCL.so.1', tmp_path / 'empty.c']
    subprocess.run(line, check=True)
    status, output, _ = run_program(build_program('device'), LD_LIBRARY_PATH=tmp_path)
    assert status == 2 and "libOpenCL.so.1 has no 'clGetPlatformIDs'" in output


def test_a_kernel_that_the_driver_does_not_compile_is_named(device):
    status, output, record = device('--cpu', *ALONE, KERNEL='EACH c[i] = a[i]=>EACH c[i] = d[i]')
    assert (status, record) == (2, None) and 'does not compile the kernels: ' in output


@pytest.mark.parametrize('options', [['--list'], ALONE])
@pytest.mark.parametrize('lie, said', [('aborts', 'by signal 6 ('), ('exits', 'with status 1')])
def test_a_driver_that_ends_its_caller_is_named(device, lie, said, options):
    status, output, record = device('--cpu', *options, LIE=lie)
    assert (status, record) == (2, None)
    assert f'no card: its driver ends the program that asks it, {said}' in output


def test_nothing_of_opencl_is_needed_to_build():
    text = ''.join(path.read_text() for path in (ROOT / 'src/device').iterdir())
    assert '#include <CL' not in text and '-lOpenCL' not in text
