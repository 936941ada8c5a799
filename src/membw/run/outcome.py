"""What ReFrame's report says of one test case: measured, or the reason why not."""

import json
import re
from pathlib import Path

from membw.errors import MembwError
from membw.files import read_text
from membw.printable import printable
from membw.results.reframe import parse_report
from membw.results.table import BadRecord
from membw.results.verdict import (
    FAIL,
    INVALID,
    KNOWN,
    NOT_MEASURED,
    PASS,
    UNDECIDED,
    XPASS,
    outside,
)

# phases that end before there is a figure
NOT_RUN = ('startup', 'setup', 'compile', 'compile_complete', 'compile_wait', 'cleanup')
NOT_RUN_BY = re.compile(
    r'KeyboardInterrupt|aborted due to|another session of .* is under way|not measured, no record'
    r'|job timed out'
)
# sbatch that refuses, as ReFrame prints it
SPAWNED = re.compile(
    r"spawned process error: command '(.*?)' failed with exit code \d+: "
    r'--- stdout --- (.*?)--- stdout --- --- stderr --- (.*?)--- stderr ---'
)
OF_PROGRAM = re.compile(r'(INVALID|UNDECIDED):?\s*(.*)')
MET = "met what '$xfail' says it misses: take the '$xfail' out of the references file"
HINT = "'membw run' makes a report"


def load(path: str) -> dict:
    """ReFrame's report of a file. MembwError: not readable, or no report."""
    text = read_text(path)
    if not text.strip():
        raise MembwError(f"'{path}' is empty", 'was the disk full when ReFrame wrote it?')
    try:
        return parse_report(text)
    except BadRecord as err:
        raise MembwError(f"'{path}' is no report: {err}", 'give the .json file of a run') from err


def cases_of(report: dict) -> list[dict]:
    return [case for run in report.get('runs', []) for case in run.get('testcases', [])]


def is_row(case: dict) -> bool:
    """A row of the table: a run, not a build, that was not skipped."""
    return not case.get('fixture') and case['result'] != 'skip'


def is_dry(case: dict) -> bool:
    """A dry run passes in ReFrame, without a figure."""
    return case['result'] == 'pass' and not case.get('perfvalues')


def where(case: dict) -> str:
    return f'{case.get("system")}:{case.get("partition")}'


def test_of(case: dict) -> str:
    return (case.get('name') or '?').split()[0].split('@')[0]


def parameters(case: dict) -> dict[str, str]:
    """{'pinning': 'omp', 'affinity': 'close'}: what tells the cases of a test apart, but the
    round and what ReFrame's --repeat and --distribute add."""
    words = re.split(r'\s(?=%)', case.get('display_name') or case.get('name') or '')[1:]
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


def outcome(case: dict, builds: dict[str, str]) -> tuple[str, str]:
    """(word of results/verdict.py, reason) by the report alone.

    Args:
        builds: reason of each failed build, by `build_key`.
    """
    if is_dry(case):
        return NOT_MEASURED, 'a dry run'
    if case['result'] == 'pass':
        return PASS, case.get('note') or ''
    why = printable(' '.join((case.get('fail_reason') or case['result']).split()))
    if case['result'] == 'fail_deps':
        return NOT_MEASURED, failed_dependency(case, builds)
    if case.get('fail_phase') in NOT_RUN or NOT_RUN_BY.search(why):
        return NOT_MEASURED, why.removeprefix('sanity error: ')
    if found := OF_PROGRAM.search(why):
        return {'INVALID': INVALID, 'UNDECIDED': UNDECIDED}[found[1]], found[2]
    if case.get('fail_phase') == 'run':  # ReFrame's word for submitting it to the scheduler
        return NOT_MEASURED, SPAWNED.sub(r"'\1' failed: \2\3", why).strip()
    if expected := of_known_issue(case):
        return expected
    return FAIL, missed(case) or f'{case.get("fail_phase") or "run"}: {why}'


def of_known_issue(case: dict) -> tuple[str, str] | None:
    """(KNOWN or XPASS, message) where all that is out of order is an expected failure."""
    rows = (case.get('perfvalues') or {}).items()
    outcomes = {row[-1] for _, row in rows}
    word = 'xfail' if case['result'] == 'xfail' else ''
    if not word and ('fail' in outcomes or 'xpass' not in outcomes):
        return None
    word = word or 'xpass'
    messages = json.loads(case.get('known_issues') or '{}')
    names = (key.rsplit(':', 1)[-1] for key, row in rows if row[-1] == word)
    said = printable(', '.join(f'{name}: {messages.get(name, "")}' for name in names))
    return (KNOWN, said) if word == 'xfail' else (XPASS, f'{said} ({MET})')


def missed(case: dict) -> str:
    """'triad 91.3 GB/s, at least 158.2 wanted (-45 %)' of each figure outside its reference."""
    texts = []
    for key, row in (case.get('perfvalues') or {}).items():
        value, reference, low, high, unit = row[:5]
        if value is None or not reference or row[-1] in ('xfail', 'xpass'):
            continue
        name = printable(key.rsplit(':', 1)[-1])
        texts += outside(name, value, reference, (low, high), unit)
    return '; '.join(texts)


# --- builds ------------------------------------------------------------------------------------


def build_key(name: str, partition: str, environ: str) -> str:
    return f'{name} @{partition}+{environ}'


def failed_builds(cases: list[dict]) -> dict[str, str]:
    """{build_key: reason} of the builds that failed; not where someone interrupted them, nor of
    those whose own dependency failed."""
    failed = {}
    for case in cases:
        if case.get('fixture') and case['result'] not in ('pass', 'skip', 'fail_deps'):
            why = printable(' '.join((case.get('fail_reason') or '').split()))
            if not NOT_RUN_BY.search(why):
                failed[build_key(case.get('unique_name', ''), where(case), case['environ'])] = why
    return failed


def named_build(key: str) -> str:
    """'stream gcc-o3' of 'stream_binary_1a2b @local:default+gcc-o3'."""
    name, _, place = key.partition(' @')
    return f'{name.split("_binary")[0].removeprefix("spack_")} {place.rpartition("+")[2]}'


def failed_dependency(case: dict, builds: dict[str, str]) -> str:
    """Names the build that failed, in place of ReFrame's 'fail_deps'."""
    for dependency in case.get('dependencies_actual') or ():
        key = build_key(*dependency)
        if key in builds:
            return f'its build failed ({named_build(key)}): {builds[key]}'
    names = ', '.join(map(named_build, builds)) or 'a build before it was not done'
    return f'what it needs failed: {names}'
