"""Which run `membw report` and `membw summary` show where none is named."""

import os

import pytest
from made_run import MadeRun, metric

from membw.errors import MembwError
from membw.results.reframe import newest


@pytest.fixture
def runs(own_root):
    return own_root / 'results'


def wrote(runs, name, age_s, **case):
    run = MadeRun(runs).add(**case)
    run.path = run.path.with_name(name)
    run.write()
    os.utime(run.path, (10**9 - age_s,) * 2)
    return str(run.path)


def test_it_is_the_newest_by_time_that_has_a_figure(runs):
    wrote(runs, 'run-2.json', 0)  # a dry run: it passed without a figure
    (runs / 'reports/run-3.json').write_text('')  # what a failed start left
    with pytest.raises(MembwError, match='no report'):
        newest()
    wrote(runs, 'run-9.json', 60, metrics={'triad': metric(40.0)})
    new = wrote(runs, 'run-20261123T000000-1.json', 30, metrics={'triad': metric(41.0)})
    assert newest() == new
