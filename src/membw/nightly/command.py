"""`membw nightly`: one night of measuring, judging and reporting; called by ci/nightly."""

import argparse
import datetime
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

from membw.arguments import count
from membw.checkout import refuse_unknown_system, root
from membw.nightly import summary
from membw.nightly.night import NOT_DONE, Night, steps_of

DESCRIPTION = """\
Runs one night: all checks with the tag nightly, the whole cluster among them, whose LOW nodes are
measured again; the ranking, the history, the report, the export. results/nights/DATE has the log
of each step, nodecheck.txt, report.html, figures.csv, and summary.txt, which begins with a Subject
for sendmail. Called again for the same night it takes up where it was stopped."""
EPILOG = """\
exit status: 0 all is well, 1 something is slow, invalid or changed, 2 the night is not complete: a
usage error, stopped, or out of time; or a --notify command failed"""
# ours, by their names: run-20261121T220000-4711.json of `membw run`, 20261121T220000-... of a job
OURS = re.compile(r'(?:run-)?(\d{8})T\d{6}')


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'nightly',
        help='one night: run, rank, history, report',
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    what = parser.add_argument_group('what is measured').add_argument
    what('--system', help='a file of systems/ (found by host name)')
    what(
        '--checks',
        type=shlex.split,
        metavar='OPTIONS',
        default=[],
        help="of ReFrame, in place of --tag=nightly, as in '-n stream -p gcc-o2'",
    )
    when = parser.add_argument_group('when').add_argument
    when('--night', type=date, metavar='DATE', help='as in 2026-11-21 (this one)')
    when('--minutes', type=count, default=240, help='bound for the whole night (240)')
    after = parser.add_argument_group('afterwards').add_argument
    after('--keep', type=count, default=400, metavar='NIGHTS', help='remove older results (400)')
    after('--mail-to', metavar='ADDRESS', help='written into summary.txt; nothing is sent')
    after(
        '--notify',
        metavar='COMMAND',
        action='append',
        default=[],
        help='run COMMAND FOLDER STATUS at the end; repeatable',
    )
    parser.set_defaults(func=main)


def date(text: str) -> str:
    return datetime.date.fromisoformat(text).isoformat()


def this_night(now: datetime.datetime | None = None) -> str:
    """The day twelve hours ago: what starts at 23:00 and what resumes it at 01:00."""
    now = now or datetime.datetime.now()
    return (now - datetime.timedelta(hours=12)).date().isoformat()


def main(args: argparse.Namespace) -> int:
    if not shutil.which('membw'):  # called by its path, without setup-env.sh
        os.environ['PATH'] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'
    if args.system:
        refuse_unknown_system(args.system)
    results = pathlib.Path(root(), 'results')
    night = Night(results / 'nights' / (args.night or this_night()))
    deadline = time.monotonic() + 60 * args.minutes
    try:
        system = ['--system', args.system] if args.system else []
        for step in steps_of(night, system, args.checks):
            night.run(step, deadline)
        forget(results, args.keep)
    finally:
        text = summary.write(night, args.system, args.mail_to)
        sent = [notify(command, night) for command in args.notify]
    print(text)
    return night.status() if all(sent) else NOT_DONE


def notify(command: str, night: Night) -> bool:
    """COMMAND FOLDER STATUS; whether it ended well."""
    done = subprocess.run(
        [*shlex.split(command), str(night.folder), str(night.status())], timeout=60
    )
    if done.returncode:
        print(f"membw: '{command}' failed: exit status {done.returncode}", file=sys.stderr)
    return done.returncode == 0


def forget(results: pathlib.Path, keep: int) -> None:
    """Removes all but the last `keep` nights, and reports, records and jobs of days before."""
    nights = sorted(results.glob('nights/[12]???-??-??'))
    for folder in nights[:-keep]:
        shutil.rmtree(folder)
        print(f'nightly: removed {folder}')
    first = nights[-keep:][0].name.replace('-', '')
    for kind in ('jobs', 'reports', 'records') if nights[:-keep] else ():
        for path in (results / kind).iterdir() if (results / kind).is_dir() else ():
            stamp = OURS.match(path.name)
            if stamp and stamp[1] < first and not path.is_symlink():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
