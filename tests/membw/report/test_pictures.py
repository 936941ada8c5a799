"""Bars and curves of the page."""

import re

from membw.report.charts import Bar, Curve, bars, lines

ROWS = [
    Bar('gcc-native omp wait=active', 214.0, '214.0 ±4.3', 209.7, 218.3),
    Bar('gcc-o2 omp', 140.2, '≥ 140.2', sign='≥ '),
    Bar('gcc-o2 none', 91.0, '91.0 ±1.0', 90.0, 92.0, '', (166.6, 158.0, 183.0), True),
]
CURVES = [
    Curve(f'triad_number_{i}', [(float(n), n * i * 3.0, None, None) for n in range(1, 60)])
    for i in range(1, 5)
]


def test_a_bound_has_an_arrow_each_way_it_is_open_and_no_whiskers():
    plain = bars([ROWS[0]], 'GB/s', None, 800, '').as_text()
    assert '<path' not in plain and plain.count('stroke-width="1.5"') > 0
    for sign, ways in (('≥ ', {'8'}), ('≤ ', {'-8'}), ('~ ', {'8', '-8'})):
        bound = bars([ROWS[1]._replace(sign=sign)], 'GB/s', None, 800, '').as_text()
        assert set(re.findall(r'<path d="M[\d. ]+l(-?8) ', bound)) == ways
        assert 'stroke-width="1.5"' not in bound


def test_curves_differ_in_shape_and_colour():
    text = lines(CURVES, 'threads', 'GB/s', 800, '').as_text()
    marks = re.findall(r'<g class="fill-(\w+)"><title>.*?</title><(\w+)', text)
    assert len(set(marks)) == 4 and len({colour for colour, _ in marks}) == 4
