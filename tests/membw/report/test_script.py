"""The script of the page finds, filters and sorts: run by QuickJS on a page, with a stand-in of
a browser's document."""

import json
import re

import made_up_records as made_up
import pytest
import quickjs
from places import ROOT

from membw.cli import main

SCRIPT = 'src/membw/report/assets/report.js'
SHOWN = """
const box = document.querySelector('.find'), [find] = box.querySelectorAll('input');
const [verdict] = box.querySelectorAll('select'), tools = box.querySelector('p');
const names = () => box.querySelector('tbody').rows.filter(row => !row.hidden)
	.map(row => row.cells[0].textContent);
const hits = () => document.querySelectorAll('.hit').map(
	one => one.querySelector('title').textContent.split(':')[0]);
const click = title => box.querySelectorAll('button').find(
	one => one.textContent === title).onclick();
"""


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """A function: what this JavaScript gives after the page has loaded."""
    folder = tmp_path_factory.mktemp('page')
    fleet = made_up.fleet(30, slow={7: 0.8, 13: 0.975, 21: 0.9})
    records = made_up.write(folder / 'r.jsonl', fleet)
    assert main(['report', str(records), '-o', str(folder / 'r.html')]) == 0
    html = re.sub(r'<(style|script)>.*?</\1>', '', (folder / 'r.html').read_text(), flags=re.S)

    def after(code, keep=''):
        context = quickjs.Context()
        context.eval((ROOT / 'tests/lib/standin_dom.js').read_text())
        context.eval(f'document.innerHTML = {json.dumps(html)};')
        context.eval((ROOT / SCRIPT).read_text().replace("'use strict';", ''))
        return json.loads(context.eval(f'{SHOWN}{code}'))

    return after


def test_a_node_is_found_in_table_and_picture_and_nothing_is_hidden_before_and_after(page):
    said = "box.querySelector('output').textContent"
    found = page(
        f"find.value = ' N007'; tools.oninput(); JSON.stringify([names(), {said}, hits()])"
    )
    assert found[:2] == [['n007'], '1 of 30 rows'] and {*found[2]} == {'n007'}
    again = "find.value = 'x'; tools.oninput(); find.value = ''; tools.oninput();"
    for done in ('', again):
        assert page(f'{done} JSON.stringify([names().length, hits()])') == [30, []]


def test_rows_are_filtered_by_their_verdict(page):
    words = page('JSON.stringify(verdict.children.map(one => one.textContent))')
    assert words == ['all', 'UNDECIDED', 'PASS']
    chosen = page("verdict.value = 'UNDECIDED'; tools.oninput(); JSON.stringify(names())")
    assert chosen == ['n007', 'n021', 'n013']


def test_a_click_sorts_figures_by_value_names_by_text_and_a_second_one_the_other_way(page):
    """By text -2.8 % would come before -19.7 %."""
    column = "box.querySelector('tbody').rows.map(row => parseFloat(row.cells[2].textContent))"
    up = page(f"click('to peers'); JSON.stringify({column})")
    assert up == sorted(up) and up[:3] == [-19.7, -10, -2.8]
    down = page(f"click('to peers'); click('to peers'); JSON.stringify({column})")
    assert down == up[::-1]
    names, said = page(
        "click('node'); JSON.stringify([names(), "
        "box.querySelectorAll('th').map(one => one.getAttribute('aria-sort'))])"
    )
    assert names == sorted(names) and said[0] == 'ascending' and not any(said[1:])


def test_the_provenance_opens_on_paper(page):
    opened = "document.querySelectorAll('#provenance details').map(one => Boolean(one.open))"
    assert not any(page(f'JSON.stringify({opened})'))
    assert all(page(f'document.onbeforeprint(); JSON.stringify({opened})'))
