"""ReFrame's own report: which cases there were, how each ended, and which was not measured.

All that is read of ReFrame's words is here: its report does not say why a case was skipped, nor
that a job ran out of time. What was measured is in the records (results/table.py).
"""

import json
import os
import re
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text
from membw.printable import printable
from membw.results.record import BadRecord
from membw.results.verdict import DIED, FAIL, INVALID, KNOWN, MISSING, PASS, WORST_FIRST

INTERRUPTED = re.compile(r'KeyboardInterrupt|aborted due to')
OUT_OF_TIME = re.compile(r'job timed out')  # of a job of this host; Slurm's is in the ledger
# sbatch that refuses, as ReFrame prints it
SPAWNED = re.compile(
    r"spawned process error: command '(.*?)' failed with exit code \d+: "
    r'--- stdout --- (.*?)--- stdout --- --- stderr --- (.*?)--- stderr ---'
)
# of ReFrame's log: its report does not say why a case was skipped
SKIPPED = re.compile(r'^\[ +SKIP \] \( *\d+/\d+\) (\S+).*? @\S+?\+(\S+) \[(.*)\]$', re.M)
# of which nothing is said: the line of the build has the reason; a row of a quick run has the
# rounds that its time allowed
UNSAID = (
    'skipped due to skipped dependencies', 'dependencies failed',
    'the time of the quick run is over',
)  # fmt: skip
Build = tuple[str, str, str]  # unique name of the fixture, system:partition, preset
# what each test case has
ALWAYS = 'name', 'system', 'partition', 'environ', 'result'


def parse_report(text: str) -> dict:
    """A report's JSON object, checked; BadRecord if it is not as ReFrame writes it."""
    name = ''
    try:
        report = json.loads(text)
        if not isinstance(report['session_info'], dict):
            raise TypeError('no session')
        for run in report['runs']:
            for case in run['testcases']:
                name = f'{case["name"]!a}: '
                _ = [case[field] for field in ALWAYS]
    except KeyError as err:
        raise BadRecord(f'not a report as ReFrame 4.10 writes it: {name}{err} is missing') from err
    except (AttributeError, TypeError, ValueError, RecursionError) as err:
        raise BadRecord(f'not a report as ReFrame 4.10 writes it: {name}{str(err)[:100]}') from err
    return report


def load(path: str) -> dict:
    """ReFrame's report of a file. MembwError: not readable, or no report."""
    try:
        text = read_text(path)
    except OSError as err:
        raise MembwError(
            f"cannot read '{path}': {err.strerror}", 'give a file that exists'
        ) from err
    if not text.strip():
        raise MembwError(f"'{path}' is empty", 'was the disk full when ReFrame wrote it?')
    try:
        return parse_report(text)
    except BadRecord as err:
        raise MembwError(f"'{path}' is no report: {err}", 'give the .json file of a run') from err


def newest() -> str:
    """The newest report of this checkout; dry runs, and what cannot be read, are passed over.

    MembwError: there is none.
    """
    files = Path(root(), 'results', 'reports').glob('run-*.json')
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        try:
            cases = cases_of(load(str(file)))
        except MembwError:
            continue
        if any(is_row(case) and not is_dry(case) for case in cases):
            return str(file)
    raise MembwError("no report in 'results/reports'", "'membw run' makes one")


def cases_of(report: dict) -> list[dict]:
    return [case for run in report.get('runs', []) for case in run.get('testcases', [])]


def is_row(case: dict) -> bool:
    """A row of the table: a run, not a build, that was not skipped."""
    return not case.get('fixture') and case['result'] != 'skip'


def is_dry(case: dict) -> bool:
    """A dry run passes in ReFrame, without a figure."""
    values = (row[0] for row in (case.get('perfvalues') or {}).values())
    return case['result'] == 'pass' and all(value is None for value in values)


def where(case: dict) -> str:
    return f'{case.get("system")}:{case.get("partition")}'


def test_of(case: dict) -> str:
    return (case.get('name') or '?').split()[0].split('@')[0]


def parameters(case: dict) -> dict[str, str]:
    return parameters_of(case.get('display_name') or case.get('name') or '')


def parameters_of(text: str) -> dict[str, str]:
    """{'pinning': 'omp'} of 'stream %pinning=omp', or of '%pinning=omp': what tells the cases of a
    test apart, but the round and what ReFrame's --repeat and --distribute add."""
    words = re.split(r'(?:^|\s)(?=%)', text)[1:]
    pairs = (word.split(' /')[0].strip().partition('=') for word in words)
    named = {name.removeprefix('%'): value for name, _, value in pairs}
    return {n: v for n, v in named.items() if n != 'round' and '.' not in n and n[:1] != '$'}


def record_file(case: dict, report: str) -> Path | None:
    """The file of the case's record; results may have been copied since, records with them."""
    if not case.get('record'):
        return None
    path = Path(case['record'])
    moved = Path(report).resolve().parent.parent / 'records' / path.name
    return next((file for file in (path, moved) if file.is_file()), None)


def outcome(case: dict, builds: dict[Build, str]) -> tuple[str, str]:
    """(word of results/verdict.py, reason) by the report alone; `builds`: those that failed.

    The check's own word, where it came so far. FAIL is a figure's alone: whatever else ReFrame
    calls a failure was not measured.
    """
    if is_dry(case):
        return MISSING, 'a dry run'
    word = case.get('word') or (INVALID if case.get('verdict') == 'INVALID' else PASS)
    if word != PASS:
        word = word if word in WORST_FIRST else INVALID
        return word, case.get('reasons') or 'no reason given'
    if case['result'] in ('pass', 'xfail'):
        return (PASS if case['result'] == 'pass' else KNOWN), case.get('note') or ''
    why = printable(' '.join((case.get('fail_reason') or case['result']).split()))
    phase = case.get('fail_phase') or 'run'
    if case['result'] == 'fail_deps':
        return MISSING, failed_dependency(case, builds)
    if phase == 'performance':
        return FAIL, f'{phase}: {why}'
    if OUT_OF_TIME.search(why):
        return DIED, f'time limit reached ({why})'
    if phase == 'run':  # ReFrame's word for submitting it to the scheduler
        return MISSING, SPAWNED.sub(r"'\1' failed: \2\3", why).strip()
    return MISSING, why if INTERRUPTED.search(why) else f'{phase}: {why}'


# --- builds, and what was skipped ----------------------------------------------------------------


def failed_builds(cases: list[dict]) -> dict[Build, str]:
    """{build: reason} of the builds that failed; not where someone interrupted them, nor of
    those whose own dependency failed."""
    failed = {}
    for case in cases:
        if case.get('fixture') and case['result'] not in ('pass', 'skip', 'fail_deps'):
            why = printable(' '.join((case.get('fail_reason') or '').split()))
            if not INTERRUPTED.search(why):
                failed[case.get('unique_name', ''), where(case), case['environ']] = why
    return failed


def named_build(build: Build) -> str:
    """'stream gcc-o3' of ('stream_binary_1a2b', 'local:default', 'gcc-o3')."""
    return f'{build[0].split("_binary")[0].removeprefix("spack_")} {build[2]}'


def failed_dependency(case: dict, builds: dict[Build, str]) -> str:
    """Names the build that failed, in place of ReFrame's 'fail_deps'."""
    for name, partition, environ in case.get('dependencies_actual') or ():
        build = name, partition, environ
        if build in builds:
            return f'its build failed ({named_build(build)}): {builds[build]}'
    names = ', '.join(map(named_build, builds)) or 'a build that it needs was not done'
    return f'what it needs failed: {names}'


def skipped(report: str) -> list[tuple[str, str, str]]:
    """(test, preset, reason) of each case that was skipped by itself."""
    log = Path(os.path.splitext(report)[0] + '.log')
    found = SKIPPED.findall(read_text(log)) if log.is_file() else []
    return [case for case in dict.fromkeys(found) if case[2] not in UNSAID]
