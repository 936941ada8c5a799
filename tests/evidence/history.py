"""On which morning a fall is said, how long it stays red, and how often a clean fleet alarms:
falls.csv, mornings.csv and calm.csv, of which docs/judging.md has a table.

python tests/evidence/history.py [fleets]     (200; half an hour)

Fleets are made up: four kernels, half of a run's variance common to them (judging.py has the
shapes of the noise).
"""

import csv
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'src'))
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / 'lib'))

import judging  # noqa: E402
from made_up_nights import MadeUp  # noqa: E402

from membw.history.changes import LEAST_FLEET, MARGIN, Change, find_changes  # noqa: E402
from membw.history.changes import _fleet as of_fleet  # noqa: E402
from membw.statistics.now_and_before import TONIGHT, Row, tonight  # noqa: E402

KERNELS = judging.KERNELS


def red(rates: np.ndarray) -> list[Change]:
    return [change for change in find_changes(MadeUp(rates))[0] if change.is_red]


def fleet(draw, rng, scale: float, nodes: int, nights: int, memory: float = 0.0) -> np.ndarray:
    noise = draw(rng, (nodes, nights, 1)) + draw(rng, (nodes, nights, len(KERNELS)))
    noise /= np.sqrt(2)
    for t in range(1, nights):
        noise[:, t] = memory * noise[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return 180 * np.maximum(1 + scale * noise, 0.01)


SHARES = {'one of 1': (1, 1), 'one of 8': (8, 1), 'half of 8': (8, 4), 'all of 8': (8, 8)}
BEFORE, AFTER = (7, 10, 14, 20, 28, 45, 60), (1, 6, 7, 10, 14, 20, 28, 45, 60)


def fallen(rng, share: str, loss: float, before: int, after: int, scale: float) -> np.ndarray:
    nodes, slow = SHARES[share]
    rates = fleet(judging.OWN['normal'], rng, scale, nodes, before + after)
    rates[:slow, before:] *= 1 - loss
    return rates


def red_after(share: str, loss: float, before: int, scale: float, fleets: int) -> list[str]:
    """% of fleets that are red so many nights after, and in which a STEP is so no more."""
    every, steps = [], []
    for seed in range(fleets):
        rates = fallen(np.random.default_rng(seed), share, loss, before, AFTER[-1], scale)
        kinds = [{change.kind for change in red(rates[:, : before + after])} for after in AFTER]
        every.append([bool(of) for of in kinds])
        steps.append(['STEP' in of for of in kinds])
    forgotten = np.any(np.diff(np.array(steps, int), axis=1) < 0, axis=1)
    return [f'{100 * share:.0f}' for share in [*np.mean(every, axis=0), np.mean(forgotten)]]


def morning(share: str, loss: float, scale: float, fleets: int) -> list[str]:
    """% said on the first morning; the morning on which nine of ten are said."""
    said = []
    for seed in range(fleets):
        rates = fallen(np.random.default_rng(seed), share, loss, 30, 14, scale)
        nights = (n for n in range(1, 15) if red(rates[:, : 30 + n]))
        said.append(next(nights, 99))
    return [
        f'{100 * np.mean(np.array(said) == 1):.0f}',
        f'{np.percentile(said, 90, method="higher"):.0f}',
    ]


def clean(draw, scale: float, nodes: int, fleets: int, memory: float = 0.0) -> list[str]:
    """% of fleets with TONIGHT on any of 40 mornings; of all mornings; of fleets with a STEP or
    DRIFT."""
    mornings, lasting = [], []
    for seed in range(fleets):
        rates = fleet(draw, np.random.default_rng(seed), scale, nodes, 40, memory)
        parts = []
        for values in np.moveaxis(rates, 2, 0):
            own, taken_off = of_fleet(values) if nodes >= LEAST_FLEET else (None, 1.0)
            parts += [values / taken_off, *([own[None, :]] if own is not None else [])]
        mornings.append([any(map(is_low, parts, itertools.repeat(n))) for n in range(1, 41)])
        changes = find_changes(MadeUp(rates))[0]
        lasting.append(any(change.is_worse and change.kind != TONIGHT for change in changes))
    fractions = np.any(mornings, axis=1).mean(), np.mean(mornings), np.mean(lasting)
    return [f'{100 * fraction:.3g}' for fraction in fractions]


def is_low(part: np.ndarray, nights: int) -> bool:
    """Any of the rows, on the morning after so many nights."""
    places = np.arange(nights)
    return any(tonight(Row(row[:nights], places), MARGIN, len(part)) for row in part)


def falls(fleets: int) -> Iterator[list]:
    columns = [f'red_after_{n}_pct' for n in AFTER]
    yield ['low', 'loss_pct', 'nights_before', *columns, 'forgotten_pct']
    for share, loss, before in itertools.product(SHARES, (0.03, 0.05, 0.15), BEFORE):
        yield [share, f'{100 * loss:g}', before, *red_after(share, loss, before, 0.005, fleets)]


def mornings(fleets: int) -> Iterator[list]:
    yield ['low', 'loss_pct', 'sd_pct', 'first_morning_pct', 'nine_of_ten_by_morning']
    for share, loss, scale in itertools.product(SHARES, (0.03, 0.05, 0.15, 0.3), (0.005, 0.01)):
        yield [share, f'{100 * loss:g}', f'{100 * scale:g}', *morning(share, loss, scale, fleets)]


def calm(fleets: int) -> Iterator[list]:
    yield ['noise', 'nodes', 'sd_pct', 'fleets_pct', 'mornings_pct', 'lasting_pct']
    shapes = {**judging.OWN, **judging.AFTER}
    sizes = itertools.product((0.005, 0.01, 0.02), (1, 8, 63))
    cells = [('normal', scale, nodes, 0.0) for scale, nodes in sizes]
    cells += [(name, 0.01, 8, 0.0) for name in shapes if name != 'normal']
    cells += [('normal', 0.01, nodes, memory) for memory in (0.5, 0.8, 0.95) for nodes in (1, 8)]
    for name, scale, nodes, memory in cells:
        of = f'{name}, nights correlate by {memory}' if memory else name
        many = fleets if nodes < 63 else max(fleets // 4, 1)
        found = clean(shapes[name], scale, nodes, many, memory)
        yield [of, nodes, f'{100 * scale:g}', *found]


def main(fleets: int) -> None:
    few = max(fleets // 10, 1)
    for name, lines in {
        'falls': falls(few),
        'mornings': mornings(few),
        'calm': calm(fleets),
    }.items():
        with (Path(__file__).parent / f'{name}.csv').open('w') as file:
            csv.writer(file, lineterminator='\n').writerows(lines)


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
