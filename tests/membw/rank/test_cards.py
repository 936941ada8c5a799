"""The peers of a card are all cards of its kind; the word of a node is that of its worst card."""

from zlib import crc32

import made_up_records as made
import pytest

from membw.expected.sentence import lines_of
from membw.rank.ranking import rank_files
from membw.results.node_names import of_card, without_card
from membw.site.card_peak import peak

BUILD = {**made.BUILD, 'preset': 'gcc-o3'}


def cards(nodes, count, slow=(), day=0.0, name='NVIDIA H200', by_check=True, shown=0):
    """`slow`: {(node, card): share}; each card's rates are a little of its own."""
    rows = []
    for node in nodes:
        for card in range(count):
            own = 1 + 1e-4 * (crc32(f'{node}{card}'.encode()) % 40) - 2e-3
            case = {'test': 'device', 'pinning': 'none', 'environ': 'gcc-o3',
                    'parameters': {'card': str(card)}}  # fmt: skip
            rows.append(made.record(
                node, day, made.stream(share=own * dict(slow).get((node, card), 1.0)),
                case=case if by_check else False, program='device', build=BUILD, threads=1,
                device={'index': card, 'name': name, 'driver': '550.54', 'count': shown},
            ))  # fmt: skip
    return rows


@pytest.fixture
def ranked(tmp_path):
    """ranked(records, ...) -> {node: (word, reason)}, and the ranking"""

    def run(rows):
        ranking = rank_files([str(made.write(tmp_path / 'cards.jsonl', rows))])
        return {node.name: (node.verdict, node.reason) for node in ranking.nodes}, ranking

    return run


@pytest.mark.parametrize('by_check', [True, False])
def test_a_slow_card_is_low_among_those_of_its_own_node(ranked, by_check):
    """One workstation, or one node of a file: eight cards are peers of each other."""
    nodes, ranking = ranked(cards(['n1'], 8, {('n1', 5): 0.9}, by_check=by_check))
    word, reason = nodes['n1']
    assert word == 'UNDECIDED' and reason.startswith('card 5; ') and 'of its 7 peers' in reason
    assert [(v.node, v.verdict) for v in ranking.verdicts].count(('n1', 'PASS')) == 7
    (setting,) = ranking.low
    assert dict(setting.parameters)['card'] == '5' and ranking.low[setting] == ['n1']


def test_a_card_that_stays_low_fails_its_node_alone(ranked):
    nodes, slow = ['n1', 'n2', 'n3', 'n4'], {('n3', 0): 0.9}
    again = [r for t in (1, 2, 3) for r in cards(['n1', 'n2', 'n3'], 1, slow, day=0.001 * t)]
    found, _ = ranked([*cards(nodes, 4, slow), *again])
    assert {node: word for node, (word, _) in found.items()} == {
        'n1': 'PASS', 'n2': 'PASS', 'n3': 'FAIL', 'n4': 'PASS',
    }  # fmt: skip
    assert found['n3'][1].startswith('card 0; ') and 'of its 15 peers' in found['n3'][1]


def test_cards_of_another_kind_are_no_peers(ranked):
    rows = [*cards(['n1', 'n2'], 4), *cards(['n3', 'n4'], 4, name='AMD Instinct MI300X',
            slow={(n, c): 0.8 for n in ('n3', 'n4') for c in range(4)})]  # fmt: skip
    found, _ = ranked(rows)
    assert {word for word, _ in found.values()} == {'PASS'}


def test_a_node_whose_cards_are_all_slow_is_slow_as_a_whole(ranked):
    slow = {('n3', card): 0.9 for card in range(4)}
    found, _ = ranked(cards([f'n{i}' for i in range(1, 10)], 4, slow))
    word, reason = found['n3']
    assert word == 'UNDECIDED' and 'n3 is slow as a whole' in reason


def test_cards_of_one_node_are_not_each_others_repetitions(ranked):
    """The best of them stood for the node, as of rounds."""
    rows = cards(['n1', 'n2', 'n3', 'n4'], 2, {('n2', 1): 0.5})
    found, ranking = ranked(rows)
    assert found['n2'][0] == 'UNDECIDED' and found['n2'][1].startswith('card 1; ')
    assert len(ranking.verdicts) == 8


@pytest.mark.parametrize('node, card', [
    ('n1', 'n1-card3'), ('n1.site.org', 'n1-card3.site.org'), ('10.0.0.7', '10.0.0.7-card3'),
])  # fmt: skip
def test_a_card_has_the_name_of_its_node_within(node, card):
    assert of_card(node, '3') == card
    assert without_card(card) == without_card(node) == node


def test_the_cpu_and_compiler_of_the_host_divide_no_cards(ranked):
    """They have no part in what a card does."""
    rows = cards(['n1', 'n2'], 4, {('n2', 1): 0.8})
    for row in rows[:4]:
        row['facts'] = {**row['facts'], 'cpu_model': 'another'}
        row['build'] = {**row['build'], 'compiler': 'clang 14.0.6', 'flags': '-O3'}
    found, ranking = ranked(rows)
    assert found['n2'][0] == 'UNDECIDED' and 'of its 7 peers' in found['n2'][1]
    assert len({v.setting._replace(parameters=()) for v in ranking.verdicts}) == 1


@pytest.mark.parametrize('name, mib, share, word', [
    ('NVIDIA H200', 143_771, 0.80, 'VALID'), ('NVIDIA H200', 143_771, 1.01, 'INVALID'),
    # of two kinds of one name the memory says which
    ('NVIDIA A100-PCIE-40GB', 40_536, 1.01, 'INVALID'), ('A100', 81_920, 0.99, 'VALID'),
    ('a card of nobody', 81_920, 9.0, 'VALID'),  # no peak is known
])  # fmt: skip
def test_above_its_makers_peak_a_card_is_invalid(ranked, name, mib, share, word):
    top = peak(name, mib) or 4800.0
    (row,) = cards(['n1'], 1, name=name)
    row['device']['memory_mib'] = mib
    row['metrics'] = made.metrics({'copy': 0.7 * top, 'triad': share * top}, 'GB/s', half=None)
    found, _ = ranked([row])
    assert found['n1'][0] == word, found
    said = lines_of(row, share * top)
    assert ('No maker' in said.lines[0]) == (name == 'a card of nobody') and not said.is_low


def test_a_share_of_the_makers_peak_below_all_that_others_published_is_said():
    (row,) = cards(['n1'], 1)
    row['device']['memory_mib'] = 143_771
    bound = lines_of(row, 0.6 * 4800, 'lower')
    assert bound.lines == ["At least 60 % of the maker's peak of 4800 GB/s."]
    said = lines_of(row, 0.6 * 4800)
    assert said.lines[0] == bound.lines[0].removeprefix('At least ') and not bound.is_low
    assert said.is_low and said.lines[1] == 'Look: published, 2 cards: 74 to 83 %.'


FEWER = {  # cards of n3 that are there, of 4 nodes that have 4: by night
    'never seen': [3], 'since last night': [4, 3], 'all but one': [4, 1], 'back again': [3, 4],
}  # fmt: skip


@pytest.mark.parametrize('by_check', [True, False])
@pytest.mark.parametrize('peers', [['n1', 'n2', 'n4'], []])
@pytest.mark.parametrize('nights', FEWER)
def test_a_card_that_is_gone_is_missing_by_its_number(ranked, nights, peers, by_check):
    rows = []
    for day, count in enumerate(FEWER[nights]):
        rows += cards(['n3'], count, day=day, by_check=by_check, shown=count)
        rows += cards(peers, 4, day=day, by_check=by_check, shown=4)
    word, reason = ranked(rows)[0]['n3']
    if nights == 'back again' or not peers and nights == 'never seen':  # nothing says so
        assert word != 'MISSING'
    else:
        gone = range(FEWER[nights][-1], 4)
        assert word == 'MISSING' and all(f'no card {number}, ' in reason for number in gone)


@pytest.mark.parametrize('replaced', [True, False])
def test_a_card_that_its_peers_measured_and_it_did_not_is_missing(ranked, replaced):
    """One launch left no record, or one card is of another kind: the node passed."""
    rows = cards(['n1', 'n2', 'n3', 'n4'], 4, shown=4)
    odd = next(r for r in rows if r['host'] == 'n3' and r['device']['index'] == 2)
    odd['device']['name'] = 'NVIDIA H100'
    found, _ = ranked([row for row in rows if replaced or row is not odd])
    word, reason = found.pop('n3')
    assert (
        word == 'MISSING'
        and 'no card 2, ' in reason
        and {w for w, _ in found.values()} == {'PASS'}
    )


def test_a_card_of_single_precision_is_not_well_by_itself(ranked):
    for by_check in (True, False):
        rows = cards(['n1', 'n2', 'n3', 'n4'], 4, {('n3', 2): 0.8}, by_check=by_check)
        rows[10] |= {'precision': 'single', 'element_bytes': 4}
        word, reason = ranked(rows)[0]['n3']
        assert word == 'UNDECIDED' and "precision 'single'" in reason, reason


def test_cards_of_one_name_and_another_memory_are_another_kind(ranked):
    """An A100 has 40 or 80 GB, and of each its own rate."""
    names, half = [f'n{i}' for i in range(1, 7)], ('n1', 'n2', 'n3')
    rows = cards(names, 2, {(n, c): 0.8 for n in half for c in (0, 1)})
    for row in rows:
        row['device']['memory_mib'] = 40_536 if row['host'] in half else 81_920
    assert {word for word, _ in ranked(rows)[0].values()} == {'PASS'}
    for row in rows:
        del row['device']['memory_mib']
    assert 'UNDECIDED' in {word for word, _ in ranked(rows)[0].values()}
