"""What is too old is removed: by nights that were measured, not by what the clock says today.

A clock that is a year ahead makes one more night, and costs the oldest one; the night under way
is one of the last ones whatever its name. What somebody else put beside our results stays.
"""

import re
import shutil
import subprocess
from datetime import date, timedelta

from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.nightly.night import WRONG
from membw.plural import plural

NIGHT = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
# ours, by their names: run-20261121T220000-4711.json of `membw run`, 20261121T220000-... of a job
OURS = re.compile(r'(run-)?(?P<day>\d{8})T\d{6}')


def forget_before(night, nights, keep):
    """Notes in the night what went; what could not be removed is a step that went wrong."""
    night.state['forgotten'] = []
    night.state['steps'].pop('forget', None)  # of a night that is reported again
    try:
        for line in forget(nights, keep, night.folder):
            night.state['forgotten'].append(line)
    except (MembwError, OSError) as err:
        print(f'nightly: forget: {err}', flush=True)
        write_whole(night.folder / 'forget.log', f'membw: {err}\n')
        night.note('forget', status=WRONG)
    night.save()


def forget(nights, keep, current):
    """Removes nights but `current` and the last others, `keep` in all; and reports, records, jobs
    and stored sessions of days before all these; yields a line that says what went.

    Builds and sources stay: later results may be of the same ones.

    Raises:
        MembwError: ReFrame removed no sessions; files and folders are gone by then.
        OSError: a file or folder stays; the next night tries again.
    """
    folders = sorted(folder for folder in nights.glob(NIGHT) if _is_folder(folder))
    others = [folder for folder in folders if folder.name != current.name]
    gone = others[: len(others) - (keep - 1)]
    if len(others) < keep:
        return
    names = [folder.name for folder in gone]
    first = date.fromisoformat(min({folder.name for folder in folders} - set(names)))
    past = [path for kind in ('jobs', 'reports', 'records')
            for path in (nights.parent / kind).glob('*') if _is_before(path, first)]  # fmt: skip
    for path in (*gone, *past):
        shutil.rmtree(path) if _is_folder(path) else path.unlink()
    which = names[0] if len(names) == 1 else f'{names[0]} to {names[-1]}'
    yield (f'removed: {plural(len(gone), "night")}, {which} (--keep {keep}), and {len(past)} '
           f'reports, records and jobs before {first}')  # fmt: skip
    _forget_sessions(nights.parent / 'results.db', first)


def _is_folder(path):
    return path.is_dir() and not path.is_symlink()


def _is_before(path, first):
    """Ours, and of a day before that night."""
    named = OURS.match(path.name)
    return bool(named) and not path.is_symlink() and named['day'] < first.strftime('%Y%m%d')


def _forget_sessions(database, first):
    if not database.exists():
        return
    until = (first - timedelta(days=1)).strftime('%Y%m%dT235959+0000')
    words = ['reframe', f'--delete-stored-sessions=19700101T000000+0000:{until}']
    done = subprocess.run(words, cwd=root(), capture_output=True, text=True, errors='replace')
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if 'ERROR' in line]
        said = lines[0] if lines else f'exit status {done.returncode}'
        raise MembwError(f"sessions before {first} stay in '{database}': reframe: {said}")
