"""One run: a session of ReFrame, then its table and its verdict."""

import contextlib
import os
import sys
import time

from membw.results.left_out import by_reason, partitions_of
from membw.results.run_lock import alone
from membw.run import junit, outcome, quick, refusals, session, summary
from membw.site import realtime

# longest that the figures of a row are waited for, in all its rounds
ROW_S = 2
# of the user: then ReFrame repeats, or takes the cases, and there are no rounds of ours
OWN_WAYS = ('--reruns', '--duration', '--restore-session', '--repeat', '--max-retries',
            '--distribute', '--dry-run', '-P', '--parameterize')  # fmt: skip


def measure(
    system: str | None,
    rest: list[str],
    rounds: int = 1,
    is_json: bool = False,
    by_priority: bool = False,
    is_full: bool = True,
) -> int:
    """Runs ReFrame alone in this checkout, prints the tables; the exit status.

    Args:
        system: a name in systems/; None: found by host name.
        rest: further options of ReFrame.
        rounds: of what compares (check `stream`) on this machine.
        is_json: the tables as JSON; what is for people alone goes to stderr.
        by_priority: at real-time priority.
        is_full: all checks; else the quick run of this machine.

    An interrupted run prints the table of what was measured before.
    """
    begun, base = time.monotonic(), session.report_base()
    is_quick = False
    try:
        with alone(), contextlib.redirect_stdout(sys.stderr if is_json else sys.stdout):
            partitions = partitions_of(system)
            is_quick = not is_full and is_local(partitions)
            run(base, system, rest, rounds, by_priority, is_quick, partitions)
    except KeyboardInterrupt:
        if os.path.exists(f'{base}.json'):  # ReFrame writes it where a case was begun
            junit.write(f'{base}.json')
            summary.show(f'{base}.json', time.monotonic() - begun, {}, is_json, is_quick)
        raise
    seconds, left_out = time.monotonic() - begun, {} if is_quick else by_reason(partitions)
    junit.write(f'{base}.json')
    return summary.show(f'{base}.json', seconds, left_out, is_json, is_quick)


def run(
    base: str,
    system: str | None,
    rest: list[str],
    rounds: int,
    by_priority: bool,
    is_quick: bool,
    partitions: list[dict],
) -> None:
    """One session of ReFrame, its report in `base`.json. MembwError: nothing was run."""
    refusals.refuse_unknown_checks(rest)
    priority = realtime.words(by_priority, is_local(partitions))
    if is_quick:
        environs = [e['name'] if isinstance(e, dict) else e for e in partitions[0]['environs']]
        options, variables = [*quick.options(environs), *priority], quick.variables()
    else:
        options, variables = full_options(rest, rounds, partitions)
        options = [*options, *priority, *refusals.whole_names(rest)]
    variables['MEMBW_SESSION'] = os.path.basename(base)
    lines = session.run(session.command(base, system, options), base, variables, '-v' in rest)
    refusals.refuse_load_errors(lines)
    refusals.refuse_unset(lines, rest)
    cases = (
        outcome.cases_of(outcome.load(f'{base}.json')) if os.path.exists(f'{base}.json') else []
    )
    refusals.refuse_nothing(cases, base, system, rest, lines, partitions)


def full_options(
    rest: list[str], rounds: int, partitions: list[dict]
) -> tuple[list[str], dict[str, str]]:
    """(options of ReFrame, variables of its environment) that make rounds in turn on this
    machine: one case after the other, ReFrame would judge one while it measures the next."""
    if not is_local(partitions):
        return [], {}
    options = []
    if not any(word.startswith('--exec-policy') for word in rest):
        options.append('--exec-policy=serial')
    if rounds < 2 or any(word.split('=')[0] in OWN_WAYS for word in rest):
        return options, {}
    options += ['-S', f'max_seconds={ROW_S / rounds:g}']
    if not any(word.startswith('--exec-order') for word in rest):
        options.append('--exec-order=name')
    return options, {'MEMBW_ROUNDS': str(rounds)}


def is_local(partitions: list[dict]) -> bool:
    return bool(partitions) and all(part['scheduler'] == 'local' for part in partitions)
