"""One night in results/nights/DATE: its steps, each bounded in time, and how each ended."""

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time

from membw.files import write_whole
from membw.interruption import audible

# exit statuses of a step: 0 and 1 are its verdicts; with any other it runs again when resumed
WELL, WRONG, NOT_DONE = 0, 1, 2
STOPPED = 124  # out of time, as timeout(1) has it
ENDING = (signal.SIGINT, 60), (signal.SIGTERM, 5), (signal.SIGKILL, 5)


class Night:
    """`state.json` has {step: {status, seconds, command}}: a resumed night skips these steps."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / 'state.json'
        self.steps: dict = json.loads(self.file.read_text()) if self.file.exists() else {}

    def status(self) -> int:
        """Of the night: 0 all well, 1 something to look at, 2 not complete."""
        statuses = [step['status'] for name, step in self.steps.items() if not self.is_early(name)]
        if not statuses or any(status not in (WELL, WRONG) for status in statuses):
            return NOT_DONE
        return max(statuses)

    def is_early(self, name: str) -> bool:
        """Whether it is a history of too few nights: nothing to look at."""
        return name == 'history' and self.steps[name]['status'] == NOT_DONE

    def run(self, name: str, words: list[str], seconds: float) -> None:
        """Runs a step that is not complete, with a time limit; its output goes to NAME.log."""
        if self.steps.get(name, {}).get('status') in (WELL, WRONG):
            return
        begun, status, before = time.monotonic(), STOPPED, self.reports()
        print(f'nightly: {name}: {shlex.join(words)}', flush=True)
        try:
            status = bounded(words, self.log(name), seconds)
        finally:
            took = round(time.monotonic() - begun, 1)
            made = sorted(self.reports() - before)
            self.steps[name] = {
                'status': status,
                'seconds': took,
                'command': words,
                'reports': made,
            }
            write_whole(self.file, json.dumps(self.steps, indent=1) + '\n')
            print(f'nightly: {name}: exit status {status}', flush=True)

    def log(self, name: str) -> pathlib.Path:
        return self.folder / f'{name}.log'

    def reports(self) -> set[str]:
        """Names of ReFrame's reports: those that a step adds are its own, as one run at a time is
        under way in a checkout."""
        return {file.name for file in (self.results / 'reports').glob('run-*.json')}

    @property
    def results(self) -> pathlib.Path:
        return self.folder.parent.parent

    def gather(self) -> pathlib.Path | None:
        """Copies the records of whole-cluster checks to a folder, which it returns where there
        are any."""
        folder = self.folder / 'cluster.records'
        for name in self.steps.get('run', {}).get('reports', []):
            runs = json.loads((self.results / 'reports' / name).read_text())['runs']
            for case in (case for run in runs for case in run['testcases']):
                if case.get('node_check'):
                    folder.mkdir(exist_ok=True)
                    shutil.copy(case['record'], folder)
        return folder if folder.exists() else None


def bounded(words: list[str], log: pathlib.Path, seconds: float) -> int:
    """The exit status of the command; STOPPED where it was not done in time."""
    with open(log, 'w') as file, audible():
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )
    try:
        return process.wait(timeout=max(seconds, 0))
    except BaseException as err:
        for number, wait_s in ENDING:
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                if process.poll() is None:
                    os.killpg(process.pid, number)
                    process.wait(timeout=wait_s)
        if isinstance(err, subprocess.TimeoutExpired):
            return STOPPED
        raise
