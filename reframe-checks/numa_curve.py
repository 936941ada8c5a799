"""The curve of a NUMA scan: its points as a file and a picture; nothing is measured here."""

import json
import pathlib

SATURATED = 0.95  # of the best point; a convention of this project


def saturation(points):
    """The fewest threads that reach 95 % of the best: [(threads, GB/s)] -> (threads, GB/s)."""
    best = max(gbs for _, gbs in points)
    return min((threads, gbs) for threads, gbs in points if gbs >= SATURATED * best)


def export(path, title, curves, facts):
    """{memory: [(threads, GB/s)]} as JSON, with a picture beside it: the path of that."""
    from membw.report.numa import save  # the plotting library takes a second to load

    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    ends = {name: saturation(points) for name, points in curves.items()}
    shown = {name: {'points': p, 'saturation': ends[name]} for name, p in curves.items()}
    data = {'title': title, 'kernel': 'triad', 'unit': 'GB/s', 'curves': shown, **facts}
    path.write_text(json.dumps(data, indent=1) + '\n')
    drawn = {
        name: {'kernel': 'triad', 'points': points, 'saturation': ends[name][0]}
        for name, points in curves.items()
    }
    save(path.with_suffix('.png'), title, drawn)
    return path.with_suffix('.png')
