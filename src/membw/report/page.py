"""The page: one HTML file with its style, its script, its charts and their data inside."""

import json
import re
from functools import cache

import vl_convert
from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from membw.printable import printable
from membw.report import pictures
from membw.report.theme import CONFIG, DARK, LIGHT, paint

CODE = re.compile(r'`([^`]*)`')
FIRST_NODES = 50  # written into the page, for readers without JavaScript
SIGNS = {
    'PASS': '✓', 'KNOWN': '≈', 'XPASS': '?', 'FAIL': '✕', 'SUSPECT': '△', 'INVALID': '⊘',
    'MISSING': '…', 'NOT MEASURED': '–',
}  # fmt: skip


def render(report):
    """The page as text; it fetches nothing, and its figures are there without JavaScript."""
    return (
        environment()
        .get_template('report.html')
        .render(
            report=report,
            light=LIGHT,
            dark=DARK,
            drawn={picture.name: _on_paper(picture) for picture in report.pictures()},
            nodes=_first_nodes(report.fleet),
            data=_script_data(report),
            vega=_library(),
        )
    )


def environment():
    """The templates of all pages, with their filters."""
    env = Environment(
        loader=PackageLoader('membw.report', 'assets'),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters['inline'] = lambda name: Markup(env.loader.get_source(env, name)[0])
    env.filters['sign'] = lambda word: SIGNS.get(word, '△')
    env.filters['code'] = lambda text: Markup(CODE.sub(r'<code>\1</code>', str(escape(text))))
    env.filters['breakable'] = lambda text: escape(text).replace(',', Markup(',<wbr>'))
    env.filters['slug'] = lambda word: word.lower().replace(' ', '-')
    env.filters['printable'] = printable
    env.filters['pretty'] = lambda data: json.dumps(data, indent=1)
    return env


def _on_paper(picture):
    """The picture in light colours, for print and for readers without JavaScript."""
    return Markup(unique_ids(pictures.svg(paint(picture.chart, LIGHT)), picture.name))


def unique_ids(svg, name):
    """Each SVG counts its clip paths and gradients from 0; in one page they would be mixed up."""
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    return re.sub(r'url\(#|href="#', lambda reference: f'{reference[0]}{name}-', svg)


def _script_data(report):
    live = {picture.name: _live(picture) for picture in report.pictures()}
    data = {
        'charts': live, 'config': CONFIG, 'themes': {'light': LIGHT, 'dark': DARK},
        'provenance': report.provenance, 'fleet': report.fleet,
    }  # fmt: skip
    text = json.dumps(data, ensure_ascii=False, separators=(',', ':'))
    return Markup(text.replace('<', '\\u003c'))  # no text ends the script element


@cache
def _library():
    """Vega, Vega-Lite and Vega-Embed; none of their strings may end the script element."""
    text = vl_convert.javascript_bundle()
    return Markup(re.sub('</(?=script)', r'<\\/', text, flags=re.IGNORECASE))


def _live(picture):
    """The charts that the page draws, by variant; width and config are the page's."""
    charts = picture.live or {'only': picture.chart}
    bare = {
        name: {k: v for k, v in chart.items() if k not in ('config', 'width')}
        for name, chart in charts.items()
    }
    return {'group': picture.group, 'charts': bare}


def _first_nodes(fleet):
    """The rows that matter first: not PASS, then the slowest."""

    def order(node):
        figure = node[3][-1] or 0 if node[3] else 0
        # no metric where every node is INVALID
        return node[1] == 'PASS', -figure if fleet['lower'][-1:] == [True] else figure

    return sorted(fleet['nodes'], key=order)[:FIRST_NODES]
