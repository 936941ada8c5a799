"""Times as they are written."""

from datetime import datetime, timezone

MINUTES = '%Y-%m-%dT%H:%MZ'


def utc(seconds, form=None):
    """Seconds since 1970 as a date and time of UTC; to the second where no other form is asked."""
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    # of a million runs strftime is a tenth of what accepting them takes
    return moment.strftime(form) if form else f'{moment.isoformat()[:19]}Z'


def day(seconds):
    """Their date, '2026-11-23'."""
    return utc(seconds)[:10]
