"""Runs of an acceptance that, by their own intervals, might have passed as well as failed."""

from membw.results.intervals import WIDE, of_node
from membw.results.runs import rates_of


def unsteady(protocol, ranks):
    """Reasons why a run is neither: a wide interval with the contract inside.

    Of one that is no wider than a steady machine's, the figure counts as it stands, as agreed; so
    does that of a record without intervals.
    """
    if 'unstable' in protocol['runs'].get('allow', []):
        return
    spans = of_node(ranks)
    if not spans:
        return
    rates = rates_of(ranks)
    for name, least in protocol['contract'].items():
        low, high = spans.get(name, (least, least))
        half = max(high / rates[name] - 1, 1 - low / rates[name]) if name in rates else 0
        if low < least < high and half > WIDE:
            metric = protocol['metrics'][name]
            ends = sorted(metric.figure(end) for end in (low, high))
            between = f'{name} {ends[0]:.1f} to {ends[1]:.1f} {metric.unit}'
            yield f'unstable ({between}: the contract lies between them)'
