"""A figure whose own interval supports neither PASS nor FAIL is INVALID (unstable)."""

import pytest

from membw.results.doubts import doubts


@pytest.mark.parametrize('figure, ends, bounds', [
    (100, (99, 101), (95, 110)),  # PASS, and sure
    (80, (79, 82), (95, 110)),  # FAIL, and sure
    (96, (94, 97), (95, 110)),  # the reference's tolerance has room for a PASS at its edge
    (100, (50, 150), (None, None)),  # held to nothing
    (100, (50, 150), (40, None)),
])  # fmt: skip
def test_a_figure_that_its_interval_supports_is_judged(figure, ends, bounds):
    assert list(doubts('triad', figure, 'GB/s', ends, bounds)) == []


@pytest.mark.parametrize('figure, ends, bounds, said', [
    (100, (90, 110), (95, 110), 'wider than the tolerance'),
    (94, (92, 96), (95, 110), 'it may be the 95'),
    (111, (109, 112), (95, 110), 'it may be the 110'),
    (94, (92, 96), (95, None), 'it may be the 95'),
])  # fmt: skip
def test_neither_pass_nor_fail_is_said_with_figure_and_interval(figure, ends, bounds, said):
    (text,) = doubts('triad', figure, 'GB/s', ends, bounds)
    assert said in text and text.startswith(f'triad {figure}, {ends[0]} to {ends[1]} GB/s')
