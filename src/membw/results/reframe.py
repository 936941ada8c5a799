"""A run of ReFrame: which cases there were, how each ended, and which was not measured.

Its report is read strictly, and its ledger says the rest: what was to be run, why a case was
skipped, which job was refused. What was measured is in the records (results/table.py).
"""

import contextlib
import json
from pathlib import Path

import msgspec

from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text, write_whole
from membw.printable import printable
from membw.results import run_events
from membw.results.case import Case, mapping, of_display_name
from membw.results.record import HIGHER
from membw.results.run_events import Event
from membw.results.run_ledger import KNOWN_AT_END, RESULTS, STOPPED, SUFFIX, Key, path_of
from membw.results.run_lock import is_held
from membw.words import DIED, FAIL, GOOD, INVALID, KNOWN, MISSING, PASS, WORST_FIRST

# `result` of a case that is in the ledger alone; ReFrame's, where it stopped before the end
NOT_THERE, UNKNOWN = 'missing', '<unknown>'
OURS = 'reference_expired'  # a variable of each check of ours
Number = float | None
Text = str | None
# value, reference, lower and upper limit, unit, result
PerfValue = tuple[Number, Number, Number, Number, Text, Text]


class TestCase(msgspec.Struct):
    """What is read of a test case, ours or another. None: it did not come so far."""

    name: str
    system: str
    partition: str
    environ: str
    result: str
    display_name: Text = None
    fixture: bool = False
    fail_phase: Text = None
    fail_reason: Text = None
    job_nodelist: list[str] | str | None = None
    perfvalues: dict[str, PerfValue] | None = None

    @property
    def nodes_of_job(self) -> list[str]:
        names = self.job_nodelist or []
        return names.split(',') if isinstance(names, str) else names


class Median(msgspec.Struct):
    """A figure of a report that stands for many nodes, as reframe-checks/lib writes it."""

    value: float
    unit: str = ''
    better: str = HIGHER
    bound: str = ''


class OwnCase(TestCase):
    """Of a run of ours: with what its check noted, and what the ledger alone knows."""

    unique_name: Text = None
    dependencies_actual: list[Key] | None = None
    time_total: Number = None
    round: int | None = None
    node: Text = None
    word: Text = None
    verdict: Text = None
    reasons: Text = None
    record: Text = None
    node_check: Text = None
    nodes: Text = None
    stores: Text = None
    medians: dict[str, Median] | None = None
    job_state: Text = None
    not_begun: bool = False
    reference_expired: Text = None  # OURS: `write_of_ledger` writes it, too

    @property
    def where(self) -> str:
        return f'{self.system}:{self.partition}'

    @property
    def key(self) -> Key:
        return self.unique_name or self.name, self.where, self.environ

    @property
    def row(self) -> Case:
        """`node`: on which it ran alone, by the check or by ReFrame."""
        name = of_display_name(self.display_name or self.name)
        nodes = self.nodes_of_job if self.node is None else [self.node]
        node = (nodes[0] if len(nodes) == 1 else '') or name.node
        return Case(
            self.system, self.partition, name.test, mapping(name.pairs.items()), self.environ,
            name.pairs.get('pinning', ''), node,
        )  # fmt: skip

    @property
    def is_row(self) -> bool:
        """A row of the table: a run, not a build, that was not skipped."""
        return not self.fixture and self.result != 'skip'

    @property
    def is_skipped(self) -> bool:
        """A quick run skips further rounds, too, of which nothing is said."""
        return self.result == 'skip' and not self.fixture and (self.round or 1) == 1

    @property
    def is_dry(self) -> bool:
        """A dry run passes in ReFrame, without a figure."""
        is_passed = self.result == 'pass' and self.perfvalues is not None  # by a report
        has_figure = any(value is not None for value, *_ in (self.perfvalues or {}).values())
        return is_passed and not self.record and not has_figure

    @property
    def why(self) -> str:
        return printable(' '.join((self.fail_reason or self.result).split()))


# of a case that is not ours no more is read: its variables may have names of ours
OF_REFRAME = *TestCase.__struct_fields__, 'unique_name', 'dependencies_actual', 'time_total'


class Run(msgspec.Struct):
    testcases: list[dict]


class Session(msgspec.Struct):
    """Seconds since 1970; the last two are of `membw run` (summary/command.py)."""

    time_start_unix: Number = None
    time_end_unix: Number = None
    membw_begun: Number = None
    membw_run: object = None


class Report(msgspec.Struct):
    """As any ReFrame writes it; its cases are any."""

    session_info: Session
    runs: list[Run]

    @property
    def cases(self) -> list[dict]:
        return [case for run in self.runs for case in run.testcases]


def load(path: str) -> tuple[Session, list[OwnCase]]:
    """ReFrame's report of a file, with what the ledger beside it knows: what is missing in it, why
    a case was skipped. MembwError: neither is readable."""
    events = run_events.read(path)
    try:
        session, cases = read_report(path)
    except MembwError as err:
        if not events:
            raise
        # in place of one that was not written, or was cut: it is missing, whatever was run
        why = str(err) if Path(path).exists() else 'ReFrame ended before it wrote one'
        system, _, partition = events[0].where.partition(':')
        case = OwnCase('report', system, partition, 'ReFrame', NOT_THERE, fail_reason=why)
        session, cases = Session(path_of(path).stat().st_mtime), [case]
    return session, with_ledger(cases, events)


def write_of_ledger(path: str) -> None:
    """In place of the report of a ReFrame that was killed: as `load` reads it."""
    session, cases = load(path)
    report = {'session_info': session, 'runs': [{'testcases': cases}]}
    write_whole(path, msgspec.json.encode(report))


def parsed(text: bytes | str) -> Report:
    """Of a file, or of a session of the results database. ValueError, RecursionError: it is not as
    ReFrame writes it."""
    return msgspec.convert(json.loads(text), Report, strict=False)  # what is given is text


def read_report(path: str) -> tuple[Session, list[OwnCase]]:
    """MembwError names the place of what is not as ReFrame writes it."""
    place, cases = '', list[OwnCase]()
    try:
        report = parsed(read_text(path))
        for number, case in enumerate(report.cases, 1):
            place = f'test case {number} ({case.get("name")!a}): '
            is_ours = OURS in case or case.get('fixture')
            known = case if is_ours else {n: case[n] for n in OF_REFRAME if n in case}
            cases.append(msgspec.convert(known, OwnCase))
    except OSError as err:
        fact = f"cannot read '{path}': {err.strerror}"
        raise MembwError(fact, 'give the .json file of a run') from err
    except (ValueError, RecursionError) as err:
        fact = f'{place}{str(err)[:100]}'
        hint = 'give the .json file of a run; was the disk full when it was written?'
        raise MembwError(f"'{path}' is no report of ReFrame: {fact}", hint) from err
    return report.session_info, cases


def with_ledger(every: list[OwnCase], events: list[Event]) -> list[OwnCase]:
    """The cases of a report, completed, and those that it has not."""
    expected, last, stopped = dict[Key, Event](), dict[Key, Event](), ''
    for event in events:
        if event.event == STOPPED:
            stopped += f': {event.why}'
            continue
        expected.setdefault(event.key, event)
        last[event.key] = event
    cases = {case.key: case for case in every}
    for key, first in expected.items():
        if key not in cases or cases[key].result == UNKNOWN:
            cases[key] = of_ledger(first, last[key], stopped)
    # of --reruns a case comes several times
    whole = [cases[case.key] if case.result == UNKNOWN else case for case in every]
    there = {case.key for case in every}
    whole += [case for key, case in cases.items() if key not in there]
    for case in whole:
        end = last.get(case.key)
        if end and end.why and case.result not in ('pass', 'abort'):
            case.fail_reason, case.job_state = end.why, end.state
            case.fail_phase = case.fail_phase or end.phase
        if case.word == MISSING and case.result == 'fail':  # a build, for now
            case.result = NOT_THERE
    for case in whole:
        if case.result in ('skip', 'fail_deps') and case.fail_phase == 'startup':
            # not begun: what it depends on failed, or was skipped for this reason
            for need in case.dependencies_actual or ():
                result = cases[need].result if need in cases else 'pass'
                if result in ('skip', NOT_THERE):
                    case.fail_reason = cases[need].fail_reason
                    case.result = result if result == NOT_THERE else case.result
                elif result not in ('pass', 'xfail', 'xpass'):
                    case.result = 'fail_deps'
    return whole


def of_ledger(first: Event, last: Event, stopped: str) -> OwnCase:
    """A case that is not in the report, as one of it; `stopped`: why ReFrame did, if known."""
    system, _, partition = first.where.partition(':')
    result, is_begun = RESULTS.get(last.event, NOT_THERE), bool(last.stage or last.state)
    case = OwnCase(
        first.name, system, partition, first.environ, result, first.display_name, first.fixture,
        unique_name=first.unique_name, dependencies_actual=first.dependencies_actual,
        round=first.round, **{name: getattr(last, name) for name in KNOWN_AT_END},
    )  # fmt: skip
    if result in (NOT_THERE, 'abort'):
        case.not_begun = not is_begun
        state = 'under way' if is_begun else 'not begun'
        case.fail_reason = f'{state} when ReFrame ended{stopped}'
    return case


def newest() -> str:
    """The newest run of this checkout; dry runs, what is under way and what cannot be read are
    passed over. MembwError: there is none."""
    files = Path(root(), 'results', 'reports').glob('run-*')
    own = [file for file in files if file.suffix in ('.json', SUFFIX)]
    ordered = sorted(own, key=lambda file: file.stat().st_mtime, reverse=True)
    for name in dict.fromkeys(file.with_suffix('.json') for file in ordered):
        with contextlib.suppress(MembwError):
            is_under_way = not name.exists() and is_held()
            cases = [] if is_under_way else load(str(name))[1]
            if any(case.is_row and not case.is_dry for case in cases):
                return str(name)
    way = "'membw summary FILE' of the one that plain ReFrame names when it ends"
    raise MembwError("no report in 'results/reports'", f"'membw run' makes one; {way}")


def record_file(case: OwnCase, report: str) -> Path | None:
    """The file of the case's record; results may have been copied since, records with them."""
    if not case.record:
        return None
    path = Path(case.record)
    moved = Path(report).resolve().parent.parent / 'records' / path.name
    return next((file for file in (path, moved) if file.is_file()), None)


def outcome(case: OwnCase, builds: dict[Key, str]) -> tuple[str, str]:
    """(word of membw/words.py, reason) by the report alone; `builds`: those that failed.

    The check's own word, where it came so far. FAIL is a figure's alone: whatever else ReFrame
    calls a failure was not measured.
    """
    word = case.word or (INVALID if case.verdict == 'INVALID' else PASS)
    if word not in GOOD:
        return word if word in WORST_FIRST else INVALID, case.reasons or 'no reason given'
    if case.result in ('pass', 'xfail'):
        return PASS if case.result == 'pass' else KNOWN, ''
    phase = case.fail_phase or 'run'
    if case.result == 'fail_deps':
        return MISSING, failed_dependency(case, builds)
    if phase == 'performance':
        return FAIL, f'{phase}: {case.why}'
    if case.job_state == 'TIMEOUT':  # of this host; Slurm's is in the ledger of the case
        return DIED, f'time limit reached ({case.why})'
    # ReFrame's word for submitting it to the scheduler is 'run'
    is_plain = phase == 'run' or case.result in ('abort', NOT_THERE)
    return MISSING, case.why if is_plain else f'{phase}: {case.why}'


def failed_builds(cases: list[OwnCase]) -> dict[Key, str]:
    """{build: reason} of the builds that failed; not where someone interrupted them, nor of
    those whose own dependency failed."""
    others = ('pass', 'skip', 'fail_deps', 'abort', NOT_THERE)
    return {case.key: case.why for case in cases if case.fixture and case.result not in others}


def named_build(build: Key) -> str:
    """'stream gcc-o3' of ('stream_binary_1a2b', 'local:default', 'gcc-o3')."""
    return f'{build[0].split("_binary")[0].removeprefix("spack_")} {build[2]}'


def failed_dependency(case: OwnCase, builds: dict[Key, str]) -> str:
    """Names the build that failed, in place of ReFrame's 'fail_deps'."""
    for build in case.dependencies_actual or ():
        if build in builds:
            return f'its build failed ({named_build(build)}): {builds[build]}'
    names = ', '.join(map(named_build, builds)) or 'a build that it needs was not done'
    return f'what it needs failed: {names}'


def skipped(cases: list[OwnCase]) -> list[tuple[str, str, str]]:
    """(test, preset, reason) of what this system has not, each once."""
    return [*dict.fromkeys((c.row.test, c.environ, c.why) for c in cases if c.is_skipped)]
