"""Colours of the page and its pictures, light and dark.

Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), which any colour vision tells apart.
Some of its colours are darkened on white, or lightened on black, for a contrast of 3:1.
"""

LIGHT = {
    'back': '#ffffff',
    'page': '#f4f6f8',
    'fore': '#1b1f24',
    'muted': '#57606a',
    'grid': '#d8dee4',
    'link': '#0059a3',
    'pass': '#00714f',
    'fail': '#c24a00',
    'invalid': '#8a3a72',
    'band': '#c6d2de',
    'one': '#0072b2',
    'two': '#b87a00',
    'three': '#00845f',
    'four': '#b0508c',
    'five': '#57606a',
    'six': '#1b1f24',
}
DARK = {
    'back': '#161b22',
    'page': '#0d1117',
    'fore': '#e6edf3',
    'muted': '#9aa6b2',
    'grid': '#30363d',
    'link': '#79b8ff',
    'pass': '#3fca9b',
    'fail': '#ff8a4c',
    'invalid': '#e29bc4',
    'band': '#3b4a5a',
    'one': '#56b4e9',
    'two': '#e69f00',
    'three': '#1fc198',
    'four': '#e29bc4',
    'five': '#9aa6b2',
    'six': '#e6edf3',
}
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
