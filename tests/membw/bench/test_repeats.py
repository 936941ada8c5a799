"""The part repeats of `membw bench`: what of consecutive runs agrees, from made-up runs."""

import math

import pytest

from membw.bench import repeats
from membw.tables import as_text


def run(figure, half=None, valid=True, seconds=1.0, nearest=()):
    low, high = (figure - half, figure + half) if half else (None, None)
    return {'figure': figure, 'low': low, 'high': high, 'valid': valid, 'reasons': [],
            'metrics': {'triad': (figure, low, high)}, 'nearest_ns': nearest,
            'seconds': seconds}  # fmt: skip


def test_a_pair_between_which_the_cores_were_moved_is_counted_apart():
    near, far = (28, 29), (125, 125)
    runs = [run(43.0, 1.3, nearest=near), run(43.5, 1.3, nearest=near), run(65.0, 2, nearest=far),
            run(64.0, 2, nearest=(125, 28)), run(43.0, 1.3, nearest=near)]  # fmt: skip
    found = repeats.summary(runs)
    assert (found['pairs'], found['moved'], found['next_in_interval']) == (1, 3, 1)


def test_pairs_within_three_per_cent_or_within_a_stated_interval_agree():
    found = repeats.summary([run(40.0, 0.1), run(39.0, 0.1), run(30.0, 10.0), run(31.5, 0.1)])
    assert found['pairs'] == 3
    assert found['within'] == pytest.approx(1 / 3)
    assert found['within_or_interval'] == 1
    assert found['next_in_interval'] == pytest.approx(1 / 3)
    assert (found['least'], found['median'], found['most']) == (30.0, 35.25, 40.0)


def test_an_invalid_run_is_in_no_pair_and_no_figure():
    found = repeats.summary([run(40.0), run(10.0, valid=False), run(40.0), run(40.0)])
    assert (found['valid'], found['pairs'], found['within'], found['least']) == (3, 1, 1, 40.0)


def test_without_a_pair_there_is_no_share():
    found = repeats.summary([run(40.0), run(10.0, valid=False)])
    assert found['within'] is None
    assert str(repeats.cells({'program': 'ours', **found})[4]) == '-'


def test_programs_go_in_turn_and_stream_c_is_left_out_with_the_reason(monkeypatch):
    begun = []
    monkeypatch.setattr(repeats, 'run', lambda name, words: begun.append(name) or run(40.0))
    both = {'membw': ['a'], 'stream.c': ['b']}
    monkeypatch.setattr(repeats, 'programs', lambda size, path: (both, []))
    repeats.repeats(lambda *_, **__: None, 1000, runs=2)
    assert begun == ['membw', 'stream.c', 'stream.c', 'membw']
    ours = {'membw': ['a']}, ['row of stream.c: no']
    monkeypatch.setattr(repeats, 'programs', lambda *_: ours)
    shown = as_text(repeats.blocks(repeats.repeats(lambda *_, **__: None, 1000, runs=2)))
    assert 'left out: row of stream.c: no' in shown and '2 of 2' in shown


def test_the_figure_and_interval_of_a_record_are_in_gb_per_s():
    metric = {
        'value': 40000.0,
        'low': 39000.0,
        'high': 40100.0,
        'unit': 'MB/s',
        'better': 'higher',
    }
    found = repeats.told({'metrics': {'triad': metric}, 'verdict': 'VALID', 'reasons': []})
    assert (found['figure'], found['low'], found['high'], found['valid']) == (40, 39, 40.1, True)
    assert math.isclose(found['high'], 40.1)
