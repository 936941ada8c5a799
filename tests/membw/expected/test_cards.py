"""`membw expect`: a card by its name, the maker's peak and where that was read."""

import json

import pytest

from membw.expected.sentence import lines_of
from membw.site import cpu_peak
from membw.site.card_peak import of_name

TABLE = cpu_peak.facts_of('cards')

# what OpenCL calls it, its memory there in GiB: the row's (name, GB, GB/s)
CALLED = {
    ('NVIDIA H200', 139.8): ('H200', 141, 4800),
    ('NVIDIA H100 80GB HBM3', 79.1): ('H100', 80, 3350),
    ('NVIDIA H100 PCIe', 79.1): ('H100 PCIe', 80, 2000),
    ('NVIDIA A100-SXM4-40GB', 39.4): ('A100', 40, 1555),
    ('NVIDIA A100-SXM4-80GB', 79.2): ('A100', 80, 2039),
    ('Tesla V100-SXM2-16GB', 15.8): ('V100', 16, 900),
    ('Tesla T4', 14.6): ('T4', 16, 320),
    ('NVIDIA L40S', 44.4): ('L40S', 48, 864),
    ('NVIDIA GeForce RTX 4090', 23.6): ('RTX 4090', 24, 1008),
    ('AMD Instinct MI300X', 192.0): ('MI300X', 192, 5300),
    ('AMD Instinct MI250X', 64.0): ('MI250X', 64, 1600),
}


def test_each_row_has_a_source_and_each_source_a_row():
    named = [row['source'] for row in TABLE['cards']]
    named += [row['triad'][1] for row in TABLE['cards'] if 'triad' in row]
    assert {*named} == {*TABLE['sources']} and len(TABLE['cards']) >= 30
    assert all(row['triad'][0] < row['gbs'] for row in TABLE['cards'] if 'triad' in row)


@pytest.mark.parametrize('called', CALLED, ids=lambda called: called[0])
def test_what_opencl_calls_a_card_is_found(called):
    (row,) = of_name(*called)
    assert (row['name'], row['gb'], row['gbs']) == CALLED[called]


@pytest.mark.parametrize('name', ['NVIDIA GeForce RTX 3060', 'pthread-Intel(R) Xeon(R)', '9654'])
def test_what_is_no_card_of_the_table_has_no_peak(name):
    assert of_name(name, 8) == []


def test_expect_prints_each_memory_of_a_name_and_where_it_was_read(membw):
    status, out, _ = membw('expect', 'A100')
    assert status == 0 and '2039' in out and '1555' in out
    assert 'glennklockwood-a100: https://' in out
    status, out, _ = membw('expect', 'mi300x', '--json')
    (row,) = json.loads(out)['tables'][0]['rows']
    assert status == 0 and row['peak_gbs'] == 5300 and row['triad_gbs'] == 3948.1


@pytest.mark.parametrize('share, bound, is_low', [
    (0.99, '', False), (0.96, '', True),  # of the lowest that was published
    (0.96, 'lower', False),  # of what it may be more than
])  # fmt: skip
def test_a_card_below_all_that_were_published_is_worth_a_look(share, bound, is_low):
    lowest = min(row['triad'][0] / row['gbs'] for row in TABLE['cards'] if 'triad' in row)
    record = {'device': {'name': 'NVIDIA H200', 'memory_mib': 143_155}}
    said = lines_of(record, share * lowest * 4800, bound)
    assert said.is_low == is_low and " % of the maker's peak of 4800 GB/s." in said.lines[0]
    assert len(said.lines) == 1 + is_low


def test_of_a_card_that_nobody_knows_nothing_is_said():
    said = lines_of({'device': {'name': 'X1'}}, 1.0)
    assert said == (["No maker's peak of 'X1' is known."], False)
