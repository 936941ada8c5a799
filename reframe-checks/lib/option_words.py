"""A command line of what was asked: options without a value are left to the program."""

from typing import Any


def option_words(asked: dict[str, Any]) -> list[str]:
    """['-n', '1000'] of {'-n': 1000, '--pages': None}."""
    return [word for name, value in asked.items() if value for word in (name, str(value))]
