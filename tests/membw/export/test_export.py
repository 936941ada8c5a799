"""`membw export`: what a monitoring system reads, and that an INVALID figure is never a number."""

import contextlib
import csv
import http.server
import io
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import fleet_generator
import pytest
import synthetic_run
import tiny_check
from http_sink import sink
from places import ROOT

from membw.cli import main
from membw.export import openmetrics
from membw.export.figures import Figure, Row

DASHBOARD = ROOT / 'ci/entries/grafana-dashboard.json'
LATENCY = {'value': 97.5, 'low': 95.0, 'high': 99.0, 'unit': 'ns', 'better': 'lower'}


@pytest.fixture(scope='module')
def report(tmp_path_factory):
    """A run with an INVALID row and a FAIL, and one of a program whose figure is a time."""
    folder = synthetic_run.folder(tmp_path_factory.mktemp('results'))
    path = folder / 'reports/run-000.json'
    run = json.loads(path.read_text())
    record = {'schema': 'membw-record-2', 'host': 'n"1', 'metrics': {'latency': LATENCY},
              'verdict': 'VALID', 'time': '2026-05-28T00:00:00Z', 'facts': {}}  # fmt: skip
    (folder / 'records/chase.json').write_text(json.dumps(record))
    run['runs'][0]['testcases'].append(
        synthetic_run.case('chase', 'gcc-o2', record=str(folder / 'records/chase.json'),
                           node='n"1', job_completion_time_unix=1e9,
                           perfvalues={'a:b:latency': [97.5, 100.0, -0.1, 0.1, 'ns', None]})
    )  # fmt: skip
    path.write_text(json.dumps(run))
    return path


def export(form, *what):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(['export', '--format', form, *map(str, what)]) == 0
    return out.getvalue()


def test_a_run_that_skipped_all_hides_no_figure_of_the_one_before(report, tmp_path, monkeypatch):
    reports = tmp_path / 'results/reports'
    reports.mkdir(parents=True)
    (tmp_path / 'reframe-checks').mkdir()
    (reports / 'a.json').write_text(report.read_text())
    skipped = {'session_info': {}, 'runs': [{'testcases': [synthetic_run.skipped_case()]}]}
    (reports / 'b.json').write_text(json.dumps(skipped))
    os.utime(reports / 'a.json', (1, 1))
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        assert export('csv') == export('csv', report)
    assert "b.json' measured nothing: exported is '" in said.getvalue()


def test_openmetrics_has_each_figure_in_base_units_and_the_verdict_as_a_label(report):
    text = export('openmetrics', report)
    line = next(x for x in text.splitlines() if x.startswith('membw_figure_seconds{test="chase",'))
    assert 'node="n\\"1"' in line
    assert 'verdict="PASS",metric="latency",better="lower"} 9.75' in line
    assert float(line.split()[-1]) == pytest.approx(97.5e-9)
    assert 'membw_figure_low_seconds' in text and 'membw_reference_seconds' in text
    assert re.search(r'verdict="FAIL",metric="triad",better="higher"} 91\d+\.', text)
    assert text.endswith('# EOF\n')


@pytest.mark.parametrize(
    'unit, value, line',
    [
        ('GFlop/s', 442.0, 'membw_figure_flops_per_second{test="dgemm",verdict="PASS",'),
        ('%', 12.5, 'membw_figure_ratio{test="dgemm",'),
        ('steps/h', 3.0, 'membw_figure_steps_per_h{test="dgemm",'),
    ],
)
def test_a_unit_of_any_program_becomes_a_part_of_the_name(unit, value, line):
    figure = Figure('x', unit, 'higher', value)
    text = openmetrics.as_text([Row({'test': 'dgemm'}, 'PASS', '', 0.0, (figure,))])
    (found,) = [x for x in text.splitlines() if x.startswith('membw_figure')]
    assert found.startswith(line)
    assert float(found.split()[-1]) == value * {'GFlop/s': 1e9, '%': 0.01}.get(unit, 1)


@pytest.mark.parametrize('form', ['openmetrics', 'influx', 'csv', 'json', 'md', 'plain'])
def test_an_invalid_figure_is_told_and_never_a_number(report, form):
    """The row is there, with its reason; no line of it has a figure."""
    text = export(form, report)
    lines = [line for line in text.splitlines() if 'INVALID' in line]
    assert lines and 'disturbed (others 44 %)' in text
    if form == 'json':
        rows = [r for r in json.loads(text)['tables'][0]['rows'] if r['verdict'] == 'INVALID']
        assert rows and all(row['value'] is None and row['metric'] is None for row in rows)
    elif form == 'csv':
        rows = [r for r in csv.DictReader(io.StringIO(text)) if r['verdict'] == 'INVALID']
        assert rows and all(not (row['value'] or row['metric'] or row['ratio']) for row in rows)
    else:
        assert not any('triad' in line or 'figure' in line for line in lines)


def test_influx_escapes_what_would_end_a_tag(report):
    text = export('influx', report)
    line = next(line for line in text.splitlines() if 'metric=latency' in line)
    tags, fields, when = re.fullmatch(r'(membw,\S+) (\S+) (\d+)', line).groups()
    assert 'better=lower' in tags and 'unit=ns' in tags and 'verdict=PASS' in tags
    assert 'value=97.5' in fields and 'reference=100.0' in fields
    assert when == str(10**18)


def test_a_ranking_has_a_row_for_every_node_with_its_ratio(tmp_path):
    fleet_generator.write(
        fleet_generator.records(fleet_generator.healthy(12, seed=3)), tmp_path / 'r.jsonl'
    )
    rows = list(csv.DictReader(io.StringIO(export('csv', tmp_path / 'r.jsonl'))))
    triads = [row for row in rows if row['metric'] == 'triad']
    assert len(triads) == 12 and {row['verdict'] for row in triads} == {'PASS'}
    assert all(0.9 < float(row['ratio']) < 1.1 and row['unit'] == 'GB/s' for row in triads)


def test_a_night_is_its_runs_and_its_ranking(report, tmp_path):
    night = tmp_path / '2026-05-28'
    (night / 'cluster.records').mkdir(parents=True)
    (night / 'state.json').write_text('{}')
    (night / 'checks.json').write_text(report.read_text())
    fleet_generator.write(
        fleet_generator.records(fleet_generator.healthy(3, seed=3)),
        night / 'cluster.records/r.jsonl',
    )
    tests = [row['test'] for row in csv.DictReader(io.StringIO(export('csv', night)))]
    assert {'stream', 'chase', 'rank'} <= set(tests)


def test_of_a_folder_of_nights_the_newest_that_measured_is_exported(report, tmp_path, capsys):
    nights = tmp_path / 'nights'
    run = json.loads(report.read_text())
    # the folder of the last name is not of the last night, and a night may measure nothing
    empty = [{'testcases': [synthetic_run.skipped_case()]}]
    for name, begun, cases in (('2026-05-29', 1.1e9, run['runs']),
                               ('2031-01-01', 1e9, run['runs']),
                               ('2026-05-30', 1.2e9, empty)):  # fmt: skip
        (nights / name).mkdir(parents=True)
        (nights / name / 'state.json').write_text('{}')
        of_night = {'session_info': {'time_start_unix': begun}, 'runs': cases}
        (nights / name / 'checks.json').write_text(json.dumps(of_night))
    (nights / 'report.html').write_text('the last good one')
    assert export('csv', nights) == export('csv', nights / '2026-05-29')
    assert "2026-05-30/checks.json' measured nothing" in capsys.readouterr().err
    for file in nights.glob('*/checks.json'):
        file.unlink()
    assert main(['export', str(nights)]) == 2
    assert 'nothing was measured in any night of' in capsys.readouterr().err


@pytest.mark.parametrize('words', [['gone.json'], ['--format', 'xml'], [str(ROOT / 'LICENSE')]])
def test_what_cannot_be_exported_is_one_line(words, capsys):
    assert main(['export', *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith('membw: ') and 'Traceback' not in ''.join(lines)


def test_a_file_is_replaced_whole(report, tmp_path):
    target = tmp_path / 'membw.prom'
    target.write_text('of yesterday')
    assert main(['export', '--output', str(target), str(report)]) == 0
    assert target.read_text() == export('openmetrics', report)
    assert [path.name for path in tmp_path.iterdir()] == ['membw.prom']


# --- read by Prometheus itself ------------------------------------------------------------------


def test_promtool_finds_nothing_to_say(report, need):
    text = export('openmetrics', report)
    done = subprocess.run([need('promtool'), 'check', 'metrics'], input=text, capture_output=True,
                          text=True)  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, '')


@pytest.fixture(scope='module')
def prometheus(report, need, free_ports, tmp_path_factory):
    """query(PromQL): what a Prometheus on the loopback says that has read the export."""
    program, folder, port = need('prometheus'), tmp_path_factory.mktemp('prom'), free_ports(2)
    (folder / 'metrics').write_text(export('openmetrics', report))
    (folder / 'prometheus.yml').write_text(
        'global: {scrape_interval: 1s}\n'
        'scrape_configs:\n- job_name: membw\n  static_configs:\n'
        f"  - targets: ['127.0.0.1:{port + 1}']\n"
    )
    serve = http.server.ThreadingHTTPServer(('127.0.0.1', port + 1), handler(folder))
    threading.Thread(target=serve.serve_forever, daemon=True).start()
    words = [f'--config.file={folder}/prometheus.yml', f'--storage.tsdb.path={folder}/data',
             f'--web.listen-address=127.0.0.1:{port}']  # fmt: skip
    with open(folder / 'log', 'w') as log:
        process = subprocess.Popen([program, *words], stdout=log, stderr=log)
    try:
        answer = asking(f'http://127.0.0.1:{port}/api/v1/query')
        wait_for(lambda: answer('membw_verdict'), process, folder / 'log')
        yield answer
    finally:
        process.terminate()
        process.wait(20)
        serve.shutdown()
        serve.server_close()


def handler(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *words):
            super().__init__(*words, directory=folder)

        def log_message(self, *words):
            pass

    return Quiet


def asking(address):
    def answer(query):
        url = f'{address}?{urllib.parse.urlencode({"query": query})}'
        with urllib.request.urlopen(url, timeout=60) as reply:
            return json.load(reply)['data']['result']

    return answer


def wait_for(answered, process, log):
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        with contextlib.suppress(OSError):
            if answered():
                return
        assert process.poll() is None, log.read_text()
        time.sleep(0.2)
    raise AssertionError(f'nothing was read in 300 s: {log.read_text()}')


def test_prometheus_reads_what_was_exported(prometheus):
    (found,) = prometheus('membw_figure_seconds{metric="latency"}')
    assert float(found['value'][1]) == pytest.approx(97.5e-9)
    assert found['metric']['verdict'] == 'PASS' and found['metric']['better'] == 'lower'
    assert prometheus('membw_verdict{verdict="INVALID"}')
    assert prometheus('{__name__=~"membw_(figure|ratio).*",verdict="INVALID"}') == []


def test_every_panel_of_the_dashboard_shows_something(prometheus):
    panels = json.loads(DASHBOARD.read_text())['panels']
    for panel in panels:
        query = panel['targets'][0]['expr'].replace('$metric', 'triad')
        assert prometheus(query), panel['title']


# --- pushed by ReFrame --------------------------------------------------------------------------


def test_reframe_pushes_each_figure_and_our_own_log_goes_on(call, tmp_path):
    (tmp_path / 'tiny.py').write_text(tiny_check.text())
    with sink() as (address, pushed):
        words = ['-C', ROOT / 'ci/entries/httpjson.py', '-c', tmp_path / 'tiny.py', '-r',
                 '--system', 'local', '--prefix', tmp_path,
                 '--report-file', tmp_path / 'report.json',
                 '--perflogdir', tmp_path / 'logs']  # fmt: skip
        done = call('reframe', *words, MEMBW_HTTPJSON=f'{address}/', RFM_SYSTEM='local')
    assert done.returncode == 0, done.stdout + done.stderr
    (event,) = pushed
    assert event['check_perf_triad_value'] == 3.0 and event['check_perf_triad_unit'] == 'GB/s'
    assert '|3.0|' in (tmp_path / 'logs/local/default/tiny.log').read_text()
