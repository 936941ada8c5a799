"""`membw nightly`: one night of measuring, judging and reporting; called by ci/nightly."""

import argparse
import datetime
import os
import pathlib
import shlex
import shutil
import sys
import time

from membw.arguments import count
from membw.checkout import refuse_unknown_system, root
from membw.moments import night_of
from membw.nightly import expected, summary
from membw.nightly.night import Night

EPILOG = """\
Runs one night: all checks with the tag nightly, the whole cluster with a second measurement of LOW
nodes, then ranking, history, report and export. results/nights/DATE has the log of each step,
nodecheck.txt, report.html, figures.csv, and summary.txt, which begins with a Subject for sendmail.
Called again for the same night it continues where it was stopped.

exit status: 0 all is well, 1 something is slow, invalid or changed, 2 the night is not complete: a
usage error, stopped, or out of time"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group('what is measured').add_argument
    what('--system', help='a file of systems/ (found by host name)')
    what(
        '--checks',
        type=shlex.split,
        metavar='OPTIONS',
        default=[],
        help="of ReFrame, in place of --tag=nightly: '-n stream -p gcc-o2'",
    )
    when = parser.add_argument_group('when').add_argument
    when('--night', type=date, metavar='DATE', help='the night to continue: 2026-11-21 (this one)')
    when('--minutes', type=count, default=240, help='limit for the whole night (240)')
    after = parser.add_argument_group('afterwards').add_argument
    after('--mail-to', metavar='ADDRESS', help='written into summary.txt; nothing is sent')


def date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise argparse.ArgumentTypeError(f"'{text}' is no date as 2026-11-21") from err


def run(args: argparse.Namespace) -> int:
    if not shutil.which('membw'):  # called by its path, without setup-env.sh
        os.environ['PATH'] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'
    if args.system:
        refuse_unknown_system(args.system)
    night = Night(pathlib.Path(root(), 'results', 'nights', args.night or night_of(time.time())))
    deadline = time.monotonic() + 60 * args.minutes
    try:
        measure_and_judge(night, args, deadline)
    finally:
        text = summary.write(night, args.system, args.mail_to)
    print(text)
    return night.status()


def measure_and_judge(night: Night, args: argparse.Namespace, deadline: float) -> None:
    """The steps; `membw run` measures LOW nodes again by itself, the rest judges and shows."""

    def step(name: str, *words: str, share: float = 1.0) -> None:
        night.run(name, ['membw', *words], share * (deadline - time.monotonic()))

    folder, system = night.folder, ['--system', args.system] if args.system else []
    step('run', 'run', '--full', *system, *(args.checks or ['--tag=nightly']), share=0.9)
    if records := night.gather():
        nodes = expected.write(folder, records)
        files = ['--nodes', str(nodes), '--node-check', str(folder / 'nodecheck.txt')]
        step('rank', 'rank', str(records), *files)
    step('history', 'history', '--since', '14d')
    step('report', 'report', '--output', str(folder / 'report.html'))
    step('export', 'export', '--format', 'csv', '--output', str(folder / 'figures.csv'))
