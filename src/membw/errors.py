"""What every subcommand raises in place of a traceback."""

from __future__ import annotations  # table.py is read by the Python of Spack, too

import difflib
from collections.abc import Iterable

NEAR = 0.65  # of difflib's ratio: 'uliss' is near 'ulysses', 'seconds' is not near 'rounds'
OF_SYSTEM = "does it exist, is the disk full, do you have permission ('ls -ld', 'ulimit -a')?"
LISTED = 50  # names: of a fleet a hint does not name all


class MembwError(Exception):
    """A usage error: a fact and the way out, or a list of either. Each is one line, whatever the
    names in it."""

    def __init__(self, fact: object, hint: str | list[str] | None = '') -> None:
        self.facts = fact if isinstance(fact, list) else [fact]
        super().__init__('\nmembw: '.join(map(str, self.facts)))
        self.hint = hint


def did_you_mean(name: object, known: Iterable[str], otherwise: str = '') -> str:
    """The hint for a name that is not one of the known ones; dashes count for nothing."""
    names = {one.lstrip('-'): one for one in known}
    near = difflib.get_close_matches(str(name).lstrip('-'), names, 1, NEAR)
    if near:
        return f"did you mean '{names[near[0]]}'?"
    most = ' ...' if len(names) > LISTED else ''
    return otherwise or f'known here: {" ".join(sorted(names.values())[:LISTED])}{most}'
