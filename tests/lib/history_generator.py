"""Synthetic histories with planted changes, from a seed: what `membw history` must find."""

import numpy as np

from membw.history.series import Series

KERNELS = ('copy', 'scale', 'add', 'triad')
RELATIVE = np.array([0.92, 0.93, 0.99, 1.0])  # of triad
FIRST = 20_000  # days since 1970: 2024-10-04
MADE = {
    'compiler': 'gcc 12.2.0',
    'source_sha256': 'a' * 64,
    'kernel_release': '5.14.0-427',
    'microcode': '0x2b000603',
    'thp': 'madvise',
    'array_size': '800000000',
}


def healthy(nodes, nights, seed, noise=0.005, kernels=KERNELS, common=0.001, absent=0.0):
    """Nodes differ by 0.5 %, each night by `noise`, all nodes together by `common`."""
    rng = np.random.default_rng(seed)
    shape = len(kernels), nodes, nights
    logs = np.log(320 * RELATIVE[: len(kernels)])[:, None, None]
    logs = logs + rng.normal(0, 0.005, (1, nodes, 1)) + rng.normal(0, common, (1, 1, nights))
    logs = logs + rng.normal(0, noise, shape)
    rates = np.exp(logs)
    made = np.zeros((nodes, nights), dtype=np.int32)
    if absent:
        gone = rng.random((nodes, nights)) < absent
        rates[:, gone], made[gone] = np.nan, -1
    return Series(
        'synthetic:node stream gcc-o2 likwid', tuple(kernels),
        [f'n{i + 1:05d}' for i in range(nodes)], FIRST + np.arange(nights), rates, made, [MADE],
    )  # fmt: skip


def step(series, node, night, share):
    """From `night` on slower by `share`; node: a number, or slice(None) for the fleet."""
    series.rates[:, node, night:] *= 1 - share


def noisier(series, seed, kind, noise=0.005):
    """Noise that is not normal: now and then far off, or like that of the night before."""
    rng = np.random.default_rng(seed)
    if kind == 'heavy':
        found = noise * rng.standard_t(3, series.rates.shape)
    else:
        found = rng.normal(0, noise * np.sqrt(0.75), series.rates.shape)
        for night in range(1, found.shape[2]):
            found[..., night] += 0.5 * found[..., night - 1]
    series.rates *= np.exp(found)


def drift(series, node, night, nights, share):
    """Slower by `share` in equal parts over `nights`, and then it stays so."""
    after = np.arange(series.rates.shape[2]) - night
    series.rates[:, node] *= 1 - share * np.clip(after / nights, 0, 1)


def outliers(series, seed, chance=0.01, share=0.10):
    """One bad night now and then, any node: a neighbour's job, a patrol scrub."""
    rng = np.random.default_rng(seed)
    hit = rng.random(series.rates.shape[1:]) < chance
    hit[:, 1:] &= ~hit[:, :-1]  # one-off
    series.rates[:, hit] *= 1 - share


def week_off(series, night):
    series.rates[:, :, night : night + 7] = np.nan
    series.software[:, night : night + 7] = -1


def update(series, nodes, night, **fields):
    """Other software on `nodes` from `night` on."""
    series.provenances.append({**series.provenances[0], **fields})
    made = series.software[nodes, night:]
    series.software[nodes, night:] = np.where(made < 0, -1, len(series.provenances) - 1)


def truncated(series, nights):
    """As it was known after so many nights."""
    return Series(
        series.label, series.kernels, series.nodes, series.nights[:nights],
        series.rates[:, :, :nights], series.software[:, :nights], series.provenances,
    )  # fmt: skip
