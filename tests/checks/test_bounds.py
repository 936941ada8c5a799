"""A bound is no figure to ReFrame's own tools: its log, its database, its reports."""

import csv
import json
import sqlite3

import made_up_records as made_up
from places import ROOT

CHECK = """\
import sys

import reframe as rfm
sys.path.insert(0, {checks!r})
from lib.measurement import measurement
from reframe.core.builtins import parameter, run_before


@rfm.simple_test
class bounded(measurement):
    goal = parameter([30.0, 60.0])
    executable = 'cp'
    executable_opts = [{record!r}, 'record.json']

    @run_before('performance')
    def compare(self):
        self.reference = {{'*': {{'copy': (self.goal, -0.05, 0.1, 'GB/s')}}}}

    def read_run(self):
        self.keep(self.arrived['record.json'])
"""


def test_a_bound_has_no_value_in_log_and_database(reframe, tmp_path):
    """Triad stood there as any estimate, and was compared as one. Two cases: copy is an estimate
    above its reference and below it, Triad a lower bound."""
    bound = {'value': 34.9, 'unit': 'GB/s', 'better': 'higher', 'bound': 'lower'}
    rows = made_up.metrics({'copy': 30.0}) | {'triad': bound}
    record = made_up.write(tmp_path / 'made.json', [made_up.record(rows=rows, case=False)])
    text = CHECK.format(record=str(record), checks=str(ROOT / 'reframe-checks'))
    (tmp_path / 'bounded.py').write_text(text)
    settings = {'RFM_ENABLE_RESULTS_STORAGE': 1, 'RFM_SQLITE_DB_FILE': tmp_path / 'results.db'}
    words = ('-r', '-p', 'gcc-o2', '--system', 'local')
    done = reframe(tmp_path / 'bounded.py', *words, **settings)
    assert {c['name']: c['result'] for c in done.ran} == {
        'bounded %goal=30.0': 'pass', 'bounded %goal=60.0': 'fail',
    }, done.text  # fmt: skip
    for case in done.ran:
        record = json.loads(open(case['record']).readline())
        assert record['metrics']['triad']['bound'] == 'lower'
    assert 'bounds, no estimates (None below): triad ≥ 34.9 GB/s' in done.text
    (log,) = done.folder.glob('perflogs/*/*/bounded.log')
    for row in csv.DictReader(log.open(), delimiter='|'):
        found = row['copy_value'], row['triad_value'], row['triad_unit']
        assert found == ('30.0', 'None', 'GB/s')
    with sqlite3.connect(tmp_path / 'results.db') as database:
        ((text,),) = database.execute('SELECT json_blob FROM sessions')
    for report in json.loads(text), json.loads((done.folder / 'report.json').read_text()):
        for case in report['runs'][0]['testcases']:
            values = {n.rpartition(':')[2]: row[0] for n, row in case['perfvalues'].items()}
            assert values == {'copy': 30.0, 'triad': None}
