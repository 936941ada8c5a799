"""The table of `membw bench` as a picture, drawn from the JSON that it exported."""

import json
import pathlib

HOW_TO_READ = (
    'Bar: median of the paired ratios of a round; line: quartiles. 1 = {base}.\n'
    'Right of 1 is faster by the same memory: what differs is how the program uses it.'
)


def draw(path):
    """Draw the JSON at PATH to the same name with .png; returns the picture's path."""
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    data = json.loads(pathlib.Path(path).read_text())
    table = data['table'][::-1]
    names = [row['program'] for row in table]
    figure, panels = pyplot.subplots(
        1, 4, sharey=True, figsize=(13, 1.6 + 0.36 * len(names)), layout='constrained'
    )
    for axes, kernel in zip(panels, ('copy', 'scale', 'add', 'triad')):
        panel(axes, kernel, table)
    panels[0].set_yticks(range(len(names)), names)
    machine = data['machine']
    figure.suptitle(
        f'{machine["cpu_model"]}, {machine["threads"]} threads, {data["array_size"]} elements an '
        f'array, {data["rounds_used"]} rounds, {data["time"][:10]}',
        fontsize='medium',
    )
    figure.supxlabel(
        HOW_TO_READ.format(base=data['reference']), fontsize='small', x=0.01, ha='left'
    )
    picture = pathlib.Path(path).with_suffix('.png')
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)
    return picture


def panel(axes, kernel, table):
    axes.set_title(kernel.capitalize())
    axes.axvline(1, color='0.4', linewidth=1)
    for place, row in enumerate(table):
        found = row[kernel]
        if not found:
            continue
        spread = [[found['median'] - found['low']], [found['high'] - found['median']]]
        axes.barh(
            place, found['median'], xerr=spread, height=0.7, color=colour(row['program']),
            error_kw={'linewidth': 1, 'capsize': 2},
        )  # fmt: skip
        axes.annotate(
            f'{found["median"]:.2f}', (0, place), xytext=(4, 0), textcoords='offset points',
            va='center', fontsize='small', color='white',
        )  # fmt: skip
    axes.grid(axis='x', alpha=0.3)
    axes.set_axisbelow(True)


def colour(program):
    """One colour for each program, whoever compiled it."""
    colours = {'stream.c': '#5b7083', 'membw': '#1f6f54', 'likwid-bench': '#8a5a2b'}
    return colours.get(program.split(',')[0], '#6b4a86')
