"""Times as they are written."""

from datetime import datetime, timedelta, timezone
from functools import lru_cache

QUARTER_S = 900  # no time zone begins its day within a quarter of an hour


def utc(seconds: float, form: str | None = None) -> str:
    """Seconds since 1970 as a date and time of UTC; to the second where no other form is given."""
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.strftime(form) if form else f'{moment.isoformat()[:19]}Z'


def night_of(seconds: float) -> str:
    """The night of a moment: the day twelve hours before, in the time zone of this site. A run
    of 23:00 and one of 03:00 are of the same night; it is a name, and no verdict depends on it."""
    return _night_of(int(seconds // QUARTER_S))


@lru_cache(100_000)
def _night_of(quarter: int) -> str:
    moment = datetime.fromtimestamp(quarter * QUARTER_S) - timedelta(hours=12)
    return moment.date().isoformat()
