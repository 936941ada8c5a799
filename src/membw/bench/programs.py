"""What `membw bench` runs in each round: every program with the same size, threads and pinning."""

import functools
import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass, field

from membw.bench import parse as bench_parse
from membw.bench.build import LINES, build, find_stream_c, own_sources
from membw.codegen.read_program import read as read_codegen
from membw.errors import MembwError
from membw.site.machine import cpu_features

PINNED = {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'}
PINNING_VARIABLES = ('GOMP_CPU_AFFINITY', 'KMP_AFFINITY', 'OMP_PLACES', 'OMP_PROC_BIND')
THEIRS, OURS = 'stream.c', 'membw'


@dataclass
class Program:
    """One row, or one of several of which a row shows the best."""

    name: str
    part: str
    words: list
    parse: callable  # text of stdout -> {'copy': {'best_mbs': .., 'mean_mbs': ..}}
    env: dict = field(default_factory=dict)
    line: str = ''  # what compiled it
    nontemporal: bool = False


@dataclass
class Asked:
    """What is the same for every program of a run."""

    size: int
    ntimes: int
    cpus: list
    stream_c: str = ''

    @property
    def threads(self):
        return len(self.cpus)

    @property
    def env(self):
        return {**PINNED, 'OMP_NUM_THREADS': str(self.threads)}


# part -> maker of (programs, reasons why some are not there)
def standard(asked):
    """stream.c and our program, each built by each line."""
    path, where = find_stream_c(asked.stream_c)
    programs, reasons = [], [] if path else [f'rows of stream.c: {where}']
    for line in LINES:
        for name, sources in ((THEIRS, [path] if path else []), (OURS, own_sources())):
            if not sources:
                continue
            out, why = build(line, sources, name.replace('.', '_'), asked.size, asked.ntimes)
            if not out:
                reasons.append(f'{name}, {line}: {why}')
                continue
            row = f'{name}, {line}'
            parse = functools.partial(bench_parse.stream, program=row)
            programs.append(Program(row, 'standard', [str(out)], parse, asked.env, str(line)))
    return programs, reasons


def likwid(asked):
    """Every copy and triad kernel of likwid-bench that this CPU can run."""
    if not shutil.which('likwid-bench'):
        return [], ["rows of likwid-bench: no 'likwid-bench' on PATH"]
    done = subprocess.run(['likwid-bench', '-a'], capture_output=True, text=True)
    programs = []
    for test, nontemporal in bench_parse.likwid_tests(done.stdout, cpu_features()):
        arrays = 2 if test.startswith('copy') else 3
        # its kB is 1000 bytes; -W: each thread touches its own part first
        work = f'N:{arrays * 8 * asked.size // 1000}kB:{asked.threads}'
        words = ['likwid-bench', '-t', test, '-W', work, '-i', str(asked.ntimes)]
        parse = functools.partial(bench_parse.likwid, test=test)
        name = f'likwid-bench {test}'
        programs.append(Program(name, 'likwid', words, parse, nontemporal=nontemporal))
    return programs, [] if programs else ['rows of likwid-bench: it lists no kernel']


def tuned(asked):
    """Our tuned kernels: searched once, before the rounds, then run by the saved choice."""
    out, why = build(LINES[0], own_sources(), OURS, asked.size, asked.ntimes)
    if not out:
        return [], [f'row of tuned kernels: {why}']
    choice = out.with_suffix('.kernels')
    words = [str(out), '--tune', '--save-kernels', str(choice), '-t', '2']
    choice.unlink(missing_ok=True)
    done = subprocess.run(words, env={**os.environ, **asked.env}, capture_output=True, text=True)
    if not choice.exists():
        said = done.stderr.strip().splitlines() or ['it saved no choice']
        return [], [f'row of tuned kernels: {said[0]}']
    name = f'{OURS} --tune, {LINES[0]}'
    parse = functools.partial(bench_parse.stream, program=name)
    words = [str(out), '--kernels', str(choice)]
    return [Program(name, 'tuned', words, parse, asked.env, str(LINES[0]))], []


PARTS = {'standard': standard, 'tuned': tuned, 'likwid': likwid}


def collect(asked, parts):
    """All programs of these parts, and a line for each thing that is not there."""
    programs, reasons = [], []
    for part in parts:
        of_part, why = PARTS[part](asked)
        programs += of_part
        reasons += why
    return programs, reasons


def describe(program):
    """How it was made and what the compiler made of it, for the JSON."""
    facts = {'part': program.part, 'command': program.words, 'compile_line': program.line}
    if program.name.startswith(OURS):
        try:
            kernels = read_codegen(program.words[0])['kernels']
        except MembwError as err:
            return {**facts, 'codegen': str(err)}
        if program.part == 'tuned':
            return {**facts, 'choice': pathlib.Path(program.words[-1]).read_text()}
        facts['codegen'] = {
            name: {key: value for key, value in kernel.items() if key != 'loop'}
            for name, kernel in kernels.items()
        }
    return facts
