"""The state of one night on disk: which steps ran, how they ended, what is left to do."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time

from membw.errors import MembwError
from membw.files import write_whole
from membw.interruption import audible
from membw.moments import utc

# of a step: 0 and 1 are its own words; 2 was not measured, and is tried again when resumed
WELL, WRONG, NOT_DONE = 0, 1, 2
STOPPED = 124  # as timeout(1) says it
GRACE_S = 60  # from SIGTERM to SIGKILL: ReFrame cancels its jobs meanwhile


SAME = ('system', 'checks', 'cluster')  # asked for: one night is of one of each


def _refuse_another_shape(state):
    if not isinstance(state, dict) or not isinstance(state.get('steps'), dict):
        raise ValueError("no object with 'steps'")
    if not isinstance(state.get('asked', {'system': None}), dict):
        raise ValueError("'asked' is no object")
    for name, step in state['steps'].items():
        if not isinstance(step, dict) or not isinstance(step.get('status'), int):
            raise ValueError(f"step '{name}' has no status")


class Night:
    """A folder results/nights/DATE with state.json: {'steps': {NAME: {status, ...}}}."""

    def __init__(self, folder, again=False):
        self.folder = folder
        if again and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.state = self.load()
        self.measured = False
        self.has_run = False  # any step, in this call

    def load(self):
        try:
            state = json.loads((self.folder / 'state.json').read_text())
            _refuse_another_shape(state)
        except FileNotFoundError:
            return {'night': self.folder.name, 'steps': {}}
        except ValueError as err:
            raise MembwError(
                f"'{self.folder}/state.json' is damaged: {err}", 'begin anew with --again'
            ) from err
        return state

    def save(self):
        """A night may be stopped at any moment."""
        write_whole(self.folder / 'state.json', json.dumps(self.state, indent=1) + '\n')

    def begin(self, **asked):
        """Notes what was asked; another system in the same night is refused."""
        before = self.state.setdefault('asked', asked)
        for name in SAME if self.state['steps'] else SAME[:1]:
            if before.get(name, asked[name]) != asked[name]:
                raise MembwError(
                    f"the night {self.folder.name} was begun for {name} '{before[name] or ''}'",
                    f'give the same --{name}, another --night, or --again',
                )
        self.state['asked'] = asked
        self.save()

    def is_over(self, name):
        return self.state['steps'].get(name, {}).get('status') in (WELL, WRONG)

    def ended_well(self, name):
        return self.state['steps'].get(name, {}).get('status') == WELL

    def run(self, step, deadline):
        """Runs the step unless it is over; what it says goes to NAME.log.

        What judges runs again after anything was measured anew.
        """
        if self.is_over(step.name) and not (step.judges and self.measured):
            return
        reason = step.left_out()
        if reason:
            self.note(step.name, status=WELL, skipped=reason)
            print(f'nightly: {step.name}: left out, {reason}', flush=True)
            return
        left = step.share * (deadline - time.monotonic())
        if left <= 0:
            self.note(step.name, status=STOPPED, seconds=0)
            print(f'nightly: {step.name}: not begun, the time is over', flush=True)
            return
        self.execute(step, left)

    def execute(self, step, left):
        words = step.command()
        self.measured |= not step.judges
        self.has_run = True
        print(f'nightly: {step.name}: {shlex.join(words)}', flush=True)
        before, begun, status = step.left_so_far(), time.monotonic(), STOPPED
        try:
            status = bounded(words, self.folder / f'{step.name}.log', left)
        finally:
            step.gather(before)
            seconds = round(time.monotonic() - begun, 1)
            self.note(step.name, status=status, seconds=seconds, command=words)
            print(f'nightly: {step.name}: exit status {status}', flush=True)

    def note(self, name, **facts):
        self.state['steps'][name] = {'ended': utc(time.time()), **facts}
        self.save()

    def status(self):
        statuses = [step['status'] for step in self.state['steps'].values()]
        if any(status not in (WELL, WRONG) for status in statuses):
            return NOT_DONE
        return max(statuses, default=NOT_DONE)


def bounded(words, log, seconds):
    """The exit status of the command; STOPPED where it was not done in time."""
    with open(log, 'w') as file, audible():
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        end(process)
        return STOPPED
    except BaseException:
        end(process)
        raise


def end(process):
    """The command and all that it started."""
    for number, wait in ((signal.SIGINT, GRACE_S), (signal.SIGTERM, 5), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=wait)
        except ProcessLookupError:
            process.wait()
        except subprocess.TimeoutExpired:
            continue
        else:
            return
