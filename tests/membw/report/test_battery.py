"""The page of records of `membw node`: one section per question, the node's own word."""

import made_up_nodes as made
import pytest

from membw.node import text
from membw.node.battery import BATTERY
from membw.results.ledger import how

PEERS = [made.node(f'p{i}') for i in range(12)]


@pytest.fixture
def page(tmp_path, stored, membw):
    def make(*nodes):
        file = stored(node | text.said(made.word(node, PEERS)) for node in nodes)
        status, out, _ = membw('report', file, '-o', tmp_path / 'page.html')
        assert status == 0
        return (tmp_path / 'page.html').read_text(), out

    return make


def test_a_section_per_question_and_the_word_with_its_evidence(page):
    text, out = page(made.node(**made.PLANTED['memory-channel'][0]))
    assert out.strip().endswith('rows: 1 UNDECIDED')
    for part in BATTERY:
        assert f'id="part-{part.name}"' in text and part.asks in text
    assert 'UNDECIDED: a memory module or channel is gone' in text
    assert 'memory channels: 7, not 8' in text and 'Next: reseat the module' in text


def test_a_part_that_died_says_how(page):
    text, out = page(made.node(dies='ladder'))
    assert f'ladder: {how(-7)}.' in text and out.strip().endswith('rows: 1 DIED')


def test_of_many_nodes_those_with_the_same_cause_are_one_line(page):
    slow = made.PLANTED['memory-speed'][0]
    nodes = [made.node(f'n{i}', **(slow if i > 5 else {})) for i in range(1, 8)]
    text, out = page(*nodes)
    assert '2 of 7 nodes are UNDECIDED: n6 -25.0 %, n7 -25.0 %' in out and '2 nodes n[6-7]' in text
    assert 'the memory is clocked lower' in text and 'id="part-ladder"' not in text
