"""A year of a large fleet fits a login node: of an old record a few numbers are kept."""

import tracemalloc
from statistics import median_low

import made_up_records as made
import numpy as np
import pytest

from membw.history.nights import read_nights
from membw.moments import night_of
from membw.results import table
from membw.results.newest import OLD_S
from membw.results.record import seconds_of
from membw.results.table import read_table

NODES = 5
MOST_BYTES = 500  # of an old record; its figures alone are 2,000, its JSON object 20,000


@pytest.mark.parametrize(
    'read',
    [read_nights, lambda paths: read_nights(paths, OLD_S), lambda paths: read_table(paths, OLD_S)],
    ids=['history', 'report', 'rank'],
)
def test_memory_grows_by_a_few_numbers_per_record(tmp_path, monkeypatch, read):
    monkeypatch.setattr(table, 'KEPT', 0)
    peaks = []
    for nights in (20, 30, 90):  # the first loads what is loaded once
        file = str(made.write(tmp_path / 'r.jsonl', made.fleet(NODES, range(-nights, 0))))
        tracemalloc.start()
        read([file])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[2] - peaks[1]) / (60 * NODES) < MOST_BYTES


def test_a_copy_of_a_record_counts_once_however_many_lie_between(tmp_path, monkeypatch):
    monkeypatch.setattr(table, 'KEPT', 3)
    file = str(made.write(tmp_path / 'r.jsonl', made.fleet(NODES, range(-9, 0))))
    _, nights = read_nights([file, file])
    (runs,) = nights.runs.values()
    assert len(runs.node) == 9 * NODES


def test_the_numbers_are_those_of_the_records(tmp_path):
    """The lower median of a night, whatever the order; a metric that some do not have."""
    rows = made.fleet(3, (2, 0, 0.01, 0.02, 1))
    del rows[4]['metrics']['triad'], rows[0]['metrics']['copy']
    rows[1]['metrics']['copy']['bound'] = 'lower'
    _, nights = read_nights([str(made.write(tmp_path / 'r.jsonl', rows))])
    every = {series.figure.metric: series for series in nights.series()}
    assert set(every) == set(made.KERNELS) and nights.most == 3
    for metric, series in every.items():
        for i, node in enumerate(series.nodes):
            for j, night in enumerate(series.nights):
                values = [
                    row['metrics'][metric]['value']
                    for row in rows
                    if row['host'] == node and metric in row['metrics']
                    and 'bound' not in row['metrics'][metric]
                    and night_of(seconds_of(row['time'])) == night
                ]  # fmt: skip
                expected = median_low(values) if values else np.nan
                assert series.values[i, j] == pytest.approx(expected, nan_ok=True)
