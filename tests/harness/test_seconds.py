"""Seconds are promises, also for two cores of a socket that declares all of its caches."""

import pytest
from quick_runs import quick


@pytest.mark.alone
@pytest.mark.parametrize('program, words', [
    ('stream', {'limit_s': 10, 'options': ()}), ('loaded', {}),
    ('ladder', {'metric': 'l1_latency'}), ('tiers', {}),
])  # fmt: skip
def test_a_program_ends_when_it_says(program, words):
    took, said, record = quick(program, **words)
    assert took[-1] < 1.1 * words.get('limit_s', 5), (took, said)
    if record['residency']['known'] == 'proven':
        assert record['residency']['bytes'] < 3 * 4 * 480 * 2**20
