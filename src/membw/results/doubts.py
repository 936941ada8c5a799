"""What a figure's interval leaves open of its reference.

The checks load it with every session: it computes without arrays.
"""


def doubts(name, figure, unit, ends, bounds):
    """Where the ends of a figure's interval support neither PASS nor FAIL by the bounds of its
    reference (None: open), as text."""
    (low, high), (least, most) = ends, bounds
    said = f'{name} {figure:.4g}, {low:.4g} to {high:.4g} {unit}'
    if None not in bounds and high - low > most - least:
        yield f'{said}: wider than the tolerance, {least:.4g} to {most:.4g}'
    elif least is not None and figure < least <= high:
        yield f'{said}: it may be the {least:.4g} that the reference wants'
    elif most is not None and figure > most >= low:
        yield f'{said}: it may be the {most:.4g} that the reference lets pass'
