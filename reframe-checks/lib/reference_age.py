"""The last day of calibrated references: `calibration` of systems/references/<system>.yaml."""

import datetime

import yaml


def expired(path, key, today=None):
    """The day, if the figures of (partition, environment, pinning) were calibrated and it is
    over; None for published and hand-written ones, and for a file that is not there."""
    try:
        with open(path) as file:
            found = (yaml.safe_load(file) or {}).get('calibration') or {}
    except OSError:
        return None
    for part in key:
        found = found.get(part) or {}
    day = str(found.get('expires', ''))
    over = day and day < str(today or datetime.date.today())
    return day if over and found.get('in_force') else None
