"""Every flipped bit through the kernels of a copy of the sources, as a compiler makes them."""

import collections
import subprocess

import program_build
from places import ROOT

NEEDED = [
    'stream/kernels/arrays.c',
    'stream/kernels/expect.c',
    'stream/kernels/kernels.c',
    'stream/kernels/start_values.c',
]
Flip = collections.namedtuple('Flip', 'read bit iteration last found bits expected')


def flip_of(line):
    kernel, array, bit, iteration, last, found, *bits = line.split()
    bits = [int(word, 16) for word in bits]
    return Flip(
        f'{kernel} {array}', int(bit), int(iteration), int(last), int(found), bits[:3], bits[3:]
    )


def built(compiler, flags, element, folder, source=ROOT / 'src'):
    """The program of these kernels. The harness below them flips and computes nothing: it is
    compiled once."""
    program = folder / 'flip_arithmetic'
    files = [*(source / name for name in NEEDED), ROOT / 'tests/probes/flip_arithmetic.c']
    files.append(program_build.harness('-fopenmp', cc=compiler))
    options = [*flags, f'-DSTREAM_TYPE={element}', '-fopenmp', '-w', '-DLOCAL=']
    options.append(f'-I{source}/stream')
    subprocess.run([compiler, *options, *files, '-o', program, '-lm'], check=True)
    return program


def flips(*of_program):
    """Every flip that it makes, as flip_of has it."""
    done = subprocess.run([built(*of_program)], check=True, capture_output=True, text=True)
    return [flip_of(line) for line in done.stdout.splitlines()]
