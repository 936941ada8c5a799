"""Reasons that forty rows of a table have alike: told in full once, for people."""

import re

from membw.run.rows import REASONS
from membw.tables import Cell

# what is another one from row to row where the matter is the same: numbers, and which kernel
NUMBER, KERNEL = re.compile(r'\d[\d.]*'), re.compile(r'\((\w+): ')


def told_once(rows):
    """The rows of a table, the last cell of each its reason; what is that of a row above but for
    numbers is its names alone."""
    told = set()
    for row in rows:
        why = str(row[-1])
        matter = NUMBER.sub('#', KERNEL.sub('(', why))
        names = REASONS.findall(why)
        if names and matter in told:
            row = [*row[:-1], Cell(why, f'{", ".join(names)} (as above)')]
        told.add(matter)
        yield row
