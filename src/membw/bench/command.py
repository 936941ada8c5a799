"""`membw bench`: stream.c, its peers and our kernels side by side, in interleaved rounds."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import time

from membw import tables
from membw.arguments import count
from membw.bench import dgemm as bench_dgemm
from membw.bench import harness as bench_harness
from membw.bench import overheads as bench_overheads
from membw.bench import pairs as bench_pairs
from membw.bench import repeats as bench_repeats
from membw.bench import runs as bench_runs
from membw.bench import table as bench_table
from membw.bench.build import LINES, build, own_sources
from membw.bench.programs import OURS, PARTS, PINNED, Asked, collect, describe
from membw.bench.rounds import measure
from membw.bench.stats import usable
from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.moments import utc
from membw.plural import plural
from membw.progress import say
from membw.results.run_lock import alone
from membw.site.topology import cores_here

SCHEMA = 'membw-bench-1'
HARNESS, RUNS = 'harness', 'runs'
LOCK_THEMSELVES = (HARNESS, RUNS)  # each of their runs is a `membw run`
HOW = """
Each program runs once a round, with the same array size, threads and pinning; what is shown is
the median of the ratios within the rounds, and the median absolute deviation. likwid-bench tells
the mean of its repetitions alone: it is held to the other's mean. Rounds in which other programs
took more than 5 % of the CPUs, or the hypervisor did, are repeated. The part harness tells what
membw itself costs. No figure is a failure.
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'bench',
        help='compare our kernels with stream.c and its peers on this machine',
        description=__doc__ + HOW + '\nExit status: 0 measured, 1 a program '
        'failed or did not validate, 2 usage error.',
    )
    parser.add_argument('--rounds', type=count, default=7, help='default: 7')
    parser.add_argument(
        '--seconds',
        type=count,
        help='begin no further round after that, but make two (in the part pairs no further '
        'figure); in the part runs no run that would end later',
    )
    asked = [part for part in OTHERS if part != HARNESS]
    parser.add_argument('--only', type=parts, default=[*PARTS, HARNESS], metavar='PART,...',
                        help=f'of {", ".join([*PARTS, *OTHERS])}; '
                        f'default: all but {", ".join(asked)}')  # fmt: skip
    parser.add_argument('--size', type=count, metavar='N',
                        help='elements of an array; default: 4 LLCs')  # fmt: skip
    parser.add_argument('--ntimes', type=count, default=10, help='repetitions; default: 10')
    parser.add_argument('--stream-c', default=os.environ.get('STREAM_C', ''), metavar='PATH',
                        help="McCalpin's stream.c; default: Spack's builtin.stream")  # fmt: skip
    parser.add_argument('--epcc', default=os.environ.get('EPCC', ''), metavar='PATH',
                        help="EPCC's syncbench, for the part overheads")  # fmt: skip
    bench_pairs.add_arguments(parser)
    parser.add_argument('--repeats', type=count, default=bench_repeats.RUNS, metavar='N',
                        help='runs of the part repeats; default: '
                        f'{bench_repeats.RUNS}')  # fmt: skip
    parser.add_argument('--max-seconds', type=count, metavar='S',
                        help='of a run of ours in the part repeats; default: 30')  # fmt: skip
    bench_runs.add_arguments(parser)
    parser.add_argument('--out', metavar='FOLDER', help='default: results/bench')
    tables.add_argument(parser)
    parser.set_defaults(func=main)


def parts(text):
    names = text.split(',')
    known = [*PARTS, *OTHERS]
    wrong = [name for name in names if name not in known]
    if wrong:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is not one of {', '.join(known)}")
    return names


class Page:
    """What is printed: to people as it is found, to programs all of it at the end."""

    def __init__(self, form):
        self.form, self.blocks = form, []

    def add(self, *blocks):
        if self.form == 'plain':
            print(tables.as_text(['', *blocks]))
        else:
            self.blocks += blocks

    def end(self):
        if self.blocks:
            print(tables.as_text(self.blocks, self.form))


def main(args):
    page = Page(args.format)
    try:
        return measured(args, page)
    finally:  # a part that fails does not take the others with it
        page.end()


def measured(args, page):
    """The exit status; what was measured is printed and kept part by part."""
    result = {'schema': SCHEMA, 'time': utc(time.time())}
    status, in_rounds = 0, [part for part in args.only if part in PARTS]
    if in_rounds:
        with alone():
            of_rounds, status = bench(args, in_rounds)
        result |= of_rounds
        page.add(*blocks(result))
    for name, (measure_part, blocks_of) in OTHERS.items():
        if name in args.only:
            with contextlib.nullcontext() if name in LOCK_THEMSELVES else alone():
                result[name] = measure_part(args)
            page.add(*blocks_of(result[name]))
    keep(result, pathlib.Path(args.out or os.path.join(root(), 'results', 'bench')), page)
    return status


def pairs(args):
    peers = {'cas': args.core_to_core_latency, 'mpi': args.imb}
    return bench_pairs.compare(
        say, args.rounds, peers, args.cpus, args.busy, args.realtime, args.sizes, args.seconds,
        args.within, args.imb_buffers,
    )  # fmt: skip


def repeats(args):
    record = probe(args.size, cores_here())
    size = record['array_size']
    result = bench_repeats.repeats(say, size, args.stream_c, args.repeats, args.max_seconds)
    machine = {**record['facts'], 'llc_mib': record['llc_mib']}
    return {'machine': machine, 'array_size': size, **result}


def runs(args):
    return bench_runs.measured(
        say, args.runs, args.seconds, args.checks, args.realtime, args.busy, args.held_to
    )


# part -> (what measures it, what prints it): not in rounds with the programs of STREAM, most of
# them with peers of their own
OTHERS = {
    HARNESS: (lambda args: bench_harness.timings(say), bench_harness.blocks),
    'repeats': (repeats, bench_repeats.blocks),
    'dgemm': (lambda args: bench_dgemm.compare(say, args.rounds), bench_dgemm.blocks),
    'overheads': (
        lambda args: bench_overheads.measured(say, args.epcc, args.rounds),
        bench_overheads.blocks,
    ),
    'pairs': (pairs, bench_pairs.blocks),
    RUNS: (runs, bench_runs.blocks),
}


def bench(args, parts):
    """(what the programs of STREAM measured in rounds, the exit status)."""
    cpus = cores_here()
    record = probe(args.size, cpus)
    asked = Asked(record['array_size'], args.ntimes, cpus, args.stream_c)
    programs, reasons = collect(asked, parts)
    for reason in reasons:
        say(f'left out: {reason}')
    base = bench_table.reference(programs)
    if not base:
        raise MembwError('nothing to hold the figures to', "let '--only' name standard, too")
    rounds = measure(programs, cpus, args.rounds, args.seconds, say)
    result = evaluate(rounds, programs, base) | {
        'machine': {**record['facts'], 'threads': asked.threads, 'llc_mib': record['llc_mib']},
        'array_size': asked.size,
        'ntimes': asked.ntimes,
        'left_out': reasons,
        'programs': {program.name: describe(program) for program in programs},
        'rounds': rounds,
    }
    return result, int(any(counts(program, rounds) for program in programs))


def counts(program, rounds):
    """A program that failed; one of likwid-bench's many kernels may, and is left out."""
    return program.part != 'likwid' and any(program.name in r['failed'] for r in rounds)


def probe(size, cpus):
    """The record of one short run of our program: array size, memory and machine facts."""
    out, why = build(LINES[0], own_sources(), OURS)
    if not out:
        raise MembwError(why, "'membw bench' needs gcc")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'record.json')
        words = [str(out), '-t', '2', '--json', path, *(['-n', str(size)] if size else [])]
        env = {**os.environ, **PINNED, 'OMP_NUM_THREADS': str(len(cpus))}
        done = subprocess.run(words, env=env, capture_output=True, text=True)
        if not os.path.exists(path):
            said = done.stderr.strip().splitlines() or ['no reason given']
            raise MembwError(f'the stream program does not run: {said[0]}', "try '--size N'")
        return json.loads(pathlib.Path(path).read_text())


def evaluate(rounds, programs, base):
    """The tables, from the rounds that may be used."""
    used, remark = usable(rounds)
    same_line = bench_table.parity(used, programs)
    return {
        'reference': base,
        'reference_gbs': bench_table.base_rates(used, base),
        'rounds_used': len(used),
        'remark': remark,
        'table': bench_table.rows(used, programs, base),
        'parity': same_line,
        'against_peers': bench_table.against_peers(used, programs),
        'below_parity': bench_table.missed(same_line),
    }


def blocks(result):
    """The tables of STREAM's programs, and what is said of them."""
    machine, table = result['machine'], bench_table.table
    used = '; '.join(filter(None, [plural(result['rounds_used'], 'round'), result['remark']]))
    lines = [
        f'{machine["cpu_model"]}, {plural(machine["threads"], "thread")}, '
        f'{result["array_size"]} elements',
        f'{result["reference"]}: {result["reference_gbs"]} GB/s',
        '',
        table(f'ratios to {result["reference"]}, {used}', 'program', result['table']),
    ]
    for row in result['table']:
        names = [f'{kernel} {test.split()[-1]}' for kernel, test in row.get('of', {}).items()]
        lines += [f'{row["program"]}: {", ".join(names)}'] if names else []
    if result['against_peers']:
        lines += ['', table('tuned to its peers, means', 'program', result['against_peers'])]
    if result['parity']:
        below = result['below_parity']
        reached = f'below it: {"; ".join(below)}' if below else 'reached by all'
        lines += ['', table('ours to stream.c by the same line', 'line', result['parity']),
                  f'parity (at least {bench_table.PARITY}): {reached}']  # fmt: skip
    return lines


def keep(result, folder, page):
    """The JSON, named by the time."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'{result["time"].replace("-", "").replace(":", "")}.json'
    write_whole(path, json.dumps(result, indent=1, default=dataclasses.asdict) + '\n')
    page.add(f'kept as {path}')
