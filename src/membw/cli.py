"""The command `membw`: one subcommand, one package."""

import argparse
import errno
import importlib
import os
import re
import sys
import time
import traceback
from pathlib import Path

from membw.errors import MembwError
from membw.interruption import heeded
from membw.printable import printable

# what a shell or a job limits
LIMITS = {
    errno.ENOMEM: "'ulimit -v' says what this shell allows; a job has its own limit",
    errno.EMFILE: "'ulimit -n' says how many files this shell allows",
    errno.EAGAIN: "'ulimit -u' says how many processes this user may have, pids.max a container",
    errno.EFBIG: "'ulimit -f' says how large a file may be",
}
NOT_MAPPED = re.compile(r'failed to map segment|cannot (?:allocate|apply additional) memory')
NEWLINE = '\n'  # several facts of one error, a line each

# each module offers add_parser(subparsers), which sets `func`
COMMANDS = {
    'run': 'membw.run.command',
    'summary': 'membw.run.summary',
    'rank': 'membw.rank.command',
    'history': 'membw.history.command',
    'calibrate': 'membw.calibrate.command',
    'report': 'membw.report.command',
    'codegen': 'membw.codegen.command',
    'presets': 'membw.presets.presets',
    'system': 'membw.system.command',
    'diff': 'membw.diff.command',
    'reproduce': 'membw.reproduce.command',
    'nightly': 'membw.nightly.command',
    'accept': 'membw.accept.command',
    'export': 'membw.export.command',
    'checks': 'membw.shell.checks',
    'env': 'membw.shell.env',
    'completion': 'membw.shell.completion',
}


class Version(argparse.Action):
    """Read off the sources where it is asked for: `membw --help` need not wait for that."""

    def __call__(self, parser, *_):
        from membw.presets.presets import version

        print(f'membw {version()}')
        parser.exit()


class Help(argparse.RawDescriptionHelpFormatter):
    """Text of several lines as it is laid out; one long line is filled."""

    def _fill_text(self, text, width, indent):
        above = super() if '\n' in text else super(argparse.RawDescriptionHelpFormatter, self)
        return above._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """argparse with our help and our style of errors."""

    def __init__(self, **options):
        super().__init__(**{'formatter_class': Help, **options})

    def error(self, message):
        raise MembwError(message, f"'{self.prog} --help' lists the options")


def build_parser(command=None):
    """Of all commands, or of that one: the others' modules need not be loaded then."""
    parser = Parser(prog='membw', description='Measures and judges memory bandwidth.')
    parser.add_argument('--version', action=Version, nargs=0, help='print the release and end')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name, module in COMMANDS.items():
        if command is not None and name != command:
            subparsers.add_parser(name)
        else:
            importlib.import_module(module).add_parser(subparsers)
    return parser


def dispatch(argv):
    """Options that a subcommand does not know are an error, unless it hands them on."""
    argv = sys.argv[1:] if argv is None else argv
    if '_ARGCOMPLETE' in os.environ:  # the tab key: argcomplete answers, and ends the process
        from membw.shell.completion import answer

        answer(build_parser)
    lists_all = argv[:1] in (['-h'], ['--help'])
    parser = build_parser(None if lists_all else ''.join(argv[:1]))
    args, rest = parser.parse_known_args(argv)
    if rest and not getattr(args, 'takes_rest', False):
        parser.error(f"unknown argument '{rest[0]}'")
    args.rest = rest
    return args.func(args)


def open_standard_streams():
    """What the caller closed (`>&-`) is the null device: the next file opened would take its
    number, and all that is printed. What is not ASCII has a code where the locale has no more."""
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, 'w' if number else 'r', closefd=False))
    if (sys.stdout.encoding or '').lower() == 'ascii':  # no table is lost for a plus-minus sign
        sys.stdout.reconfigure(errors='backslashreplace')


def refuse_malformed_epoch():
    """NumPy does not load with one.  https://reproducible-builds.org/specs/source-date-epoch"""
    value = os.environ.get('SOURCE_DATE_EPOCH', '0')
    try:
        time.gmtime(int(value))
    except (ValueError, OverflowError, OSError) as err:
        raise MembwError(
            f"SOURCE_DATE_EPOCH is '{value}', which is no time in seconds since 1970",
            'unset SOURCE_DATE_EPOCH',
        ) from err


def main(argv=None):
    """Exit status: 0 fine, 1 measured but wrong, 2 usage error; 128 and the number of a signal."""
    open_standard_streams()
    with heeded() as heeds:
        try:
            return told(argv, heeds)
        except KeyboardInterrupt:
            print(f'membw: {heeds.word()}', file=sys.stderr)
            return heeds.status()


def told(argv, heeds):
    """The exit status; what goes wrong is one line."""
    try:
        refuse_malformed_epoch()
        return dispatch(argv)
    except MembwError as err:
        print(f'membw: {printable(err, keep=NEWLINE)}', file=sys.stderr)
        if err.hint:
            print(f'hint: {printable(err.hint, keep=NEWLINE)}', file=sys.stderr)
        return 2
    except (UnicodeEncodeError, UnicodeDecodeError) as err:
        return fault(f'text that is not {err.encoding}: {err.reason}', 'look for it in the input')
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as err:
        where = f"'{err.filename}': " if err.filename else ''
        hint = 'is there room, and may it be written?'
        if isinstance(err, PermissionError):  # of another user's results, to read
            hint = "'ls -ld' shows whose it is"
        if isinstance(err, FileNotFoundError):
            hint = 'is it there, is the folder that this shell stands in, and is it on the PATH?'
        if err.errno in LIMITS:
            hint = LIMITS[err.errno]
        return fault(f'{where}{err.strerror or err}', hint)
    except MemoryError:
        return fault('not enough memory', LIMITS[errno.ENOMEM])
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as err:  # what is left is ours, and nobody wants to read a traceback
        if isinstance(err, ImportError) and (why := not_mapped(err)):
            return fault(f'not enough memory: {why}', LIMITS[errno.ENOMEM])
        if heeds.came:  # what is being imported makes an ImportError of a KeyboardInterrupt
            raise KeyboardInterrupt from err
        if os.environ.get('MEMBW_DEBUG'):
            raise
        at = traceback.extract_tb(err.__traceback__)[-1]
        words = f'{type(err).__name__}: {str(err)[:200]} ({Path(at.filename).name}:{at.lineno})'
        return fault(f'a bug of ours: {words}', 'MEMBW_DEBUG=1 shows where; please report it')


def not_mapped(err):
    """Of an import for which there is no memory, what the loader said: SciPy says that its
    installation is broken, and hides it in the error behind."""
    while err and not NOT_MAPPED.search(str(err)):
        err = err.__cause__ or err.__context__
    return err


def fault(fact, hint):
    print(f'membw: {printable(fact)}\nhint: {hint}', file=sys.stderr)
    return 2
