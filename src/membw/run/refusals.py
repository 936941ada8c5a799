"""What ReFrame only warns of, and goes on with exit status 0: here it is an error."""

import contextlib
import fcntl
import pathlib
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable

import yaml

from membw import presets
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError, did_you_mean

NOT_LOADED = re.compile(
    r'^(?:\S*WARNING: (skipping test.*|check path .* does not exist)|\S*ERROR: (.*))$'
)
# -S CHECK.VARIABLE=VALUE or VARIABLE=VALUE, in each way to write it
SET = re.compile(r'(?:^| )(?:-S *|--setvar[= ])(?:(\w+)\.)?(\w+)=')
LEAST_FREE = 8 << 20  # bytes: what a small run writes
CLASS = re.compile(r'^class (\w+)\(([^)]*)\)', re.M)
VARIABLE = re.compile(r'^    (\w+) = variable\(', re.M)
UNKNOWN = re.compile(r'reframe: error: unrecognized arguments: (\S+)')
LACKS = re.compile(r'reframe: error: (argument \S+: .*)')
OWN = ('--full', '--system', '--rounds', '--json')  # of membw run
# of ReFrame, those of docs/
OFTEN = ('--dry-run', '--repeat', '--distribute', '--exec-policy', '--setvar', '--name', '--tag')
STOPPED = 'run session stopped: '
RERUN = " (rerun with '-v' for a backtrace)"


def classes() -> dict[str, tuple[list[str], list[str]]]:
    """{class of reframe-checks: (what it is made of, its own variables)}."""
    files = pathlib.Path(root(), 'reframe-checks').rglob('*.py')
    _, *parts = CLASS.split('\n'.join(file.read_text() for file in files))
    each = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {name: (bases.split(', '), VARIABLE.findall(body)) for name, bases, body in each}


def variables(check: str) -> set[str]:
    """What `-S` may set of a check, or of any ('')."""
    import reframe  # not at each start of membw

    known, every = {*reframe.RegressionTest.var_space}, classes()
    waiting = [check] if check else [*every]
    while waiting:
        bases, own = every.get(waiting.pop(), ([], []))
        known.update(own)
        waiting += bases
    return known


def whole_names(words: list[str]) -> list[str]:
    """`-n pingpong` as the check of that name, not as every name that holds it (imb_pingpong);
    `-n 'stream%pinning=none'` as ReFrame lists it, whatever parameter stands before (a round)."""
    known = classes() if '-n' in words else {}

    def named(word: str) -> str:
        return f'^{word}(%|$)' if word in known else re.sub(r'%(?=\w)', '%.*', word)

    pairs = zip(['', *words], words, strict=False)
    return [named(word) if before == '-n' else word for before, word in pairs]


def refuse_full_disk() -> None:
    """ReFrame goes on without its files, and its rows fail for other reasons."""
    folder = pathlib.Path(root(), 'results')
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise MembwError(
            f"no space left on '{folder}': {free / 2**20:.1f} MiB are free",
            'make room there: records, reports and stage folders are written to it',
        )


def refuse_unknown_place(where: str) -> None:
    """SYSTEM, or SYSTEM:PARTITION, of systems/."""
    system, _, partition = where.partition(':')
    refuse_unknown_system(system)
    names = [partition]
    with contextlib.suppress(AttributeError, TypeError, yaml.YAMLError):  # a run says its mistakes
        file = yaml.safe_load(pathlib.Path(root(), 'systems', f'{system}.yaml').read_text())
        names = [str(one.get('name')) for one in file.get('partitions')]
    if partition and partition not in names:
        hint = did_you_mean(partition, names)
        raise MembwError(f"no partition '{partition}' of '{system}'", hint)


def refuse_unknown_variables(words: list[str]) -> None:
    """A variable, or its check, that does not exist: ReFrame would go on without it."""
    for check, variable in SET.findall(' '.join(words)) if '-c' not in words else []:
        if check and check not in classes():
            raise MembwError(
                f"no check '{check}' for '-S {check}.{variable}'",
                did_you_mean(check, classes(), 'name a check of ours'),
            )
        known = variables(check)
        if variable not in known:
            hint = (
                f"'reframe -c reframe-checks -n {check or 'stream'} --describe' has its variables"
            )
            owner = f"check '{check}' has no" if check else 'no check has a'
            raise MembwError(f"{owner} variable '{variable}'", did_you_mean(variable, known, hint))


def refuse_second_session(system: str | None) -> None:
    """Plain ReFrame may measure already: it holds the lock of lib/binaries.py."""
    for path in pathlib.Path(root(), 'results', 'stage').glob(f'{system or "*"}.lock'):
        with open(path) as file, contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError as err:
                fact = f"another session of '{path.stem}' is under way in '{path.parent}'"
                raise MembwError(fact, 'wait until it has ended') from err


def refuse_load_errors(lines: list[str]) -> None:
    """A check or a reference file that does not load, and a session that stopped."""
    faults = [m.group(1) or m.group(2) for m in map(NOT_LOADED.match, lines) if m]
    faults = [text.replace(RERUN, '') for text in faults if not text.startswith('Traceback')]
    for text in (text for text in faults if text.startswith(STOPPED)):
        hint = "jobs that it submitted go on: 'squeue --me', 'scancel'"
        raise MembwError(f'ReFrame stopped: {text.removeprefix(STOPPED)}', hint)
    if faults:
        each = '\nmembw: '.join(dict.fromkeys(faults))
        hint = "repair it first; or is it a value after '-S'?"
        raise MembwError(f'not everything could be loaded: {each}', hint)


def refuse_nothing(
    base: str, system: str | None, rest: list[str], lines: list[str], partitions: list[dict]
) -> None:
    """There is no test case: the reason, as far as ReFrame's lines have it."""
    refuse_mistyped(rest, lines)
    if not any('Ran 0/0' in line for line in lines):
        refuse_as_printed(lines)
        said = [line for line in lines if re.search(r'^reframe: |error|WARNING', line)]
        raise MembwError(
            f'ReFrame ended without a report: {said[-1] if said else "it gave no reason"}',
            f"'{base}.log' holds its whole output",
        )
    chosen, where = ' '.join(rest), f' --system {system}' if system else ''
    why = ''.join(f'\nmembw: left out here is {text}' for text in left_out(rest, partitions))
    raise MembwError(
        (f"no test case matches '{chosen}'" if chosen else 'no test case fits this system') + why,
        f"'reframe -c reframe-checks -l{where}' lists the tests",
    )


def refuse_mistyped(rest: list[str], lines: list[str]) -> None:
    """A test, preset or option that there is not: what was meant."""
    lacks = next((m[1] for m in map(LACKS.match, lines) if m), '')
    if lacks:
        raise MembwError(lacks, "'membw run --help' lists the options, 'reframe --help' its own")
    unknown = next((m[1] for m in map(UNKNOWN.match, lines) if m), '')
    files = pathlib.Path(root(), 'reframe-checks').glob('*.py')
    tests = [] if '-c' in rest else [file.stem for file in files]
    rows = [] if '-c' in rest else [*presets.load()['presets']]
    known = {'-n': (tests, 'test'), '-p': (rows, 'preset')}
    fact = hint = ''
    if unknown in tests:
        fact, hint = f"'{unknown}' is a test", f'membw run -n {unknown}'
    elif unknown:
        fact = f"unknown {'option' if unknown[0] == '-' else 'argument'} '{unknown}'"
        hint = did_you_mean(unknown, [*OWN, *OFTEN], "'membw run --help' lists the options")
    for option, word in zip(rest, rest[1:], strict=False):
        names, what = known.get(option, ([], ''))
        if not fact and names and re.fullmatch(r'[\w-]+', word):
            if not any(word in name for name in names):
                fact, hint = f"no {what} '{word}'", did_you_mean(word, names)
    if fact:
        raise MembwError(fact, hint)


def refuse_as_printed(lines: list[str]) -> None:
    """An error of our own configuration or checks, in their words."""
    facts = [line.removeprefix('membw: ') for line in lines if line.startswith('membw: ')]
    hints = [line.removeprefix('hint: ') for line in lines if line.startswith('hint: ')]
    if facts:
        facts, hints = (list(dict.fromkeys(texts)) for texts in (facts, hints))
        raise MembwError('\nmembw: '.join(facts), '\nhint: '.join(hints) or None)


def left_out(rest: list[str], partitions: list[dict], matches: Callable = re.search) -> list[str]:
    """'gcc-o2: its compiler does not ...' of each preset that `-p` names and this system lacks."""
    patterns = [word for before, word in zip(rest, rest[1:], strict=False) if before == '-p']
    texts = []
    for reason, names in by_reason(partitions).items():
        wanted = [name for name in names if any(matches(p, name) for p in patterns)]
        texts += [f'{", ".join(wanted)}: {reason}'] if wanted else []
    return texts


def by_reason(partitions: Iterable[dict]) -> dict[str, list[str]]:
    """{reason: [presets]} that a system cannot build, each reason once for all partitions: ReFrame
    has no test case of them, so prints nothing."""
    presets_of: dict[str, list[str]] = defaultdict(list)
    for partition in partitions:
        for preset, reason in partition.get('extras', {}).get('left_out', {}).items():
            if preset not in presets_of[reason]:
                presets_of[reason].append(preset)
    return dict(presets_of)
