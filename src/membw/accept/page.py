"""An acceptance as one HTML file that fetches nothing: the nodes drawn against the contract, and
the sections of its text as tables."""

from collections.abc import Iterator
from typing import Any

from membw.report.template import render

WIDTH, HEIGHT = 1000, 60  # of one metric's strip, in the units of its drawing
MARGIN = 20


def page(acceptance: dict[str, Any]) -> str:
    """HTML of an acceptance's report (a dict, as accept/report.py makes it)."""
    return render(
        'membw.accept',
        'acceptance.html',
        it=acceptance,
        strips=list(_strips(acceptance)),
        nodes=[row for node in acceptance['nodes'] for row in _rounds(node)],
        build_names=list(dict.fromkeys(k for build in acceptance['builds'] for k in build)),
    )


def _strips(acceptance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A strip for each metric: a dot for each node's last round, a line for the limit."""
    for line in acceptance['contract']:
        name, limit = line['metric'], line['limit']
        nodes = [
            (node['node'], node['status'], node['rounds'][-1]['figures'][name])
            for node in acceptance['nodes']
            if node['rounds']
        ]
        if not nodes or limit is None:
            continue
        ends = [limit, *(figure for _, _, figure in nodes)]
        low, span = min(ends), max(ends) - min(ends) or 1
        scale = (WIDTH - 2 * MARGIN) / span
        yield {
            'text': line['text'],
            'unit': line['unit'],
            'ends': (low, low + span),
            'limit': MARGIN + (limit - low) * scale,
            'dots': [
                (node, status, figure, MARGIN + (figure - low) * scale, 15 + number % 7 * 5)
                for number, (node, status, figure) in enumerate(nodes)
            ],
        }


def _rounds(node: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
    """(node, round, remarks), one of each round; a node without one has a row, too."""
    needs = f'{node["needs"]} valid runs needed ({node["needs_for"]})' if node['needs'] else ''
    for each in node['rounds'] or [{'name': '', 'figures': {}, 'missed': []}]:
        missed = f'misses the contract: {", ".join(each["missed"])}' if each['missed'] else ''
        yield node, each, '; '.join(filter(None, [missed, needs]))
