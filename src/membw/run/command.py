"""`membw run`: ReFrame over all checks, then the table; never green for nothing."""

import contextlib
import fcntl
import os
import re
import subprocess
import time

from membw.checkout import root
from membw.errors import MembwError
from membw.results.left_out import left_out
from membw.run import summary

# ReFrame only warns of these, runs the rest and exits 0
NOT_LOADED = re.compile(
    r'^(?:\S*WARNING: (skipping test.*|check path .* does not exist)|\S*ERROR: (.*))$'
)
SHOWN = re.compile(r'^\[ +(OK|FAIL|SKIP|ABORT) \]|^\S*(WARNING|ERROR):')
# told once, by the reason of what they depend on, or meant
QUIET = re.compile(r'\[skipped due to skipped dependencies\]|variables were not set')
COLOURS = re.compile(r'\x1b\[[0-9;]*m')


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'run',
        allow_abbrev=False,
        help='measure this node, or another system',
        usage='membw run [--system SYSTEM] [REFRAME OPTION ...]',
        description='Runs reframe -c reframe-checks -r with the further options given '
        '(-n TEST, -p ENVIRONMENT, -S VARIABLE=VALUE, -v for its whole output, ...), prints '
        'the table and the verdict. Exit status: 0 all passed, 1 some failed or are invalid, '
        '2 nothing could be run as asked.',
    )
    parser.add_argument('--system', help='a file of systems/, default: found by host name')
    parser.set_defaults(func=main, takes_rest=True)


def main(args):
    with alone():
        return measure(args)


@contextlib.contextmanager
def alone():
    """One run at a time in a checkout: two would share stage folders and the bandwidth."""
    path = os.path.join(root(), 'results', 'run.lock')
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            raise MembwError('another run is under way here', 'wait until it has ended') from err
        yield


def measure(args):
    begun = time.time()
    base = new_report_base()
    lines = reframe(command(base, args.system, args.rest), base, '-v' in args.rest)
    refuse_load_errors(lines)
    refuse_nothing(base, args, lines)
    seconds = time.time() - begun
    return summary.show(f'{base}.json', seconds, left_out(args.system))


def new_report_base():
    """Path of this run's report, JUnit file and log, without their suffixes."""
    folder = os.path.join(root(), 'results', 'reports')
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, time.strftime('run-%Y%m%dT%H%M%S-') + str(os.getpid()))


def command(base, system, rest):
    checks = [] if {'-c', '--checkpath'} & set(rest) else ['-c', 'reframe-checks']
    where = ['--system', system] if system else []
    files = [f'--report-file={base}.json', f'--report-junit={base}.xml', '--nocolor']
    return ['reframe', *checks, '-r', *where, *files, *rest]


def reframe(words, base, verbose):
    """Run ReFrame, show its progress, keep its whole output; the lines of it."""
    if 'MEMBW_ROOT' not in os.environ:
        words = ['sh', '-c', '. ./setup-env.sh && exec "$@"', 'sh', *words]
    lines, begun = [], time.time()
    with open(f'{base}.log', 'w') as log, start(words) as process:
        for line in process.stdout:
            line = COLOURS.sub('', line.rstrip('\n'))
            lines.append(line)
            print(line, file=log, flush=True)
            if verbose or (SHOWN.search(line) and not QUIET.search(line)):
                print(line if verbose else f'{time.time() - begun:6.1f} s  {line}', flush=True)
    return lines


def start(words):
    try:
        return subprocess.Popen(
            words,
            cwd=root(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
        )
    except FileNotFoundError as err:
        raise MembwError(f"'{err.filename}' is not on the PATH", "'make setup', then try again")


def refuse_load_errors(lines):
    """A check or a reference file that does not load is a failure, not a warning."""
    found = [m.group(1) or m.group(2) for m in map(NOT_LOADED.match, lines) if m]
    found = [text for text in found if not text.startswith('Traceback')]
    if found:
        more = f' (and {len(found) - 1} more)' if len(found) > 1 else ''
        raise MembwError(f'not everything could be loaded: {found[0]}{more}', 'repair it first')


def refuse_nothing(base, args, lines):
    """No report or no test case: say why, as far as can be told."""
    if os.path.exists(f'{base}.json') and summary.load(f'{base}.json')['runs']:
        if summary.load(f'{base}.json')['session_info']['num_cases']:
            return
    elif not any('Ran 0/0' in line for line in lines):
        said = [line for line in lines if re.search(r'^reframe: |error|WARNING', line)]
        raise MembwError(
            f'ReFrame ended without a report: {said[-1] if said else "it gave no reason"}',
            f"'{base}.log' holds all that it said",
        )
    asked = ' '.join(args.rest)
    where = f' --system {args.system}' if args.system else ''
    raise MembwError(
        f"no test case matches '{asked}'" if asked else 'no test case fits this system',
        f"'reframe -c reframe-checks -l{where}' lists the tests",
    )
