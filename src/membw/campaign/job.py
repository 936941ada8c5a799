"""The one job of a campaign: ReFrame runs it on the first node, each other node gets it again.

results/campaign/NAME/job-STEM has its script, its programs and job.json; its nodes/NODE is the
folder of a job that is queued, runs or has ended. Then its record goes to results/records.
"""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.moments import utc
from membw.results import archive, ledger
from membw.results.record import sealed

FILE = 'job.json'  # that of results/jobs, and what a record of it says


def first(home: Path, words: list[str]) -> Path:
    """Runs the command, `membw run` on one node; the folder of the job that it left."""
    results, begun = Path(root(), 'results'), time.time() - 1
    subprocess.run([sys.executable, '-m', 'membw', *words], stdout=sys.stderr)
    made = [f.parent for f in results.glob(f'jobs/*/{FILE}') if f.stat().st_mtime > begun]
    if len(made) != 1:
        hint = 'name one: --system NAME:PARTITION, -p PRESET' if made else 'it says why, above'
        raise MembwError(f'the first job left {len(made)} records', hint)
    job, folder = json.loads((made[0] / FILE).read_text()), home / f'job-{made[0].name}'
    script = (made[0] / job['script']).read_text()
    for program in {*re.findall(rf"{re.escape(str(results))}/stage/[^\s'\"]+", script)}:
        own = folder / 'programs' / Path(program).parent.name  # the next build replaces it
        shutil.copytree(Path(program).parent, own, dirs_exist_ok=True)
        script = script.replace(program, str(own / Path(program).name))
    write_whole(folder / job['script'], script)
    record = json.loads((results / 'records' / job['record']).read_text().splitlines()[0])
    if 'case' not in record:  # mpirun itself was refused
        raise MembwError('the first job measured nothing', 'it says why, above')
    job['case'] = record['case']
    # code that was built there may be for its CPU alone
    job['cpu'] = next(iter(ledger.read(made[0]).cpus.values()), '')
    write_whole(folder / FILE, json.dumps(job))
    return folder


def gather(home: Path, running: dict[str, str], states: dict[str, str]) -> None:
    """Keeps the records of jobs that have ended, and removes their folders, and older jobs that
    are in use no more; `states`: of the nodes' jobs, where Slurm still knows them."""
    *older, newest = sorted(home.glob(f'job-*/{FILE}'), key=lambda file: file.stat().st_mtime)
    for kept in (*older, newest):
        job, results = json.loads(kept.read_text()), Path(root(), 'results')
        folders = [f for f in kept.parent.glob('nodes/*') if f.name not in running]
        made = [one for folder in folders for one in records(job, folder, states.get(folder.name))]
        if made:
            words = (job['case'][name] for name in ('system', 'partition', 'environ'))
            path = archive.record_path(results, job['test'], *words, folders[0].name)
            write_whole(path, ''.join(map(sealed, made)))
            archive.keep_job(results, path.stem, kept.parent, job)
        for folder in folders:
            shutil.rmtree(folder)
        if kept != newest and not [*kept.parent.glob('nodes/*')]:
            shutil.rmtree(kept.parent)


def records(job: dict, folder: Path, state: str | None) -> Iterator[dict]:
    """What a job left, as the check keeps it; of one that died, how; nothing of one that never
    began, or was cancelled by hand or for another job."""
    known, found, errors = ledger.read(folder), [], folder / 'rfm_job.err'
    for path in (folder / job['record_in_stage'], *sorted(folder.glob('nodes/*.json'))):
        for line in path.read_text().splitlines() if path.is_file() else ():
            with contextlib.suppress(ValueError):  # cut off
                found.append(json.loads(line))
    name = folder.name
    if not found and known.node:
        printed = errors.read_text(errors='replace') if errors.is_file() else ''
        of = known.node if known.node in known.ended else ledger.WHOLE
        is_other = known.cpus.get(of, job['cpu']) != job['cpu']
        status, started = known.ended.get(of), bool(known.started)
        end = ledger.judge(status, None, printed, state, started, is_other)
        end = ledger.End(f"no '{known.lacks}' there", False) if known.lacks else end
        if end and ledger.how_job(state, printed) != 'cancelled':
            program = job['test'].removeprefix('cluster_')
            lost = vars(ledger.Missing('', *end, name))
            empty = archive.empty_record(program, name, known.cluster)
            found = [empty | {'missing': [lost]}]
    for one in found:
        wrong = [f'{r["reason"]} ({r["detail"]})' for r in one['reasons'] if not r['allowed']]
        own = {'verdict': one['verdict'], 'reasons': wrong, 'session': f'{name}-{one["time"]}'}
        when = {'submitted': utc(folder.stat().st_mtime), 'taken': utc(time.time())}
        yield {**one, 'case': {**job['case'], **own, **when}}
