"""Draws the ranking of a fleet: one panel a group, slow nodes marked and named."""

import numpy as np

from membw.errors import MembwError

PANELS = 6  # the largest groups; more do not fit a page
NAMES = 29  # named nodes a panel, and how many of them side by side
COLUMNS = 3
MANY = 200  # nodes; from here on the few slow ones get the width that a logarithm gives
PASS_COLOR, FAIL_COLOR = '#5b6f82', '#c8102e'
HOW_TO_READ = (
    'How to read: one dot a node, sorted by {by}, slowest left; 0 % is the median of the group. '
    'Red nodes FAIL,\nby {by}, by another kernel, by one of their ranks or by unsteady '
    'repetitions. The dashed line is the margin of {margin:.1%}.'
)


def draw(fleet, file, by, margin):
    """Writes the picture; the ending of `file` chooses the format."""
    from matplotlib.figure import Figure

    groups = sorted(fleet.groups, key=lambda g: -len(g.nodes))[:PANELS]
    if not groups:
        raise MembwError('no node to draw: none has a record that may be believed')
    figure = Figure(figsize=(11, 1.6 + 4 * len(groups)), layout='constrained')
    panels = figure.subplots(len(groups), squeeze=False)[:, 0]
    for panel, group in zip(panels, groups, strict=True):
        _panel(panel, group, by if by in group.kernels else group.kernels[-1], margin)
    hidden = len(fleet.groups) - len(groups)
    note = f' {hidden} smaller groups are not drawn.' if hidden else ''
    text = HOW_TO_READ.format(by=by or 'the last kernel', margin=margin) + note
    figure.supxlabel(text, x=0.01, ha='left', fontsize=9)
    try:
        figure.savefig(file, dpi=120)
    except (OSError, ValueError) as err:
        raise MembwError(f"cannot draw '{file}': {err}", "end it in '.png' or '.svg'") from err


def _panel(panel, group, by, margin):
    percent = 100 * (np.array([node.ratios[by] for node in group.nodes]) - 1)
    order = np.argsort(percent, kind='stable')
    place = np.empty(len(order))
    place[order] = np.arange(1, len(order) + 1)
    failed = np.array([node.verdict == 'FAIL' for node in group.nodes])
    size = float(np.clip(4000 / len(order), 5, 40))
    panel.axhline(0, color='black', linewidth=0.8)
    panel.axhline(-100 * margin, color='black', linewidth=0.8, linestyle='--')
    panel.scatter(place[~failed], percent[~failed], s=size, color=PASS_COLOR, linewidths=0)
    panel.scatter(place[failed], percent[failed], s=max(size, 22), color=FAIL_COLOR, zorder=3)
    _names(panel, [(percent[i], group.nodes[i].name) for i in order if failed[i]])
    median = np.median(group.totals()[:, group.kernels.index(by)])
    panel.set_title(f'Group {group.number}: {group.label}', loc='left', fontsize=9)
    panel.set_ylabel(f'{by} to the median of {median:.1f} GB/s, %')
    panel.set_xlabel(f'place among {len(order)} nodes, {failed.sum()} FAIL')
    panel.grid(axis='y', alpha=0.3)
    panel.margins(x=0.03, y=0.1)
    if len(order) > MANY:
        panel.set_xscale('log')
        panel.xaxis.set_major_formatter('{x:.0f}')
    else:
        panel.xaxis.get_major_locator().set_params(integer=True)


def _names(panel, failed):
    """The slowest by name, in the corner that a rising curve leaves empty."""
    shown = [f'{name} {percent:+.1f} %' for percent, name in failed[:NAMES]]
    if len(failed) > NAMES:
        shown.append(f'and {len(failed) - NAMES} more')
    rows = -(-len(shown) // COLUMNS)
    width = max(map(len, shown), default=0)
    lines = ['   '.join(n.ljust(width) for n in shown[row::rows]) for row in range(rows)]
    box = {'transform': panel.transAxes, 'ha': 'right', 'va': 'bottom', 'family': 'monospace'}
    panel.text(0.99, 0.03, '\n'.join(lines), fontsize=7, color=FAIL_COLOR, **box)
