"""What all charts share: Altair's charts as plain dicts, their size, their marks."""

import math

import altair as alt

from membw.report.model import Picture
from membw.report.theme import CATEGORIES, CONFIG

WIDTH = 640  # of a picture on paper; in the page a chart is as wide as its place
SHAPES = ('circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down')
MOST = len(SHAPES)  # that one chart can tell apart
# of a legend: what a phone of 390 px leaves beside the axis, a symbol with its gaps, a letter
PHONE_PX, SYMBOL_PX, LETTER_PX = 280, 30, 7


def picture(name, title, how_to_read, layers, height, description='', table=None):
    """The Picture of a chart's layers; `description` is its title where nothing else is said."""
    chart = as_dict(alt.layer(*layers), height, description or title)
    return Picture(name.replace(':', '-'), title, how_to_read, chart, table)


def as_dict(chart, height, description):
    """The finished Vega-Lite chart; the page replaces its width."""
    sized = chart.properties(width=WIDTH, height=height, description=description)
    spec = sized.to_dict() | {'config': CONFIG}
    return spec | {'autosize': {'type': 'fit-x', 'contains': 'padding'}}


def data(rows):
    """Inline data; none of it is ever fetched."""
    return alt.Data(values=rows)


def tips(**fields):
    """What a mark says of itself: title='field:Q'."""
    return [alt.Tooltip(field, title=title.replace('_', ' ')) for title, field in fields.items()]


def _legend(names):
    """In as many columns as a phone has room for: Vega cuts off what is wider."""
    longest = max(map(len, names), default=0)
    return alt.Legend(columns=max(1, PHONE_PX // (SYMBOL_PX + LETTER_PX * longest)))


def log_steps(low, high):
    """What a logarithmic axis is marked with, from at most `low` to at least `high` (> 0): 1, 2
    and 5 of each power of ten; the powers alone over more than three of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 4 else (1,)
    steps = [digit * 10.0**power for power in powers for digit in digits]
    below = sum(step <= low for step in steps) - 1
    above = sum(step < high for step in steps)
    return steps[max(below, 0) : above + 1]


def color(field, names, title, drawn=None):
    """Colours by name, the same in every chart, of which the legend has those that are `drawn`;
    always together with `shape`."""
    scale = alt.Scale(domain=list(names), range=list(CATEGORIES[: len(names)]))
    legend = _legend(names)
    if drawn is not None:
        legend.values = [name for name in names if name in drawn]
    return alt.Color(f'{field}:N', scale=scale, title=title, sort=None, legend=legend)


def shape(field, names, title):
    scale = alt.Scale(domain=list(names), range=list(SHAPES[: len(names)]))
    return alt.Shape(f'{field}:N', scale=scale, title=title, sort=None, legend=_legend(names))


def lines(base, shapes, tip, size=60, width=2):
    """A line and marks of each colour of `base`."""
    dots = base.mark_point(size=size, filled=True, opacity=1)
    return [base.mark_line(strokeWidth=width), dots.encode(shape=shapes, tooltip=tip)]


def stroke_dash(field, names, dashes, title):
    """Dashes by name, in the legend of `color` and `shape` of the same field."""
    scale = alt.Scale(domain=list(names), range=list(dashes))
    return alt.StrokeDash(f'{field}:N', scale=scale, title=title, sort=None, legend=_legend(names))
