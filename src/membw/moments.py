"""Times as they are written."""

from datetime import datetime, timezone


def utc(seconds: float, form: str | None = None) -> str:
    """Seconds since 1970 as a date and time of UTC; to the second where no other form is given."""
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.strftime(form) if form else f'{moment.isoformat()[:19]}Z'


def day(seconds: float) -> str:
    """Their date, '2026-11-23'."""
    return utc(seconds)[:10]
