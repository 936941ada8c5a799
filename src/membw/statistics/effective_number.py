"""How many independent questions several figures of the same nights are.

N. Galwey, Genet. Epidemiol. 33 (2009), of the eigenvalues of their correlations, as Bonferroni's
correction for alike figures; N. Blomqvist's quadrant correlation, Ann. Math. Stat. 21 (1950), of
what they do from night to night, which few bad nights do not make alike.
"""

import numpy as np

SAMPLE = 100  # rows tell enough
ROWS = 5  # from which on what all of them do in a night is taken off
WEIGHT = 20  # differences of nights that are taken to be independent, before looking


def effective_number(rates):
    """From 1, all alike, to the number of figures; `rates`: figures x rows x nights, or NaN."""
    if len(rates) < 2:
        return float(len(rates))
    with np.errstate(invalid='ignore', divide='ignore'):
        moved = np.diff(np.log(rates[:, :: max(1, rates.shape[1] // SAMPLE)]))
    if moved.shape[1] >= ROWS:
        moved = moved - _medians(moved)
    signs = np.nan_to_num(np.sign(moved).reshape(len(rates), -1))
    together, known = signs @ signs.T, np.abs(signs) @ np.abs(signs).T
    alike = np.sin(np.pi / 2 * together / (known + WEIGHT))
    np.fill_diagonal(alike, 1.0)
    eigenvalues = np.maximum(np.linalg.eigvalsh(alike), 0)
    return float(np.sqrt(eigenvalues).sum() ** 2 / eigenvalues.sum())


def _medians(moved):
    """Of each figure and night, over the rows; 0 where no row has one."""
    there = ~np.isnan(moved).all(axis=1)
    medians = np.zeros((len(moved), 1, moved.shape[2]))
    for figure, known in enumerate(there):
        medians[figure, 0, known] = np.nanmedian(moved[figure][:, known], axis=0)
    return medians
