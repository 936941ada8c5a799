"""`membw system add`: writes the file of a cluster from what its Slurm and its nodes say."""

import argparse
import datetime
import re
import shlex
import socket
import sys
from pathlib import Path

import yaml

from membw import presets
from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.printable import plural
from membw.site import systems
from membw.site.slurm import lacks_accounting, without
from membw.system import file, slurm

DESCRIPTION = """\
Writes systems/NAME.yaml. sinfo describes the partition; a job of a minute or two on one idle node
finds its cores, NUMA domains, CPU features, and the compilers that build OpenMP, with the module
of each."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest='what', metavar='COMMAND', required=True)
    add = commands.add_parser(
        'add', help='describe partitions of the Slurm of this host', description=DESCRIPTION
    )
    add.add_argument('name', metavar='NAME', help='name of the system')
    add.add_argument('--partition', action='append', required=True, metavar='P', help='of Slurm')
    add.add_argument('--access', default='', metavar='OPTIONS', help="of each job: '-A PROJECT'")
    add.add_argument('--dry-run', action='store_true', help='print the file, write nothing')


def run(args: argparse.Namespace) -> int:
    if not re.fullmatch(r'[a-z][a-z0-9-]*', args.name):
        fact = f"'{args.name}' cannot be the name of a system"
        raise MembwError(fact, 'use lower-case letters, digits and -')
    path = Path(root(), 'systems', f'{args.name}.yaml')
    if path.exists() and not args.dry_run:
        raise MembwError(f"'{path}' is there already", 'give another name, or remove it first')
    access = without(shlex.split(args.access), '-p', '--partition')
    scheduler, partitions = 'squeue' if lacks_accounting() else 'slurm', []
    for name in args.partition:
        known = slurm.partition(name, access)
        then = 'a job starts on one' if known['idle'] else 'a job waits for one: ^C ends it'
        say(f'{name}: {plural(known["nodes"], "node")}, {known["idle"]} idle; {then}')
        node = slurm.node_facts(name, access)
        if not node['toolchains']:
            raise MembwError(
                f'no compiler on {node["host"]} builds OpenMP, on the PATH or in a module',
                "'membw presets list' shows which are known",
            )
        if node['left_out']:
            say(f'{name}: {file.not_tried(node)}')
        partitions.append((name, node, known['minutes'], scheduler, file.options(access)))
    host = socket.gethostname().split('.')[0]
    text = file.text(args.name, host, datetime.date.today().isoformat(), partitions)
    if args.dry_run:
        print(text, end='')
        return 0
    write_whole(path, text)
    _, problems = systems.load_file(path, presets.load())
    if problems:
        where, fact, hint = problems[0]
        raise MembwError(f"'{path}' is written, but {where}: {fact}", hint)
    print(text, end='')
    (environ, *_) = presets.environs_of(
        presets.read_yaml(yaml, text)['partitions'][0], presets.load()
    )
    command = f"membw run --system {args.name} -n '^stream%.*pinning=omp' -p '^{environ}$'"
    say(f"written: '{path}'\nhint: next, some two minutes: {command}")
    return 0


def say(text: str) -> None:
    print(f'membw: {text}', file=sys.stderr)
