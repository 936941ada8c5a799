"""One line of results: read quickly, it says what Python's json says, and so do its problems."""

import json

import fleet_generator as gen
import pytest

from membw.results import record, shares

ROW = gen.records(gen.healthy(1, seed=1))[0]
VALUES = (  # as they may stand in a line
    'NaN', '-Infinity', '1e400', '-0', '1e5', '0.1234567890123456789', '9' * 25, f'-{"9" * 25}',
    '1' * 400, '1' * 5000, '9007199254740993', '5e-324', '01', '1.', '+1', '', 'nul', "'a'",
    '"\t"', r'"\ud800"', r'"\ud83d\ude00"', r'"\u0000"', '"ü\u2028"', '"\ud800"', r'"\x"',
    '1, "host": "b"', '[' * 900 + ']' * 900, '[' * 3000 + ']' * 3000, '1} {', '1 }\v', '1}\ufeff',
)  # fmt: skip


def told(line):
    """What is read of a line, to the type of each figure."""
    records, problems = record.read_lines([line], 'a')
    return repr(records), problems


@pytest.mark.parametrize('value', VALUES, ids=lambda value: ascii(value[:12]))
@pytest.mark.parametrize('name', ['threads', 'note', 'ntimes'])
def test_a_line_says_what_json_says(monkeypatch, name, value):
    record.expect(record.MUCH)
    assert record.quick is not json.loads, 'msgspec is not installed: nothing would be compared'
    line = json.dumps({**ROW, name: 'HERE'}).replace('"HERE"', value)
    lines = line, '\ufeff' + line, line[:-1], line.replace(' ', '')
    quickly = [told(line) for line in lines]
    monkeypatch.setattr(record, 'quick', json.loads)
    assert quickly == [told(line) for line in lines]


def test_msgspec_is_loaded_where_much_is_read(monkeypatch):
    """In one file or in many: it takes as long as json does for two MB."""
    monkeypatch.setattr(record, 'quick', json.loads)
    monkeypatch.setattr(record, 'expected', 0)
    line = json.dumps(ROW)
    for _ in range(record.MUCH // len(line)):
        shares.read_text(line, 'a')
        assert record.quick is json.loads
    shares.read_text(line, 'a')
    assert record.quick is not json.loads


def test_nodes_whose_memory_differs_by_some_mib_share_what_they_say():
    """A million records would else have a million descriptions: it differs from boot to boot."""
    rows = [{**ROW, 'facts': {**ROW['facts'], 'mem_total_mib': 2**18 + i / 4}} for i in range(9)]
    other = {**ROW, 'facts': {**ROW['facts'], 'mem_total_mib': 2**17}}
    records = [record.parse_record(row, 'a') for row in [*rows, other]]
    assert len({r.setting for r in records}) == 2
    assert [r.traits['memory_gib'] for r in records] == [256] * 9 + [128]


def test_threads_that_may_run_elsewhere_are_another_description():
    threads = ROW['threads_on']
    moved = [*threads[:-1], {**threads[-1], 'affinity': '0-3'}]
    seen = [*threads[:-1], {**threads[-1], 'cpus_seen': '7'}]
    one, other, same = (
        record.parse_record({**ROW, 'threads_on': t}, 'a') for t in (threads, moved, seen)
    )
    assert one.setting == same.setting != other.setting
    assert (one.traits['pinning'], other.traits['pinning']) == ('one CPU a thread', 'free')
