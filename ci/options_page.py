#!/usr/bin/env python3
"""Writes docs/options.md: every option of the commands and programs, as their --help has it, the
variables of the checks and of the environment. Run it after a change of any of them; a test
compares the page with what this prints."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from membw.cli import build_parser

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / 'docs/options.md'
PROGRAMS = sorted(p.stem for p in ROOT.glob('src/*/*.c') if p.stem == p.parent.name != 'harness')

HEAD = """\
# Every option and variable

Written by `python ci/options_page.py` from what the programs say themselves; a test compares.
What they are good for: [the program](program.md), [the checks](reframe.md), [a whole
cluster](cluster.md).

Exit status of all: 0 measured and valid, 1 measured but wrong, invalid or failed, 2 a usage error.
"""

# of the checks: {check: {variable: what it means}}; for one check alone: -S stream.ntimes=20
VARIABLES = {
    'every check of STREAM': {
        'array_size': 'elements of one array; 0: the system file says, else four times the caches',
        'ntimes': 'repetitions; 0: until the figures have settled',
        'max_seconds': 'the longest that a figure is waited for, without `ntimes`',
    },
    'every check': {
        'allow': 'reasons for INVALID that do not count, as in `too-short,unstable`',
        'in_rounds': '1: `membw run` measures its cases in rounds, as those of `stream`',
        'exclusive_access': '0: the nodes are not asked for as a whole (default: 1)',
        'maintainers': 'whom ReFrame names where the check fails; default: the system file says',
    },
    'cluster_stream': {
        'max_nodes': 'at most so many nodes',
        'memory_kib': 'KiB of the three arrays of each process',
        'rank_threads': 'threads of each process; 0: one per core',
        'use_mpi': '1: the MPI build',
        'starter': '`srun` or `mpirun` in place of the launcher of the partition',
        'per': '`node` or `domain`: a process for each',
        'limit_s': 'seconds that a process is waited for',
    },
    'core_pairs, pingpong': {
        'pairs': "`'0-1,0-13'`, for core_pairs also `all`",
        'pair_class': 'the class that the pairs must be of: cache, domain, socket, node',
        'sizes': 'pingpong: bytes of a message, as in `0,8,4194304`',
    },
    'dgemm': {
        'size': 'of the square matrices; 0: the program decides',
        'repetitions': '0: until the figures have settled',
    },
    'overheads': {
        'teams': 'numbers of threads, as in `1,20`; default: the program decides',
        'constructs': 'as in `barrier,reduction`; default: all',
        'pairs': 'of a construct and its reference in a launch (15); 0: the program decides',
    },
    'imb_pingpong': {
        'binding': '`each` rank to its core, or as the `source` prints it',
        'imb': 'path of IMB-MPI1',
        'iterations': "of each size; default: the source's 100000",
    },
}

# {variable: what it means}, by who reads it
ENVIRONMENT = {
    'read by the commands and the checks': {
        'MEMBW_ROOT': 'the checkout; `. ./setup-env.sh` sets it',
        'MEMBW_HOME': 'installed without a checkout: where its files are unpacked '
        '(default: `~/.local/share/membw`)',
        'MEMBW_BUILD': '`spack` or `make` for all rows; default: Spack wherever it can',
        'MEMBW_SLURM_BACKEND': '`squeue`: ReFrame asks squeue in place of sacct (no accounting)',
        'MEMBW_DEBUG': 'a bug of ours ends in a traceback',
        'NO_COLOR': 'no colours on a terminal (no-color.org)',
    },
    "ReFrame's own, which matter here": {
        'RFM_CONFIG_PATH': "our configuration; `. ./setup-env.sh` sets it",
        'RFM_CONFIG_FILES': 'a configuration of yours beside it ([how](reframe.md))',
        'RFM_PREFIX': 'where ReFrame keeps stages, outputs and our records (default: `results`); '
        'of a checkout that may not be written to also reports, logs and database',
        'LMOD_CMD': 'without it Lmod is not used, whatever a system file says',
    },
    'read by the set-up': {
        'SPACK_ROOT': 'a Spack of yours, 1.0 or later, in place of the pinned one',
    },
    'read by the entries of ci/entries': {
        'MEMBW_STREAM': 'health checks: the program (default: `/opt/membw/bin/stream`)',
        'MEMBW_FLOORS': 'health checks: the file of floors (default: `/etc/membw/floors`)',
        'MEMBW_SECONDS': 'health checks: their bound',
        'MEMBW_OPTIONS': 'more options: of the program; of `membw nightly` in GitLab',
        'MEMBW_SYSTEM': 'GitLab, Jenkins: the system of a pipeline',
        'MEMBW_WEBHOOK': 'notify-webhook: the address that a night is told to',
        'MEMBW_HTTPJSON': 'httpjson.py: the address that figures are sent to',
    },
    'read by the programs': {
        'OMP_NUM_THREADS': 'how many threads; default: as OpenMP decides',
        'OMP_PLACES': "and `OMP_PROC_BIND`, `GOMP_CPU_AFFINITY`, `KMP_AFFINITY`: noted in the "
        'record; where threads really are is looked at',
        'SLURMD_NODENAME': 'and `SLURM_PROCID`: the node and rank of a process that srun started',
    },
}  # fmt: skip


def table(head, rows):
    lines = [f'| {head} | means |', '|---|---|']
    return '\n'.join(lines + [f'| {name} | {text} |' for name, text in rows]) + '\n'


def subcommands(parser):
    """(words, parser) of a parser and all below it."""
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                yield from subcommands(below)


def arguments(parser):
    """(`--option VALUE`, help) of one parser."""
    for action in parser._actions:
        if isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)):
            continue
        if action.help == argparse.SUPPRESS:
            continue
        value = action.metavar or (action.dest.upper() if action.nargs != 0 else '')
        value = ' '.join(value) if isinstance(value, tuple) else value
        value = '{' + ','.join(map(str, action.choices)) + '}' if action.choices else value
        names = ', '.join(action.option_strings)
        words = f'`{" ".join(filter(None, [names, value]))}`'.replace('|', r'\|')
        text = (action.help or '').replace('%(default)s', str(action.default))
        yield words, ' '.join(text.replace('%%', '%').split()).replace('|', r'\|')


def commands():
    for words, parser in subcommands(build_parser()):
        rows = list(arguments(parser))
        if rows:
            yield f'### {words}\n\n{table("option", rows)}'


def help_of(program):
    """Its --help; a library that it would be linked with is not needed for that."""
    with tempfile.TemporaryDirectory() as folder:
        line = ['cc', '-O0', '-fopenmp', f'{ROOT}/src/{program}/{program}.c', '-o', f'{folder}/p']
        line += ['-no-pie', '-lm', '-ldl', '-Wl,-z,lazy,--unresolved-symbols=ignore-all']
        subprocess.run(line, check=True)
        done = subprocess.run([f'{folder}/p', '--help'], capture_output=True, text=True)
    return done.stdout.rstrip()


def programs():
    for program in PROGRAMS:
        page = f'{program}.md'
        link = f'[What it measures]({page}).\n\n' if (PAGE.parent / page).exists() else ''
        yield f'### {program}\n\n{link}```text\n{help_of(program)}\n```\n'


def make_targets():
    text = (ROOT / 'Makefile').read_text()
    targets = re.findall(r'^([a-z]+):[^#\n]*## (.*)$', text, re.M)
    return table('target', [(f'`make {name}`', what) for name, what in targets])


def named(tables):
    for who, rows in tables.items():
        yield f'### {who}\n\n' + table('variable', [(f'`{n}`', t) for n, t in rows.items()])


def page():
    return '\n'.join(
        [
            HEAD, '## make\n', make_targets(), '## membw\n', *commands(), '## Programs\n',
            *programs(), '## Checks: -S VARIABLE=VALUE\n', *named(VARIABLES),
            '## Environment variables\n', *named(ENVIRONMENT),
        ]
    )  # fmt: skip


if __name__ == '__main__':
    text = page()
    if '--stdout' in sys.argv[1:]:
        print(text, end='')
    else:
        PAGE.write_text(text)
        print(f'written: {PAGE}')
