"""A long text is read by several processes: what they say is what one says."""

import json

import fleet_generator as gen
import history_generator
import pytest
import results_store

from membw import processes
from membw.results import record, reframe, shares


@pytest.fixture
def several(monkeypatch):
    """Processes, for texts of any length."""
    monkeypatch.setattr(processes.os, 'sched_getaffinity', lambda _: set(range(5)))
    monkeypatch.setattr(shares, 'LEAST', 1)


def lines(number):
    rows = gen.records(gen.healthy(number, seed=1, ranks=2))
    return [json.dumps(row) for row in rows]


def alone(text, name, first=1):
    records, problems = record.read_lines(text.split('\n'), name, first)
    return records, record.told(problems, name)


@pytest.mark.parametrize('first', [1, 1000])
def test_several_processes_say_what_one_says(several, first):
    good = lines(40)
    bad = ['', '{', '{"schema": "membw-record-2"}', '   ', 'ü' * 3000, good[3].replace('16', '-1')]
    rows = [line for i, row in enumerate(good) for line in (row, bad[i % len(bad)])]
    for text in ('\n'.join(rows), '\n'.join(rows) + '\n', '\r\n'.join(rows), '\n' + good[0]):
        assert shares.read_text(text, 'a.jsonl', first) == alone(text, 'a.jsonl', first)


def test_a_line_longer_than_a_share_is_read_once(several):
    long = json.dumps(json.loads(lines(1)[0]) | {'note': 'x' * 200_000})
    for text in (
        long,
        f'{long}\n{long}\n',
        f'{lines(1)[0]}\n{long}',
        f'{long}\n\n\n{lines(1)[0]}',
    ):
        assert shares.read_text(text, 'a', 1) == alone(text, 'a')


def test_of_many_bad_lines_as_many_are_told(several):
    text = '\n'.join(['{'] * 1000)
    records, problems = shares.read_text(text, 'a', 1)
    assert (records, problems) == alone(text, 'a')
    assert problems[-1] == 'a: and 900 more lines that cannot be read'


def test_what_all_records_say_alike_is_one_object(several):
    """Whoever asks a million records for their setting works it out once."""
    text = '\n'.join(lines(30))
    records = shares.read_text(text, 'a', 1)[0] + shares.read_text(text, 'b', 1)[0]
    contents = {json.dumps((r.traits, r.provenance)) for r in records}
    assert len({r.setting for r in records}) == len(contents)


@pytest.mark.parametrize('length, processes_used', [(600, False), (6000, True)])
def test_long_lines_alone_are_shared(monkeypatch, length, processes_used):
    """What shorter ones hold took 40 % more CPU to hand over, and no less time."""
    monkeypatch.setattr(processes.os, 'sched_getaffinity', lambda _: {0, 1})
    used = []
    each = processes.each
    monkeypatch.setattr(processes, 'each', lambda *args: used.append(1) or each(*args))
    line = json.dumps({'note': 'x' * length}) + '\n'
    text = line * (2 * shares.LEAST // len(line) + 2)
    assert shares.read_text(text, 'a', 1) == alone(text, 'a')
    assert bool(used) == processes_used


def test_so_do_the_cases_of_a_report():
    nights = history_generator.healthy(5, 6, seed=1)
    history_generator.update(nights, slice(2), 3, compiler='gcc 13.1')
    cases = [case for of_night in results_store.sessions_of(nights) for case in of_night]
    records, problems = reframe.read_session(results_store.report(0, cases), 'a report')
    contents = {(*r.traits.items(), *r.provenance.items()) for r in records}
    assert len(records) == 30 and not problems and len(contents) > 1
    assert len({r.setting for r in records}) == len(contents)
    assert all(r.provenance['compiler'] == c['compiler'] for r, c in zip(records, cases))
