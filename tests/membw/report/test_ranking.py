"""The section on a fleet: what `membw rank` says, drawn and listed."""

import made_up_records as made_up
import pytest

from membw.report.page import page_of
from membw.report.run import run_of_records
from membw.results.table import read_table


@pytest.fixture
def page(tmp_path):
    def of(rows, nodes=()):
        table = read_table([str(made_up.write(tmp_path / 'r.jsonl', rows))])
        return page_of(run_of_records(table), nodes)

    return of


def test_a_low_node_is_named_in_the_picture_the_table_and_the_head(page):
    found = page(made_up.fleet(30, slow=[(7, 0.9)]))
    section = found.sections[0]
    assert section.title.startswith('Nodes: 29 PASS') and '1 UNDECIDED' in section.title
    assert section.tables[0].texts()[1][:2] == ['n007', 'UNDECIDED']
    assert '>n007<' in found.picture.draw(800).as_text()
    assert found.verdict == '' and found.nodes[0] == ('UNDECIDED', '1 of 30 nodes')
    assert found.attention[0].what == 'node n007'


def test_every_node_has_a_mark_with_its_figure(page):
    text = page(made_up.fleet(30)).picture.draw(800).as_text()
    assert text.count('<title>n0') == 30


def test_an_expected_node_without_a_record_is_missing(page):
    found = page(made_up.fleet(5), nodes=['n001', 'n002', 'n003', 'n004', 'n005', 'n006'])
    assert [(a.verdict, a.what) for a in found.attention] == [('MISSING', 'node n006')]


def test_nodes_are_sorted_by_loss_whatever_their_verdict(page):
    rows = made_up.fleet(30, slow=[(7, 0.93), (9, 0.9)])
    again = [made_up.record('n007', 0.001 * i, made_up.stream(share=0.93)) for i in (1, 2, 3)]
    table = page([*rows, *again], [made_up.name(n) for n in range(1, 32)]).sections[0].tables[0]
    assert [line[:2] for line in table.texts()[1:4]] == [
        ['n031', 'MISSING'], ['n009', 'UNDECIDED'], ['n007', 'FAIL']
    ]  # fmt: skip
    assert len(table.rows) == 31


def test_one_node_has_no_ranking(page):
    assert [section.id for section in page([made_up.record()]).sections] == ['test-stream']
