"""Marks of the pictures: bounds, curves, cells."""

import re
from xml.etree import ElementTree

from membw.report import svg
from membw.report.charts import Bar, Curve, bars, heat_map, lines

SVG = '{http://www.w3.org/2000/svg}'
PLAIN = Bar('gcc-native omp wait=active', 214.0, '214.0 ±4.3', 209.7, 218.3)
BOUND = Bar('gcc-o2 omp', 140.2, '≥ 140.2', sign='≥ ')
CURVES = [
    Curve(f'triad_number_{i}', [(float(n), n * i * 3.0, None, None) for n in range(1, 60)])
    for i in range(1, 5)
]


def test_a_bound_has_an_arrow_each_way_it_is_open_and_no_whiskers():
    plain = bars([PLAIN], 'GB/s', None, 800).as_text()
    assert '<path' not in plain and plain.count('stroke-width="1.5"') > 0
    for sign, ways in (('≥ ', {'8'}), ('≤ ', {'-8'}), ('~ ', {'8', '-8'})):
        bound = bars([BOUND._replace(sign=sign)], 'GB/s', None, 800).as_text()
        assert set(re.findall(r'<path d="M[\d. ]+l(-?8) ', bound)) == ways
        assert 'stroke-width="1.5"' not in bound


def test_curves_differ_in_shape_and_colour():
    text = lines(CURVES, 'threads', 'GB/s', 800).as_text()
    marks = re.findall(r'<g class="fill-(\w+)"><title>.*?</title><(\w+)', text)
    assert len(set(marks)) == 4 and len({colour for colour, _ in marks}) == 4


def test_a_heat_map_of_many_names_shares_cells_and_keeps_the_largest_value():
    names = [str(i) for i in range(130)]
    values = {(a, b): 1.0 for a in names for b in names} | {('7', '9'): 50.0}
    root = ElementTree.fromstring(heat_map(values, names, 'ns', 800).as_text())
    cells = root.findall(f'{SVG}rect')
    assert len(cells) == 44 * 44
    assert sum(cell.get('fill') == svg.heat(1.0) for cell in cells) == 1
