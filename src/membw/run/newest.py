"""The newest run of this checkout in which something was to be measured."""

from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.run import outcome


def newest() -> str:
    """Its report. A dry run, and a report that cannot be read, are passed over.

    MembwError: there is none.
    """
    files = Path(root(), 'results', 'reports').glob('run-*.json')
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        try:
            cases = outcome.cases_of(outcome.load(str(file)))
        except MembwError:
            continue
        if any(outcome.is_row(case) and not outcome.is_dry(case) for case in cases):
            return str(file)
    raise MembwError("no report in 'results/reports'", "'membw run' makes one")
