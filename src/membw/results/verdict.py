"""The eight words, and which of them a figure and a case have: the terminal, reports, exports,
exit statuses and src/stream's --at-least use this table.

PASS      valid, and within its reference, or there is no reference
FAIL      valid, and outside its reference
INVALID   the figure is wrong, whatever it is
UNDECIDED it proves neither: a bound, or an interval that reaches the tolerance; too good; read
          with --allow; low in one measurement; nothing to compare with
DIED      it began and was ended: by a signal, with its node, at its limit
MISSING   it was expected and did not come: refused, not built, no node, not now
KNOWN     outside its reference, as a known issue says (ReFrame's xfail)
XPASS     within its reference, although a known issue says otherwise: delete that entry
"""

import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from membw.printable import amount, signed
from membw.results.figure import Figure
from membw.results.record import RATES, REFRAME

PASS, FAIL, INVALID, UNDECIDED = 'PASS', 'FAIL', 'INVALID', 'UNDECIDED'
DIED, MISSING, KNOWN, XPASS = 'DIED', 'MISSING', 'KNOWN', 'XPASS'
WORST_FIRST = DIED, INVALID, FAIL, UNDECIDED, XPASS, MISSING, KNOWN, PASS
GOOD = (PASS, KNOWN)
NO_FIGURE = (DIED, MISSING)
# the fraction above a reference, the peers' median, a contract or a peak that no machine gains by
# itself: a cache, another size, another unit
TOO_GOOD = 0.10
TOO_GOOD_BECAUSE = 'too good: a cache, another size?'


def known(word: str) -> str:
    """A word of a record or a report as one of the eight; '' of what is none."""
    return word if word in WORST_FIRST else ''


def of_figure(figure: Figure) -> str:
    """PASS, FAIL, INVALID, UNDECIDED, KNOWN or XPASS."""
    if figure.verdict != 'VALID':
        return UNDECIDED if figure.verdict == UNDECIDED else INVALID
    word = UNDECIDED if beyond_peak(figure) else _against_reference(figure)
    if figure.known_issue:
        return XPASS if word == PASS else KNOWN
    return word


def _against_reference(figure: Figure) -> str:
    """A bound on the good side that meets its reference is PASS; no bound ever fails one."""
    if figure.reference is None:  # '~' says how well a figure is known: there is nothing to miss
        return UNDECIDED if figure.may_be_worse and figure.bound != 'unknown' else PASS
    if figure.may_be_worse:
        return UNDECIDED
    low, high = limits(figure)
    is_open = (high if figure.better == 'higher' else low) is None
    is_good = bool(figure.reference) and is_too_good(figure, figure.reference)
    if is_open and is_good:
        return UNDECIDED
    lowest, highest = ends(figure)
    if low is not None and figure.value < low:
        return UNDECIDED if figure.is_bound or highest >= low else FAIL
    if high is not None and figure.value > high:
        return UNDECIDED if figure.is_bound or lowest <= high else FAIL
    return PASS


# programs whose headline is a rate of the memory
OF_MEMORY = ('stream', 'loaded', 'tiers', 'node')


def beyond_peak(figure: Figure) -> float:
    """The known peak in GB/s that a headline exceeds by more than TOO_GOOD, else 0."""
    record = figure.of.record
    if not record or not figure.is_headline or record.program not in OF_MEMORY:
        return 0.0
    peak = record.peak
    given = (peak.value or 0) * RATES.get(peak.unit, 0) if peak else 0
    top = given or _peak_of(msgspec.json.encode(record.facts))
    return top if top and figure.unit == 'GB/s' and figure.value > (1 + TOO_GOOD) * top else 0.0


@lru_cache(10_000)
def _peak_of(facts: bytes) -> float:
    """0 where it is not known; a hypervisor may say that it is another CPU."""
    from membw.site.cpu_peak import known_peak

    known = msgspec.json.decode(facts)
    found = None if known['cpu_id'].get('hypervisor') else known_peak({'facts': known})
    return found[0] if found else 0.0


def is_too_good(figure: Figure, base: float) -> bool:
    is_ours = figure.setting.program != REFRAME  # of a site's own test it is a floor
    return is_ours and figure.share(base) > 1 + TOO_GOOD


def ends(figure: Figure) -> tuple[float, float]:
    """(low, high) of the interval; of a bound, and without one, the value."""
    if figure.is_bound or figure.low is None or figure.high is None:
        return figure.value, figure.value
    return figure.low, figure.high


def missed(figure: Figure) -> str:
    """'triad 140.2 GB/s, at least 158.2 wanted (-11%)'; '' of a figure within its reference; why
    it is UNDECIDED whatever it is compared with."""
    if figure.verdict == UNDECIDED:
        return figure.reasons
    if peak := beyond_peak(figure):
        said = f'{figure.metric} {amount(figure.value)} of a peak of {amount(peak)} {figure.unit}'
        return f'{said}: {TOO_GOOD_BECAUSE}'
    own = f'{figure.metric} {figure.sign}'.rstrip() + f' {amount(figure.value)} {figure.unit}'
    if figure.may_be_worse:
        return f'{own}: it may be worse'
    if figure.reference is None:
        return ''
    base = figure.reference
    off = f' ({signed(figure.value / base - 1)})' if base else ''
    texts = []
    for word, limit, sign in zip(('at least', 'at most'), limits(figure), (1, -1), strict=True):
        if limit is not None and sign * figure.value < sign * limit:
            texts.append(f'{own}, {word} {amount(limit)} wanted{off}')
    if not texts and base and is_too_good(figure, base):
        texts = [f'{own}{off}: {TOO_GOOD_BECAUSE}']
    return '; '.join(texts)


def limits(figure: Figure) -> tuple[float | None, float | None]:
    """(least, most) that the reference lets pass, in the figure's unit; None: open."""
    if figure.reference is None:
        return None, None
    parts = figure.reference_low, figure.reference_high
    low, high = (None if p is None else figure.reference * (1 + p) for p in parts)
    return low, high


def to_limit(figure: Figure) -> float:
    """The loss from which on a figure that is within its reference would not be."""
    low, high = limits(figure)
    end = low if figure.better == 'higher' else high
    return math.inf if end is None else abs(1 - end / figure.value)


def worst(words: Iterable[str]) -> str:
    """The first in WORST_FIRST; MISSING of none."""
    return min(words, key=WORST_FIRST.index, default=MISSING)


def counted(words: Iterable[str]) -> list[str]:
    """'3 PASS', '1 FAIL': how often each, the best first."""
    counts = Counter(words)
    return [f'{counts[word]} {word}' for word in reversed(WORST_FIRST) if counts[word]]


def exit_status(words: Iterable[str]) -> int:
    """0 where every word is PASS or KNOWN; 2 where nothing is worse than MISSING; else 1."""
    every = set(words)
    if every and every <= {*GOOD}:
        return 0
    return 2 if every <= {*GOOD, MISSING} else 1
