"""The one job of a campaign, which each node gets: a check of ReFrame's writes it, and it is built
where the campaign is called.

results/campaign/NAME/job-STEM has its script, its programs and job.json; its nodes/NODE is the
folder of a job that is queued, runs or has ended. Then its record goes to results/records.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from membw import strict
from membw.campaign.nodes import Nodes
from membw.campaign.slurm_queue import NUMBER
from membw.checkout import root
from membw.errors import MembwError
from membw.files import text_if_any, write_whole
from membw.moments import utc
from membw.results import archive, ledger
from membw.results.record import read_records, sealed
from membw.site import slurm

FILE = 'job.json'  # that of results/jobs, and what a record of it says
FORGOTTEN = 'it left nothing, and Slurm forgot how it ended'


def made(home: Path, words: list[str]) -> Path:
    """The folder of a new job, by a `membw run` that measures nothing."""
    results = Path(root(), 'results')
    with tempfile.TemporaryDirectory(dir=home) as left:
        # a line is exactly its preset's by make as by Spack, which would take minutes
        env = {'MEMBW_BUILD': 'make', **os.environ, 'MEMBW_CAMPAIGN': left}
        command = [sys.executable, '-m', 'membw', *words]
        options: Any = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'env': env}
        with subprocess.Popen(command, text=True, errors='replace', **options) as process:
            said = process.communicate()[0]
        for file in results.glob(f'reports/run-*-{process.pid}.*'):
            file.unlink()  # it is no run of anybody
        jobs = [strict.file(file, dict) for file in Path(left).iterdir()]
    if len(jobs) != 1:
        if not jobs:
            print(said, file=sys.stderr, flush=True)
        hint = 'name one: --system NAME:PARTITION, -p PRESET' if jobs else 'it says why, above'
        raise MembwError(f'{len(jobs)} jobs were made, not one', hint)
    (job,) = jobs
    folder = home / f'job-{time.strftime("%Y%m%dT%H%M%S")}-{os.getpid()}'
    script = Path(job.pop('stage'), job['script']).read_text()
    for program in {*re.findall(rf"{re.escape(str(results))}/stage/[^\s'\"]+", script)}:
        own = folder / 'programs' / Path(program).parent.name  # the next build replaces it
        shutil.copytree(Path(program).parent, own, dirs_exist_ok=True)
        script = script.replace(program, str(own / Path(program).name))
    folder.mkdir(exist_ok=True)
    write_whole(folder / job['script'], script)
    write_whole(folder / FILE, json.dumps(job))
    return folder


def known(home: Path) -> dict[Path, dict[str, Any]]:
    """{folder: facts} of each job of a campaign, the newest last."""
    found = {}
    for file in sorted(home.glob(f'job-*/{FILE}')):
        try:
            found[file.parent] = strict.file(file, dict)
        except (OSError, strict.Damaged) as err:  # another one is made
            print(f'membw: {err}', file=sys.stderr)
    return found


def newest(home: Path, since: float) -> Path | None:
    """One that was made since then."""
    made = (folder for folder in known(home) if (folder / FILE).stat().st_mtime >= since)
    return max(made, default=None)


def gather(home: Path, running: Collection[str], cluster: str, nodes: Nodes) -> None:
    """Keeps the records of jobs that have ended, notes each as an attempt, and removes their
    folders, and older jobs that are in use no more."""
    results, every = Path(root(), 'results'), known(home)
    for kept, job in every.items():
        folders = [f for f in kept.glob('nodes/*') if f.name not in running]
        made = [one for folder in folders for one in ended(job, folder, cluster, nodes)]
        if made:
            words = (job['case'][name] for name in ('system', 'partition', 'environ'))
            path = archive.record_path(results, job['test'], *words, folders[0].name)
            write_whole(path, ''.join(map(sealed, made)))
            archive.keep_job(results, path.stem, kept, job)
        nodes.write()
        for folder in folders:
            shutil.rmtree(folder)
        if kept != max(every) and not [*kept.glob('nodes/*')]:
            shutil.rmtree(kept)


def ended(job: dict, folder: Path, cluster: str, nodes: Nodes) -> list[dict]:
    """The records of a job that has ended; one that was cancelled, for whom it may be, is no
    attempt, nor is a folder whose job was never submitted."""
    if not (folder / NUMBER).is_file():
        return []
    number = (folder / NUMBER).read_text().strip()
    of_slurm = slurm.job(number, cluster)
    found = [*records(job, folder, of_slurm.state if of_slurm else None)]
    if found or not of_slurm or ledger.how_job(of_slurm.state, '') != 'cancelled':
        how = '' if found else f'Slurm: {of_slurm.text}' if of_slurm else FORGOTTEN
        nodes.note_end(folder.name, number, how, found[0]['time'] if found else '')
    return found


def records(job: dict, folder: Path, state: str | None) -> Iterator[dict]:
    """What a job left, as the check keeps it; of one that died, or whose record is damaged, how;
    nothing of one that never began, or was cancelled by hand or for another job."""
    noted, errors = ledger.read(folder), folder / 'rfm_job.err'
    found, damaged = read_records(folder / job['record_in_stage'], *folder.glob('nodes/*.json'))
    name = folder.name
    if not found and (noted.node or damaged):
        printed = text_if_any(errors)
        of = noted.node if noted.node in noted.ended else ledger.WHOLE
        end = ledger.judge(noted.ended.get(of), None, printed, state, bool(noted.started))
        end = ledger.Missing(f"no '{noted.lacks}' there", False) if noted.lacks else end
        if damaged and not (end and end.died):
            what = damaged[0].partition(': ')[2]
            end = ledger.Missing(f'its record cannot be read: {what}', False)
        if end and ledger.how_job(state, printed) != 'cancelled':
            program = job['test'].removeprefix('cluster_')
            found = [archive.empty_record(program, name, noted.cluster, end)]
    environment = archive.environment(folder)
    for one in found:
        own = {'run_environment': environment, 'session': f'{name}-{one["time"]}'}
        when = {'submitted': utc(folder.stat().st_mtime), 'taken': utc(time.time())}
        yield {**one, 'case': {**job['case'], **own, **when}}
