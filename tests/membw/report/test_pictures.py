"""Pictures are well-formed SVG whose text and marks lie within it, on a screen and on a phone."""

import re
from xml.etree import ElementTree

import pytest

from membw.report import theme
from membw.report.bars import Bar, bars
from membw.report.heat_map import heat_map
from membw.report.lines import Curve, lines
from membw.report.model import NARROW, WIDE
from membw.report.svg import LETTER

SVG = '{http://www.w3.org/2000/svg}'
ROWS = [
    Bar('gcc-native omp wait=active', 214.0, '214.0 ±4.3', 209.7, 218.3),
    Bar('gcc-o2 omp', 140.2, '≥ 140.2', is_bound=True),
    Bar('gcc-o2 none', 91.0, '91.0 ±1.0', 90.0, 92.0, False, (166.6, 158.0, 183.0), True),
    Bar('clang-o3 none', None, 'INVALID: cpu-not-where-asked'),
]
CURVES = [
    Curve(f'triad_number_{i}', [(float(n), n * i * 3.0, None, None) for n in range(1, 60)])
    for i in range(1, 5)
]


def pictures(width):
    yield bars(ROWS, 'GB/s', 256.0, width, 'bars')
    yield lines(CURVES, 'threads', 'GB/s', width, 'lines')
    yield lines(CURVES, 'bytes', 'us', width, 'lines', log_x=True, log_y=True)
    names = [f'n{i:04d}' for i in range(200)]
    values = {(a, b): 1.0 + i for i, a in enumerate(names) for b in names[::7]}
    yield heat_map(values, names, 'ns', width, 'map')
    yield heat_map({('0', '1'): 25.0, ('1', '0'): 27.0}, ['0', '1'], 'ns', width, 'map')


@pytest.mark.parametrize('width', [NARROW, WIDE])
def test_every_text_and_mark_lies_within_the_picture(width):
    for canvas in pictures(width):
        root = ElementTree.fromstring(canvas.as_text())
        assert float(root.get('width')) == width
        for text in root.iter(f'{SVG}text'):
            if text.get('transform'):
                continue
            room = LETTER * len(text.text)
            part = {'start': 0, 'middle': 0.5, 'end': 1}[text.get('text-anchor', 'start')]
            left = float(text.get('x')) - part * room
            assert left > -6 and left + room < width + 6, text.text
            assert 0 < float(text.get('y')) <= float(root.get('height'))
        for shape in (*root.iter(f'{SVG}rect'), *root.iter(f'{SVG}line')):
            for name in ('x', 'x1', 'x2'):
                assert -1 <= float(shape.get(name, 0)) <= width + 1


def test_a_bound_has_an_arrow_and_no_whiskers():
    plain = bars([ROWS[0]], 'GB/s', None, 800, '').as_text()
    bound = bars([ROWS[1]], 'GB/s', None, 800, '').as_text()
    assert '<path' in bound and '<path' not in plain
    assert bound.count('stroke-width="1.5"') == 0 < plain.count('stroke-width="1.5"')


def test_curves_differ_in_shape_and_colour():
    text = lines(CURVES, 'threads', 'GB/s', 800, '').as_text()
    marks = re.findall(r'<g class="fill-(\w+)"><title>.*?</title><(\w+)', text)
    assert len(set(marks)) == 4 and len({colour for colour, _ in marks}) == 4


def test_a_heat_map_of_many_names_shares_cells_and_keeps_the_largest_value():
    names = [str(i) for i in range(130)]
    values = {(a, b): 1.0 for a in names for b in names} | {('7', '9'): 50.0}
    root = ElementTree.fromstring(heat_map(values, names, 'ns', 800, '').as_text())
    cells = root.findall(f'{SVG}rect')
    assert len(cells) == 44 * 44
    assert sum(cell.get('fill') == theme.heat(1.0) for cell in cells) == 1


@pytest.mark.parametrize('colours', [theme.LIGHT, theme.DARK])
def test_marks_and_text_stand_out_from_the_background(colours):
    for name in (*theme.CATEGORIES, 'pass', 'fail', 'invalid', 'link'):
        assert contrast(colours[name], colours['back']) >= 3, name
    for name in ('fore', 'muted'):
        assert contrast(colours[name], colours['back']) >= 4.5, name


def contrast(one, other):
    """WCAG 2's contrast ratio of two colours."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
