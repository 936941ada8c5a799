"""What systems/references/<system>.yaml says of a check; ReFrame itself reads the figures."""

import datetime
import functools

import yaml

from membw.site.references import BESIDE, INDEX, STREAM


@functools.cache
def read(path):
    """The whole file; {} where there is none."""
    try:
        with open(path) as file:
            return yaml.safe_load(file) or {}
    except OSError:
        return {}


def more_of_index(path, test):
    """Attributes of the check beside partition, environment and pinning."""
    return (read(path).get(test) or {}).get('$index', [])[len(INDEX) :]


def expired(path, test, key, today=None):
    """The day, if the figures of (partition, environment, pinning, ...) were calibrated and it is
    over; None for published and hand-written ones, and for a file that is not there."""
    entry = read(path).get(BESIDE) or {}
    # what was measured of `stream` stands directly below `calibration`: it came first
    for part in key if test == STREAM else (test, *key):
        entry = entry.get(part) or {}
    day = str(entry.get('expires', ''))
    over = day and day < str(today or datetime.date.today())
    return day if over and entry.get('in_force') else None


def expected_failures(test):
    """(metric, entry) of what '$xfail' marks in the references of this case."""
    rows = test.reference[test]
    return [(name, row) for name, row in rows.items() if hasattr(row, 'message')]
