"""Colours of the page and its charts, light and dark; marks differ in shape too.

Okabe and Ito's palette (https://jfly.uni-koeln.de/color/): told apart with any colour vision.
Its yellow and its light orange are too pale on white, its blue too dark on black: the orange is
darkened on white, and sky blue stands for blue on black, so that each mark has a contrast of 3:1.
"""

LIGHT = {
    'back': '#ffffff', 'page': '#f4f6f8', 'fore': '#1b1f24', 'muted': '#57606a',
    'grid': '#d8dee4', 'link': '#0059a3',
    'one': '#0072b2', 'two': '#b87a00', 'three': '#00845f', 'four': '#b0508c', 'five': '#57606a',
    'pass': '#00714f', 'fail': '#c24a00', 'invalid': '#8a3a72', 'band': '#9fb3c8',
}  # fmt: skip
DARK = {
    'back': '#161b22', 'page': '#0d1117', 'fore': '#e6edf3', 'muted': '#9aa6b2',
    'grid': '#30363d', 'link': '#79b8ff',
    'one': '#56b4e9', 'two': '#e69f00', 'three': '#1fc198', 'four': '#e29bc4', 'five': '#9aa6b2',
    'pass': '#3fca9b', 'fail': '#ff8a4c', 'invalid': '#e29bc4', 'band': '#4a5b6c',
}  # fmt: skip
CATEGORIES = ('@one', '@two', '@three', '@four', '@five', '@fore')


def paint(chart, theme):
    """The chart with each '@name' replaced by the theme's colour."""
    if isinstance(chart, dict):
        return {key: paint(value, theme) for key, value in chart.items()}
    if isinstance(chart, list):
        return [paint(value, theme) for value in chart]
    if isinstance(chart, str) and chart[:1] == '@':
        return theme.get(chart[1:], chart)
    return chart


CONFIG = {
    'background': '@back',
    'font': 'system-ui, "Liberation Sans", Helvetica, Arial, sans-serif',
    'view': {'stroke': None},
    'axis': {
        'labelColor': '@fore', 'titleColor': '@muted', 'gridColor': '@grid', 'tickColor': '@grid',
        'domainColor': '@muted', 'labelFontSize': 12, 'titleFontSize': 12,
        'titleFontWeight': 'normal', 'labelLimit': 160, 'labelSeparation': 8,
    },
    'legend': {
        'labelColor': '@fore', 'titleColor': '@muted', 'orient': 'top', 'labelFontSize': 12,
        'titleFontWeight': 'normal', 'symbolStrokeWidth': 2,
        'columns': 3,  # as many as a phone is wide
    },
    'title': {'color': '@fore', 'subtitleColor': '@muted', 'anchor': 'start', 'fontSize': 15,
              'subtitleFontSize': 11, 'subtitlePadding': 6},
    'text': {'color': '@fore'},
}  # fmt: skip
