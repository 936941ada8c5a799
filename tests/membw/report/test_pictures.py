"""Marks of the pictures: what a curve is drawn with, and which curves are drawn."""

import re

from membw.report.charts import Axes, Curve, picture


def curves(names, points):
    return [
        Curve(name, [(float(n), n * 3.0, None, None) for n in range(points)]) for name in names
    ]


def drawn(of, axes=None):
    return [one.as_text() for one in picture('a', of, axes or Axes('n', 'GB/s'), 'how')]


def test_curves_differ_in_shape_and_colour():
    (text,) = drawn(curves('abcd', 60))
    marks = re.findall(r'<g class="fill-(\w+)"><title>.*?</title><(\w+)', text)
    assert len(set(marks)) == 4 and len({colour for colour, _ in marks}) == 4


def test_two_points_are_no_curve_and_no_curve_is_no_empty_picture():
    assert drawn([]) == drawn(curves('a', 2)) == []
    assert '>b<' not in drawn([*curves('a', 3), *curves('b', 2)])[0]
    assert drawn(curves('a', 3), Axes('n', 'GB/s', log_x=True)) == []  # 0 has no place


def test_of_many_curves_the_first_are_drawn_and_the_others_counted():
    (found,) = picture('a', curves('abcdefgh', 3), Axes('n', 'GB/s'), 'how')
    assert found.how_to_read == 'how 2 more curves are in the table.'
    assert '>f<' in found.as_text() and '>g<' not in found.as_text()
