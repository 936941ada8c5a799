"""Tables for people and programs, colours, progress with the time left."""

import json

from membw import tables
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


def test_a_verdict_has_its_colour_and_the_width_stays():
    plain, painted = tables.as_text(PAGE), tables.as_text(PAGE, colour=True)
    assert '\x1b[32mPASS\x1b[0m' in painted and 'Verdict: \x1b[33mINVALID\x1b[0m' in painted
    for code in ('\x1b[32m', '\x1b[33m', '\x1b[1m', '\x1b[0m'):
        painted = painted.replace(code, '')
    assert painted == plain
