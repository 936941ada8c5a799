"""One session of ReFrame over the checks: its options, its progress, its end."""

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError, did_you_mean
from membw.interruption import child
from membw.progress import Passing, say, under_way
from membw.results import run_events

WARNING = 'WARNING: '
# of ReFrame: it measures nothing
LISTS = {'-l', '-L', '--list', '--list-detailed', '--list-tags', '--describe', '--dry-run'}
# for ReFrame to cancel its jobs and write its report, after each signal
ENDING = (signal.SIGINT, 15), (signal.SIGINT, 15), (signal.SIGTERM, 2), (signal.SIGKILL, 1)


def has_other_systems(rest: Sequence[str]) -> bool:
    """Whether ReFrame reads a configuration that is not ours as well."""
    given = any(word.startswith(('-C', '--config-file')) for word in rest)
    return given or bool(os.environ.get('RFM_CONFIG_FILES'))


def with_paths(words: list[str]) -> list[str]:
    """Of ReFrame and the programs: MEMBW_ROOT says that a shell or a site has set them."""
    if 'MEMBW_ROOT' in os.environ:
        return words
    return ['sh', '-c', '. ./setup-env.sh && exec "$@"', 'sh', *words]


def reframe(system: str | None, *words: str) -> list[str]:
    return ['reframe', *(['--system', system] if system else []), *words]


def partitions_of(system: str | None, rest: Sequence[str] = ()) -> list[dict]:
    """As the session will have them; [] where that cannot be known: the session says why.
    MembwError: there is no such system, or partition of it."""
    ours, others = os.path.join(root(), 'configs'), has_other_systems(rest)
    if has_other_systems([]) or os.environ.get('RFM_CONFIG_PATH') not in (None, ours):
        words = reframe(system, '--show-config=systems/0/partitions')
        with tempfile.TemporaryDirectory() as folder:  # for its logs
            env = {**os.environ, 'TMPDIR': folder}
            shown = subprocess.run(with_paths(words), cwd=root(), capture_output=True, env=env)
        try:
            return json.loads(shown.stdout)
        except ValueError:
            return []
    from membw.site import binder, systems  # ReFrame's modules, not at each start of membw

    name, _, wanted = (system or os.environ.get('RFM_SYSTEM', '')).partition(':')
    if name and not others:
        refuse_unknown_system(name)
    for one in binder.configuration()['systems']:
        if one['name'] == name or (not name and systems.fits_here(one)):
            names = [part['name'] for part in one['partitions']]
            if wanted not in ('', *names) and not others:
                raise MembwError(
                    f"no partition '{wanted}' of '{name}'", did_you_mean(wanted, names)
                )
            return [part for part in one['partitions'] if wanted in ('', part['name'])]
    return []


def environs_of(partition: dict) -> list[str]:
    """Their names; ReFrame's configuration may have more of each than its name."""
    return [e['name'] if isinstance(e, dict) else e for e in partition['environs']]


def listed(system: str | None, rest: list[str]) -> int | None:
    """The exit status of ReFrame where it is to measure nothing; None: it is to run."""
    if not LISTS & {*rest}:
        return None
    words = reframe(system, '-c', 'reframe-checks', *rest)
    return subprocess.call(with_paths(words), cwd=root())


def command(base: str, system: str | None, rest: list[str]) -> list[str]:
    files = [f'--report-file={base}.json', '--nocolor', '--warn-as-error']
    has_checks = {'-c', '--checkpath', '--restore-session'} & {word.split('=')[0] for word in rest}
    checks = [] if has_checks else ['-c', 'reframe-checks']
    return reframe(system, *checks, '-r', *files, *rest)


def run(words: list[str], base: str, variables: dict[str, str], verbose: bool) -> list[str]:
    """Runs ReFrame, shows its progress, keeps its whole output in `base`.log; its lines.

    Args:
        variables: of its environment, with those of this process.
        verbose: print every line, in place of the progress.
    """
    lines, passing = [], Passing()
    os.makedirs(os.path.dirname(base), exist_ok=True)
    output = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    place = {'cwd': root(), 'env': {**os.environ, **variables}}
    with (
        open(f'{base}.log', 'ab', buffering=0) as log,
        contextlib.closing(passing),
        child(
            with_paths(words), ENDING, text=True, errors='replace', **output, **place
        ) as process,
    ):
        assert process.stdout
        if not verbose:
            before = None if 'MEMBW_UNTIL' in variables else run_events.fullest(base)
            passing.now(functools.partial(under_way, f'{base}.json', before))
        for line in process.stdout:
            line = line.rstrip('\n')
            try:
                log.write(f'{line}\n'.encode())
            except OSError as err:  # then nothing that is measured can be kept
                hint = 'results/ takes what is measured: make room for it'
                raise MembwError(f"cannot write '{log.name}': {err.strerror}", hint) from err
            if verbose:
                say(line, stream=sys.stdout)
            elif line.startswith(WARNING) and line not in lines:
                say(line)
            lines.append(line)
    return lines
