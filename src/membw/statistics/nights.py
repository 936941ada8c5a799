"""Which night a run belongs to: runs of one night share what a night does to a machine."""

import numpy as np

NIGHT_S = 12 * 3600.0  # midnight, in whatever zone, must not cut a series of runs in two


def night_numbers(times):
    """0, 1, ... for each time: a night is what begins within 12 hours of its first run."""
    times = np.asarray(times, dtype=float)
    numbers, begun, night = np.zeros(len(times), dtype=int), None, -1
    for i in np.argsort(times, kind='stable'):
        if begun is None or times[i] - begun >= NIGHT_S:
            begun, night = times[i], night + 1
        numbers[i] = night
    return numbers


def nights_of(protocol, repetitions):
    """Over how many nights an acceptance protocol spreads a test of so many runs."""
    return min(protocol['runs'].get('nights', 1), repetitions)
