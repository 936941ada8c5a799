"""`membw run`: measures this node, or another system: ReFrame, then the tables and the verdict."""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import time

from membw import tables
from membw.arguments import count
from membw.checkout import root
from membw.errors import MembwError
from membw.progress import say
from membw.results import reframe, run_events, run_ledger
from membw.results.run_lock import alone, alone_on_host
from membw.run import quick, refusals, session
from membw.site import machine
from membw.summary import junit
from membw.summary.command import notes, read, show

ROUNDS = 2
# longest that the figures of a row are waited for, in all its rounds
ROW_S = 2
# of the user: then ReFrame repeats, or takes the cases, and there are no rounds of ours
OWN_WAYS = ('--reruns', '--duration', '--restore-session', '--repeat', '--max-retries',
            '--distribute', '-P', '--parameterize')  # fmt: skip

EPILOG = """\
Without arguments: this machine's memory bandwidth in 12 s where it is quiet, by up to three
presets. With --full, --system, or any option of ReFrame (-n TEST, -p PRESET, -S VARIABLE=VALUE,
-v for its whole output, ...): reframe -c reframe-checks -r with these options, then tables and
verdict. -l lists the tests, and measures nothing.

exit status: 0 all PASS, or failed as expected; 1 some are anything else; 2 some were not measured
and the others are well, or nothing could be run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options = '[--full] [--system SYSTEM] [--rounds K] [--json] [REFRAME OPTION ...]'
    parser.usage = f'membw run {options}'
    turns = 'with --full on this machine: measure stream K times, in turn'
    add = parser.add_argument
    add('--full', action='store_true', help='all checks, presets and pinnings')
    add('--system', help='a file of systems/ (found by host name)')
    add('--rounds', type=count, default=ROUNDS, metavar='K', help=f'{turns} ({ROUNDS})')
    tables.add_argument(parser)
    parser.set_defaults(takes_rest=True)


def run(args: argparse.Namespace) -> int:
    """Runs ReFrame alone in this checkout, prints the tables; the exit status.

    An interrupted run prints the table of what was measured before.
    """
    refusals.refuse_beginnings(args.rest)
    begun, name = time.time(), time.strftime('run-%Y%m%dT%H%M%S-') + str(os.getpid())
    base = os.path.join(root(), 'results', 'reports', name)  # of report, ledger, JUnit file, log

    def shown() -> int:
        if not os.path.exists(f'{base}.json'):  # ReFrame was killed
            reframe.write_of_ledger(f'{base}.json')
        run = read(f'{base}.json')
        junit.write(run)
        return show(run, args.json)

    partitions = session.partitions_of(args.system, args.rest)
    if (status := session.listed(args.system, args.rest)) is not None:
        return status
    try:
        # as JSON, what is for people alone goes to stderr
        out = sys.stderr if args.json else sys.stdout
        with alone(), alone_on_host(), contextlib.redirect_stdout(out):
            refusals.refuse_second_session(args.system)
            refusals.refuse_full_disk()
            is_quick = is_local(partitions) and not (args.full or args.system or args.rest)
            run_reframe(args, base, partitions, is_quick, begun)
    except KeyboardInterrupt:
        if has_row(run_events.read(f'{base}.json')):
            shown()
        else:  # nothing to show, now or by 'membw summary'
            discard(base, 'json', 'ledger')
            say('membw: stopped before the first row was measured')
        raise
    return shown()


def run_reframe(
    args: argparse.Namespace, base: str, partitions: list[dict], is_quick: bool, begun: float
) -> None:
    """One session of ReFrame, its report in `base`.json. MembwError: nothing was run."""
    rest = args.rest
    if is_quick:
        environs = session.environs_of(partitions[0])
        options, variables = quick.options(environs), quick.variables()
    else:
        options, variables = full_options(rest, args.rounds, partitions)
        options = [*options, *refusals.whole_names(rest)]
        for text in refusals.left_out(rest, partitions):
            say(f'membw: left out here is {text}')
    options += notes(begun, is_quick)
    variables['MEMBW_SESSION'] = os.path.basename(base)
    variables[machine.COMPILERS] = machine.as_text()
    variables[run_ledger.GIVEN] = refusals.given(rest)
    words = session.command(base, args.system, options)
    with tempfile.TemporaryDirectory() as folder:
        if is_local(partitions):  # found once: src/harness/residency/triads.h
            variables['MEMBW_RESIDENCY'] = os.path.join(folder, 'residency')
        lines = session.run(words, base, variables, '-v' in rest)
    refusals.refuse_full_disk()
    if run_events.read(f'{base}.json'):
        return
    try:
        refusals.refuse_nothing(base, args.system, rest, lines, partitions)
    except MembwError as err:
        if base not in str(err.hint):  # it says all that the files do
            discard(base, 'json', 'ledger', 'log')
        raise


def has_row(events: list[run_events.Event]) -> bool:
    """Whether a row ended by itself, well or not."""
    builds = {event.key for event in events if event.fixture}
    ends = run_ledger.RESULTS.keys() - {'abort', 'skip'}
    return any(e.event in ends and e.key not in builds for e in events)


def discard(base: str, *kinds: str) -> None:
    for kind in kinds:
        pathlib.Path(f'{base}.{kind}').unlink(missing_ok=True)


def full_options(
    rest: list[str], rounds: int, partitions: list[dict]
) -> tuple[list[str], dict[str, str]]:
    """(options of ReFrame, variables of its environment) that make rounds in turn on this
    machine: one case after the other, ReFrame would judge one while it measures the next."""
    if not is_local(partitions):
        return [], {}
    options = []
    if not any(word.startswith('--exec-policy') for word in rest):
        options.append('--exec-policy=serial')
    if any(word.split('=')[0] in OWN_WAYS for word in rest):
        return options, {}
    if rounds < 2:
        return options, {'MEMBW_ROUNDS': '1'}
    options += ['-S', f'stream.max_seconds={ROW_S / rounds:g}']
    return options, {'MEMBW_ROUNDS': str(rounds)}


def is_local(partitions: list[dict]) -> bool:
    return bool(partitions) and all(part['scheduler'] == 'local' for part in partitions)
