"""Tables for people and programs, colours, progress with the time left."""

import io
import json

import pytest

from membw import tables
from membw.progress import Cases, duration
from membw.tables import Cell, Column, Table

COLUMNS = (
    Column('node', 'node'),
    Column('triad', 'Triad', True),
    Column('share', '% of peak', True, True),
    Column('verdict', 'verdict'),
)
TABLE = Table(
    'nodes of x',
    COLUMNS,
    [['n1', Cell(150.25, '150.2'), None, 'PASS'], ['n|2', Cell(None, '-'), None, 'INVALID']],
)
PAGE = ['', TABLE, 'Verdict: INVALID: 1 of 2']


def test_people_read_aligned_columns_without_those_that_nothing_is_in():
    assert tables.as_text(PAGE).splitlines() == [
        '',
        'nodes of x',
        '  node  Triad  verdict',
        '  n1    150.2  PASS',
        '  n|2       -  INVALID',
        'Verdict: INVALID: 1 of 2',
    ]


def test_programs_read_values_and_none_where_a_figure_is_invalid():
    found = json.loads(tables.as_text(PAGE, is_json=True))
    assert found['tables'][0]['rows'][1] == {
        'node': 'n|2',
        'triad': None,
        'share': None,
        'verdict': 'INVALID',
    }
    assert found['notes'] == ['Verdict: INVALID: 1 of 2']


def test_text_of_others_moves_no_cursor_and_ends_no_line():
    text = tables.as_text([Table('t', (Column('a', 'a'),), [['x\x1b[2J\ny']])])
    assert text.count('\n') == 2 and '\x1b' not in text


def test_a_verdict_has_its_colour_and_the_width_stays():
    plain, painted = tables.as_text(PAGE), tables.as_text(PAGE, colour=True)
    assert '\x1b[32mPASS\x1b[0m' in painted and 'Verdict: \x1b[33mINVALID\x1b[0m' in painted
    for code in ('\x1b[32m', '\x1b[33m', '\x1b[1m', '\x1b[0m'):
        painted = painted.replace(code, '')
    assert painted == plain


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    'variables, coloured',
    [({}, True), ({'NO_COLOR': '1'}, False), ({'NO_COLOR': ''}, True), ({'TERM': 'dumb'}, False)],
)
def test_who_asks_for_no_colour_is_heard(monkeypatch, variables, coloured):
    for name in ('NO_COLOR', 'TERM'):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert tables.is_coloured(Terminal()) == coloured
    assert not tables.is_coloured(io.StringIO())


def test_a_run_says_which_case_of_how_many_and_how_long_yet():
    now = [0.0]
    cases = Cases(clock=lambda: now[0])
    began = cases.take('[ RUN      ] stream_binary ~a:b+gcc /1234 @a:b+gcc')
    assert began == 'build of stream gcc'
    for number in range(1, 4):
        now[0] = 40.0 * number
        assert cases.take(f'[       OK ] ( {number}/12) stream /12 @a:b+gcc') is None
    said = cases.take('[ RUN      ] stream %pinning=omp /99 @a:b+gcc')
    assert said == '4 of 12, about 6 min left: stream gcc omp'
    assert [duration(s) for s in (5, 100, 9000)] == ['5 s', '2 min', '2.5 h']
