"""Stores what a rerun needs, and finds it: sources, build, lock, job, environment.

Below results/: `sources/<sha256>.tar.gz` (what a build reads of the checkout), `builds/<sha256 of
the binary>/` (build.json, spack.yaml, spack.lock), `jobs/<stem of the record>/` (job.json, the job
script, environment.txt). `membw reproduce` and `membw diff` read them.
"""

import hashlib
import json
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from membw import strict
from membw.checkout import root
from membw.errors import MembwError
from membw.files import text_if_any, write_whole
from membw.moments import utc
from membw.presets.sources import commit, packed
from membw.results import ledger
from membw.results.case import setting_of
from membw.results.ledger import Missing
from membw.results.record import SCHEMA, evidence_of, read_records
from membw.strict import Damaged

ENVIRONMENT = 'environment.txt'
# variables that change how a run goes, or what it is linked with
WATCHED = 'OMP_|GOMP_|KMP_|LIKWID|MALLOC_|GLIBC_TUNABLES|LD_PRELOAD|LD_LIBRARY_PATH'
# the last command before the program: what it really finds, from the login shell or the job;
# of Slurm's variables, which Slurm sets again, those that bind
NOTE_ENVIRONMENT = f"env | LC_ALL=C sort | grep -E '^({WATCHED}|SLURM_CPU)' >{ENVIRONMENT} || :"
FORMS = 'give a file of results/records, its name alone, or FILE#HOST where it has several records'


def write(path: Path, content: str | bytes) -> None:
    """Once: several sessions may keep the same thing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def keep_build(results: Path, build: dict, environment_folder: str | Path | None) -> None:
    """`build` is the build's record with what else is known; the folder has Spack's lock."""
    folder = results / 'builds' / build['binary_sha256']
    for name in ('spack.yaml', 'spack.lock') if environment_folder else ():
        path = Path(environment_folder or '', name)
        if path.is_file():
            write(folder / name, path.read_bytes())
    content = packed(build['program'])  # an archive for each state of the sources
    sources = f'{hashlib.sha256(content).hexdigest()}.tar.gz'
    write(results / 'sources' / sources, content)
    text = json.dumps({**build, 'commit': commit(), 'sources': sources}, indent=1) + '\n'
    write(folder / 'build.json', text)


def record_path(results: str | Path, test: str, *words: str) -> Path:
    """Of a record that ends now, in results/records; `words`: what else names its test case."""
    folder = Path(results, 'records')
    folder.mkdir(parents=True, exist_ok=True)
    stamp = utc(time.time(), '%Y%m%dT%H%M%S')
    name = '-'.join(filter(None, (test, stamp, *words)))
    return folder / f'{name.replace(":", "-")}.json'


def keep_job(results: Path, stem: str, stage: str | Path, job: dict) -> None:
    folder = results / 'jobs' / stem
    folder.mkdir(parents=True, exist_ok=True)
    for name in (job['script'], 'scan.sh', ENVIRONMENT, ledger.NAME):
        if Path(stage, name).is_file():
            shutil.copy(Path(stage, name), folder / name)
    job = {**job, 'record': f'{stem}.json', 'commit': commit()}
    write_whole(folder / 'job.json', json.dumps(job, indent=1) + '\n')


def empty_record(program: str, node: str, cluster: str = '', end: Missing | None = None) -> dict:
    """Of a case that left no record of its own, and how it ended."""
    return {
        'schema': SCHEMA, 'program': program, 'host': node, 'cluster': cluster,
        'time': utc(time.time()), 'verdict': 'INVALID', 'metrics': {}, 'reasons': [],
        'warnings': [], 'facts': {}, 'missing': [vars(replace(end, node=node))] if end else [],
    }  # fmt: skip


def environment(stage: str | Path) -> str:
    """'OMP_NUM_THREADS=2 ...' as the job found it; '' where it noted nothing."""
    return ' '.join(text_if_any(Path(stage, ENVIRONMENT)).split('\n')).strip()


# --- one stored result


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
        """'thin:node stream gcc-o2 omp n1, 2026-05-28T20:26:40Z'."""
        case = setting_of(evidence_of(self.record), self.name).at(self.record['host'])
        return f'{case.name}, {self.record["time"]}'

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
    records, problems = read_records(file)
    if problems:
        raise MembwError(f'no record: {problems[0]}', FORMS)
    if host:  # one that was measured again: the last of them
        records = [row for row in records if row.get('host') == host][-1:]
    if len(records) != 1:
        raise MembwError(f"'{text}' names {len(records)} records", FORMS)
    folder = file.resolve().parent.parent
    job = _stored(folder / 'jobs' / file.stem / 'job.json')
    by = (records[0].get('case') or {}, job, records[0].get('build') or {})
    sha256 = next(filter(None, (one.get('binary_sha256') for one in by)), None)
    build = _stored(folder / 'builds' / str(sha256) / 'build.json')
    return Result(text, records[0], job, build, folder)


def _stored(path: Path) -> dict:
    """{} where there is none; MembwError names one that is damaged."""
    try:
        return strict.file(path, dict)
    except FileNotFoundError:
        return {}
    except (OSError, Damaged) as err:
        raise MembwError(err, 'bring it again from where it was made, or remove it') from err
