"""Finds one stored result: a test case of ReFrame's, its record, what was kept of its run."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text
from membw.results.case import cases_of, one_record
from membw.results.case import title as case_title
from membw.results.record import BadRecord, parse_json, parse_record
from membw.results.reframe import is_report, parse_report, stored_sessions

UUID = re.compile(r'[0-9a-f]{8}[0-9a-f-]*(:\d+)*')
LISTED_BY = 'reframe --list-stored-testcases=now-1d:now/mean:+uuid/'
FORMS = (
    f"a test case of ReFrame (SESSION:RUN:CASE, as '{LISTED_BY}' shows), a "
    'record of results/records, or FILE#CASE: a report and part of a case, records and a host'
)


@dataclass
class Result:
    """One measurement, as far as it is stored."""

    name: str
    case: dict = field(default_factory=dict)  # of ReFrame's report or database
    record: dict = field(default_factory=dict)  # of the program
    job: dict = field(default_factory=dict)  # job.json of results/jobs
    build: dict = field(default_factory=dict)  # build.json of results/builds
    results: Path = None  # the folder that holds records, jobs, builds, sources

    @property
    def title(self):
        node = self.record.get('host') or self.case.get('node') or 'unknown'
        when = self.record.get('time') or self.case.get('job_completion_time') or 'unknown'
        return f'{case_title(self.case) or self.job_title() or self.name}, node {node}, {when}'

    def job_title(self):
        return self.job and case_title({**self.job, 'name': self.job['test']})

    @property
    def job_folder(self):
        return self.results / 'jobs' / Path(self.job['record']).stem if self.job else None

    @property
    def build_folder(self):
        return self.results / 'builds' / self.build['binary_sha256'] if self.build else None


def find(text, results=None):
    """The result that `text` names; `results` is where stored ones lie (default: the checkout's).

    Raises MembwError where it names none, or more than one.
    """
    results = Path(results or Path(root(), 'results'))
    file, _, part = (text, '', '') if Path(text).is_file() else text.partition('#')
    if Path(file).is_file():
        return complete(_in_file(Path(file), part, text))
    stored = results / 'records' / f'{text.removesuffix(".json")}.json'
    if stored.is_file():
        return complete(_in_file(stored, '', text))
    if UUID.fullmatch(text):
        return complete(_in_database(results / 'results.db', text))
    raise MembwError(f"no result '{text}'", f'give {FORMS}')


# --- where it may lie --------------------------------------------------------------------------


def _in_file(file, part, text):
    content = read_text(file)
    try:
        if is_report(content):
            cases = cases_of(parse_report(content))
            return Result(
                text, case=_only(_measured(cases), part, text), results=_results_of(file)
            )
        rows = [parse_json(line) for line in content.split('\n') if line.strip()]
        for row in rows:
            parse_record(row, text)
    except BadRecord as err:
        raise MembwError(f"'{file}' is no record and no report: {err}", f'give {FORMS}') from err
    if not rows:
        raise MembwError(f"'{file}' is no record and no report", f'give {FORMS}')
    rows = [r for r in rows if not part or part in (r.get('host'), f'{r.get("rank")}')]
    if len(rows) != 1:
        raise MembwError(
            f"'{text}' names {len(rows)} records", "name one host: 'FILE#HOST', or one file"
        )
    return Result(text, record=rows[0], results=_results_of(file), job={'file': str(file)})


def _results_of(file):
    """results/ of results/records/x.json and of results/reports/x.json."""
    return file.resolve().parent.parent


def _in_database(path, text):
    if not path.is_file():
        raise MembwError(f"no results database '{path}'", "'membw run' makes one")
    session = text.partition(':')[0]
    blobs = stored_sessions(path, 'WHERE substr(uuid, 1, ?) = ?', len(session), session)
    cases = _cases_of(blobs, path)
    rest = text.partition(':')[2]
    chosen = [c for c in _measured(cases) if not rest or c['uuid'].endswith(f':{rest}')]
    return Result(text, case=_only(chosen, '', text), results=path.parent)


def _cases_of(blobs, database):
    try:
        return [c for blob in blobs for c in cases_of(parse_report(blob))]
    except BadRecord as err:
        raise MembwError(f"'{database}' holds a session that is no report: {err}") from err


def _measured(cases):
    return [c for c in cases if not c.get('fixture') and c.get('result') != 'skip']


def _only(cases, part, text):
    """The one case that the part names: by number, or by words of its title."""
    if re.fullmatch(r'\d+(:\d+)?', part):
        cases = [c for c in cases if c['uuid'].endswith(f':{part}')]
    elif part:
        cases = [c for c in cases if all(word in case_title(c) for word in part.split())]
    if len(cases) == 1:
        return cases[0]
    if not cases:
        raise MembwError(f"no measured test case '{text}'", f'give {FORMS}')
    some = ', '.join(f"'{c['uuid']}' ({case_title(c)})" for c in cases[:6])
    raise MembwError(f"'{text}' names {len(cases)} test cases", f'name one of {some}')


# --- what else is known of it ------------------------------------------------------------------


def complete(result):
    """Add record, case, job and build from beside, as far as they are there."""
    file = Path(result.case.get('record') or result.job.get('file') or '')
    beside = result.results / 'records' / file.name
    if not result.record:
        path = next((p for p in (beside, file) if file.name and p.is_file()), None)
        result.record = one_record(path, result.case.get('node')) if path else {}
    job = result.results / 'jobs' / file.stem
    result.job = kept_job(result.results, file.stem)
    if (job / 'environment.txt').is_file():
        noted = (job / 'environment.txt').read_text().splitlines()
        result.job['run_environment'] = ' '.join(noted)
    result.case = result.case or _case_of_record(result.results / 'results.db', file.name)
    known = result.case.get('binary_sha256') or result.job.get('binary_sha256')
    result.build = kept_build(result.results, known)
    return result


def kept_job(results, stem):
    """What is kept of the job that wrote a record of that name; {} where nothing is."""
    return _json(results / 'jobs' / stem / 'job.json')


def kept_build(results, binary_sha256):
    """What is kept of the build of that binary; {} where nothing is."""
    return _json(results / 'builds' / str(binary_sha256) / 'build.json')


def _json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def _case_of_record(database, name):
    """The test case that left this record, where the database still has it."""
    if not database.is_file() or not name:
        return {}
    which = 'WHERE instr(json_blob, ?) ORDER BY 1 LIMIT 1'
    blobs = stored_sessions(database, which, f'/{name}"')
    cases = _cases_of(blobs, database)
    return next((c for c in cases if Path(c.get('record') or '').name == name), {})
