"""`membw nightly`: one night of measuring, judging and reporting; called by ci/nightly."""

import datetime
import os
import pathlib
import shlex
import shutil
import sys
import time

from membw.arguments import count
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError
from membw.files import write_whole
from membw.nightly import clock, notify
from membw.nightly import mail as night_mail
from membw.nightly import steps as night_steps
from membw.nightly.forget import forget_before
from membw.nightly.night import NOT_DONE, Night

DESCRIPTION = """\
Runs one night: all checks, the whole-cluster job where the system has nodes to ask for, the slow
nodes among them, the history, the report. What it leaves in results/nights/DATE: state.json, the
log and the exit status of each step, JUnit files, nodecheck.txt, report.html, and
summary.txt, which begins with a Subject and can be handed to sendmail as it is. The last good
report is results/nights/report.html.

Called again for the same night it takes up where it was stopped; a night that is over is only
reported again. A step that runs out of time is stopped, and what it has measured is kept."""

EPILOG = """\
exit status: 0 all is well, 1 something is slow, invalid or changed (or a step failed), 2 the night
is not complete: a usage error, stopped, or out of time; or --notify could tell nobody"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'nightly',
        help='one night: checks, whole cluster, history, report',
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('--system', help='a file of systems/ (default: found by host name)')
    add('--night', type=night_named, metavar='DATE', help='as in 2026-11-21 (default: this one)')
    add('--minutes', type=count, default=240, help='bound for the whole night (default: 240)')
    add('--keep', type=count, default=400, metavar='NIGHTS',
        help='the last ones in which anything was measured (default: 400)')  # fmt: skip
    add('--again', action='store_true', help='begin the night anew, though there is one')
    add('--mail-to', metavar='ADDRESS', help='written into summary.txt; nothing is sent')
    add('--notify', type=words, metavar='COMMAND', action='append', default=[],
        help='run COMMAND FOLDER STATUS at the end, or when stopped; repeatable')  # fmt: skip
    add('--checks', type=words, metavar='OPTIONS', default='',
        help="for ReFrame, as in '-n stream -p gcc-o2'")  # fmt: skip
    add('--cluster', type=words, metavar='OPTIONS', default='',
        help='the same for the whole-cluster job')  # fmt: skip
    parser.set_defaults(func=main)


def night_named(text):
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise MembwError(f"'{text}' is not a date", 'as in 2026-11-21') from err


def words(text):
    """Words as a shell would split them; they stay one text."""
    try:
        shlex.split(text)
    except ValueError as err:
        raise MembwError(f"no options: '{text}': {err}", "--checks '-n stream'") from err
    return text


def this_night(now=None):
    """The date on which the night began: what starts at 23:00 and what resumes it at 01:00."""
    now = now or datetime.datetime.now()
    return (now - datetime.timedelta(hours=12)).date().isoformat()


def main(args):
    if not shutil.which('membw'):  # called by its path, without setup-env.sh
        os.environ['PATH'] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'
    if args.system:  # else the night would be of that name, and the right one refused
        refuse_unknown_system(args.system)
    nights = pathlib.Path(root(), 'results', 'nights')
    night = Night(nights / (args.night or this_night()), again=args.again)
    asked = {'checks': args.checks, 'cluster': args.cluster}
    night.begin(system=args.system, minutes=args.minutes, **asked)
    deadline = time.monotonic() + 60 * args.minutes
    try:
        for step in night_steps.of(args, night):
            night.run(step, deadline)
        clock.note_set_back(night)
        publish(night, nights)
        forget_before(night, nights, args.keep)
    finally:
        night_mail.write(night, args.mail_to)
        told = notify.tell(args.notify, night)
    print((night.folder / 'summary.txt').read_text())
    return night.status() if told else NOT_DONE


def publish(night, nights):
    """The newest report takes the place of the last good one."""
    report = night.folder / 'report.html'
    if night.ended_well('report') and report.exists():
        write_whole(nights / 'report.html', report.read_text(encoding='utf-8'))
