"""The reports of this checkout's runs."""

from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError


def reports() -> list[Path]:
    """The newest first, by the time in their names. MembwError: there is none."""
    files = Path(root(), 'results', 'reports').glob('run-*.json')
    found = sorted(files, key=lambda file: file.name, reverse=True)
    if not found:
        raise MembwError("no report in 'results/reports'", "'membw run' makes one")
    return found
