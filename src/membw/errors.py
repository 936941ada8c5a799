"""What every subcommand raises in place of a traceback."""

import difflib
from collections.abc import Iterable


class MembwError(Exception):
    """A usage error: a fact, and the way out."""

    def __init__(self, fact: object, hint: str | None = '') -> None:
        super().__init__(fact)
        self.hint = hint


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The hint for a name that is not one of the known ones."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"did you mean '{near[0]}'?" if near else f'known here: {" ".join(sorted(known))}'
