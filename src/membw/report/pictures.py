"""Pictures as files: PNG and SVG, drawn without a browser."""

import textwrap
from pathlib import Path

import vl_convert

from membw.errors import MembwError
from membw.files import write_whole
from membw.report.theme import LIGHT, paint

SCALE = 2  # pixels of a PNG for one of the chart's


def write(pictures, folder):
    """How many; each is `<name>.png` and `<name>.svg`."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        text = svg(titled(picture))
        for suffix in ('svg', 'png'):
            _draw(text, Path(folder, f'{picture.name}.{suffix}'))
    return len(pictures)


def save(pictures, file):
    """All of them below each other in one file, PNG or SVG by its ending."""
    file = Path(file)
    if file.suffix not in ('.png', '.svg'):
        raise MembwError(f"cannot draw '{file}'", "end it in '.png' or '.svg'")
    panels = [_inline(titled(picture)) for picture in pictures]
    config = panels[0].get('config', {})
    own = ('autosize', 'config')  # of a whole picture alone
    text = svg({
        'vconcat': [{k: v for k, v in panel.items() if k not in own} for panel in panels],
        'config': config, 'spacing': 40, 'padding': 12,
        'resolve': {'scale': {'color': 'independent', 'shape': 'independent'}},
    })  # fmt: skip
    _draw(text, file)


def _draw(text, file):
    """An SVG as that, or as PNG."""
    drawn = text.encode() if file.suffix == '.svg' else vl_convert.svg_to_png(text, scale=SCALE)
    write_whole(file, drawn)


def _inline(chart):
    """The chart with its named data in place: only a whole picture may name data."""
    named = chart.pop('datasets', {})

    def placed(value):
        if isinstance(value, dict):
            if value.get('name') in named and set(value) == {'name'}:
                return {'values': named[value['name']]}
            return {key: placed(v) for key, v in value.items()}
        return [placed(v) for v in value] if isinstance(value, list) else value

    return placed(chart)


def titled(picture):
    """The chart with what the page writes around it: title, and how to read it."""
    title = {'text': textwrap.wrap(picture.title, 80)}
    if picture.how_to_read:
        title['subtitle'] = textwrap.wrap(picture.how_to_read, 105)
    return paint(picture.chart, LIGHT) | {'title': title}


def svg(chart):
    """As text; nothing is ever fetched."""
    return vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])
