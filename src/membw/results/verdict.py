"""Which word a figure has (membw/words.py has all of them), and why: by its own record and by its
reference. What it is compared with else is judged by rank/judge.py."""

import math
from collections import Counter
from collections.abc import Iterable

from membw.results import hardware
from membw.results.figure import Figure
from membw.results.findings import Finding, Findings
from membw.results.record import REFRAME
from membw.results.too_good import OF_MEMORY, is_too_good
from membw.words import FAIL, INVALID, KNOWN, PASS, UNDECIDED, VALID, WORST_FIRST, XPASS

CHANNEL = 1 / 12  # a memory channel of twelve: a PASS that would not notice its loss is none


def judged(figure: Figure) -> tuple[str, Findings]:
    """(word, why): PASS, VALID, FAIL, INVALID, UNDECIDED, KNOWN or XPASS."""
    if figure.verdict != VALID:
        return (UNDECIDED if figure.verdict == UNDECIDED else INVALID), figure.findings
    word, why = _by_reference(figure)
    if figure.known_issue:
        is_met = word in (PASS, VALID)
        issue = {'metric': figure.metric, 'text': figure.known_issue}
        code = 'xpass' if is_met else 'known-issue'
        return (XPASS if is_met else KNOWN), (Finding(code, issue),)
    return word, why


def of_figure(figure: Figure) -> str:
    return judged(figure)[0]


def _by_reference(figure: Figure) -> tuple[str, Findings]:
    """A bound on the good side that meets its reference is PASS; no bound ever fails one."""
    own = {'metric': figure.metric, 'value': figure.value, 'unit': figure.unit}
    base = figure.reference
    if figure.may_be_worse and can_miss(figure):
        return UNDECIDED, (may_be_worse(figure),)
    if base is None:
        return VALID, ()
    low, high = limits(figure)
    off = figure.value / base - 1 if base else None
    is_open = (high if figure.better == 'higher' else low) is None
    if is_open and base and figure.setting.program != REFRAME and is_too_good(figure.share(base)):
        return UNDECIDED, (Finding('above-reference', {**own, 'change': off}),)
    lowest, highest = ends(figure)
    missed = {}
    if low is not None and figure.value < low:
        missed, is_near = {'at least': low}, highest >= low
    elif high is not None and figure.value > high:
        missed, is_near = {'at most': high}, lowest <= high
    if missed:
        numbers = {**own, 'sign': figure.sign, 'limits': missed, 'change': off}
        is_undecided = figure.is_bound or is_near
        return (UNDECIDED if is_undecided else FAIL), (Finding('reference', numbers),)
    lost = loss_let_pass(figure)
    if lost > CHANNEL + 1e-9 and lost < math.inf and is_of_memory(figure):
        return UNDECIDED, (Finding('wide-reference', {'metric': figure.metric, 'loss': lost}),)
    if lost < math.inf and (lacks := lacks_of(figure)):
        return UNDECIDED, (lacks,)
    return (PASS if lost < math.inf else VALID), ()


def lacks_of(figure: Figure) -> Finding | None:
    """Memory that the CPUs of its node take and have not, behind a rate of the memory."""
    record = figure.of.record
    what = hardware.of(record).lacks if record and is_of_memory(figure) else ''
    return Finding('lacks', {'what': what}) if what else None


def can_miss(figure: Figure) -> bool:
    """'~' says how well a figure is known: without a reference there is nothing to miss."""
    return figure.reference is not None or figure.bound != 'unknown'


def may_be_worse(figure: Figure) -> Finding:
    own = {'metric': figure.metric, 'value': figure.value, 'unit': figure.unit}
    return Finding('may-be-worse', {**own, 'sign': figure.sign})


def is_of_memory(figure: Figure) -> bool:
    """A bandwidth of the memory: of a channel that is lost it loses a part."""
    return figure.unit == 'GB/s' and figure.setting.program in OF_MEMORY


def ends(figure: Figure) -> tuple[float, float]:
    """(low, high) of the interval; of a bound, and without one, the value."""
    if figure.is_bound or figure.low is None or figure.high is None:
        return figure.value, figure.value
    return figure.low, figure.high


def limits(figure: Figure) -> tuple[float | None, float | None]:
    """(least, most) that the reference lets pass, in the figure's unit; None: open."""
    if figure.reference is None:
        return None, None
    parts = figure.reference_low, figure.reference_high
    low, high = (None if p is None else figure.reference * (1 + p) for p in parts)
    return low, high


def loss_let_pass(figure: Figure) -> float:
    """The loss from the reference, a fraction of it, that its tolerance lets pass."""
    part = figure.reference_low if figure.better == 'higher' else figure.reference_high
    return math.inf if figure.reference is None or part is None else abs(part)


def counted(words: Iterable[str]) -> list[str]:
    """'3 PASS', '1 FAIL': how often each, the best first."""
    counts = Counter(words)
    return [f'{counts[word]} {word}' for word in reversed(WORST_FIRST) if counts[word]]
