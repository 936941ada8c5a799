"""The pictures of a report as files: PNG and SVG, drawn without a browser."""

import textwrap
from pathlib import Path

import vl_convert

from membw.errors import MembwError
from membw.report.theme import LIGHT, paint

SCALE = 2  # pixels of a PNG for one of the chart's


def write(pictures, folder):
    """How many; each is `<name>.png` and `<name>.svg`."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for picture in pictures:
            text = svg(titled(picture))
            Path(folder, f'{picture.name}.svg').write_text(text, encoding='utf-8')
            png = vl_convert.svg_to_png(text, scale=SCALE)
            Path(folder, f'{picture.name}.png').write_bytes(png)
    except OSError as err:
        raise MembwError(f"cannot write '{err.filename or folder}': {err.strerror}") from err
    return len(pictures)


def titled(picture):
    """The chart with what the page writes around it: title, and how to read it."""
    title = {
        'text': textwrap.wrap(picture.title, 80),
        'subtitle': textwrap.wrap(picture.how_to_read, 105),
    }
    return paint(picture.chart, LIGHT) | {'title': title}


def svg(chart):
    """As text; nothing is ever fetched."""
    return vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])
