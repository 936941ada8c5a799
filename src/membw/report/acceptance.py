"""An acceptance as one HTML file that fetches nothing: the sections of its text as tables."""

from membw.accept.pairs import item
from membw.accept.text import ONE_NIGHT, risk_tables
from membw.report.page import environment
from membw.report.theme import DARK, LIGHT
from membw.statistics.nights import nights_of


def page(acceptance):
    """HTML of an acceptance's report (a dict, as accept/report.py makes it)."""
    risk, protocol = acceptance['risk'], acceptance['protocol']
    return (
        environment()
        .get_template('acceptance.html')
        .render(
            it=acceptance,
            item=item(protocol['runs']),
            items=item(protocol['runs'], 2),
            nodes=[row for node in acceptance['nodes'] for row in _rounds(node)],
            build_names=list(dict.fromkeys(k for build in acceptance['builds'] for k in build)),
            risks=risk_tables(risk, protocol) if risk else None,
            one_night=ONE_NIGHT,
            in_one_night=nights_of(protocol, protocol['runs']['repetitions']) == 1,
            light=LIGHT,
            dark=DARK,
        )
    )


def _rounds(node):
    """(node, round, remarks), one of each test; a node without one has a row, too."""
    needs = f'{node["needs"]} valid runs needed ({node["what_for"]})' if node['needs'] else ''
    for test in node['rounds'] or [{'test': '', 'figures': {}, 'below': []}]:
        low = f'misses the contract: {", ".join(test["below"])}' if test['below'] else ''
        yield node, test, '; '.join(filter(None, [low, needs]))
