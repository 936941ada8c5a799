"""Times as they are written."""

from datetime import datetime, timezone

MINUTES = '%Y-%m-%dT%H:%MZ'


def utc(seconds, form='%Y-%m-%dT%H:%M:%SZ'):
    """Seconds since 1970 as a date and time of UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime(form)
