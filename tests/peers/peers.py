#!/usr/bin/env python3
"""Our programs and their peers in turn: one table of paired ratios.

    . ./setup-env.sh
    tests/peers/peers.py --stream-c ~/STREAM/stream.c --imb ~/imb/IMB-MPI1 --rounds 9

A peer is compared where its path is given; each was built by its user. Ours is built here, by the
preset gcc-o2, into build/peers. In every round both programs run once, the first one in turn, with
the same size, threads and pinning. The ratio is ours / peer of the same round; for a rate more
than 1 is faster, for a time it is slower. Rounds in which ours was INVALID have no ratio, and
are counted. Nothing is judged: the exit status is 1 where a program fails, else 0.
"""

import argparse
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [f'{ROOT}/tests/lib', f'{ROOT}/reframe-checks']

import stream_table  # noqa: E402
from lib import imb_table  # noqa: E402

from membw import presets  # noqa: E402
from membw.site.machine import cpu_features  # noqa: E402
from membw.site.topology import cores_here  # noqa: E402

BUILT = ROOT / 'build/peers'
LIMIT_S = 1200
PINNED = {'OMP_PROC_BIND': 'close', 'OMP_PLACES': 'cores', 'OMP_WAIT_POLICY': 'PASSIVE'}
ROOT_MAY = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
RECORD = 'record.json'


class Failed(Exception):
    """A program that did not run, or printed no figure."""


class Program(NamedTuple):
    """A command, and what reads {figure: value} off what it printed and, of ours, its record."""

    words: list
    read: Callable
    ours: bool = False


class Comparison(NamedTuple):
    peer: str
    unit: str
    our_program: Program
    their_program: Program


# --- what the programs print ---------------------------------------------------------------------


def best_of_stream(text, _):
    """GB/s of STREAM's table, whoever printed it."""
    if 'Solution Validates' not in text:
        raise Failed('the results do not validate')
    return {name: row['best_mbs'] / 1e3 for name, row in stream_table.rows(text).items()}


def mean_of_stream(kernel, text, _):
    """GB/s by the mean time, which is what likwid-bench prints."""
    row = stream_table.rows(text)[kernel]
    return {kernel: row['best_mbs'] / 1e3 * row['min_s'] / row['avg_s']}


def likwid_rate(kernel, text, _):
    rate = re.search(r'^MByte/s:\s+([\d.]+)', text, re.M)
    return {kernel: float(rate[1]) / 1e3} if rate else {}


def likwid_kernels(listing, flags):
    """Its double-precision copy and STREAM triad ('stream') that this CPU can run.

    `listing` is what likwid-bench -a prints. Its own 'triad' reads three arrays.
    """
    needs = {'avx': 'avx', 'avx512': 'avx512f', 'fma': 'fma', 'sse': 'sse2'}
    names = re.findall(r'^((?:copy|stream)(?:_[a-z0-9]+)*) - ', listing, re.M)
    usable = {'sp': False, **{word: flag in flags for word, flag in needs.items()}}
    return [name for name in names if all(usable.get(word, True) for word in name.split('_')[1:])]


def finer_us(row):
    """A time is printed to 0.01 us, which is 8 % of 0.12 us; a rate to 0.01 MB/s, of today's
    Mbytes, 10^6 B: from the rate where that has more digits."""
    finer = row.bytes / row.mbytes_s if row.mbytes_s > row.time_us else math.inf
    return finer if abs(finer - row.time_us) < 0.0051 else row.time_us


def imb_times(text, _):
    """{size: us} of IMB's PingPong."""
    return {f'{row.bytes} B': finer_us(row) for row in imb_table.rows(text)}


def our_messages(_, record):
    return {f'{m["bytes"]} B': m['median_us'] for m in record['messages']}


# --- what is compared ----------------------------------------------------------------------------


def built(program, *more):
    """The path of ours, by plain make."""
    folder = BUILT / '-'.join([program, *more]).replace('=', '')
    words = ['make', '-C', f'{ROOT}/src', f'PROGRAM={program}', f'BUILD={folder}', *more]
    start([*words, 'PRESET=gcc-o2'], os.environ)
    return folder / program


def compiled(source, out, *more):
    """A peer's one file, by the line of the preset gcc-o2."""
    path = BUILT / out
    path.parent.mkdir(parents=True, exist_ok=True)
    start(['gcc', *presets.flags('gcc-o2'), str(source), '-o', str(path), *more], os.environ)
    return path


def of_stream_c(args):
    macros = [f'-DSTREAM_ARRAY_SIZE={args.size}', f'-DNTIMES={args.ntimes}']
    theirs = Program([compiled(args.stream_c, 'stream.c.exe', *macros)], best_of_stream)
    words = [built('stream'), '-n', args.size, '-t', args.ntimes]
    return [Comparison('stream.c', 'GB/s', Program(words, best_of_stream, ours=True), theirs)]


def of_likwid(args):
    """Our standard kernels and each of its own: means of the repetitions."""
    listing = start([args.likwid_bench, '-a'], os.environ)
    ours, threads = [built('stream'), '-n', args.size, '-t', args.ntimes], len(cores_here())
    comparisons = []
    for name in likwid_kernels(listing, cpu_features()):
        kernel, arrays = ('copy', 2) if name.startswith('copy') else ('triad', 3)
        work = f'N:{arrays * 8 * args.size // 1000}kB:{threads}'  # its kB is 1000 bytes
        words = [args.likwid_bench, '-t', name, '-W', work, '-i', args.ntimes]
        mine = Program(ours, partial(mean_of_stream, kernel), ours=True)
        theirs = Program(words, partial(likwid_rate, kernel))
        comparisons.append(Comparison(f'likwid-bench {name}', 'GB/s', mine, theirs))
    return comparisons


PAGE_ALIGNED = """\
#include <mpi.h>
#include <stdlib.h>
int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void *address)
{ (void)info; return posix_memalign(address, 4096, bytes ? bytes : 1) ? MPI_ERR_NO_MEM : 0; }
int MPI_Free_mem(void *buffer) { free(buffer); return 0; }
"""


def of_imb(args):
    """Each rank bound to its CPU, and IMB's buffers at the start of a page, as ours.

    mpirun and mpicc are those next to IMB-MPI1, else of the PATH. IMB sends as many messages as
    take about as long as ours; the 40 MiB after which it stops by itself are half start-up.
    """
    folders = f'{args.imb.parent}:{os.environ["PATH"]}'
    os.environ['PATH'] = folders
    pair = [str(cpu) for cpu in (args.cpus or cores_here()[:2])]
    ours = built('pingpong', 'MPI=1')
    source = BUILT / 'page_aligned.c'
    source.write_text(PAGE_ALIGNED)
    library = source.with_suffix('.so')
    start(['mpicc', '-O2', '-shared', '-fPIC', source, '-o', library], os.environ)
    comparisons = []
    for size in args.sizes:
        lengths = BUILT / f'length-{size}'
        lengths.write_text(f'{size}\n')
        repetitions = min(30000, 2**29 // max(size, 1))
        how_long = ['-iter', repetitions, '-iter_policy', 'off', '-msglen', lengths]
        test = ['env', f'LD_PRELOAD={library}', args.imb, 'PingPong', *how_long]
        one, two = (['-n', 1, 'taskset', '-c', cpu, *test] for cpu in pair)
        words = ['mpirun', '-n', 2, ours, '--pairs', '-'.join(pair), '--sizes', size]
        theirs = Program(['mpirun', *one, ':', *two], imb_times)
        mine = Program(words, our_messages, ours=True)
        comparisons.append(Comparison('IMB-MPI1', 'us', mine, theirs))
    return comparisons


# --- rounds --------------------------------------------------------------------------------------


def start(words, env, folder=None):
    """What a program prints; its failure is Failed, unless it left a record."""
    words = [str(word) for word in words]
    done = subprocess.run(
        words, env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT_S,
    )  # fmt: skip
    if done.returncode and not (folder and Path(folder, RECORD).exists()):
        said = (done.stderr.strip() or done.stdout.strip() or 'nothing').splitlines()[-1]
        raise Failed(f"'{' '.join(words[:6])}' fails: {said}")
    return done.stdout


def figures(program):
    """What one run reads; None where ours is INVALID."""
    env = {**os.environ, **PINNED, **ROOT_MAY, 'OMP_NUM_THREADS': str(len(cores_here()))}
    with tempfile.TemporaryDirectory() as folder:
        words = [*program.words, *(['--json', f'{folder}/{RECORD}'] if program.ours else [])]
        text = start(words, env, folder)
        record = json.loads(Path(folder, RECORD).read_text()) if program.ours else {}
    if record.get('verdict', 'VALID') != 'VALID':
        return None
    found = program.read(text, record)
    if not found:
        raise Failed(f"'{program.words[0]}' printed no figure that is known")
    return found


def one_round(comparison, number):
    """(ours, theirs); neither is always first."""
    pair = [comparison.our_program, comparison.their_program]
    results = [figures(program) for program in (pair if number % 2 else reversed(pair))]
    return tuple(results if number % 2 else reversed(results))


def rows(comparison, rounds):
    """A line per figure that both have: medians, the ratio's median, least and most."""
    valid = [(ours, theirs) for ours, theirs in rounds if ours]
    invalid = f'{len(rounds) - len(valid)} of {len(rounds)}'
    lines = []
    for name in valid[0][0] if valid else ():
        pairs = [(o[name], t[name]) for o, t in valid if name in o and t.get(name, 0) > 0]
        if not pairs:
            continue
        ratios = [ours / theirs for ours, theirs in pairs]
        ours, theirs = (statistics.median(values) for values in zip(*pairs, strict=True))
        spread = f'{min(ratios):.3f} to {max(ratios):.3f}'
        line = [comparison.peer, name, f'{ours:.4g}', f'{theirs:.4g}', comparison.unit]
        lines.append([*line, f'{statistics.median(ratios):.3f}', spread, invalid])
    return lines or [[comparison.peer, '-', '-', '-', comparison.unit, '-', '-', invalid]]


TITLES = ['peer', 'figure', 'ours', 'peer', 'unit', 'ratio', 'least to most', 'INVALID']


def printed(lines):
    widths = [max(map(len, column)) for column in zip(TITLES, *lines, strict=True)]
    return '\n'.join('  '.join(map(str.ljust, line, widths)).rstrip() for line in [TITLES, *lines])


PEERS = {
    'stream_c': (of_stream_c, "McCalpin's stream.c"),
    'likwid_bench': (of_likwid, 'the program'),
    'imb': (of_imb, 'IMB-MPI1'),
}


def parser():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, (_, what) in PEERS.items():  # programs run in folders of their own
        word = f'--{name.replace("_", "-")}'
        options.add_argument(
            word, type=lambda path: Path(path).resolve(), metavar='PATH', help=what
        )
    options.add_argument('--rounds', type=int, default=7)
    options.add_argument('--size', type=int, default=100_000_000, help='elements of an array')
    options.add_argument('--ntimes', type=int, default=10)
    options.add_argument('--cpus', type=lambda text: text.split(','), metavar='A,B', help='imb')
    options.add_argument(
        '--sizes', type=lambda text: [int(size) for size in text.split(',')],
        default=imb_table.SIZES, metavar='LIST', help='of imb, bytes',
    )  # fmt: skip
    return options


def main():
    args = parser().parse_args()
    chosen = [collect for name, (collect, _) in PEERS.items() if getattr(args, name)]
    if not chosen:
        parser().error('name the path of a peer at least')
    lines, status = [], 0
    for comparison in itertools.chain.from_iterable(collect(args) for collect in chosen):
        print(f'{comparison.peer}: {args.rounds} rounds', file=sys.stderr)
        try:
            rounds = [one_round(comparison, number) for number in range(args.rounds)]
            lines += rows(comparison, rounds)
        except Failed as err:
            print(f'peers: {err}', file=sys.stderr)
            status = 1
    print(printed(lines))
    return status


if __name__ == '__main__':
    sys.exit(main())
