"""Rows of a run that was measured in rounds: the attempts at a case, as one case.

Each attempt stays in the report and in the history. A row is believed where some of its attempts
are: what was merely disturbed or unstable is not held against the others. A result that is wrong
(not validated, threads elsewhere) is, however often it went well beside.
"""

import re
import statistics

from membw.results import case as of_case
from membw.results.doubts import doubts
from membw.results.intervals import with_interval
from membw.results.metrics import HIGHER, intervals
from membw.run import between_rounds
from membw.run import states as states_of_hosts
from membw.run.judge import judge, measures
from membw.site import realtime

# reasons of the weather: measured again, they may be gone
TRANSIENT = {'disturbed', 'unstable'}
REASONS = re.compile(r'(?:^|; )([a-z][a-z-]*) \(')
# figures of a case that still fit a line; of more the table has a line each
WIDE = 12
# as a part of the figure: src/stream/measure.c has the same of a program's own
NO_INTERVAL = 0.5
BELIEVED = ('PASS', 'KNOWN', 'XPASS', 'FAIL')


def of_report(report):
    """One case of each row, in the order of the report."""
    attempts = {}
    for case in of_case.cases_of(report):
        attempts.setdefault(key(case), []).append(case)
    hosts = states_of_hosts.of_hosts(filter(measures, of_case.cases_of(report)))
    parts = {row: in_states(cases, hosts) for row, cases in attempts.items()}
    moves = between_rounds.half_widths(part for of_row in parts.values() for part in of_row)
    return [combined(cases, parts[row], moves) for row, cases in attempts.items()]


def key(case):
    return case.get('unique_name') or case['name'], of_case.where(case), case['environ']


def transient(case):
    """INVALID by nothing but the weather."""
    word, why = judge(case)
    names = set(REASONS.findall(why))
    return word == 'INVALID' and bool(names) and names <= TRANSIENT


def believed(attempts):
    return [case for case in attempts if judge(case)[0] in BELIEVED]


def in_states(attempts, hosts):
    """(state, attempts that are believed) of each state of the machine."""
    good = believed(attempts)
    return states_of_hosts.parts(good, hosts) if good else []


def combined(attempts, parts, moves):
    """The best of the attempts that are believed, with an interval that holds all of them.

    Where the machine has states, `states` has the same of each other one; `parts` is what
    in_states has of the attempts; `moves`: how far the rounds of all rows lie apart, as
    between_rounds.half_widths has it.
    """
    words = [judge(case)[0] for case in attempts]
    wrong = [c for c, w in zip(attempts, words) if w == 'INVALID' and not transient(c)]
    good = sum(word in BELIEVED for word in words)
    if wrong or not good:
        return wrong[0] if wrong else attempts[-1]
    kinds = {w for w in words if w in BELIEVED}
    chosen, *others = [shown(cases, where, moves) for where, cases in parts]
    between = good - sum(len(cases) for _, cases in parts)
    wide = next(filter(None, map(says_nothing, (chosen, *others))), '')
    if wide and not allows_unstable(chosen):
        return invalid(chosen, f'unstable ({wide})')
    if len(kinds) > 1:
        told = ', '.join(f'{words.count(word)} {word}' for word in sorted(kinds))
        return invalid(chosen, f'unstable (the rounds disagree: {told})')
    doubt = next(filter(None, map(in_doubt, (chosen, *others))), '')
    if good > 1 and doubt:
        return invalid(chosen, f'unstable ({doubt})')
    crossed = f'{between} of {len(attempts)} rounds between two states' if between else ''
    notes = filter(None, (chosen['note'], note(attempts), crossed))
    return {**chosen, 'note': '; '.join(notes), 'states': others}


def states(case):
    """A row, and the same row in each other state of the machine."""
    return [case, *case.get('states', ())]


def shown(cases, where, moves):
    chosen, ends = best(cases), hull(cases)
    figures = of_case.figures(chosen)
    half = between_rounds.of_part(moves, where, cases)
    for metric in of_case.metrics(chosen, of_case.record(chosen)) if half else ():
        low, high = ends.get(metric.name, (0, 0))
        if metric.is_rate and low > 0:
            value = figures[metric.name].value
            ends[metric.name] = between_rounds.widened(value, low, high, half)
    # a program may leave out a figure that it is not sure of, in one round and not in another
    intervals = {name: ends[name] for name in figures if name in ends}
    return {**chosen, 'intervals': intervals, 'note': where}


def best(cases):
    """By the last metric (STREAM's: Triad), as of STREAM's repetitions."""
    metrics = of_case.metrics(cases[-1], of_case.record(cases[-1]))
    if len(cases) == 1 or not metrics:
        return cases[-1]
    name, better = metrics[-1].name, metrics[-1].better
    figures = [(of_case.figures(case)[name].value, case) for case in cases
               if name in of_case.figures(case)]  # fmt: skip
    choose = max if better == HIGHER else min
    return choose(figures, key=lambda pair: pair[0])[1]


def hull(cases):
    """{metric: (low, high)} of the best of several rounds; none of one without its own.

    The best of further rounds is below this one's interval only if each of them is below its
    own, so that the better end of the lows counts, and of the highs; no lower than any figure.
    """
    spans = {}
    for case in cases:
        data = of_case.record(case)
        own, measured = intervals(data), of_case.figures(case)
        for metric in of_case.metrics(case, data):
            value = measured[metric.name].value
            spans.setdefault(metric, []).append((value, *own.get(metric.name, (value, value))))
    return {
        metric.name: span_of_best(rounds, metric.better)
        for metric, rounds in spans.items()
        if len(rounds) > 1 or rounds[0][1] < rounds[0][2]
    }


def span_of_best(rounds, better):
    """(low, high) of the best of [(value, low, high)]."""
    values, lows, highs = zip(*rounds, strict=True)
    if better == HIGHER:
        return min(max(lows), min(values)), max(highs)
    return min(lows), max(min(highs), max(values))


def in_doubt(case):
    """Which figures of several rounds support neither PASS nor FAIL, as text; ''."""
    texts = []
    for name, figure in of_case.figures(case).items():
        ends = case['intervals'].get(name)
        if ends and figure.reference:
            bounds = [figure.reference * (1 + part) if part is not None else None
                      for part in (figure.low, figure.high)]  # fmt: skip
            texts += doubts(name, figure.value, figure.unit, ends, bounds)
    return '; '.join(texts)


def says_nothing(case):
    """Which rates have an interval of more than half the figure, as text; ''. The rule of the
    programs' own (src/stream/measure.c), of an interval that the rounds made wider than theirs."""
    measured, data = of_case.figures(case), of_case.record(case)
    own = intervals(data)
    rates = [m.name for m in of_case.metrics(case, data) if m.is_rate]
    return '; '.join(
        f'{name} {with_interval(measured[name].value, case["intervals"][name])}: '
        'the rounds lie too far apart, an interval beyond half the figure is none'
        for name in rates
        if name in case['intervals'] and case['intervals'][name] != own.get(name)
        and half_of(measured[name].value, case['intervals'][name]) > NO_INTERVAL
    )  # fmt: skip


def half_of(value, ends):
    """The wider side, as a part of the figure."""
    return max(ends[1] - value, value - ends[0]) / value if value else 0.0


def allows_unstable(case):
    return 'unstable' in (case.get('allow') or '').split(',')


def invalid(case, why):
    return {**case, 'result': 'fail', 'fail_phase': 'sanity', 'fail_reason': f'INVALID: {why}'}


def note(attempts):
    """What was measured again, and why."""
    spoilt = [judge(case)[1] for case in attempts if judge(case)[0] not in BELIEVED]
    if not spoilt:
        return attempts[0].get('note', '')
    names = sorted({name for why in spoilt for name in REASONS.findall(why)}) or ['not measured']
    return f'{len(spoilt)} of {len(attempts)} rounds {", ".join(names)}'


# how good the figures are


def half_width(case):
    """The widest interval of its rates, as a part of the rate; None where it has none, or so many
    figures that the widest says nothing of the others.

    What is no rate (an overhead is a difference) may be near zero, and a part of that is nothing.
    """
    measured = of_case.figures(case)
    if len(measured) > WIDE:
        return None
    ends = case.get('intervals') or {}
    rates = [m.name for m in of_case.metrics(case, of_case.record(case)) if m.is_rate]
    halves = [
        half_of(measured[name].value, ends[name])
        for name in rates
        if name in ends and measured[name].value
    ]
    return max(halves, default=None)


def unjudged(case):
    """A row of this machine that the weather alone left without a figure, and that no reference
    waits for: nothing is known to be wrong."""
    return transient(case) and case.get('scheduler') == 'local' and not case.get('is_held')


def quality(cases):
    """One sentence on the figures, and which rows have none and why."""
    halves = [
        (half_width(state), title(case)) for case in believed(cases) for state in states(case)
    ]
    halves = [(half, name) for half, name in halves if half is not None]
    several = sum(len(states(case)) > 1 for case in cases)
    lines = []
    if halves:
        middle, (worst, name) = statistics.median(half for half, _ in halves), max(halves)
        lines += ['', f'Measured again, half of the rows would read within ±{middle:.1%} of '
                  f'their rates, the worst ({name}) within ±{worst:.1%}.']  # fmt: skip
    if several:
        lines.append(f'{several} of {len(cases)} rows were measured in several states of this '
                     'machine, whose host moves its cores: each has its own line.')  # fmt: skip
    return lines + without_figure([case for case in cases if transient(case)], len(cases))


def without_figure(lost, count):
    """Which rows the weather left without a figure, and what helps."""
    if not lost:
        return []
    by_reason = {}
    for case in lost:
        names = ', '.join(REASONS.findall(judge(case)[1]))
        by_reason.setdefault(names, []).append(title(case))
    lines = ['', f'No figure could be had of {len(lost)} of {count} rows:']
    lines += [f'  {names}: {", ".join(titles)}' for names, titles in by_reason.items()]
    if any('disturbed' in names for names in by_reason):
        lines += ['Others were at work on these CPUs: each row says who. Wait until they have '
                  "ended, or say 'membw run --realtime': then they wait "
                  f'({realtime.HINT}).']  # fmt: skip
    return lines


def title(case):
    """Test, environment and the parameters that tell its cases apart."""
    values = filter(None, of_case.values(of_case.words(case)))
    return ' '.join([of_case.test(case), case['environ'], *values])
