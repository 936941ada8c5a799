"""The sections on a fleet and on its past: what `membw rank` and `membw history` say, drawn."""

import re

import made_up_nodes
import made_up_records as made_up


def nights(days, slower_from=999):
    slow = {day: [(2, 0.9)] * (day >= slower_from) for day in days}
    return [r for d in days for r in made_up.fleet(5, days=(d,), slow=slow[d], seed=abs(d))]


def test_a_low_node_is_named_in_the_picture_the_table_and_the_head(page):
    found = page(made_up.fleet(30, slow=[(7, 0.9)]))
    section, picture = found.sections[0], found.picture.as_text()
    assert section.tables[0].texts()[1][:2] == ['n007', 'UNDECIDED']
    assert '>n007<' in picture and picture.count('<title>n0') == 30  # a mark per node
    assert (found.verdict, found.counts) == ('', '29 PASS, 1 UNDECIDED')
    assert found.attention[0].what == 'node n007'
    assert [section.id for section in found.sections] == ['nodes']  # it has all rows


def test_of_a_large_fleet_not_each_node_that_passes_has_a_mark(page, monkeypatch):
    monkeypatch.setattr('membw.report.ranking.MARKS', 12)
    picture = page(made_up.fleet(30, slow=[(7, 0.9), (9, 0.8)])).picture
    text = picture.as_text()
    assert '>n007<' in text and '>n009<' in text and text.count('<title>n0') == 2 + 10
    assert picture.how_to_read.endswith('Of the nodes that pass, one in 3 is drawn.')


def test_nodes_that_do_not_pass_are_first_by_loss_then_the_missing(page):
    rows = made_up.fleet(30, slow=[(7, 0.93), (9, 0.9)])
    again = [made_up.record('n007', 0.001 * i, made_up.stream(share=0.93)) for i in (1, 2, 3)]
    found = page([*rows, *again], [made_up.name(n) for n in range(1, 32)])
    table = found.sections[0].tables[0]
    assert [line[:2] for line in table.texts()[1:4]] == [
        ['n009', 'UNDECIDED'], ['n007', 'FAIL'], ['n031', 'MISSING']
    ]  # fmt: skip
    assert len(table.rows) == 31
    assert {(a.verdict, a.what) for a in found.attention} == {
        ('FAIL', 'node n007'), ('UNDECIDED', 'node n009'), ('MISSING', 'node n031')
    }  # fmt: skip


def test_the_page_says_first_who_is_slow(page):
    """r01n03 died with a good Triad: it is drawn with those that failed, not in the middle."""
    names = [f'r{rack:02d}n{n:02d}' for rack in (1, 2, 3) for n in range(1, 9)]
    low = {'r02n05': {'rate': 0.7}, 'r03n02': {'rate': 0.9}}
    rows = [row for name in low for row in made_up_nodes.measured(host=name, shares=low[name])]
    rows.append(made_up_nodes.node('r01n03', dies='ladder'))
    rows += [made_up_nodes.node(n) for n in names if n not in (*low, 'r01n03')]
    found = page(rows, [*names, 'r04n01'])
    assert found.headline == '2 of 25 nodes are slow: r02n05 -30.0 %, r03n02 -10.0 %'
    marks = re.findall('<title>(r[^:]+): [^<]*?([A-Z]+)<', found.picture.as_text())
    assert [name for name, _ in marks[:3]] == ['r02n05', 'r03n02', 'r01n03']
    assert len({a.what for a in found.attention}) == len(found.attention) == 4


def test_one_node_has_no_ranking_and_one_night_no_history(page):
    assert [section.id for section in page([made_up.record()]).sections] == ['test-stream']
    assert all(section.id != 'history' for section in page(nights([0])).sections)


def test_two_nights_are_a_line_and_no_picture(page):
    found = page(nights([0, 1]))
    said = 'History: 2 nights: UNDECIDED: not judged yet: 2 of 14 nights.'
    assert found.standing[-1] == said and [s.id for s in found.sections] == ['nodes']


def test_a_step_of_a_node_is_listed_and_needs_attention(page):
    found = page(nights(range(40), slower_from=30))
    section = found.sections[-1]
    assert section.title == 'History: 40 nights' and section.notes == ['1 change for the worse.']
    assert 'n002 STEP -9' in str(section.tables[0].rows[0][0])
    assert [a.what for a in found.attention if a.verdict == 'CHANGE'][0].startswith('STEP -9')


def test_an_acknowledged_change_is_no_alarm_of_the_page(page, tmp_path, monkeypatch):
    known = tmp_path / 'known.jsonl'
    line = '{"node": "n002", "night": "2026-06-27", "reason": "a"}\n'
    known.write_text(line)
    monkeypatch.setattr('membw.history.acknowledged.usual', lambda: str(known))
    found = page(nights(range(40), slower_from=30))
    assert 'acknowledged: a' in str(found.sections[-1].tables[0].rows[0][0])
    assert found.sections[-1].notes[0].startswith('Nothing got worse')
    assert not [a for a in found.attention if a.verdict == 'CHANGE']


def test_nights_without_a_change_are_drawn_as_the_median_of_the_nodes(page):
    section = page(nights(range(12))).sections[-1]
    assert section.notes == ['UNDECIDED: not judged yet: 12 of 14 nights.']
    assert not section.tables
    assert '>median of 5 nodes<' in section.pictures[0].as_text()
    found = page(nights(range(-185, 180, 4), slower_from=101))
    picture = found.sections[-1].pictures[0].as_text()
    assert '>n002<' in picture and '>n002 changed<' in picture and '>median of 5 nodes<' in picture
    assert '>2025-12<' in picture and '>2026-10<' in picture  # of a year
