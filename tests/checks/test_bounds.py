"""A bound is no figure to ReFrame's own tools: its log, its database, its reports."""

import csv
import json
import sqlite3

import made_up_records as made_up
import pytest
from places import ROOT

CHECK = """\
import sys

import reframe as rfm
sys.path.insert(0, {checks!r})
from lib.measurement import measurement
from reframe.core.builtins import run_before, sanity_function


@rfm.simple_test
class bounded(measurement):
    executable = 'cp'
    executable_opts = [{record!r}, 'record.json']

    @run_before('performance')
    def compare(self):
        self.reference = {{'*': {{'copy': ({reference}, -0.05, 0.1, 'GB/s')}}}}

    @sanity_function
    def validate(self):
        self.keep(self.arrived['record.json'])
        return self.conclude([])
"""


@pytest.fixture
def bounded(reframe, tmp_path, monkeypatch):
    """A session of a check with copy as an estimate and Triad as a lower bound."""

    def run(reference):
        bound = {'value': 34.9, 'unit': 'GB/s', 'better': 'higher', 'bound': 'lower'}
        rows = made_up.metrics({'copy': 30.0}) | {'triad': bound}
        record = made_up.write(tmp_path / 'made.json', [made_up.record(rows=rows, case=False)])
        text = CHECK.format(
            record=str(record), reference=reference, checks=str(ROOT / 'reframe-checks')
        )
        (tmp_path / 'bounded.py').write_text(text)
        settings = {'RFM_ENABLE_RESULTS_STORAGE': 1, 'RFM_SQLITE_DB_FILE': tmp_path / 'results.db'}
        return reframe(
            tmp_path / 'bounded.py', '-r', '-p', 'gcc-o2', '--system', 'local', **settings
        )

    return run


@pytest.mark.parametrize('reference, result', [(30.0, 'pass'), (60.0, 'fail')])
def test_a_bound_has_no_value_in_log_and_database(bounded, tmp_path, reference, result):
    """Triad stood there as any estimate, and was compared as one."""
    done = bounded(reference)
    case, record = done.one('bounded')
    assert case['result'] == result, done.text
    assert record['metrics']['triad']['bound'] == 'lower'
    (log,) = done.folder.glob('perflogs/*/*/bounded.log')
    (row,) = csv.DictReader(log.open(), delimiter='|')
    assert (row['copy_value'], row['triad_value'], row['triad_unit']) == ('30.0', 'None', 'GB/s')
    with sqlite3.connect(tmp_path / 'results.db') as database:
        ((text,),) = database.execute('SELECT json_blob FROM sessions')
    for report in json.loads(text), json.loads((done.folder / 'report.json').read_text()):
        (case,) = report['runs'][0]['testcases']
        values = {name.rpartition(':')[2]: row[0] for name, row in case['perfvalues'].items()}
        assert values == {'copy': 30.0, 'triad': None}
