"""Nights of a fleet as numbers, without records: for what tries a rule of history many times."""

from datetime import date, timedelta

import numpy as np

from membw.history.nights import Nights, Series
from membw.results.figure import Figure

FIRST = date(2026, 5, 28)
KERNELS = ('copy', 'scale', 'add', 'triad')


class MadeUp(Nights):
    """Of rates, nodes x nights x metrics."""

    def __init__(self, rates: np.ndarray) -> None:
        super().__init__()
        self.rates = rates
        self.nights = {night: n for n, night in enumerate(days(rates.shape[1]))}

    def series(self):
        nodes, nights, metrics = self.rates.shape
        names = [f'n{i:04d}' for i in range(nodes)]
        builds = np.full((nodes, nights), -1)
        for kernel, values in zip(KERNELS[:metrics], np.moveaxis(self.rates, 2, 0), strict=True):
            yield Series(Figure(kernel, 1.0, 'GB/s'), names, days(nights), values, builds)


def days(nights: int) -> list[str]:
    return [(FIRST + timedelta(n)).isoformat() for n in range(nights)]


def normal(seed: int, nodes: int, nights: int, metrics: int = 1, noise: float = 0.005):
    """Rates of a clean fleet."""
    return 180 * (1 + noise * np.random.default_rng(seed).normal(0, 1, (nodes, nights, metrics)))
