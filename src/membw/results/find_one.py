"""Finds one stored result: its record, and what was kept of its job and its build."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.results.record import BadRecord, evidence

FORMS = 'give a file of results/records, its name alone, or FILE#HOST where it has several records'


@dataclass
class Result:
    """One record and what is stored with it; a mapping is empty where nothing is."""

    name: str  # as the user wrote it
    record: dict
    job: dict = field(default_factory=dict)  # job.json of results/jobs
    build: dict = field(default_factory=dict)  # build.json of results/builds
    results: Path = Path('results')  # the folder that holds records, jobs, builds, sources

    @property
    def case(self) -> dict:
        """What the ReFrame check added to the record."""
        return self.record.get('case') or {}

    @property
    def title(self) -> str:
        case = self.case or {**self.job, 'preset': self.job.get('environ')}
        what = case.get('test') or self.record.get('program') or self.name
        where = f' @{case["system"]}:{case["partition"]}' if case.get('system') else ''
        build = self.record.get('build') or {}
        preset = case.get('preset') or case.get('environ') or build.get('preset')
        parts = f'{what}{where}', preset, self.record.get('host'), self.record.get('time')
        return ', '.join(str(part) for part in parts if part)

    @property
    def job_folder(self) -> Path:
        """Where job.json lies; only with a job."""
        return self.results / 'jobs' / Path(self.job['record']).stem

    @property
    def build_folder(self) -> Path:
        """Where build.json lies; only with a build."""
        return self.results / 'builds' / self.build['binary_sha256']


def find(text: str, results: str | Path | None = None) -> Result:
    """The result that `text` names; `results`: where stored ones are (default: the checkout's).

    Raises MembwError where it names none, or more than one.
    """
    results = Path(results or Path(root(), 'results'))
    name, _, host = (text, '', '') if Path(text).is_file() else text.partition('#')
    stored = results / 'records' / f'{name.removesuffix(".json")}.json'
    file = next((path for path in (Path(name), stored) if path.is_file()), None)
    if file is None:
        raise MembwError(f"no result '{text}'", FORMS)
    try:
        lines = [line for line in file.read_bytes().split(b'\n') if line.strip()]
        records = [evidence(line) for line in lines]
    except (OSError, BadRecord) as err:
        raise MembwError(f"'{file}' is no record: {err}", FORMS) from err
    if host:  # one that was measured again: the last of them
        records = [row for row in records if row.get('host') == host][-1:]
    if len(records) != 1:
        raise MembwError(f"'{text}' names {len(records)} records", FORMS)
    folder = file.resolve().parent.parent
    job = _json(folder / 'jobs' / file.stem / 'job.json')
    by = (records[0].get('case') or {}, job, records[0].get('build') or {})
    sha256 = next(filter(None, (one.get('binary_sha256') for one in by)), None)
    build = _json(folder / 'builds' / str(sha256) / 'build.json')
    return Result(text, records[0], job, build, folder)


def _json(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
