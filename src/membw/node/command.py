"""`membw node`: measures this node in about a minute: one word, and the cause."""

import argparse
import json
import math
import os
import tempfile
import time
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from membw import presets, tables
from membw.node import assembled, battery, counters
from membw.node.battery import Part, launch
from membw.presets.table import Facts
from membw.progress import Passing
from membw.results import run_lock
from membw.results.record import sealed
from membw.site import machine, topology
from membw.site.programs import built, program_in
from membw.words import GOOD, INVALID

SYSTEM = 'whose reference counts (found by host name)'
NEXT = 'Next: --peers FOLDER compares it with other nodes, four runs while idle with itself'
STEP_TASKS = 'SLURM_STEP_NUM_TASKS'  # as src/harness/job/ranks.c
EPILOG = """\
The word is that of `membw rank` (docs/judging.md); causes come with their evidence, by
systems/facts/causes.yaml. Peers are the records of --peers; without any the node's own first runs
are compared; the reference is that of the system.
The record goes to results/nodes/; `membw report` of it is a page.

examples:
  membw node                              # three times more when idle: then it compares
  membw node --peers /shared/nodes --line >>nodecheck.txt
  membw node --programs /opt/membw/bin --seconds 30

exit status: 0 PASS, VALID or KNOWN; 1 another word; 2 usage error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group('what is measured').add_argument
    limits = f'{battery.LEAST_S} to {battery.MOST_S}'
    about = f'time of all parts ({battery.USUAL_S}; {limits}), {battery.CARD_S} more per card'
    add('--seconds', type=seconds, default=battery.USUAL_S, metavar='S', help=about)
    add('--preset', help='the preset that the programs are built by (as membw run)')
    about = 'built programs, in place of a preset'
    add('--programs', metavar='DIR', help=about)
    add = parser.add_argument_group('what it is compared with').add_argument
    add('--system', default='', metavar='SYSTEM[:PARTITION]', help=SYSTEM)
    add(
        '--peers', nargs='+', default=[], metavar='FILE', help='records of other nodes, or folders'
    )
    add = parser.add_argument_group('what is written').add_argument
    about = 'where the record goes, and earlier ones are (results/nodes)'
    add('--records', type=Path, default=None, metavar='DIR', help=about)
    add = tables.add_argument(parser, 'what is said').add_argument
    add('--line', action='store_true', help='"<node> PASS|FAIL|UNDECIDED|DIED|... why" alone')
    add('--unjudged', action='store_true', help='write the record, and say nothing of it')


def seconds(word: str) -> int:
    if not word.isdigit() or not battery.LEAST_S <= int(word) <= battery.MOST_S:
        limits = f'from {battery.LEAST_S} to {battery.MOST_S}'
        raise argparse.ArgumentTypeError(f"'{word}' is not a number of seconds {limits}")
    return int(word)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    for path in args.peers:
        os.stat(path)  # better said now than after a minute
    if args.records:
        args.records.mkdir(parents=True, exist_ok=True)
    domains, cores = len(topology.numbered()) or 1, len(topology.cores_here())
    parts = [*battery.plan(args.seconds, domains, cores)]
    names = dict.fromkeys(part.program for part in parts)
    cards = () if args.programs else (battery.CARDS,)  # not each installation has it
    programs = built([*names, *cards], args.preset, args.programs)
    folder = args.records or assembled.folder()
    if args.unjudged:  # that is a job of a run, which has the lock
        assembled.write(measured(parts, programs), folder)
        return 0
    with run_lock.alone_on_host():
        node = measured(parts, programs)
    return judge(node, args, folder)


def judge(node: Facts, args: argparse.Namespace, folder: Path) -> int:
    """Prints the word, then writes the record: a full disk costs no word."""
    from membw.node import text
    from membw.node.word import word_of
    from membw.results.newest import OLD_S
    from membw.results.table import read_table

    node |= reference_of(node, args.system)
    with tempfile.NamedTemporaryFile('w', suffix='.json') as own:
        own.write(sealed(node))
        own.flush()
        earlier = [str(folder)] if folder.is_dir() and not args.peers else []
        paths, newest_s = [own.name, *args.peers, *earlier], OLD_S if args.peers else math.inf
        table = read_table(paths, newest_s, whole=[node['host']])
    table.say()
    found = word_of(node['host'], table)
    path = folder / assembled.name_of(node)
    if args.line:
        print(text.line(found), flush=True)
    elif args.json:
        print(json.dumps(text.as_json(found) | {'record': str(path)}, indent=1), flush=True)
    else:
        more = [*expected(node), f'Record: {os.path.relpath(path)}']
        more += [NEXT] * (not found.compared)
        blocks = text.screen(found, more)
        print(tables.as_text(blocks, args.json), flush=True)
    assembled.write(node | text.said(found), folder)
    return int(found.word not in GOOD)


def expected(node: Facts) -> list[str]:
    """What its stream proves by itself, and its share of the peak: no part of the word."""
    from membw.expected import sentence

    own: Facts = next((part['record'] for part in node['parts'] if part['record']), {})
    triad = (own.get('metrics') or {}).get('triad')
    if not triad or own['verdict'] == INVALID:
        return []
    return sentence.lines_of(own, triad['value'], triad.get('bound') or '').lines[:2]


def reference_of(node: Facts, system: str) -> Facts:
    """As a check writes it into its record: of `stream`, by this preset, pinned by OpenMP."""
    from membw.site import systems

    preset = node['build'].get('preset') or ''
    rows, issues = systems.reference_of(system, 'stream', preset, battery.PINNING)
    return {'case': {'references': rows, 'known_issues': issues}} if rows else {}


def _step(name: str, until: float) -> str:
    left = until - time.monotonic()
    return f'{name}, ' + (f'about {left:.0f} s left' if left > 0 else f'{-left:.0f} s late')


def measured(parts: list[Part], programs: Path) -> Facts:
    """The record: each part's, and what was counted meanwhile."""
    begun, before, shown = time.monotonic(), counters.read(), Passing()
    cores, done = len(topology.cores_here()), []
    parts = [*parts, *battery.of_cards(program_in(programs, battery.CARDS))]
    most = battery.MOST_S + sum(p.seconds for p in parts if p.program == battery.CARDS)
    # no rank of the nodes of a job, each of which measures alone
    alone = {name: value for name, value in os.environ.items() if name != STEP_TASKS}
    moment = f'{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}'
    for i, part in enumerate(parts):
        time.sleep(battery.SETTLE_S)
        rest = sum(one.seconds + battery.SETTLE_S for one in parts[i:])
        what = f'{i + 1} of {len(parts)}: {battery.ABOUT.get(part.name, part.name)}'
        shown.now(partial(_step, what, time.monotonic() + rest))
        threads = {'OMP_NUM_THREADS': str(part.threads or cores), **battery.PINNED}
        left = max(begun + most - time.monotonic(), 1)
        line = [str(program_in(programs, part.program)), *part.args.split()]
        found = launch(line, {**alone, **threads}, min(left, 3 * part.seconds + 10))
        command = f'{part.program} {part.args}'
        done.append({'name': part.name, 'command': command, **found})
    shown.close()
    facts = {'cpus_allowed': len(os.sched_getaffinity(0)), 'uncore_max_khz': counters.uncore_khz()}
    own = {
        'host': machine.node_name(),
        'cluster': os.environ.get('SLURM_CLUSTER_NAME'),
        'time': moment,
        'version': presets.version(),
        'seconds': round(time.monotonic() - begun, 1),
        'facts': {name: value for name, value in facts.items() if value},
        'counted': counters.between(before, counters.read()),
    }
    return assembled.assembled(own, done)
