"""Draws a judged history: the fleet's median and spread, changed nodes, change points."""

import warnings
from datetime import date, timedelta

import numpy as np

from membw.errors import MembwError
from membw.history.series import EPOCH

PANELS = 6
NODES = 6  # lines of nodes a panel
BAND, MEDIAN, SOFTWARE = '#c9d3dc', '#33475b', '#6a3d9a'
# R. Okabe and K. Ito's palette, told apart by the colour-blind
COLOURS = ('#d55e00', '#0072b2', '#009e73', '#cc79a7', '#e69f00', '#56b4e9')
HOW_TO_READ = (
    'How to read: the dark line is the median of all nodes, a night each; nine of ten nodes lie '
    'in the band.\nA coloured line is a node that changed, a triangle where (down: slower). '
    'A vertical line is a change of the whole fleet; purple and dashed: of the software.'
)


def draw(every, found, file, kernel=None):
    """Writes the picture; the ending of `file` chooses the format."""
    from matplotlib.figure import Figure

    def concerned(series):
        return sum(c.group == series.label for c in found)

    chosen = sorted(every, key=lambda s: (-concerned(s), -len(s.nodes)))[:PANELS]
    figure = Figure(figsize=(11, 1.2 + 3.6 * len(chosen)), layout='constrained')
    panels = figure.subplots(len(chosen), squeeze=False)[:, 0]
    for panel, series in zip(panels, chosen, strict=True):
        name = kernel if kernel in series.kernels else series.kernels[-1]
        _panel(panel, series, [c for c in found if c.group == series.label], name)
    hidden = len(every) - len(chosen)
    more = f' {hidden} more groups are not drawn.' if hidden else ''
    figure.supxlabel(HOW_TO_READ + more, x=0.01, ha='left', fontsize=9)
    try:
        figure.savefig(file, dpi=120)
    except OSError as err:
        raise MembwError(f"cannot write '{file}': {err.strerror}") from err
    except ValueError as err:
        raise MembwError(f"cannot draw '{file}': {err}", "end it in '.png' or '.svg'") from err


def _panel(panel, series, found, kernel):
    from matplotlib.dates import AutoDateLocator, DateFormatter

    # every night of the calendar, so that a missing week is a gap and no straight line
    span = np.arange(series.nights[0], series.nights[-1] + 1)
    rates = np.full((len(series.nodes), len(span)), np.nan)
    rates[:, series.nights - span[0]] = series.rates[series.kernels.index(kernel)]
    dates = [EPOCH + timedelta(days=int(n)) for n in span]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', RuntimeWarning)  # nights without a value
        low, median, high = np.nanpercentile(rates, [5, 50, 95], axis=0)
    panel.fill_between(dates, low, high, color=BAND, linewidth=0)
    style = {'marker': '.', 'markersize': 3} if len(dates) < 120 else {}
    panel.plot(dates, median, color=MEDIAN, linewidth=1.2, **style)
    of_kernel = [c for c in found if c.kernel == kernel]
    _nodes(panel, series, rates, dates, [c for c in of_kernel if c.node])
    of_fleet = [c for c in of_kernel if not c.node]
    for i, change in enumerate(of_fleet):
        _fleet_change(panel, change, len(series.nodes), 0.98 - 0.06 * (i % 3))
    count = f'{len(series.nodes)} node{"s" * (len(series.nodes) > 1)}'
    panel.set_title(f'{series.label}: {kernel}, {count}', loc='left', fontsize=9)
    panel.set_ylabel(f'{kernel}, GB/s')
    panel.grid(axis='y', alpha=0.3)
    panel.margins(x=0.01, y=0.15)
    if len(dates) < 9:
        panel.set_xticks(dates)  # a locator finds no sensible interval in a night or two
    else:
        panel.xaxis.set_major_locator(AutoDateLocator(maxticks=8))
    panel.xaxis.set_major_formatter(DateFormatter('%Y-%m-%d'))


def _nodes(panel, series, rates, dates, changes):
    """The largest changes; the others are counted."""
    largest = sorted(changes, key=lambda c: -abs(c.percent))
    names = list(dict.fromkeys(c.node for c in largest))
    for name, colour in zip(names[:NODES], COLOURS, strict=False):
        values = rates[series.nodes.index(name)]
        panel.plot(dates, values, color=colour, linewidth=0.9, label=name)
        for c in (c for c in changes if c.node == name):
            day = (date.fromisoformat(c.night) - dates[0]).days
            mark = 'v' if c.direction == 'slower' else '^'
            panel.plot(dates[day], values[day], mark, color=colour, markeredgecolor='black')
    if names:
        more = f'{len(names) - NODES} more changed' if len(names) > NODES else None
        panel.legend(
            fontsize=7, loc='lower left', ncols=NODES, frameon=False, title=more, title_fontsize=7
        )


def _fleet_change(panel, change, nodes, height):
    """`height` of its words, so that those of neighbours do not meet."""
    is_software = change.scope == 'software'
    colour, line = (SOFTWARE, '--') if is_software else ('black', '-')
    panel.axvline(date.fromisoformat(change.night), color=colour, linestyle=line, linewidth=1)
    part = f', {change.nodes} nodes' if change.nodes < nodes else ''
    text = f'{change.field or change.scope} {change.percent:+.1f} %{part}'
    panel.annotate(
        text, (date.fromisoformat(change.night), height), xycoords=('data', 'axes fraction'),
        xytext=(4, 0), textcoords='offset points', va='top', fontsize=8, color=colour,
    )  # fmt: skip
