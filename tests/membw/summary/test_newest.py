"""Which run `membw report` and `membw summary` show where none is named."""

import os

import pytest
from made_run import MadeRun, metric

from membw.errors import MembwError
from membw.results.reframe import newest


@pytest.fixture
def runs(tmp_path, monkeypatch):
    (tmp_path / 'results').mkdir()
    (tmp_path / 'reframe-checks').mkdir()
    (tmp_path / 'systems').mkdir()
    monkeypatch.setattr('membw.results.reframe.root', lambda: str(tmp_path))
    return tmp_path / 'results'


def wrote(runs, name, age_s, **case):
    run = MadeRun(runs).add(**case)
    run.path = run.path.with_name(name)
    run.write()
    os.utime(run.path, (10**9 - age_s,) * 2)
    return str(run.path)


def test_it_is_the_newest_by_time_not_by_name(runs):
    wrote(runs, 'run-9.json', 60, metrics={'triad': metric(40.0)})
    new = wrote(runs, 'run-20261123T000000-1.json', 0, metrics={'triad': metric(41.0)})
    assert newest() == new


def test_dry_runs_and_what_a_failed_start_left_are_passed_over(runs):
    good = wrote(runs, 'run-1.json', 60, metrics={'triad': metric(40.0)})
    wrote(runs, 'run-2.json', 10)  # a dry run: it passed without a figure
    (runs / 'reports/run-3.json').write_text('')
    assert newest() == good


def test_without_any_there_is_one_line(runs):
    wrote(runs, 'run-2.json', 0)
    with pytest.raises(MembwError, match='no report'):
        newest()
