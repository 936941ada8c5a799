"""`membw export`: what a monitoring system reads; an INVALID figure is never a number."""

import csv
import io
import json
import re
import runpy
import types

import made_up_records as made_up
import pytest
import tiny_check
from http_sink import sink
from made_run import MadeRun, metric
from places import ROOT

DASHBOARD = ROOT / 'ci/entries/grafana-dashboard.json'
PAGE = (ROOT / 'docs/nightly.md').read_text()
LATENCY = {'latency': {'value': 97.5, 'low': 95.0, 'high': 99.0, 'unit': 'ns', 'better': 'lower'}}


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    """Two nights of stream with a FAIL, an INVALID row, a lower bound and a latency."""
    held = {'references': {'triad': [180.0, -0.05, 0.1, 'GB/s']}}
    wrong = {'environ': 'bad', 'verdict': 'INVALID', 'reasons': ['not-validated (bit 3)']}
    bound = {'value': 150.0, 'unit': 'GB/s', 'better': 'higher', 'bound': 'lower'}
    rows = [
        made_up.record(case=held),
        made_up.record(day=1, rows=made_up.stream(share=0.5), case=held),
        made_up.record(day=1, case=wrong),
        made_up.record(day=1, rows={'triad': bound}, case={'environ': 'noisy'}),
        made_up.record(day=1, rows=LATENCY, program='chase', case={'test': 'chase'}),
    ]
    return made_up.write(tmp_path_factory.mktemp('results'), rows)


@pytest.fixture
def export(results, membw):
    def text(form, *words):
        status, out, _ = membw('export', '--format', form, results, *words)
        assert status == 0
        return out

    return text


def test_openmetrics_has_the_newest_figure_in_base_units_with_the_verdict_as_a_label(export):
    text = export('openmetrics')
    (line,) = [x for x in text.splitlines() if x.startswith('membw_figure_seconds{')]
    assert 'test="chase"' in line and 'better="lower"} 9.75' in line
    (triad,) = [x for x in text.splitlines() if re.match(r'membw_figure_bytes.*"triad"', x)]
    (word,) = re.findall('membw_verdict{test="stream".*gcc-o2.*', text)
    assert 'preset="gcc-o2"' in triad and 'verdict="FAIL"' in word
    assert float(triad.split()[-1]) == pytest.approx(90e9)
    assert 'membw_figure_low_seconds' in text and 'membw_reference_bytes_per_second' in text
    assert text.endswith('# EOF\n')


def test_a_lower_bound_has_a_name_of_its_own(export):
    lines = [x for x in export('openmetrics').splitlines() if 'preset="noisy"' in x]
    names = {x.split('{')[0] for x in lines}
    assert 'membw_lower_bound_bytes_per_second' in names
    assert not any(name.startswith('membw_figure') for name in names)
    (row,) = [r for r in csv.DictReader(io.StringIO(export('csv'))) if r['preset'] == 'noisy']
    assert row['lower_bound'] == '150.0' and row['value'] == ''


def test_an_invalid_figure_has_a_verdict_and_a_reason_and_no_number(export):
    every = csv.DictReader(io.StringIO(export('csv')))
    rows = [r for r in every if r['verdict'] == 'INVALID']
    assert rows and all(r['reason'] == 'not-validated (bit 3)' for r in rows)
    assert not any(r['value'] or r['low'] or r['ratio'] for r in rows)
    bad = [x for x in export('openmetrics').splitlines() if 'preset="bad"' in x]
    assert any('verdict="INVALID"' in line for line in bad)
    assert not any(line.startswith(('membw_figure', 'membw_ratio')) for line in bad)


@pytest.mark.parametrize('unit, name, factor', [
    ('GFlop/s', 'membw_figure_flops_per_second', 1e9), ('%', 'membw_figure_ratio', 0.01),
    ('steps/h', 'membw_figure_steps_per_h', 1),
])  # fmt: skip
def test_a_unit_of_any_program_becomes_a_part_of_the_name(stored, membw, unit, name, factor):
    _, out, _ = membw('export', stored([made_up.record(rows=made_up.metrics({'x': 4.0}, unit))]))
    (line,) = re.findall(f'^{name}{{.*', out, re.M)
    assert float(line.split()[-1]) == pytest.approx(4.0 * factor)


def test_a_file_is_replaced_as_a_whole(export, tmp_path):
    target = tmp_path / 'membw.prom'
    target.write_text('of yesterday')
    export('openmetrics', '--output', target)
    assert target.read_text() == export('openmetrics')
    assert [path.name for path in tmp_path.iterdir()] == ['membw.prom']


def test_a_failed_build_is_missing_until_it_was_measured_since(tmp_path, membw):
    """MadeRun writes reports/run.json; ReFrame's have a number in their names."""
    run = MadeRun(tmp_path).build('icx', 'fail', 'icx: broken').failed_with('icx')
    run.path = run.path.with_name('run-1.json')
    run.write()
    for form in ('openmetrics', 'csv'):
        (line,) = re.findall('.*MISSING.*', membw('export', '--format', form, tmp_path)[1])
        assert 'icx: broken' in line or form == 'openmetrics'
        assert 'omp' in line and 'stream' in line
    run.add({'triad': metric(40.0)}, preset='icx', pinning='omp').write()  # a later round
    assert 'MISSING' not in membw('export', tmp_path)[1]


def test_a_damaged_line_gives_exit_status_1_and_the_rest_is_exported(tmp_path, membw):
    file = made_up.write(tmp_path / 'r.jsonl', [made_up.record()])
    file.write_text(file.read_text() + '{"schema": "membw-record-2"\n')
    status, out, err = membw('export', file)
    assert status == 1 and 'membw_verdict{' in out and 'r.jsonl:2: not JSON' in err
    file.write_text(json.dumps(made_up.record('fe80::1')) + '\n')  # damaged as a whole
    for form in ('openmetrics', 'csv'):
        status, out, _ = membw('export', '--format', form, file)
        assert status == 1 and [*filter(lambda row: 'fe80::1' in row, out.splitlines())]
        assert 'MISSING' in out
    for words in (['gone.json'], ['--format', 'xml'], [ROOT / 'configs']):
        status, _, err = membw('export', *words)
        assert status == 2 and err.startswith('membw: ')


def test_the_dashboard_asks_for_metrics_and_labels_that_are_exported(export):
    text = export('openmetrics')
    names = set(re.findall(r'^(membw_\w+)\{', text, re.M))
    labels = set(re.findall(r'[{,](\w+)="', text))
    for panel in json.loads(DASHBOARD.read_text())['panels']:
        for query in (target['expr'] for target in panel['targets']):
            assert set(re.findall(r'membw_\w+', query)) <= names, panel['title']
            by = ','.join(re.findall(r'by \((.*?)\)', query))
            assert set(re.findall(r'\w+', by)) <= labels, panel['title']
    assert 'membw_lower_bound_bytes_per_second' in DASHBOARD.read_text()


@pytest.mark.parametrize('alert, presets', [
    ('MemoryBandwidthLow', {'gcc-o2'}),
    ('MemoryBandwidthNotMeasured', {'bad'}),  # a node that is disturbed is no alarm
])  # fmt: skip
def test_an_alert_of_the_page_is_of_what_is_low_or_wrong(export, alert, presets):
    (label,) = re.findall(rf'{alert}\n +expr: membw_verdict{{verdict=~?"(.*)"}} == 1', PAGE)
    series = rf'^membw_verdict{{.*preset="(.*?)".*verdict="(?:{label})"}} 1.0$'
    assert {*re.findall(series, export('openmetrics'), re.M)} == presets


def test_headlines_alone_have_the_verdict_of_every_figure(export):
    text, every = export('openmetrics', '--headline'), export('openmetrics')
    verdicts = [re.findall('^membw_verdict.*', one, re.M) for one in (text, every)]
    assert verdicts[0] == verdicts[1] and 'metric="copy"' in every
    rows = csv.DictReader(io.StringIO(export('csv', '--headline')))
    for metrics in (re.findall('metric="(.*?)"', text), [row['metric'] for row in rows]):
        assert {*metrics} == {'triad', 'latency'}


@pytest.mark.parametrize('sign', ['=', '+', '-', '@'])
def test_no_cell_of_the_csv_is_a_formula(stored, membw, sign):
    case = {'verdict': 'INVALID', 'reasons': [f'{sign}HYPERLINK("http://x")'], 'test': f'{sign}a'}
    out = membw('export', '--format', 'csv', stored([made_up.record(case=case)]))[1]
    assert not [c for row in csv.reader(io.StringIO(out)) for c in row if c.startswith(sign)]


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
    assert not [key for key in event if key.startswith('check_perf_triad_ref')]  # it was 0
    assert '|3.0|' in (tmp_path / 'logs/local/default/tiny.log').read_text()


def test_a_bound_is_not_pushed_as_a_figure(tmp_path, monkeypatch):
    """A dashboard alarmed at each disturbed run; builds were pushed, too."""
    monkeypatch.setenv('MEMBW_HTTPJSON', 'http://127.0.0.1:9/')
    event = runpy.run_path(str(ROOT / 'ci/entries/httpjson.py'))['event']
    rows = made_up.metrics({'triad': 150.0, 'copy': 160.0}, half=None)
    rows['triad']['bound'] = 'lower'
    values = {
        'local:default:triad': (None, 180.0, -0.05, 0.1, 'GB/s', 'pass'),
        'local:default:copy': (160.0, 0, None, None, 'GB/s', 'pass'),
    }
    case = types.SimpleNamespace(
        check_display_name='stream %pinning=omp', check_perfvalues=values,
        check_record=str(made_up.write(tmp_path / 'r.json', [made_up.record(rows=rows)])),
    )  # fmt: skip
    sent = json.loads(event(case, {'site': 'here'}, ()))
    assert sent['check_perf_triad_lower_bound'] == 150 and 'check_perf_triad_value' not in sent
    assert sent['check_perf_triad_ref'] == 180 and sent['site'] == 'here'
    assert sent['check_perf_copy_value'] == 160 and 'check_perf_copy_ref' not in sent
    case.check_display_name = 'stream_binary ~local:default+gcc-o2'
    assert event(case, None, ()) is None


def test_what_is_older_than_the_newest_measurement_is_exported_whatever_the_way(
    tmp_path, membw, monkeypatch
):
    """Of files the older runs are read a second time, of a pipe all are held."""
    rows = [made_up.record(f'n{n}', day) for n in (1, 2) for day in (0, 1, 40)]
    rows.append(made_up.record('n3', 2))  # no more since
    rows += [made_up.record('n4', day, rank=i, ranks=2) for day in (1, 40) for i in (0, 1)]
    file = made_up.write(tmp_path / 'r.jsonl', rows)
    _, csv_of_file, _ = membw('export', '--format', 'csv', file)
    monkeypatch.setattr('sys.stdin', io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    _, csv_of_pipe, _ = membw('export', '--format', 'csv', '-')
    assert sorted(csv_of_file.splitlines()) == sorted(csv_of_pipe.splitlines())
    assert csv_of_file.count(',triad,') == 3 + 3 + 1 + 2
    _, text, _ = membw('export', file)
    newest = re.findall(r'membw_figure_bytes_per_second{.*node="(\w+)",metric="triad"', text)
    assert sorted(newest) == ['n1', 'n2', 'n3', 'n4']
    assert 'node="n3",verdict="MISSING"' in text
    _, chosen, _ = membw('export', '--format', 'csv', '--node', 'n3', file)
    assert chosen.count(',triad,') == 1
