"""What systems/references/<system>.yaml says of a check; ReFrame itself reads the figures."""

import datetime
import functools

import reframe as rfm
import yaml

from membw.site.references import INDEX, NOTES, STREAM


@functools.cache
def read(path: str) -> dict:
    """The whole file; {} where there is none."""
    try:
        with open(path) as file:
            return yaml.safe_load(file) or {}
    except OSError:
        return {}


def more_of_index(path: str, test: str) -> list[str]:
    """Attributes of the check beyond partition, environment and pinning."""
    return (read(path).get(test) or {}).get('$index', [])[len(INDEX) :]


def expired(path: str, test: str, key: tuple, today: datetime.date | None = None) -> str | None:
    """The last day, if the figures of (partition, environment, pinning, ...) were calibrated and
    it is over; None for published and hand-written ones, and for a file that is not there."""
    entry = read(path).get(NOTES) or {}
    # what was measured of `stream` stands directly below `calibration`: it came first
    for part in key if test == STREAM else (test, *key):
        entry = entry.get(part) or {}
    day = str(entry.get('expires', ''))
    over = day and day < str(today or datetime.date.today())
    return day if over and entry.get('in_force') else None


def rows(test: rfm.RegressionTest) -> dict:
    """{metric: (value, low, high, unit) or what '$xfail' makes of it} of this case; {}: none."""
    try:
        return test.reference[test] if test.reference.index else {}
    except (AttributeError, KeyError):  # no file of references, or none of this case
        return {}


def tuples(test: rfm.RegressionTest) -> dict[str, list[float | None]]:
    """{metric: [value, low, high]} with low and high as fractions; with '$xfail' or without."""
    return {name: list(getattr(row, 'data', row)[:3]) for name, row in rows(test).items()}


def known_issues(test: rfm.RegressionTest) -> dict[str, str]:
    """{metric: message} of what '$xfail' marks in the references of this case."""
    return {name: row.message for name, row in rows(test).items() if hasattr(row, 'message')}


def last_day(test: rfm.RegressionTest) -> str:
    """Of a calibrated reference that is over; '' where it is not, or there is none."""
    path, name = test.current_partition.extras.get('references'), type(test).__name__
    if not path:
        return ''
    of_case = [str(getattr(test, one, '')) for one in ('pinning', *more_of_index(path, name))]
    key = test.current_partition.fullname, test.current_environ.name, *of_case
    return expired(path, name, key) or ''
