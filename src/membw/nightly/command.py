"""`membw nightly`: one night of measuring, judging and reporting; called by ci/nightly."""

import argparse
import datetime
import os
import pathlib
import shlex
import shutil
import sys
import time
import types

from membw.arguments import count
from membw.checkout import root
from membw.moments import night_of
from membw.nightly import expected, measured, summary
from membw.nightly.night import NOT_DONE, WELL, Night, opened
from membw.results.hostlist import KNOWN, write_node_check
from membw.results.verdict import MISSING
from membw.site import systems

EPILOG = """\
Runs one night: all checks with the tag nightly, the whole cluster with a second measurement of low
nodes, then ranking, history, report and export. results/nights/SYSTEM/DATE has the log of each
step, nodecheck.txt, report.html, figures.csv (of this night), junit.xml, and summary.txt, which
begins with a Subject for sendmail. Called again for the same night it continues where it was
stopped; where it is finished, or was of other OPTIONS, DATE.2 is a night of its own.

exit status: 0 all is well, 1 something is slow, invalid or changed, 2 the night is not complete: a
usage error, stopped, out of time, or a row or a node that was expected is missing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('--system', help='a file of systems/ (found by host name)')
    checks = "of ReFrame, in place of --tag=nightly: '-n stream -p gcc-o2'"
    add('--checks', type=shlex.split, metavar='OPTIONS', default=[], help=checks)
    add('--night', type=date, metavar='DATE', help='the night to continue: 2026-11-21 (this one)')
    add('--minutes', type=count, default=240, help='limit for the whole night (240)')
    add('--mail-to', metavar='ADDRESS', help='written into summary.txt; nothing is sent')


def date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise argparse.ArgumentTypeError(f"'{text}' is no date as 2026-11-21") from err


def run(args: argparse.Namespace) -> int:
    if not shutil.which('membw'):  # called by its path, without setup-env.sh
        os.environ['PATH'] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'
    system = args.system or systems.name_here()
    nights = pathlib.Path(root(), 'results', 'nights', system)
    options = ['run', '--full', '--system', system, *(args.checks or ['--tag=nightly'])]
    night = opened(nights, args.night or night_of(time.time()), options)
    print(f'nightly: {night.folder.name} {night.said}'.rstrip(), flush=True)
    try:
        measure_and_judge(night, time.monotonic() + 60 * args.minutes)
    finally:
        text = summary.write(night, system, args.mail_to)
    print(text)
    return night.status


def measure_and_judge(night: Night, deadline: float) -> None:
    """The steps; `membw run` measures low nodes again by itself, the rest judges and shows."""

    def step(name: str, *words: object, share: float = 1.0) -> None:
        seconds = share * (deadline - time.monotonic())
        night.run(name, ['membw', name, *map(str, words)], seconds)

    folder = night.folder
    step('run', *night.state.options[1:], share=0.9)
    cases = measured.take(night)
    missing = expected.write(night, cases)
    records, node_check = folder / measured.CLUSTER, folder / 'nodecheck.txt'
    if records.exists():
        step('rank', records, '--nodes', folder / expected.FILE, '--node-check', node_check)
    else:  # of no whole-cluster check, or none that measured
        nodes = [
            types.SimpleNamespace(name=name, verdict=MISSING, reason=why)
            for name, why in missing.items()
        ]
        if nodes:
            write_node_check(node_check, nodes)
        is_known = all(why.startswith(KNOWN) for why in missing.values())
        night.state.steps['rank'].status = WELL if is_known else NOT_DONE
        night.write()
    step('history', '--since', '14d')
    step('report', *night.state.reports[-1:], '--output', folder / 'report.html')
    step('export', folder, '--format', 'csv', '--output', folder / 'figures.csv')
