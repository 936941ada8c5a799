"""A picture as SVG text: colours, shapes, axes and their steps.

Sizes are pixels. Colours are classes, light and dark, so that a page changes them with its scheme:
Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), which any colour vision tells apart.
Some of its colours are darkened on white, or lightened on black, for a contrast of 3:1.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import starmap
from pathlib import Path

from membw.printable import amount, printable

LETTER = 7.2  # pixels of one character of 12 px, on average
LINE = 16  # pixels from one line of text to the next
WIDTH = 1080  # pixels of a picture; a telephone scrolls it
LEFT, RIGHT = 52, 14  # pixels beside a plot: for the values of its axis
COLOURS = json.loads((Path(__file__).parent / 'assets' / 'colours.json').read_text())
SCREEN = '@media screen and (prefers-color-scheme: dark)'  # paper is white
CATEGORIES = ('one', 'two', 'three', 'four', 'five', 'six')
SHAPES = (
    '<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
    '<rect x="{x:.1f}" y="{y:.1f}" width="7" height="7" transform="translate(-3.5 -3.5)"/>',
    '<path transform="translate({x:.1f} {y:.1f})" d="M0-5 5 4-5 4Z"/>',
    '<path transform="translate({x:.1f} {y:.1f})" d="M0-5 5 0 0 5-5 0Z"/>',
    '<path transform="translate({x:.1f} {y:.1f})" d="M0 5 5-4-5-4Z"/>',
    '<path transform="translate({x:.1f} {y:.1f})" d="M-5-2h3v-3h4v3h3v4h-3v3h-4v-3h-3Z"/>',
)
Name = Callable[[float], str]  # of a step of an axis


class Picture:
    """Collects the shapes of one picture, without its title. `more`: attributes of SVG, `_` for
    `-`."""

    def __init__(self, title: str, height: float, how_to_read: str = '') -> None:
        self.title, self.height, self.how_to_read = title, height, how_to_read
        self.parts: list[str] = []

    def line(self, x: float, y: float, to_x: float, to_y: float, colour: str, **more: str) -> None:
        at = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
        self.parts.append(f'<line {at} class="line-{colour}"{_attributes(more)}/>')

    def across(self, y: float, colour: str, **more: str) -> None:
        """A line over the whole plot."""
        self.line(LEFT, y, WIDTH - RIGHT, y, colour, **more)

    def text(self, x: float, y: float, text: str, colour: str = 'fore', **more: str) -> None:
        tag = f'<text x="{x:.1f}" y="{y:.1f}" class="fill-{colour}"{_attributes(more)}>'
        self.parts.append(f'{tag}{escape(printable(text))}</text>')

    def path(self, points: Iterable[tuple[float, float]], colour: str, **more: str) -> None:
        line = f'points="{_corners(points)}" fill="none" class="line-{colour}"'
        self.parts.append(f'<polyline {line}{_attributes(more)}/>')

    def band(self, ranges: Sequence[tuple[float, float, float]], colour: str) -> None:
        """The area between two curves: (x, y of the one, y of the other)."""
        edge = [(x, y) for x, y, _ in ranges] + [(x, y) for x, _, y in reversed(ranges)]
        area = f'points="{_corners(edge)}" class="fill-{colour}" opacity="0.25"'
        self.parts.append(f'<polygon {area}/>')

    def mark(self, x: float, y: float, which: int, colour: str, tip: str = '') -> None:
        """A mark of a category: its shape differs, too. `tip` is shown by the pointer."""
        shape = SHAPES[which % len(SHAPES)].format(x=x, y=y)
        title = f'<title>{escape(printable(tip))}</title>' if tip else ''
        self.parts.append(f'<g class="fill-{colour}">{title}{shape}</g>')

    def __html__(self) -> str:  # in a template
        return self.as_text()

    def as_text(self, standalone: bool = False) -> str:
        """The <svg> element; `standalone` adds what a file needs: colours and background."""
        size = f'viewBox="0 0 {WIDTH} {self.height:g}" width="{WIDTH}" height="{self.height:g}"'
        label = f'role="img" aria-label="{escape(printable(self.title))}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label}>'
        if standalone:
            head += f'<style>{picture_css()}</style>'
            head += '<rect width="100%" height="100%" class="fill-back"/>'
        return '\n'.join([head, *self.parts, '</svg>'])


def _attributes(more: dict[str, str]) -> str:
    return ''.join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())


def _corners(points: Iterable[tuple[float, float]]) -> str:
    return ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)


class Scale:
    """Maps values to pixels, linear or logarithmic; `steps` are the values to write."""

    def __init__(
        self, values: Sequence[float], start: float, end: float, is_log: bool = False,
        from_zero: bool = True,
    ) -> None:  # fmt: skip
        """`values`: all that must have room; a linear scale has 0 in it, too, if `from_zero`."""
        self.is_log, self.start, self.end = is_log, start, end
        low, high = min(values, default=0.0), max(values, default=0.0)
        if is_log and low == high:
            low, high = low / 2, high * 2
        elif not is_log and from_zero:
            low, high = min(0.0, low), max(0.0, high)
        elif not is_log:  # a tenth around it, so that noise looks small
            low, high = 0.95 * low, 1.05 * high
        self.low, self.high = low, high if high > low else 1.0
        most = max(2, int(abs(end - start) / 50))
        self.steps = log_steps(low, high) if is_log else linear_steps(low, self.high, most)

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def across(values: Sequence[float], is_log: bool = False) -> Scale:
    """The horizontal scale of a whole plot."""
    return Scale(values, LEFT, WIDTH - RIGHT, is_log)


def linear_steps(low: float, high: float, most: int) -> list[float]:
    """At most `most` round values and 0 from low to high: multiples of 1, 2 or 5 x 10^n."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def log_steps(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten from low to high; of many powers 1 alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 4 else (1,)
    steps = [digit * 10.0**power for power in powers for digit in digits]
    return [step for step in steps if low * 0.999 <= step <= high * 1.001]


def x_axis(
    of: Picture, scale: Scale, top: float, bottom: float, title: str, name: Name = '{:g}'.format
) -> None:
    """Lines of the grid with their values below, as far as there is room, and the title."""
    free = -math.inf
    for step in scale.steps:
        half = LETTER * len(name(step)) / 2
        x = min(scale(step), WIDTH - half)
        if x - half > free:
            of.line(scale(step), top, scale(step), bottom, 'grid')
            of.text(x, bottom + LINE, name(step), 'muted', text_anchor='middle')
            free = x + half + 8
    middle = (scale.start + scale.end) / 2
    of.text(middle, bottom + 2 * LINE, title, 'muted', text_anchor='middle')


def y_axis(of: Picture, scale: Scale, title: str) -> None:
    """Lines of the grid, the values left of them, and the title above."""
    for step in scale.steps:
        of.across(scale(step), 'grid')
        of.text(LEFT - 6, scale(step) + 4, amount(step, 6), 'muted', text_anchor='end')
    of.text(0, min(scale.start, scale.end) - 12, title, 'muted')


def picture_css() -> str:
    """Rules of the classes that pictures use: fill-NAME, line-NAME and the text."""
    text = 'text { font: 12px system-ui, "Liberation Sans", Arial, sans-serif; }'
    rule = '.fill-{0} {{ fill: {1}; }} .line-{0} {{ stroke: {1}; }}'.format
    light, dark = ('\n'.join(starmap(rule, COLOURS[of].items())) for of in ('light', 'dark'))
    return f'{text}\n{light}\n{SCREEN} {{\n{dark}\n}}'


def page_css() -> str:
    rule = '--{}: {};'.format
    light, dark = (' '.join(starmap(rule, COLOURS[of].items())) for of in ('light', 'dark'))
    return f':root {{ {light} }}\n{SCREEN} {{ :root {{ {dark} }} }}'
