"""Whatever bytes a line has, it is a record, or Damaged, which names the field."""

import json
import random

import made_up_nodes
import made_up_records as made
import pytest
from places import ROOT

from membw.results import record
from membw.results.record import evidence, read_record, read_records
from membw.results.table import read_table
from membw.strict import Damaged
from membw.words import WORST_FIRST

FLIPS = 1_700  # of each of nine records
HERE = 'array-too-small,too-short,oversubscribed,wrong-pinning,disturbed,unstable'
# a run that takes a second; the longest are ended by a signal, with what is complete
PROGRAMS = {
    'stream': '-n 1e5 -t 3', 'nbody': '--threads 1 --bodies 256 --rounds 6',
    'overheads': '--threads 1 --constructs parallel --pairs 6', 'pingpong': '--seconds 0.01',
    'tiers': '--array-mib 1 --rounds 3', 'dgemm': '-n 200 -t 1', 'ladder': '',
    'loaded': '--chain-mib 8',
}  # fmt: skip
FLAGS = {'dgemm': ['-O0', str(ROOT / 'tests/data/plain_dgemm.c')]}


@pytest.fixture(params=[*PROGRAMS, 'node'])
def line(request, build_program, run_program):
    if request.param == 'node':
        return json.dumps(made_up_nodes.node()).encode()
    program = build_program(request.param, *FLAGS.get(request.param, []))
    words = [*PROGRAMS[request.param].split(), '--allow', HERE]
    data = run_program(program, *words, before=('timeout', '-s', 'USR1', '2'))[2]
    del data['sha256']  # as of before there was one: it would find all that follows
    return json.dumps(data).encode()


def damages(line):
    """One bit each; then what disks and editors do to many bytes."""
    chance = random.Random(1)
    for _ in range(FLIPS):
        at, bit = chance.randrange(len(line)), 1 << chance.randrange(8)
        yield line[:at] + bytes([line[at] ^ bit]) + line[at + 1 :]
    for _ in range(FLIPS // 10):
        at, size = chance.randrange(len(line)), chance.randrange(1, 600)
        what = chance.choice([bytes(size), chance.randbytes(size), b'', b'[' * size, b'9' * size])
        yield line[:at] + what + line[at + size * chance.randrange(2) :]


def test_a_damaged_record_is_one_still_or_is_refused(line):
    read_record(line)
    refused = 0
    for text in damages(line):
        try:
            known, data = read_record(text), evidence(text)
            assert data['host'] == known.host and known.seconds and known.facts and known.build
        except Damaged as err:
            refused += 1
            assert str(err) and str(err).isprintable() and len(str(err)) < 300
    assert refused > FLIPS / 3


GOOD = json.dumps(made.record('n13'))
BIT = GOOD.encode().replace(b'"governor"', b'"gove\xf2nor"')
# what is wrong, and what is said of it
WRONG = {
    'a bit in a key': (BIT, "not UTF-8: byte 3665, after the key 'numa_balancing'"),
    'too large a number': (b'{"x": 1e999, ' + GOOD.encode()[1:], "Number out of range"),
    'a number of 5,000 digits': (b'{"x": ' + b'9' * 5000 + b', ' + GOOD.encode()[1:], "in 'x'"),
    'half of a surrogate': (GOOD.replace('Synthetic', r'\ud800').encode(), 'cpu_model'),
    'brackets': (GOOD.encode()[:-1] + b', "x": ' + b'[' * 100_000, 'not JSON'),
    'only zeros': (bytes(5000), 'not JSON'),
    'UTF-16': (GOOD.encode('utf-16'), 'not UTF-8'),
    'a control character': (GOOD.replace('Synthetic', '\x01').encode(), 'cpu_model'),
}  # fmt: skip


@pytest.mark.parametrize('wrong', WRONG)
def test_what_a_bit_did_is_said_with_its_field_and_stops_nobody(tmp_path, wrong):
    line, said = WRONG[wrong]
    file = made.write(tmp_path / 'r.jsonl', made.fleet(12))
    file.write_bytes(file.read_bytes() + line + b'\n')
    table = read_table([str(file)])
    (problem,) = table.problems
    assert problem.startswith(f'{file}:13: ') and said in problem
    assert len({f.node for f in table.figures}) == 12
    ahead = made.write(tmp_path / 'new.json', [made.record('n14', time='2099-01-01T00:00:00Z')])
    assert read_records(ahead)[0][0]['host'] == 'n14' and not read_table([str(ahead)]).figures
    records, problems = read_records(file, tmp_path / 'none')
    assert len(records) == 12 and problems == table.problems


@pytest.mark.parametrize('text', [
    '{"ok": false, "ok": true}', '{"ok" : false, "ok": true}', '{"ok"\t:false, "ok":true}',
    r'{"\u006fk": false, "ok": true}', r'{"ok": false, "ok": true, "x": "\u003a"}',
])  # fmt: skip
def test_a_key_that_is_given_twice_is_refused_however_it_is_written(text):
    line = json.dumps(made.record()).replace('{"ok": true', text[:-1])
    with pytest.raises(Damaged, match='given twice'):
        read_record(line.encode())


@pytest.mark.parametrize('low, value, high, bound, is_read', [
    (1, 2, 3, None, True), (2, 2, 2, None, True), (None, 2, None, None, True),
    (3, 2, 1, None, False), (1, 4, 3, None, False), (3, 2, 4, None, False),
    (None, 2, 1, None, False), (3, 2, None, None, False), (3, None, 1, None, False),
    (1, 4, 3, 'lower', True),  # a bound has no interval
])  # fmt: skip
def test_a_value_outside_of_its_interval_is_refused(low, value, high, bound, is_read):
    data = made.record()
    data['metrics']['triad'] |= {'low': low, 'value': value, 'high': high, 'bound': bound}
    line = json.dumps(data).encode()
    if is_read:
        assert read_record(line)
    else:
        with pytest.raises(Damaged, match="'low' <= 'value' <= 'high'"):
            read_record(line)


@pytest.mark.parametrize('day, word', [(0.0, 'MISSING'), (0.1, 'MISSING'), (-30, None)])
@pytest.mark.parametrize('node, is_new', [('n013', True), ('n005', False)])
def test_a_node_whose_newest_record_is_damaged_is_missing_by_name(
    tmp_path, membw, day, word, node, is_new
):
    line = json.dumps(made.record(node, day)).encode().replace(b'"governor"', b'"gove\xf2nor"')
    file = made.write(tmp_path / 'r.jsonl', made.fleet(12))
    file.write_bytes(line + b'\n' + file.read_bytes())
    word = word if is_new or day > 0 else None  # its good record is as new
    status, out, _ = membw('rank', file, '--node-check', tmp_path / 'check')
    (said,) = [x for x in (tmp_path / 'check').read_text().splitlines() if node in x] or ['']
    assert status == 1 and (
        f'{node} {word} its record is damaged: {file}:1: not UTF-8' in said
    ) == (word is not None)
    assert (f'{node} MISSING (its record is damaged' in out) == (word is not None)
    assert (f'node="{node}",verdict="MISSING"' in membw('export', file)[1]) == (word is not None)
    page = tmp_path / 'page.html'
    membw('report', file, '-o', page)
    assert ('All 1' in page.read_text()) == (word is None)


def test_a_word_of_an_earlier_membw_is_translated_and_of_a_newer_one_refused():
    for word, means in record.EARLIER_WORDS.items():
        own = read_record(json.dumps(made.record(word=word)).encode())
        assert own.word == means and means in WORST_FIRST
    with pytest.raises(Damaged, match="'word' is 'LATE': of a newer membw"):
        read_record(json.dumps(made.record(word='LATE')).encode())


def test_a_node_that_an_earlier_membw_called_slow_is_slow_still(tmp_path, membw):
    rows = [made_up_nodes.node(day=i, shares={'rate': 0.7}) | {'word': 'SLOW'} for i in range(8)]
    status, out, _ = membw('why', 'n1', made.write(tmp_path / 'r.jsonl', rows))
    assert status == 1 and 'FAIL' in out
