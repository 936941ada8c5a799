"""The page of made-up records."""

import made_up_records as made_up
import pytest

from membw.history.nights import read_nights
from membw.report.page import page_of
from membw.report.run import run_of_records
from membw.results.newest import OLD_S


@pytest.fixture
def page(tmp_path):
    """A function: the Page of these records; `nodes`: those that are expected."""

    def of(records, nodes=()):
        file = str(made_up.write(tmp_path / 'records.jsonl', records))
        return page_of(run_of_records(*read_nights([file], OLD_S)), nodes)

    return of
