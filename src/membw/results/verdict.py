"""The word for a figure and for a case: the terminal, reports, exports and exit statuses use it.

DIED      what was to be measured ended before it was: by a signal, with its node, at its limit
PASS      valid, and within its reference, or there is no reference
FAIL      valid, and outside its reference
INVALID   the figure is wrong, whatever it is
UNDECIDED outside its reference, and it may be within: a lower bound, or an interval that reaches
          the tolerance; measure again. Or a cache may hold the arrays (not-proven): an upper bound
KNOWN     outside its reference, as a known issue says (ReFrame's xfail)
XPASS     within its reference, although a known issue says otherwise: delete that entry
NOT MEASURED  it was never begun, or refused to measure
"""

from collections.abc import Iterable

from membw.results.table import Figure

PASS, FAIL, INVALID, UNDECIDED = 'PASS', 'FAIL', 'INVALID', 'UNDECIDED'
KNOWN, XPASS, NOT_MEASURED, DIED = 'KNOWN', 'XPASS', 'NOT MEASURED', 'DIED'
# of `membw rank` and of nodes that were to report
SUSPECT, MISSING = 'SUSPECT', 'MISSING'
WORST_FIRST = (
    DIED, INVALID, FAIL, SUSPECT, UNDECIDED, XPASS, MISSING, NOT_MEASURED, KNOWN, PASS,
)  # fmt: skip
GOOD = (PASS, KNOWN)
# of the words of `membw node`
OF_NODE = {'FIT': PASS, 'SLOW': FAIL, 'NOT JUDGED': UNDECIDED, 'DEAD': DIED}


def of_figure(figure: Figure) -> str:
    """PASS, FAIL, INVALID, UNDECIDED, KNOWN or XPASS."""
    if figure.verdict != 'VALID':
        return UNDECIDED if figure.verdict == UNDECIDED else INVALID
    word = _against_reference(figure)
    if figure.known_issue:
        return XPASS if word == PASS else KNOWN
    return word


def _against_reference(figure: Figure) -> str:
    """A lower bound that meets its reference is PASS; no bound ever fails one."""
    low, high = limits(figure)
    if figure.may_be_worse and (low, high) != (None, None):
        return UNDECIDED
    value = figure.value
    ends = (value if end is None else end for end in (figure.low, figure.high))
    lowest, highest = (value, value) if figure.is_bound else ends
    if low is not None and value < low:
        return UNDECIDED if figure.is_bound or highest >= low else FAIL
    if high is not None and value > high:
        return UNDECIDED if figure.is_bound or lowest <= high else FAIL
    return PASS


def missed(figure: Figure) -> str:
    """'triad 140.2 GB/s, at least 158.2 wanted (-11%)'; '' of a figure within its reference; why
    it is UNDECIDED whatever it is compared with."""
    if figure.verdict == UNDECIDED:
        return figure.reasons
    if figure.reference is None:
        return ''
    name = f'{figure.metric} {figure.sign}'.rstrip()
    texts = []
    for word, limit, sign in zip(('at least', 'at most'), limits(figure), (1, -1), strict=True):
        if limit is not None and sign * figure.value < sign * limit:
            off = f' ({figure.value / figure.reference - 1:+.0%})' if figure.reference else ''
            texts.append(
                f'{name} {figure.value:.4g} {figure.unit}, {word} {limit:.4g} wanted{off}'
            )
    return '; '.join(texts)


def limits(figure: Figure) -> tuple[float | None, float | None]:
    """(least, most) that the reference lets pass, in the figure's unit; None: open."""
    if figure.reference is None:
        return None, None
    parts = figure.reference_low, figure.reference_high
    low, high = (None if p is None else figure.reference * (1 + p) for p in parts)
    return low, high


def of_case(figures: Iterable[Figure]) -> str:
    """The worst word of its figures; NOT MEASURED where there is none."""
    return worst(map(of_figure, figures))


def worst(words: Iterable[str]) -> str:
    """The first in WORST_FIRST; NOT MEASURED of none."""
    return min(words, key=WORST_FIRST.index, default=NOT_MEASURED)


def exit_status(words: Iterable[str]) -> int:
    """0 where every word is PASS or KNOWN, else 1; 1 of none: nothing was measured."""
    every = list(words)
    return 0 if every and all(word in GOOD for word in every) else 1
