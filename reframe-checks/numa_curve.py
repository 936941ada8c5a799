"""The curve of a NUMA scan: from its exported points to a picture; nothing is measured here."""

import json
import pathlib

HOW_TO_READ = (
    'How to read: the curve rises while threads still find free bandwidth and flattens where the\n'
    'memory of the domain is full (dashed: saturation). Remote below local: the price of the link.'
)
SATURATED = 0.95  # of the best point; a convention of this project


def saturation(points):
    """The fewest threads that reach 95 % of the best: [(threads, GB/s)] -> (threads, GB/s)."""
    best = max(gbs for _, gbs in points)
    return min((threads, gbs) for threads, gbs in points if gbs >= SATURATED * best)


def export(path, title, curves, facts):
    """The points as JSON; the picture and any later report read only this file."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {
        name: {'points': points, 'saturation': saturation(points)}
        for name, points in curves.items()
    }
    data = {'title': title, 'kernel': 'triad', 'unit': 'GB/s', 'curves': found, **facts}
    path.write_text(json.dumps(data, indent=1) + '\n')
    return data


def draw(path):
    """PNG beside the exported points; needs matplotlib, and says so where there is none."""
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    path = pathlib.Path(path)
    data = json.loads(path.read_text())
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for name, curve in data['curves'].items():
        threads, gbs = zip(*curve['points'])
        (line,) = axes.plot(threads, gbs, marker='o', label=f'memory {name}')
        at = curve['saturation']
        axes.axvline(
            at[0],
            linestyle='--',
            linewidth=1,
            color=line.get_color(),
            label=f'{name}: {at[1]:.1f} GB/s from {at[0]} thread(s)',
        )
    axes.set(title=data['title'], xlabel='threads of the first NUMA domain', ylabel='Triad, GB/s')
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize='small')
    figure.text(0.02, 0.01, HOW_TO_READ, fontsize=8)
    figure.subplots_adjust(bottom=0.2)
    picture = path.with_suffix('.png')
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)
    return picture
