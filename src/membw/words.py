"""The words of a verdict, a row each, the worst first: of a figure, a row, a node. The terminal,
the page, pictures, JUnit, exit statuses and docs/reading.md are drawn from this table.

PASS and FAIL are of comparisons, VALID and INVALID of figures: what was compared with nothing is
VALID.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Word(NamedTuple):
    name: str
    status: int  # exit status
    tag: str  # of JUnit; '' of a test that passes
    colour: str  # of report/assets/colours.json
    means: str


WORDS = (
    Word('DIED', 1, 'error', 'invalid',
         'it began and was ended: signal, node failure, time limit, exit status'),
    Word('INVALID', 1, 'failure', 'invalid', 'the figure is wrong, so it is not shown'),
    Word('FAIL', 1, 'failure', 'fail',
         'too low: outside its reference, or low compared with its peers'),
    Word('UNDECIDED', 1, 'failure', 'invalid', 'not enough to decide; the reason follows'),
    Word('XPASS', 1, 'failure', 'fail', 'it passes, although a known issue says that it fails'),
    Word('MISSING', 2, 'error', 'fail',
         'it was expected and did not come: not built, refused, no node, not now'),
    Word('KNOWN', 0, 'skipped', 'link', 'it fails or is missing, as a known issue says'),
    Word('PASS', 0, '', 'pass', 'compared, and as good as its reference or its peers'),
    Word('VALID', 0, '', 'link', 'the figure is right, and was compared with nothing'),
)  # fmt: skip
OF = {word.name: word for word in WORDS}
WORST_FIRST = (*OF,)
DIED, INVALID, FAIL, UNDECIDED, XPASS, MISSING, KNOWN, PASS, VALID = WORST_FIRST
GOOD = (*(word.name for word in WORDS if not word.status),)
NO_FIGURE = (DIED, MISSING)


def worst(words: Iterable[str]) -> str:
    """The first in WORST_FIRST; MISSING of none."""
    return min(words, key=WORST_FIRST.index, default=MISSING)


def is_worse(word: str, than: str) -> bool:
    return WORST_FIRST.index(word) < WORST_FIRST.index(than)


def exit_status(words: Iterable[str]) -> int:
    """0 where every word is good; 2 where nothing is worse than MISSING; else 1."""
    every = {OF[word].status for word in words} or {OF[MISSING].status}
    return 1 if 1 in every else max(every)
