"""Arm's wide registers, by gcc and clang, run by qemu: right to the bit, and how wide they are."""

import re
import subprocess

import pytest
from clang_here import CLANG

NEON, PLAIN = 'neon:2:176', 'portable:1:128'
# what qemu is told of the CPU: bits, the loops of dgemm's ceiling
CPUS = {
    'max,sve=off': (128, [NEON, PLAIN]),
    'max,sve-default-vector-length=16': (128, [NEON, PLAIN]),
    'max,sve-default-vector-length=32': (256, ['sve:4:352', NEON, PLAIN]),
    'a64fx': (512, ['sve:8:704', NEON, PLAIN]),
    # wider than any CPU there is: the ceiling may, the loops of memory take NEON
    'max,sve-default-vector-length=128': (128, ['sve:16:1408', NEON, PLAIN]),
}


@pytest.fixture(params=['gcc', 'clang'])
def program(request, build_program, need):
    cc, target = need('aarch64-linux-gnu-gcc'), []
    if request.param == 'clang':
        cc, target = need(CLANG), ['--target=aarch64-linux-gnu']
    return build_program('tests/probes/wide.c', *target, '-O1', '-w', '-static', cc=cc, usual=())


@pytest.mark.parametrize('cpu', CPUS)
def test_the_loops_are_right_and_as_wide_as_the_cpu(program, cpu, need):
    words = [need('qemu-aarch64'), '-cpu', cpu, program]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    bits, wrong, *loops = done.stdout.split()
    assert (int(bits), int(wrong), loops) == (CPUS[cpu][0], 0, CPUS[cpu][1])


def test_a_turn_of_the_ceiling_has_the_instructions_that_are_counted(program, need):
    """22 chains, forth and back; two operations for each lane."""
    words = [need('aarch64-linux-gnu-objdump'), '-d', '--no-show-raw-insn', program]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    loop = text.split('<dgemm_loop_sve>:')[1].split('\tret')[0].split('ld1rd')[-1]
    assert len(re.findall(r'\tfml[as]\tz\d+\.d', loop)) == 2 * 22
