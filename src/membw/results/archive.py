"""Stores what a rerun needs: sources, build, lock, job, environment.

Below results/: `sources/<sha256>.tar.gz` (what a build reads of the checkout), `builds/<sha256 of
the binary>/` (build.json, spack.yaml, spack.lock), `jobs/<stem of the record>/` (job.json, the job
script, environment.txt). `membw reproduce` reads them.
"""

import hashlib
import json
import pathlib
import shutil
import time

from membw.files import write_whole
from membw.moments import utc
from membw.presets.sources import commit, packed
from membw.results import ledger
from membw.results.record import SCHEMA

ENVIRONMENT = 'environment.txt'
# variables that change how a run goes, or what it is linked with
WATCHED = 'OMP_|GOMP_|KMP_|LIKWID|MALLOC_|GLIBC_TUNABLES|LD_PRELOAD|LD_LIBRARY_PATH'
# the last command before the program: what it really finds, from the login shell or the job;
# of Slurm's variables, which Slurm sets again, those that bind
NOTE_ENVIRONMENT = f"env | LC_ALL=C sort | grep -E '^({WATCHED}|SLURM_CPU)' >{ENVIRONMENT} || :"


def write(path: pathlib.Path, content: str | bytes) -> None:
    """Once: several sessions may keep the same thing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def keep_build(
    results: pathlib.Path, build: dict, environment_folder: str | pathlib.Path | None
) -> None:
    """`build` is the build's record with what else is known; the folder has Spack's lock."""
    folder = results / 'builds' / build['binary_sha256']
    for name in ('spack.yaml', 'spack.lock') if environment_folder else ():
        path = pathlib.Path(environment_folder or '', name)
        if path.is_file():
            write(folder / name, path.read_bytes())
    content = packed(build['program'])  # an archive for each state of the sources
    sources = f'{hashlib.sha256(content).hexdigest()}.tar.gz'
    write(results / 'sources' / sources, content)
    text = json.dumps({**build, 'commit': commit(), 'sources': sources}, indent=1) + '\n'
    write(folder / 'build.json', text)


def record_path(results: str | pathlib.Path, test: str, *words: str) -> pathlib.Path:
    """Of a record that ends now, in results/records; `words`: what else names its test case."""
    folder = pathlib.Path(results, 'records')
    folder.mkdir(parents=True, exist_ok=True)
    stamp = utc(time.time(), '%Y%m%dT%H%M%S')
    name = '-'.join(filter(None, (test, stamp, *words)))
    return folder / f'{name.replace(":", "-")}.json'


def keep_job(results: pathlib.Path, stem: str, stage: str | pathlib.Path, job: dict) -> None:
    folder = results / 'jobs' / stem
    folder.mkdir(parents=True, exist_ok=True)
    for name in (job['script'], 'scan.sh', ENVIRONMENT, ledger.NAME):
        if pathlib.Path(stage, name).is_file():
            shutil.copy(pathlib.Path(stage, name), folder / name)
    job = {**job, 'record': f'{stem}.json', 'commit': commit()}
    (folder / 'job.json').write_text(json.dumps(job, indent=1) + '\n')


def empty_record(program: str, node: str, cluster: str = '') -> dict:
    """Of a case that left no record of its own: what is missing, and its case, come with it."""
    nothing = {'metrics': {}, 'reasons': [], 'warnings': [], 'facts': {}, 'verdict': 'INVALID'}
    return {
        'schema': SCHEMA,
        'program': program,
        'host': node,
        'cluster': cluster,
        'time': utc(time.time()),
        **nothing,
    }


def environment(stage: str | pathlib.Path) -> str:
    """'OMP_NUM_THREADS=2 ...' as the job found it; '' where it noted nothing."""
    try:
        return ' '.join(pathlib.Path(stage, ENVIRONMENT).read_text().split('\n')).strip()
    except OSError:
        return ''
