"""Tables for people and programs, colours, progress with the time left."""

import io
import json
import re

import pytest

from membw import tables
from membw.printable import amount, print_in_locale, signed
from membw.tables import Cell, Column, Table

COLUMNS = (
    Column('node', 'node'), Column('triad', 'Triad', True),
    Column('share', '% of peak', True, True), Column('verdict', 'verdict'),
)  # fmt: skip
ROWS = [['n1', Cell(150.25, '150.2'), None, 'PASS'], ['n|2', Cell(None, '-'), None, 'INVALID']]
TABLE = Table('nodes of x', COLUMNS, ROWS)
PAGE = ['', TABLE, 'Verdict: INVALID: 1 of 2']


def test_people_read_aligned_columns_and_programs_values():
    assert tables.as_text(PAGE).splitlines() == [
        '',
        'nodes of x',
        '  node  Triad  verdict',  # without columns that nothing is in
        '  n1    150.2  PASS',
        '  n|2       -  INVALID',
        'Verdict: INVALID: 1 of 2',
    ]
    found = json.loads(tables.as_text(PAGE, is_json=True))
    row = {'node': 'n|2', 'triad': None, 'share': None, 'verdict': 'INVALID'}
    assert found['tables'][0]['rows'][1] == row
    assert found['notes'] == ['Verdict: INVALID: 1 of 2']


def test_a_verdict_has_its_colour_and_the_width_stays():
    plain, painted = tables.as_text(PAGE), tables.as_text(PAGE, colour=True)
    assert '\x1b[32mPASS\x1b[0m' in painted and 'Verdict: \x1b[33mINVALID\x1b[0m' in painted
    assert re.sub('\x1b.*?m', '', painted) == plain


NAMES = ('copy', 'scale', 'add', 'triad')
RATES = [Column(name, name, True) for name in NAMES]
WIDE = Table(
    'rates', (Column('preset', 'preset'), *RATES, Column('reason', '', optional=True)),
    [['gcc-o2', '≥ 10.1', '≥ 11.1', '≥ 12.1', '≥ 13.1', 'n' * 99], ['clang', *'1234', '']],
    below='reason',
)  # fmt: skip


@pytest.mark.parametrize('columns, head, parts', [
    (100, 'preset    copy   scale     add   triad', 1),
    (38, 'preset   copy  scale    add  triad', 1),
    (30, 'preset    copy   scale', 2),
])  # fmt: skip
def test_a_table_fits_the_columns_and_loses_nothing(monkeypatch, columns, head, parts):
    monkeypatch.setenv('COLUMNS', str(columns))
    text = tables.as_text([WIDE], colour=False)
    lines = text.splitlines()
    assert lines[1].strip() == head and text.count('preset') == parts
    assert max(map(len, lines)) <= columns and text.count('nnn...') == 1
    assert all(figure in text for figure in ('10.1', '11.1', '12.1', '13.1'))


def test_a_text_at_the_end_of_a_row_is_broken_and_the_table_is_one(monkeypatch):
    monkeypatch.setenv('COLUMNS', '60')
    columns = tables.Column('node', 'node'), tables.Column('why', 'why')
    rows = [['n001', 'word ' * 20], ['n002', 'short']]
    lines = tables.as_text([tables.Table('', columns, rows)], colour=False).splitlines()
    assert lines[0].split() == ['node', 'why'] and lines[-1] == '  n002  short'
    assert lines[1].startswith('  n001  word') and lines[2].startswith('        word')
    assert max(map(len, lines)) <= 60 and ' '.join(lines).count('word') == 20


@pytest.mark.parametrize('variables, sign', [
    ({'LANG': 'de_DE.UTF-8'}, '≥ 10.1'),
    ({'LC_ALL': 'C', 'LANG': 'de_DE.UTF-8'}, '>= 10.1'),
    ({}, '>= 10.1'),
    ({'LANG': 'C', 'LC_CTYPE': 'C.UTF-8'}, '>= 10.1'),
], ids=str)  # fmt: skip
def test_signs_are_utf8_only_where_the_locale_is(monkeypatch, capsys, variables, sign):
    for name in ('LC_ALL', 'LC_CTYPE', 'LANG'):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert f'  {sign}' in tables.as_text([WIDE], colour=False)
    out = io.TextIOWrapper(io.BytesIO(), encoding='utf-8')
    monkeypatch.setattr('sys.stdout', out)
    print_in_locale()
    print('≥ 10.1 of Jülich', flush=True)
    assert out.buffer.getvalue().decode() == f'{sign} of Jülich\n'


def test_a_number_has_no_exponent_and_nothing_has_no_sign():
    given = 11_460.4, 1e-5, -1.23e-7, 0.0
    assert [amount(x) for x in given] == ['11460', '0.00001', '-0.000000123', '0']
    assert [signed(x, '+.1%') for x in (0.031, -0.031, -0.0001, 0.0)] == [
        '+3.1%', '-3.1%', '0.0%', '0.0%'
    ]  # fmt: skip


@pytest.mark.parametrize('columns, most', [('80', 80), ('200', 100), ('40', 40), (None, 4000)])
def test_a_sentence_ends_where_the_screen_does_and_a_command_is_never_broken(
    monkeypatch, columns, most
):
    monkeypatch.delenv('COLUMNS', raising=False)
    if columns:
        monkeypatch.setenv('COLUMNS', columns)
    sentence, command = '  n1 FAIL ' + 'some words ' * 30, tables.Command('membw run ' + 'n' * 300)
    *lines, last = tables.as_text([sentence, command]).splitlines()
    assert last == command and all(len(line) <= most for line in lines)
    assert ' '.join(' '.join(lines).split()) == ' '.join(sentence.split())
    assert len(lines) == 1 if columns is None else len(lines) > 3
