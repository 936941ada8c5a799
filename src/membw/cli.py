"""The command `membw`: one subcommand, one package."""

import argparse
import contextlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn, TextIO

from membw.checkout import checks, refuse_unknown_system
from membw.errors import OF_SYSTEM, MembwError, did_you_mean
from membw.interruption import heeded
from membw.printable import print_in_locale, printable

# argparse's words, of Python 3.10 and of 3.12
CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")

OF_OPTIONS = '--access', '--checks'  # whose value is options of others
# its module, and what `membw --help` says of it. The module has a docstring, "`membw NAME`: what
# it does", add_arguments(parser), run(args), which gives the exit status, and perhaps an EPILOG
COMMANDS = {
    'run': ('run.command', 'measure this node, or another system'),
    'summary': ('summary.command', 'print the tables of a run again'),
    'node': ('node.command', 'this node: PASS, FAIL and why, or UNDECIDED'),
    'why': ('node.why', 'why one node is slow: figures, facts, since when, what next'),
    'rank': ('rank.command', 'judge a fleet: which nodes are slow, and by how much'),
    'history': ('history.command', 'say what changed, and since when: a node, the fleet'),
    'calibrate': ('calibrate.command', "take references from a system's own runs"),
    'report': ('report.command', 'write one HTML file of a run, a fleet and their history'),
    'codegen': ('codegen.command', 'what the compiler made of the kernels of a program'),
    'presets': ('presets.command', 'list the presets: compilers and their lines'),
    'system': ('system.command', 'write the file of a new cluster'),
    'diff': ('diff.command', 'name what differs between two results'),
    'reproduce': ('reproduce.command', 'build and run a stored result again'),
    'campaign': ('campaign.command', 'measure each node of a cluster once, as it becomes idle'),
    'nightly': ('nightly.command', 'one night: run, campaign, history, report'),
    'accept': ('accept.command', 'accept or refuse a machine by a signed protocol'),
    'export': ('export.command', 'figures for Prometheus, a spreadsheet, a script'),
    'expect': ('expected.command', 'what the memory of a CPU, or of this machine, should reach'),
    'published': (
        'expected.published_command',
        'what others measured, with conditions and source',
    ),
    'checks': ('shell', 'print the folder of the checks, for reframe -c'),
    'env': ('shell', 'print the settings for reframe: eval "$(membw env)"'),
}
# which may be given systems without a file: of another configuration, of others' records
OTHER_SYSTEMS = 'run', 'accept', 'export', 'history', 'rank', 'report', 'why'


class Parser(argparse.ArgumentParser):
    """argparse with our help and our style of errors."""

    def __init__(self, **options: Any) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=form, allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.words = [*takewhile('--'.__ne__, args or ())]
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        options = self._option_string_actions
        wrong = [
            w for w in self.words if w[:1] == '-' and not {w.partition('=')[0], w[:2]} & {*options}
        ]
        if wrong and 'are required: ' in message:
            self.refuse(wrong[0])  # it may be what was meant
        choice = CHOICE.search(message)
        if choice:
            known = choice[2].replace("'", '').split(', ')
            raise MembwError(message[: choice.end(1) + 1], did_you_mean(choice[1], known))
        raise MembwError(message, f"'{self.prog} --help' lists the options")

    def refuse(self, word: str) -> NoReturn:
        """What the command does not take."""
        listed = f"'{self.prog} --help' lists the options"
        hint = did_you_mean(word.partition('=')[0], self._option_string_actions, listed)
        raise MembwError(f"unknown argument '{word}'", hint)


def build_parser(*commands: str) -> Parser:
    """Of these commands; no other module is loaded, of the others it has name and help."""
    parser = Parser(prog='membw', description='Measures and judges memory bandwidth.')
    parser.add_argument('--version', action='store_true', help='print the version and exit')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name, (module, about) in COMMANDS.items():
        one = subparsers.add_parser(name, help=about)
        if name in commands:
            loaded = importlib.import_module(f'membw.{module}')
            does = (loaded.__doc__ or f': {about}').partition('\n\n')[0].partition(': ')[2]
            one.description = does[0].upper() + does[1:]
            one.epilog = getattr(loaded, 'EPILOG', None)
            one.set_defaults(func=loaded.run)
            loaded.add_arguments(one)
    return parser


def as_meant(argv: list[str]) -> list[str]:
    """`membw help run` as `membw run --help`. MembwError: no such command, or a test's name."""
    if argv[:1] == ['help']:
        return [*as_meant(argv[1:2]), '--help']
    word = argv[0] if argv else '--help'
    what, known = 'command', [*COMMANDS]
    if word.startswith('-'):
        what, known = 'option', ['-h', '--help', '--version']
    if word in known:
        return argv or [word]
    if what == 'command' and word in checks():
        raise MembwError(f"'{word}' is a test", f'membw run -n {word}')
    raise MembwError(f"unknown {what} '{word}'", did_you_mean(word, known))


def joined(argv: list[str]) -> list[str]:
    """--access --export=NONE as --access=--export=NONE: argparse takes no option for a value."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] in OF_OPTIONS and word.startswith('-'):
            words[-1] += f'={word}'
        else:
            words.append(word)
    return words


def dispatch(argv: list[str] | None) -> int:
    """Options that a subcommand does not know are an error, unless it hands them on."""
    argv = joined(as_meant(sys.argv[1:] if argv is None else argv))
    if argv[0] == '--version':  # it is read from the sources
        from membw.presets import version

        print(f'membw {version()}')
        return 0
    parser = build_parser(*argv[:1])
    args, rest = parser.parse_known_args(argv)
    if rest and not getattr(args, 'takes_rest', False):
        commands: Any = parser._subparsers._group_actions[0].choices  # type: ignore[union-attr]
        own = commands[args.command]
        if not any(word.startswith('-') for word in rest) and not own._subparsers:
            # `rank a.jsonl --limit 2 b.jsonl`: argparse alone ends the files at an option
            args, rest = own.parse_known_intermixed_args(argv[1:])
            args.command = argv[0]
        if rest:
            own.refuse(rest[0])
    args.rest = rest
    if getattr(args, 'system', '') and args.command not in OTHER_SYSTEMS:
        refuse_unknown_system(args.system.partition(':')[0])
    return args.func(args)


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 fine, 1 measured but wrong, 2 usage error; 128 and the number of a signal.
    What goes wrong is one line and a hint."""
    if '_ARGCOMPLETE' in os.environ:  # a shell wants to know what may follow; it does not return
        import argcomplete

        argcomplete.autocomplete(build_parser(*COMMANDS))
    print_in_locale()
    with heeded() as heeds:
        try:
            with written():
                return dispatch(argv)
        except SystemExit:
            raise
        except MembwError as err:
            return fault(err.facts, err.hint)
        except BrokenPipeError:
            sys.stderr.close()
            return 141
        except BaseException as err:
            # what is being imported makes an ImportError of a KeyboardInterrupt
            if heeds.came or isinstance(err, KeyboardInterrupt):
                print(f'membw: {heeds.word()}', file=sys.stderr)
                return 128 + heeds.number
            if os.environ.get('MEMBW_DEBUG'):
                raise
            fact, hint = explained(err)
            return fault([fact], hint)


@contextlib.contextmanager
def written() -> Iterator[None]:
    """What is printed in it is out at its end: a closed pipe or a full disk is known then, and not
    said by Python when it ends."""
    is_closed = sys.stdout is None  # some daemons start so what they run
    for name in ('stdin', 'stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'r' if name == 'stdin' else 'w'))
    if is_closed:
        raise MembwError('stdout is closed', "'>/dev/null' opens it")
    try:
        yield
    finally:
        flush(sys.stdout)


def flush(stream: TextIO) -> None:
    """OSError: it cannot be written; Python does not try again when it ends."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


def explained(err: BaseException) -> tuple[str, str]:
    if isinstance(err, UnicodeEncodeError | UnicodeDecodeError):
        return f'text that is not {err.encoding}: {err.reason}', 'look for it in the input'
    if isinstance(err, OSError):
        where = f"'{err.filename}': " if err.filename else ''
        return f'{where}{err.strerror or err}', OF_SYSTEM
    if isinstance(err, MemoryError):
        return 'not enough memory', "see the limits: 'ulimit -v', the memory of the job"
    if isinstance(err, ModuleNotFoundError):  # capstone, where it has no wheel
        fact = f"this needs the Python package '{err.name}', which is not installed"
        return fact, f"'pip install {err.name}', or run it on another machine"
    if isinstance(err, ImportError) and os.environ.get('PYTHONPATH'):
        hint = "'env -u PYTHONPATH membw ...': PYTHONPATH is set, for another Python?"
        return f'a package cannot be loaded: {str(err).strip()[:200]}', hint
    at = traceback.extract_tb(err.__traceback__)[-1]
    words = f'{type(err).__name__}: {str(err)[:200]} ({Path(at.filename).name}:{at.lineno})'
    return f'a bug of membw: {words}', 'MEMBW_DEBUG=1 shows where; please report it'


def fault(facts: list[object], hint: str | list[str] | None) -> int:
    hints = hint if isinstance(hint, list) else [hint] if hint else []
    lines = [f'membw: {printable(fact)}' for fact in facts]
    for text in hints:
        line = f'hint: {printable(text)}'
        if text.startswith('known here: '):  # a command, which is copied, stays on its line
            from membw.tables import as_text

            line = as_text([line], colour=False)
        lines.append(line)
    with contextlib.suppress(OSError):  # the status says it alone
        try:
            print('\n'.join(lines), file=sys.stderr)
        finally:
            flush(sys.stderr)
    return 2
