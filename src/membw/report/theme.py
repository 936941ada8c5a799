"""Colours of the page and its pictures, light and dark.

Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), which any colour vision tells apart.
Some of its colours are darkened on white, or lightened on black, for a contrast of 3:1.
"""

import json
from pathlib import Path

COLOURS = json.loads((Path(__file__).parent / 'assets' / 'colours.json').read_text())
LIGHT, DARK = COLOURS['light'], COLOURS['dark']
SCREEN = '@media screen and (prefers-color-scheme: dark)'  # paper is white
CATEGORIES = ('one', 'two', 'three', 'four', 'five', 'six')
# of a heat map, from low to high: viridis at equal steps (matplotlib, CC0)
VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def picture_css() -> str:
    """Rules of the classes that pictures use: fill-NAME, line-NAME and the text."""
    text = 'text { font: 12px system-ui, "Liberation Sans", Arial, sans-serif; }'
    return f'{text}\n{_rules(LIGHT)}\n{SCREEN} {{\n{_rules(DARK)}\n}}'


def page_css() -> str:
    """The same colours as variables of the page, light and dark."""
    light, dark = (' '.join(f'--{k}: {v};' for k, v in of.items()) for of in (LIGHT, DARK))
    return f':root {{ {light} }}\n{SCREEN} {{ :root {{ {dark} }} }}'


def _rules(colours: dict[str, str]) -> str:
    rules = (
        f'.fill-{name} {{ fill: {colour}; }} .line-{name} {{ stroke: {colour}; }}'
        for name, colour in colours.items()
    )
    return '\n'.join(rules)


def heat(share: float) -> str:
    """The colour of a cell: `share` is 0 at the lowest value of the map, 1 at the highest."""
    position = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    at = min(int(position), len(VIRIDIS) - 2)
    mixed = (
        round(a + (b - a) * (position - at))
        for a, b in zip(VIRIDIS[at], VIRIDIS[at + 1], strict=True)
    )
    return '#{:02x}{:02x}{:02x}'.format(*mixed)
