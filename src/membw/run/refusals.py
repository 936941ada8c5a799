"""What ReFrame only warns of, and goes on with exit status 0: here it is an error."""

import contextlib
import fcntl
import functools
import pathlib
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable

import yaml

from membw import presets
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError, did_you_mean
from membw.results import run_ledger

SET = re.compile(r'-S(?:(\w+)\.)?(\w+)=')  # -SCHECK.VARIABLE=VALUE or VARIABLE=VALUE
LEAST_FREE = 8 << 20  # bytes: what a small run writes
CLASS = re.compile(r'^class (\w+)\(([^)]*)\)', re.M)
VARIABLE = re.compile(r'^    (\w+) = variable\(', re.M)
OWN = ('--full', '--system', '--rounds', '--json')  # of membw run
# of ReFrame, those of docs/
OFTEN = ('--dry-run', '--repeat', '--distribute', '--exec-policy', '--setvar', '--name', '--tag')


@functools.cache
def classes() -> dict[str, tuple[list[str], list[str]]]:
    """{class of reframe-checks: (what it is made of, its own variables)}."""
    files = pathlib.Path(root(), 'reframe-checks').rglob('*.py')
    _, *parts = CLASS.split('\n'.join(file.read_text() for file in files))
    each = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {name: (bases.split(', '), VARIABLE.findall(body)) for name, bases, body in each}


@functools.cache
def variables(check: str) -> set[str]:
    """What `-S` may set of a check."""
    import reframe  # not at each start of membw

    known, every, waiting = {*reframe.RegressionTest.var_space}, classes(), [check]
    while waiting:
        bases, own = every.get(waiting.pop(), ([], []))
        known.update(own)
        waiting += bases
    return known


def each_check(words: list[str]) -> list[str]:
    """`-S ntimes=3` as `-S CHECK.ntimes=3` of each check that has it: ReFrame warns of others. One
    that none has is refused."""
    joined = re.sub(r'(?m)^(-S|--setvar)[\n=]?', '-S', '\n'.join(words)).split('\n')
    if '-c' in words:
        return joined
    given = []
    for word in joined:
        found = SET.match(word)
        check, variable = found.groups() if found else ('', '')
        if check and check not in checks():
            fact = f"no check '{check}' for '-S {check}.{variable}'"
            raise MembwError(fact, did_you_mean(check, checks(), 'name a check of ours'))
        names = [check] if check else checks()
        own = [name for name in names if found and variable in variables(name)]
        if found and not own:
            hint = (
                f"'reframe -c reframe-checks -n {check or 'stream'} --describe' has its variables"
            )
            owner = f"check '{check}' has no" if check else 'no check has a'
            known = {known for name in names for known in variables(name)}
            raise MembwError(f"{owner} variable '{variable}'", did_you_mean(variable, known, hint))
        given += (
            [f'-S{name}.{variable}={word[found.end() :]}' for name in own] if found else [word]
        )
    return given


def checks() -> list[str]:
    """The names of our tests, which are those of their files."""
    return [file.stem for file in pathlib.Path(root(), 'reframe-checks').glob('*.py')]


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


def refuse_second_session(system: str | None) -> None:
    """Plain ReFrame may measure already: it holds the lock of lib/binaries.py."""
    for path in pathlib.Path(root(), 'results', 'stage').glob(f'{system or "*"}.lock'):
        with open(path) as file, contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError as err:
                fact = f"another session of '{path.stem}' is under way in '{path.parent}'"
                raise MembwError(fact, 'wait until it has ended') from err


def refuse_nothing(
    base: str, system: str | None, rest: list[str], lines: list[str], partitions: list[dict]
) -> None:
    """There is no test case: the reason, as far as ReFrame's lines have it."""
    refuse_as_printed(lines)
    refuse_mistyped(rest, lines)
    if not run_ledger.path_of(f'{base}.json').exists():
        said = [line for line in lines if line.startswith(('reframe: ', 'ERROR: '))]
        why = said[0].removeprefix('ERROR: ') if said else 'it gave no reason'
        raise MembwError(
            f'ReFrame ended before its first case: {why}', f"'{base}.log' holds its whole output"
        )
    chosen, where = ' '.join(rest), f' --system {system}' if system else ''
    why = ''.join(f'\nmembw: left out here is {text}' for text in left_out(rest, partitions))
    raise MembwError(
        (f"no test case matches '{chosen}'" if chosen else 'no test case fits this system') + why,
        f"'reframe -c reframe-checks -l{where}' lists the tests",
    )


def refuse_mistyped(rest: list[str], lines: list[str]) -> None:
    """A test, preset or option that there is not: what was meant."""
    said = next((line for line in lines if line.startswith('reframe: error: ')), '')
    tests, rows = ([], []) if '-c' in rest else (checks(), [*presets.load()['presets']])
    for word in rest if said else []:
        if word in tests and word in said.split():
            raise MembwError(f"'{word}' is a test", f'membw run -n {word}')
        if word in said.split():
            fact = f"unknown {'option' if word[0] == '-' else 'argument'} '{word}'"
            hint = did_you_mean(word, [*OWN, *OFTEN], "'membw run --help' lists the options")
            raise MembwError(fact, hint)
    if said:
        hint = "'membw run --help' lists the options, 'reframe --help' its own"
        raise MembwError(said.removeprefix('reframe: error: '), hint)
    for option, word in zip(rest, rest[1:], strict=False):
        names, what = {'-n': (tests, 'test'), '-p': (rows, 'preset')}.get(option, ([], ''))
        if names and re.fullmatch(r'[\w-]+', word) and not any(word in name for name in names):
            raise MembwError(f"no {what} '{word}'", did_you_mean(word, names))


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
