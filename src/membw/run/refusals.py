"""What ReFrame only warns of, and goes on with exit status 0: here it is an error."""

import pathlib
import re
import shutil
from collections import defaultdict

from membw import presets
from membw.checkout import checks, root
from membw.errors import MembwError, did_you_mean
from membw.results import run_ledger
from membw.results.run_lock import is_held
from membw.site import machine

LEAST_FREE = 8 << 20  # bytes: what a small run writes
OWN = ('--full', '--system', '--rounds', '--json')  # of membw run
# of ReFrame, those of docs/
OFTEN = ('--dry-run', '--repeat', '--distribute', '--exec-policy', '--setvar', '--name', '--tag')


def refuse_beginnings(words: list[str]) -> None:
    """ReFrame takes the beginning of an option's name for it."""
    file = pathlib.Path(root(), 'configs', 'reframe-options')
    known = [*OWN, *file.read_text().split()]
    for name in (word.partition('=')[0] for word in words if word.startswith('--')):
        meant = [one for one in known if one.startswith(name)]
        if meant and name not in meant:
            hint = f"did you mean '{min(meant, key=len)}'?"
            raise MembwError(f"unknown option '{name}'", hint)


def given(words: list[str]) -> str:
    """'stream.ntimes quick': which variables `-S` sets, as ReFrame takes it."""
    said = re.findall(r'(?m)^(?:-S|--setvar)[\n=]?([\w.]+)(=?)', '\n'.join(words))
    for name in (name for name, sets in said if not sets):
        raise MembwError(f"'-S{name}' sets nothing", 'as in -S stream.ntimes=3')
    return ' '.join(name for name, _ in said if name.count('.') < 2)  # else of a fixture


def whole_names(words: list[str]) -> list[str]:
    """`-n pingpong` as the check of that name, not as every name that holds it (imb_pingpong);
    `-n 'stream%pinning=none'` as ReFrame lists it, whatever parameter stands before (a round)."""
    known = checks()

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


def refuse_second_session(system: str | None) -> None:
    """Plain ReFrame may measure already: it holds the lock of lib/binaries.py."""
    name = (system or '*').partition(':')[0]
    for path in pathlib.Path(root(), 'results', 'stage').glob(f'{name}.lock'):
        if is_held(f'stage/{path.stem}'):
            fact = f"another session of '{path.stem}' is under way in '{path.parent}'"
            raise MembwError(fact, 'wait until it has ended')


def refuse_nothing(
    base: str, system: str | None, rest: list[str], lines: list[str], partitions: list[dict]
) -> None:
    """There is no test case: the reason, as far as ReFrame's lines have it."""
    ours = [line for line in dict.fromkeys(lines) if line.startswith('membw: ')]
    if ours:  # an error of our configuration or checks
        hints = [line for line in dict.fromkeys(lines) if line.startswith('hint: ')]
        raise MembwError(
            [line.removeprefix('membw: ') for line in ours],
            [line.removeprefix('hint: ') for line in hints],
        )
    refuse_mistyped(rest, lines)
    if not run_ledger.path_of(f'{base}.json').exists():
        said = [line for line in lines if line.startswith(('reframe: ', 'ERROR: ', 'reframe.'))]
        why = said[0].partition(': ')[2] if said else 'it gave no reason'
        raise MembwError(
            f'ReFrame ended before its first case: {why}', f"'{base}.log' holds its whole output"
        )
    on_this_node = any(p.get('scheduler') == 'local' for p in partitions)
    if on_this_node and (reasons := machine.why_nothing(presets.load())):
        raise MembwError(reasons, machine.NO_COMPILER)
    chosen, where = ' '.join(rest), f' --system {system}' if system else ''
    fact = f"no test case matches '{chosen}'" if chosen else 'no test case fits this system'
    raise MembwError(
        [fact, *(f'left out here is {text}' for text in left_out(rest, partitions))],
        f"'membw run -l{where}' lists the tests",
    )


def refuse_mistyped(rest: list[str], lines: list[str]) -> None:
    """A test, preset or option that there is not: what was meant."""
    said = next((line for line in lines if line.startswith('reframe: error: ')), '')
    tests, rows = ([], []) if '-c' in rest else (checks(), [*presets.load()['presets']])
    for word in [word for word in rest if word in said.split()]:
        if word in tests:
            raise MembwError(f"'{word}' is a test", f'membw run -n {word}')
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


def left_out(rest: list[str], partitions: list[dict]) -> list[str]:
    """'gcc-o2: its compiler does not ...' of each preset that `-p` names and this system cannot
    build, each reason once: ReFrame has no test case of them, so prints nothing."""
    patterns = [word for before, word in zip(rest, rest[1:], strict=False) if before == '-p']
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for partition in partitions:
        for preset, reason in partition.get('extras', {}).get('left_out', {}).items():
            if any(re.fullmatch(pattern, preset) for pattern in patterns):
                names[reason][preset] = None
    return [f'{", ".join(presets)}: {reason}' for reason, presets in names.items()]
