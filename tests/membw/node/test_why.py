"""`membw why NODE`: one screen from records, by the table of `membw node`."""

import json

import made_up_nodes as made
import made_up_records as records
import pytest


@pytest.fixture
def why(stored, membw):
    def ask(rows, node, *words):
        status, *said = membw('why', node, stored(rows), *words)
        return status, ''.join(said)

    return ask


LOST = {'memory_channels': 7, 'mem_total_mib': 229_376}


def test_a_lost_channel_is_named_from_records_of_stream_alone(why):
    slow = records.stream(share=0.875)
    rows = [records.record('n099', 0.001 * i, slow, facts=LOST) for i in range(4)]
    status, said = why([*records.fleet(12), *rows], 'n099')
    assert status == 1
    for text in (
        'n099  FAIL (a memory module or channel is gone; ',
        '12 peers',
        'memory channels: 7, not 8; memory, GiB: 224.0, not 256.0',
        'UTC, the first record of it (',
        'next: reseat the module',
        'membw run --system thin -n stream%pinning=omp -p gcc-o2 --repeat=3 -J nodelist=n099',
    ):
        assert text in said


def test_a_battery_and_why_name_the_same_cause(why):
    planted, _ = made.PLANTED['fabric-clock']
    rows = [made.node(f'p{i}') for i in range(5)] + [made.node('n7', **planted)]
    status, said = why(rows, 'n7', '--json')
    found = json.loads(said)
    assert (status, found['word'], found['causes'][0]['name']) == (1, 'UNDECIDED', 'fabric-clock')
    status, said = why(rows, 'n999')
    assert status == 2 and "no record of node 'n999'" in said


def test_since_when_is_the_first_record_that_is_low_and_stays_so(why):
    days = [made.node('n7', day, {'rate': 0.8 if day in (2, 5, 6) else 1}) for day in range(6)]
    again = made.measured(4, 'n7', 6, shares={'rate': 0.8})
    peers = [made.node(f'p{i}', day=6) for i in range(5)]
    _, said = why([*peers, *days, *again], 'n7')
    assert f'Since: {made.made.when(5)[:10]}' in said and 'the first record' not in said
