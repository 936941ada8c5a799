"""`membw node`: measures this node in about a minute: one word, and the cause."""

import argparse
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

from membw import presets, tables
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError, did_you_mean
from membw.files import one_at_a_time
from membw.node import battery, counters, store, text
from membw.node.baseline import Known, compared
from membw.node.battery import Part
from membw.node.figures import Record
from membw.node.judge import FIT, Judgement, judge
from membw.node.launch import launch
from membw.node.store import newest
from membw.possible.peak import facts_of
from membw.progress import Passing
from membw.run import quick
from membw.site import machine, topology
from membw.tables import Column, Table

SYSTEM = 'whose reference counts (found by host name)'
STEP_TASKS = 'SLURM_STEP_NUM_TASKS'  # as src/harness/job/ranks.c
EPILOG = """\
FIT: every figure is as good as what it is compared with. SLOW: one is not; causes with their
evidence. NOT JUDGED: disturbed (figures are bounds), something is missing, or there is nothing to
compare with. DEAD: a program ended by a signal. Each figure is compared with the reference of the
system, else with --peers, else with this node's earlier runs, else with what others published.
Low is worse by more than 3 %, and by more than chance gives any of so many nodes;
fewer than three records clear a node within 10 %, and condemn none; nor is a node FIT whose Triad
is worse by more than 10 %. The table of causes is systems/facts/causes.yaml. The record goes to
results/nodes/; `membw report` of it is a page.

examples:
  membw node                              # once more after the first run: then it compares
  membw node --peers /shared/nodes --line >>nodecheck.txt
  membw node --programs /opt/membw/bin --seconds 30

exit status: 0 FIT; 1 SLOW, NOT JUDGED or DEAD; 2 usage error
"""
PLAN = (
    Column('part', 'part'),
    Column('seconds', 'seconds', True),
    Column('command', 'command'),
    Column('asks', 'answers'),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group('what is measured').add_argument
    limits = f'{battery.LEAST_S} to {battery.MOST_S}'
    about = f'time of all parts ({battery.USUAL_S}; {limits})'
    add('--seconds', type=seconds, default=battery.USUAL_S, metavar='S', help=about)
    add('--preset', help='the preset that the programs are built by (as membw run)')
    about = 'built programs, in place of a preset; dgemm runs where it is there'
    add('--programs', metavar='DIR', help=about)
    add('--plan', action='store_true', help='print the parts and their time, and end')
    add = parser.add_argument_group('what it is compared with').add_argument
    add('--system', default='', metavar='SYSTEM[:PARTITION]', help=SYSTEM)
    add(
        '--peers', nargs='+', default=[], metavar='FILE', help='records of other nodes, or folders'
    )
    add = parser.add_argument_group('what is written').add_argument
    about = 'where the record goes, and earlier ones are (results/nodes)'
    add('--records', type=Path, default=None, metavar='DIR', help=about)
    add('--line', action='store_true', help='"<node> FIT|SLOW|NOT JUDGED|DEAD why" alone')
    tables.add_argument(parser)


def seconds(word: str) -> int:
    if not word.isdigit() or not battery.LEAST_S <= int(word) <= battery.MOST_S:
        limits = f'from {battery.LEAST_S} to {battery.MOST_S}'
        raise argparse.ArgumentTypeError(f"'{word}' is not a number of seconds {limits}")
    return int(word)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    domains, cores = len(topology.numbered()) or 1, len(topology.cores_here())
    has_blas = bool(args.programs) and os.access(Path(args.programs, battery.OPTIONAL), os.X_OK)
    parts = [*battery.plan(args.seconds, domains, cores, has_blas)]
    if args.plan:
        lines = (' '.join([part.program, *battery.words(part, s)]) for part, s in parts)
        rows = [(part.name, s, line, part.asks) for (part, s), line in zip(parts, lines)]
        print(tables.as_text([Table('', PLAN, rows)], args.json))
        return 0
    if args.system:
        refuse_unknown_system(args.system.partition(':')[0])
    others = store.read(args.peers)
    names = dict.fromkeys(part.program for part, _ in parts)
    node = measured(parts, built(names, args.preset, args.programs))
    folder = args.records or store.folder()
    earlier = store.read([folder]) if folder.is_dir() else []
    judged = word_for(node, others, earlier, args.system)
    path = store.write(node | judged.said(), folder)
    if args.line:
        print(text.line(node, judged))
    elif args.json:
        print(json.dumps(text.as_json(node, judged) | {'record': str(path)}, indent=1))
    else:
        blocks = text.screen(node, judged, [f'Record: {os.path.relpath(path)}'])
        print(tables.as_text(blocks, args.json))
    return 0 if judged.word == FIT else 1


def word_for(
    node: Record, others: Iterable[Record], earlier: Iterable[Record], system: str
) -> Judgement:
    """The same for `membw node` and `membw why`."""
    known = Known.of(node)
    peers, before = map(Known.of, newest(others).values()), map(Known.of, earlier)
    return judge(known, *compared(known, peers, before, system), facts_of('causes')['causes'])


def built(names: Iterable[str], preset: str | None, folder: str | None) -> Path:
    """The folder of the programs, each built by make where it is not there yet."""
    if folder:
        for name in names:
            if not os.access(Path(folder, name), os.X_OK):
                raise MembwError(f"no program '{name}' in '{folder}'", "'make install' brings it")
        return Path(folder)
    known = machine.buildable(presets.load())
    if not known or preset and preset not in known:
        hint = did_you_mean(preset or '', known) if known else '--programs DIR: built ones'
        raise MembwError(f"no compiler here for preset '{preset or 'gcc-o3'}'", hint)
    preset = preset or quick.chosen([*known])[0]
    for name in names:
        line = f'make -s -C src PROGRAM={name} PRESET={preset} CC={known[preset]}'.split()
        with one_at_a_time(root()):  # other nodes may have the same checkout
            done = subprocess.run(
                line, cwd=root(), capture_output=True, text=True, errors='replace'
            )
        if done.returncode:
            raise MembwError(f"'{name}' cannot be built: {done.stderr[-200:]}", ' '.join(line))
    return Path(root(), 'build', preset)


def measured(parts: list[tuple[Part, float]], programs: Path) -> Record:
    """The record: each part's, and what was counted meanwhile."""
    begun, before, shown = time.monotonic(), counters.read(), Passing()
    cores, done = len(topology.cores_here()), []
    # no rank of the nodes of a job, each of which measures alone
    alone = {name: value for name, value in os.environ.items() if name != STEP_TASKS}
    moment = f'{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}'
    for i, (part, planned) in enumerate(parts):
        time.sleep(battery.SETTLE_S)
        shown.now(f'{i + 1} of {len(parts)}: {part.name}, {planned:.0f} s')
        words = [part.program, *battery.words(part, planned)]
        threads = {'OMP_NUM_THREADS': str(part.threads or cores), **battery.PINNED}
        left = max(begun + battery.MOST_S - time.monotonic(), 1)
        line = [str(programs / part.program), *words[1:]]
        found = launch(line, {**alone, **threads}, min(left, 3 * planned + 10))
        done.append({'name': part.name, 'command': ' '.join(words), **found})
    shown.close()
    facts = {'cpus_allowed': len(os.sched_getaffinity(0)), 'uncore_max_khz': counters.uncore_khz()}
    own = {
        # as Slurm names it, in a job
        'host': os.environ.get('SLURMD_NODENAME') or socket.gethostname(),
        'time': moment,
        'version': presets.version(),
        'seconds': round(time.monotonic() - begun, 1),
        'facts': {name: value for name, value in facts.items() if value},
        'counted': counters.between(before, counters.read()),
    }
    return store.assembled(own, done)
