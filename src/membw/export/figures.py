"""What is exported of a run or a ranking: one row per figure, whatever was measured."""

from typing import NamedTuple

from membw.results import case as of_case
from membw.run import rows
from membw.run.judge import DRY, judge, measures

# whose figure is a figure; of the others only the verdict is told
BELIEVED = (*rows.BELIEVED, 'SUSPECT')


class Figure(NamedTuple):
    """A measured quantity with what it is held to; `low`, `high`: its interval."""

    metric: str
    unit: str
    better: str  # 'higher', 'lower'; '' of what has no direction: a point of a curve, a count
    value: float
    low: float | None = None
    high: float | None = None
    reference: float | None = None
    ratio: float | None = None  # to the reference, or to the median of comparable nodes


class Row(NamedTuple):
    """One test case of a run, or one node of a ranking; no figures where it is not believed."""

    labels: dict  # test, system, partition, environ, pinning, node: those that are known
    verdict: str
    reason: str
    time: float  # seconds since 1970
    figures: tuple = ()


def of_report(report):
    """Rows of a run of ReFrame; what was skipped or only rehearsed has none."""
    cases = [case for case in rows.of_report(report) if measures(case)]
    judged = [(case, *judge(case)) for case in cases]
    return [_of_case(case, word, why) for case, word, why in judged if word != DRY]


def _of_case(case, verdict, reason):
    named = {'test': _title(case), **{key: case.get(key) for key in LABELS}}
    figures = _figures(case) if verdict in BELIEVED else ()
    return Row(
        _known(named), verdict, reason, case.get('job_completion_time_unix') or 0.0, figures
    )


LABELS = ('system', 'partition', 'environ', 'pinning', 'node')


def _title(case):
    """The test with its parameters, but for the pinning, which has a label of its own."""
    return ' '.join([of_case.test(case), *of_case.parameters(case)])


def _known(labels):
    return {key: str(value) for key, value in labels.items() if value}


def _figures(case):
    kinds = {metric.name: metric for metric in of_case.metrics(case, of_case.record(case))}
    intervals = case.get('intervals') or {}
    figures = []
    for name, figure in of_case.figures(case).items():
        low, high = intervals.get(name, (None, None))
        reference = figure.reference or None
        better = kinds[name].better if name in kinds else ''
        ratio = figure.value / reference if reference else None
        figures.append(
            Figure(name, figure.unit, better, figure.value, low, high, reference, ratio)
        )
    return tuple(figures)


def of_fleet(fleet):
    """Rows of a ranking, a node each; the ratio is to the median of its group."""
    return [_of_node(node) for node in fleet.nodes]


def _of_node(node):
    figures = node.figures if node.verdict in BELIEVED and node.rates is not None else {}
    kinds = {metric.name: metric for metric in node.metrics}
    of_run = {name: node.traits.get(name) for name in ('environ', 'pinning')}
    labels = {'test': 'rank', 'node': node.name, 'group': node.group, **of_run}
    return Row(
        _known(labels),
        node.verdict,
        node.reason,
        node.time,
        tuple(
            Figure(name, kinds[name].unit, kinds[name].better, value, ratio=_ratio(node, name))
            for name, value in figures.items()
        ),
    )


def _ratio(node, name):
    """Of figures, as they are written; the node's own is of rates."""
    ratio = node.ratios.get(name)
    return None if ratio is None else float(next(
        m for m in node.metrics if m.name == name).figure(ratio))  # fmt: skip
