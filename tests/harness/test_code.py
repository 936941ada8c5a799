"""Is the code this CPU's, and was it made to be fast? By real emulators and real builds."""

import os
import subprocess

import pytest
from changed_source import OTHER_MACHINE, write_files

TINY = ['-n', '20000', '-t', '2']
GNU = {'aarch64': 'aarch64', 'ppc64le': 'powerpc64le', 'riscv64': 'riscv64'}


def findings(record, kind):
    return {finding['reason']: finding['detail'] for finding in record[kind]}


@pytest.mark.parametrize('machine', GNU)
def test_code_of_another_architecture_is_translated(build_program, run_program, need, machine):
    triple = f'{GNU[machine]}-linux-gnu'
    program = build_program('stream', cc=need(f'{triple}-gcc'))
    before = [need(f'qemu-{machine}'), '-L', f'/usr/{triple}']
    status, said, record = run_program(program, *TINY, before=before)
    detail = findings(record, 'reasons')['translated']
    assert status == 1 and f'on a CPU of {os.uname().machine}: an emulator runs it' in detail, said


def test_code_of_this_architecture_is_translated_where_cpuid_is_made_up(
    build_program, run_program, need
):
    program = build_program('stream')
    _, said, record = run_program(program, *TINY, before=[need('qemu-x86_64')])
    assert 'CPUID and the kernel name two CPUs' in findings(record, 'reasons')['translated'], said
    assert 'translated' not in run_program(program, *TINY)[1]


# of kernels that say of their CPU what qemu makes up for it, the clock is the host's
SIGNS = [
    ({'cpuinfo': 'CPU implementer\t: 0x41'}, 'aarch64'), ({'cpuinfo': 'hart\t: 0'}, 'riscv64'),
    ({'cpuinfo': 'timebase\t: 512000000'}, 'ppc64'), ({'clock': 'arch_sys_counter'}, 'aarch64'),
    ({'cpuinfo': 'bogomips per cpu: 3241.00'}, 's390x'),
    ({'cpuinfo': 'vendor_id\t: GenuineIntel', 'clock': 'tsc'}, ''), ({'cpuinfo': 'nothing'}, ''),
]  # fmt: skip


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='the signs are of other machines')
@pytest.mark.parametrize('signs, machine', SIGNS)
def test_a_kernel_of_another_machine_is_seen_by_each_sign(
    build_program, run_program, tmp_path, monkeypatch, signs, machine
):
    clock = 'sys/devices/system/clocksource/clocksource0/current_clocksource'
    paths = {'cpuinfo': 'proc/cpuinfo', 'clock': clock}
    write_files(tmp_path / 'm', {paths[sign]: text for sign, text in signs.items()})
    monkeypatch.setenv('MACHINE', str(tmp_path / 'm'))
    program = build_program('stream', changes=OTHER_MACHINE)
    said = run_program(program, *TINY)[1]
    assert (f'code for x86_64 on a CPU of {machine}' in said) == bool(machine), said
    assert ('translated' in said) == bool(machine)


@pytest.mark.parametrize('flags, named', [
    (('-O0',), 'no optimization (-O0)'), (('-O1',), ''), (('-Og',), ''), (('-Ofast',), ''),
    (('-O1', '-fsanitize=address'), 'AddressSanitizer'),
    (('-O1', '-fsanitize=thread'), 'ThreadSanitizer'),
])  # fmt: skip
def test_what_makes_the_code_slow_is_named(build_program, run_program, flags, named):
    program = build_program('stream', '-w', '-fopenmp', *flags, usual=())
    done = subprocess.run([program, '--version'], capture_output=True, text=True)
    if done.returncode:  # its runtime does not start here
        pytest.skip(done.stderr)
    said = run_program(program, *TINY, ASAN_OPTIONS='detect_leaks=0')[1]
    assert (f'warning: slow-build: built with {named}' in said) == bool(named), said
