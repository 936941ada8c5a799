"""`membw nightly`: one night of measuring, judging and reporting; called by ci/nightly."""

import argparse
import datetime
import os
import pathlib
import shlex
import shutil
import sys
import time

from membw.arguments import begin, count
from membw.checkout import root
from membw.files import read_text, write_whole
from membw.moments import night_of
from membw.nightly import measured, summary
from membw.nightly.night import Night, opened
from membw.results.run_lock import alone
from membw.run.session import partitions_of
from membw.site import systems

AT_MOST = 100  # jobs of a campaign: idle nodes are measured at one time
EPILOG = """\
Runs one night: all checks with the tag nightly, on a cluster a campaign (idle nodes, and those
without a record --within), then history, report and export. results/nights/SYSTEM/DATE has the log
of each step, nodecheck.txt, report.html, figures.csv (of this night), junit.xml, and summary.txt,
which begins with a Subject for sendmail. Called again for the same night it continues where it was
stopped; where it is finished, or was of other OPTIONS, DATE.2 is a night of its own.

exit status: 0 all is well, 1 something is slow, invalid or changed, 2 the night is not complete: a
usage error, stopped, out of time, or a row or a node that was expected is missing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('--system', help='a file of systems/ (found by host name)')
    checks = "of ReFrame, in place of --tag=nightly and of the campaign: '-n stream -p gcc-o2'"
    add('--checks', type=shlex.split, metavar='OPTIONS', default=[], help=checks)
    add('--night', type=date, metavar='DATE', help='the night to continue: 2026-11-21 (this one)')
    add('--minutes', type=count, default=240, help='limit for the whole night (240)')
    text = 'a node that is never idle gets a job that waits, after so long (7d)'
    add('--within', type=moment, default='7d', metavar='WHEN', help=text)
    add('--mail-to', metavar='ADDRESS', help='written into summary.txt; nothing is sent')


def date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise argparse.ArgumentTypeError(f"'{text}' is no date as 2026-11-21") from err


def moment(text: str) -> str:
    """As `begin` takes it."""
    begin(text)
    return text


def run(args: argparse.Namespace) -> int:
    if not shutil.which('membw'):  # called by its path, without setup-env.sh
        os.environ['PATH'] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'
    system = args.system or systems.name_here()
    nights = pathlib.Path(root(), 'results', 'nights', system)
    options = ['run', '--full', '--system', system, *(args.checks or ['--tag=nightly'])]
    # of which Slurm knows the nodes
    fleets = (p for p in partitions_of(system) if 'flexible' in p['features'])
    names = [] if args.checks else [part['name'] for part in fleets]
    with alone(f'nights/{system}/night'):
        night = opened(nights, args.night or night_of(time.time()), options, names)
        print(f'nightly: {night.folder.name} {night.said}'.rstrip(), flush=True)
        try:
            measure_and_judge(night, args.within, time.monotonic() + 60 * args.minutes)
        finally:
            text = summary.write(night, system, args.mail_to)
    print(text)
    return night.status


def measure_and_judge(night: Night, within: str, deadline: float) -> None:
    """The steps; those that measure measure low nodes again by themselves."""

    def step(name: str, *words: object, share: float = 1.0) -> None:
        night.run(name, ['membw', *map(str, words)], share * (deadline - time.monotonic()))

    folder, campaigns = night.folder, night.campaigns
    step('run', *night.state.options, share=0.5 if campaigns else 0.9)
    for left, (name, where) in zip(range(len(campaigns), 0, -1), campaigns.items(), strict=True):
        minutes = int(0.7 / left * (deadline - time.monotonic()) / 60)  # then running jobs end
        which = '--system', where, '--idle', night.state.begun.isoformat(), '--within', within
        how = '--wait', '--at-most', AT_MOST, '--minutes', max(minutes, 1)
        to = '--output', folder / name
        step(name, 'campaign', *which, *how, *to, share=0.9 / left)
    measured.take(night)
    files = (folder / name / 'nodecheck.txt' for name in campaigns)
    if text := ''.join(read_text(file) for file in files if file.exists()):
        write_whole(folder / 'nodecheck.txt', text)
    step('history', 'history', '--system', night.system, '--since', '14d')
    step('report', 'report', *night.state.reports[:1], '--output', folder / 'report.html')
    step('export', 'export', folder, '--format', 'csv', '--output', folder / 'figures.csv')
