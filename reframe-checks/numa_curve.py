"""The curve of a NUMA scan: from its exported points to a picture; nothing is measured here."""

import json
import pathlib

SATURATED = 0.95  # of the best point; a convention of this project


def saturation(points):
    """The fewest threads that reach 95 % of the best: [(threads, GB/s)] -> (threads, GB/s)."""
    best = max(gbs for _, gbs in points)
    return min((threads, gbs) for threads, gbs in points if gbs >= SATURATED * best)


def export(path, title, curves, facts):
    """The points as JSON; the picture and any later report read only this file."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    shown = {
        name: {'points': points, 'saturation': saturation(points)}
        for name, points in curves.items()
    }
    data = {'title': title, 'kernel': 'triad', 'unit': 'GB/s', 'curves': shown, **facts}
    path.write_text(json.dumps(data, indent=1) + '\n')
    return data


def draw(path):
    """PNG beside the exported points."""
    from membw.report.numa import save  # the plotting library takes a second to load

    path = pathlib.Path(path)
    data = json.loads(path.read_text())
    curves = {
        memory: {'kernel': data['kernel'], 'points': curve['points'],
                 'saturation': curve['saturation'][0]}
        for memory, curve in data['curves'].items()
    }  # fmt: skip
    picture = path.with_suffix('.png')
    save(picture, data['title'], curves)
    return picture
