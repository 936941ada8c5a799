"""A run of ReFrame: which cases there were, how each ended, and which was not measured.

Its report is read strictly, and its ledger says the rest: what was to be run, why a case was
skipped, which job was refused. What was measured is in the records (results/table.py).
"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text
from membw.printable import printable
from membw.results import run_ledger
from membw.results.case import Case, mapping, of_display_name
from membw.results.record import HIGHER
from membw.results.run_ledger import Event, Key
from membw.results.run_lock import is_held
from membw.words import DIED, FAIL, INVALID, KNOWN, MISSING, PASS, WORST_FIRST

# `result` of a case that is in the ledger alone; ReFrame's, where it stopped before the end
NOT_THERE, UNKNOWN = 'missing', '<unknown>'
ALWAYS = 'name', 'system', 'partition', 'environ', 'result'
TEXTS = (
    'display_name', 'unique_name', 'fail_phase', 'fail_reason', 'word', 'verdict', 'reasons',
    'record', 'node_check', 'nodes', 'stores', 'metrics', 'known_issues',
)  # fmt: skip
TIMES = 'time_start_unix', 'time_end_unix'
Build = Key  # unique name of the fixture, system:partition, preset
Number = float | None
# value, reference, lower and upper limit, unit, result
Figure = tuple[Number, Number, Number, Number, str | None, str | None]
# of what is read of a case; the check's own variables are None where it did not come so far
FIELDS: list = [(name, str) for name in ALWAYS] + [(name, str | None, None) for name in TEXTS]
FIELDS += [
    ('fixture', bool, False),
    ('round', int | None, None),
    ('dependencies_actual', list[Key] | None, None),
    ('time_total', Number, None),
    ('perfvalues', dict[str, Figure] | None, None),
]
TestCase: Any = msgspec.defstruct('TestCase', FIELDS)
Run: Any = msgspec.defstruct('Run', [('testcases', list[dict])])
Session: Any = msgspec.defstruct('Session', [(name, Number, None) for name in TIMES])
Report: Any = msgspec.defstruct('Report', [('session_info', Session), ('runs', list[Run])])


class Median(msgspec.Struct):
    """A figure of a report that stands for many nodes, as reframe-checks/lib writes it."""

    value: Number = None  # None: of one node, whose record has it
    unit: str = ''
    better: str = HIGHER
    bound: str = ''


# of the variables that are JSON themselves
INNER: dict[str, Any] = {'metrics': dict[str, Median], 'known_issues': dict[str, str]}


def load(path: str) -> dict:
    """ReFrame's report of a file, with what the ledger beside it knows: what is missing in it, why
    a case was skipped. MembwError: neither is readable."""
    events = run_ledger.read(path)
    try:
        report = read_report(path)
    except MembwError as err:
        if not events:
            raise
        # in place of one that was not written, or was cut: it is missing, whatever was run
        why = str(err) if Path(path).exists() else 'ReFrame ended before it wrote one'
        names = {'name': 'report', 'where': events[0]['where'], 'environ': 'ReFrame'}
        case = of_ledger(names, {'event': run_ledger.STOPPED}, '')
        case |= {'fail_reason': why, 'not_begun': False}
        begun = {'time_start_unix': run_ledger.path_of(path).stat().st_mtime}
        report = {'session_info': begun, 'runs': [{'testcases': [case]}]}
    add_ledger(report, events)
    return report


def parsed(text: bytes | str) -> dict:
    """The report that a file, or a session of the results database, has; its cases are any.
    ValueError, RecursionError: it is not as ReFrame writes it."""
    report = json.loads(text)
    msgspec.convert(report, Report)
    return report


def read_report(path: str) -> dict:
    """With all that it has; MembwError names the place of what is not as ReFrame writes it."""
    place = ''
    try:
        report = parsed(read_text(path))
        for number, case in enumerate(cases_of(report), 1):
            place = f'test case {number} ({case.get("name")!a}): '
            msgspec.convert(case, TestCase)
            for name in INNER:
                place = f'{name} of {case["name"]!a}: '
                inner(case, name)
    except OSError as err:
        fact = f"cannot read '{path}': {err.strerror}"
        raise MembwError(fact, 'give the .json file of a run') from err
    except (ValueError, RecursionError) as err:
        fact = f'{place}{str(err)[:100]}'
        hint = 'give the .json file of a run; was the disk full when it was written?'
        raise MembwError(f"'{path}' is no report of ReFrame: {fact}", hint) from err
    return report


def inner(case: dict, name: str) -> dict[str, Any]:
    return msgspec.json.decode(case.get(name) or '{}', type=INNER[name])


def add_ledger(report: dict, events: list[Event]) -> None:
    """Completes the cases of a report, and adds those that it has not."""
    expected, last, stopped = dict[Key, Event](), dict[Key, Event](), ''
    for event in events:
        if event['event'] == run_ledger.STOPPED:
            stopped += f': {event["why"]}'
            continue
        key = run_ledger.key_of(event)
        expected.setdefault(key, event)
        last[key] = event
    every = cases_of(report)
    cases = {key_of(case): case for case in every}
    for key, first in expected.items():
        made = of_ledger(first, last[key], stopped)
        if key not in cases:
            every.append(cases.setdefault(key, made))
        elif cases[key]['result'] == UNKNOWN:
            cases[key].update(made)
    for case in every:
        event = last.get(key_of(case), {})
        if 'why' in event and case['result'] not in ('pass', 'abort'):
            case['fail_reason'], case['job_state'] = event['why'], event.get('state')
            case['fail_phase'] = case.get('fail_phase') or event.get('phase')
        if case.get('word') == MISSING and case['result'] == 'fail':  # a build, for now
            case['result'] = NOT_THERE
    for case in every:
        if case['result'] in ('skip', 'fail_deps') and case.get('fail_phase') == 'startup':
            # not begun: what it depends on failed, or was skipped for this reason
            for need in map(tuple, case.get('dependencies_actual') or ()):
                result = cases[need]['result'] if need in cases else 'pass'
                if result in ('skip', NOT_THERE):
                    case['fail_reason'] = cases[need].get('fail_reason')
                    case['result'] = result if result == NOT_THERE else case['result']
                elif result not in ('pass', 'xfail', 'xpass'):
                    case['result'] = 'fail_deps'
    report['runs'] = [{'testcases': every}]


def of_ledger(expected: Mapping, last: Mapping, stopped: str) -> dict:
    """A case that is not in the report, as one of it; `stopped`: why ReFrame did, if known."""
    system, _, partition = expected['where'].partition(':')
    result = run_ledger.RESULTS.get(last['event'], NOT_THERE)
    case = {**expected, **last, 'system': system, 'partition': partition, 'result': result}
    if result == NOT_THERE:
        case['not_begun'] = 'stage' not in last
        state = 'not begun' if case['not_begun'] else 'under way'
        case['fail_reason'] = f'{state} when ReFrame ended{stopped}'
    return case


def newest() -> str:
    """The newest run of this checkout; dry runs, what is under way and what cannot be read are
    passed over. MembwError: there is none."""
    files = [
        file
        for file in Path(root(), 'results', 'reports').glob('run-*')
        if file.suffix in ('.json', run_ledger.SUFFIX)
    ]
    ordered = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)
    for name in dict.fromkeys(file.with_suffix('.json') for file in ordered):
        with contextlib.suppress(MembwError):
            is_under_way = not name.exists() and is_held()
            cases = [] if is_under_way else cases_of(load(str(name)))
            if any(is_row(case) and not is_dry(case) for case in cases):
                return str(name)
    own = "'membw summary FILE' of the one that plain ReFrame names when it ends"
    raise MembwError("no report in 'results/reports'", f"'membw run' makes one; {own}")


def cases_of(report: dict) -> list[dict]:
    return [case for run in report['runs'] for case in run['testcases']]


def key_of(case: dict) -> Key:
    return case.get('unique_name') or case['name'], where(case), case['environ']


def is_row(case: dict) -> bool:
    """A row of the table: a run, not a build, that was not skipped."""
    return not case.get('fixture') and case['result'] != 'skip'


def is_dry(case: dict) -> bool:
    """A dry run passes in ReFrame, without a figure."""
    values = [row[0] for row in (case.get('perfvalues') or {}).values()]
    is_passed = case['result'] == 'pass' and 'perfvalues' in case  # by a report
    return is_passed and not case.get('record') and all(value is None for value in values)


def where(case: dict) -> str:
    return f'{case["system"]}:{case["partition"]}'


def case_of(case: dict) -> Case:
    """Its row; `node`: on which it ran alone, by the check or by ReFrame."""
    name = of_display_name(case.get('display_name') or case['name'])
    nodes = [case['node']] if 'node' in case else case.get('job_nodelist') or []
    node = (nodes[0] if len(nodes) == 1 else '') or name.node
    return Case(
        case['system'], case['partition'], name.test, mapping(name.pairs.items()),
        case['environ'], name.pairs.get('pinning', ''), node,
    )  # fmt: skip


def record_file(case: dict, report: str) -> Path | None:
    """The file of the case's record; results may have been copied since, records with them."""
    if not case.get('record'):
        return None
    path = Path(case['record'])
    moved = Path(report).resolve().parent.parent / 'records' / path.name
    return next((file for file in (path, moved) if file.is_file()), None)


def outcome(case: dict, builds: dict[Build, str]) -> tuple[str, str]:
    """(word of membw/words.py, reason) by the report alone; `builds`: those that failed.

    The check's own word, where it came so far. FAIL is a figure's alone: whatever else ReFrame
    calls a failure was not measured.
    """
    word = case.get('word') or (INVALID if case.get('verdict') == 'INVALID' else PASS)
    if word != PASS:
        word = word if word in WORST_FIRST else INVALID
        return word, case.get('reasons') or 'no reason given'
    if case['result'] in ('pass', 'xfail'):
        return PASS if case['result'] == 'pass' else KNOWN, ''
    why = reason_of(case)
    phase = case.get('fail_phase') or 'run'
    if case['result'] == 'fail_deps':
        return MISSING, failed_dependency(case, builds)
    if phase == 'performance':
        return FAIL, f'{phase}: {why}'
    if case.get('job_state') == 'TIMEOUT':  # of this host; Slurm's is in the ledger of the case
        return DIED, f'time limit reached ({why})'
    # ReFrame's word for submitting it to the scheduler is 'run'
    is_plain = phase == 'run' or case['result'] in ('abort', NOT_THERE)
    return MISSING, why if is_plain else f'{phase}: {why}'


def reason_of(case: dict) -> str:
    text = case.get('fail_reason') or case['result']
    return printable(' '.join(text.split()))


def failed_builds(cases: list[dict]) -> dict[Build, str]:
    """{build: reason} of the builds that failed; not where someone interrupted them, nor of
    those whose own dependency failed."""
    others = ('pass', 'skip', 'fail_deps', 'abort', NOT_THERE)
    builds = (case for case in cases if case.get('fixture'))
    return {key_of(case): reason_of(case) for case in builds if case['result'] not in others}


def named_build(build: Build) -> str:
    """'stream gcc-o3' of ('stream_binary_1a2b', 'local:default', 'gcc-o3')."""
    return f'{build[0].split("_binary")[0].removeprefix("spack_")} {build[2]}'


def failed_dependency(case: dict, builds: dict[Build, str]) -> str:
    """Names the build that failed, in place of ReFrame's 'fail_deps'."""
    for build in map(tuple, case.get('dependencies_actual') or ()):
        if build in builds:
            return f'its build failed ({named_build(build)}): {builds[build]}'
    names = ', '.join(map(named_build, builds)) or 'a build that it needs was not done'
    return f'what it needs failed: {names}'


def is_skipped(case: dict) -> bool:
    """A quick run skips further rounds, too, of which nothing is said."""
    is_first = int(case.get('round') or 1) == 1
    return case['result'] == 'skip' and not case.get('fixture') and is_first


def skipped(cases: list[dict]) -> list[tuple[str, str, str]]:
    """(test, preset, reason) of what this system has not, each once."""
    skips = filter(is_skipped, cases)
    return [*dict.fromkeys((case_of(c).test, c['environ'], reason_of(c)) for c in skips)]
