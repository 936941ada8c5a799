"""The section on the past: every night of the headline's metric, and the changes."""

import made_up_records as made_up
import pytest

from membw.history.nights import read_nights
from membw.rank.newest import OLD_S
from membw.report.page import page_of
from membw.report.run import run_of_records


@pytest.fixture
def page(tmp_path):
    def of(rows):
        file = str(made_up.write(tmp_path / 'r.jsonl', rows))
        return page_of(run_of_records(*read_nights([file], OLD_S)))

    return of


def nights(count, slower_from=99):
    return [
        row
        for day in range(count)
        for row in made_up.fleet(
            5, days=(day,), slow=[(2, 0.9)] if day >= slower_from else (), seed=day
        )
    ]


def test_a_step_of_a_node_is_listed_and_needs_attention(page):
    found = page(nights(40, slower_from=30))
    section = found.sections[-1]
    assert section.title == 'History: 40 nights' and section.notes == ['1 change for the worse.']
    assert 'n002 STEP -9' in str(section.tables[0].rows[0][0])
    assert [a.what for a in found.attention if a.verdict == 'CHANGE'][0].startswith('STEP -9')


def test_nights_without_a_change_are_drawn_as_the_median_of_the_nodes(page):
    section = page(nights(12)).sections[-1]
    assert section.notes == ['UNDECIDED: 12 nights, 14 are needed.'] and not section.tables
    assert '>median of 5 nodes<' in section.pictures[0].draw(800).as_text()


def test_the_node_that_fell_is_in_the_picture_of_a_year_and_the_axis_has_years(page):
    rows = [
        row
        for day in range(-185, 180, 4)
        for row in made_up.fleet(
            5, days=(day,), slow=[(2, 0.9)] if day > 100 else (), seed=day + 185
        )
    ]
    picture = page(rows).sections[-1].pictures[0].draw(800).as_text()
    assert '>n002<' in picture and '>n002 changed<' in picture and '>median of 5 nodes<' in picture
    assert '>2025-12<' in picture and '>2026-10<' in picture


def test_one_night_has_no_history(page):
    assert all(section.id != 'history' for section in page(nights(1)).sections)
