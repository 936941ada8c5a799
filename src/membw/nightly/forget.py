"""What is too old is removed: by nights that were measured, not by what the clock says today.

A clock that is a year ahead makes one more night, and costs the oldest one. What somebody else
put beside our results stays.
"""

import re
import shutil
import subprocess
from datetime import date, timedelta

from membw.checkout import root

NIGHT = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
# ours, by their names: run-20261121T220000-4711.json of `membw run`, 20261121T220000-... of a job
OURS = re.compile(r'(run-)?(?P<day>\d{8})T\d{6}')


def forget(nights, keep):
    """Removes nights but the last `keep`, and reports, records, jobs and stored sessions of days
    before them; lines that say what went.

    Builds and sources stay: later results may be of the same ones.
    """
    folders = sorted(folder for folder in nights.glob(NIGHT) if _is_folder(folder))
    if len(folders) <= keep:
        return []
    first = date.fromisoformat(folders[-keep].name)
    gone = folders[:-keep]
    for kind in ('jobs', 'reports', 'records'):
        gone += [path for path in (nights.parent / kind).glob('*') if _is_before(path, first)]
    for path in gone:
        shutil.rmtree(path) if _is_folder(path) else path.unlink()
    _forget_sessions(nights.parent / 'results.db', first)
    count, others = len(folders) - keep, len(gone) - len(folders) + keep
    return [f'removed: {count} night{"s" * (count > 1)} before {first} (--keep {keep}), and '
            f'{others} reports, records and jobs of before']  # fmt: skip


def _is_folder(path):
    return path.is_dir() and not path.is_symlink()


def _is_before(path, first):
    """Ours, and of a day before that night."""
    named = OURS.match(path.name)
    return bool(named) and not path.is_symlink() and named['day'] < first.strftime('%Y%m%d')


def _forget_sessions(database, first):
    if database.exists():
        until = (first - timedelta(days=1)).strftime('%Y%m%dT235959+0000')
        words = ['reframe', f'--delete-stored-sessions=19700101T000000+0000:{until}']
        subprocess.run(words, cwd=root(), capture_output=True)
