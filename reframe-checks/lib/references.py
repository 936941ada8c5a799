"""What systems/references/<system>.yaml says of a check; ReFrame itself reads the figures."""

import datetime
import functools

import reframe as rfm
import yaml

from membw import presets
from membw.site.references import NOTES, STREAM


@functools.cache
def read(path: str) -> dict:
    """The whole file; {} where there is none."""
    try:
        with open(path) as file:
            return presets.read_yaml(yaml, file.read()) or {}
    except OSError:
        return {}


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
    name, index = type(test).__name__, getattr(test.reference, 'index', None) or ()
    # behind partition and environment: pinning, and parameters of the check
    of_case = [str(getattr(test, attribute, '')) for attribute in index[2:]]
    key = test.current_partition.fullname, test.current_environ.name, *of_case
    entry = read(test.current_partition.extras.get('references', '')).get(NOTES) or {}
    # what was measured of `stream` stands directly below `calibration`: it came first
    for part in key if name == STREAM else (name, *key):
        entry = entry.get(part) or {}
    day = str(entry.get('expires', ''))
    return day if entry.get('in_force') and day < str(datetime.date.today()) else ''
