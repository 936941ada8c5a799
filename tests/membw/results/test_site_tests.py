"""Results of a site's own tests: what ReFrame keeps is read as records, and judged as these."""

import csv
import json
import re
import sqlite3

import made_up_reports as made
import pytest
import yaml
from made_up_records import DAY, START

from membw.results.hostlist import fold
from membw.results.site_tests import Wanted
from membw.results.table import read_table

CHECKS = """\
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, sanity_function


class printed(rfm.RunOnlyRegressionTest):
    valid_systems = valid_prog_environs = ['*']
    executable = 'echo'
    units = {}

    @sanity_function
    def validate(self):
        return sn.assert_found('fine', self.stdout)

    @run_after('init')
    def read_figures(self):
        self.perf_variables = {
            name: sn.make_performance_function(
                sn.extractsingle(rf'{name}=(\\S+)', self.stdout, 1, float), unit)
            for name, unit in self.units.items()}


@rfm.simple_test
class hpl(printed):
    nb = parameter([192, 384])
    executable_opts = ['fine perf=1234.5']
    reference = {'*': {'perf': (1200, -0.05, None, 'Gflop/s')}}
    units = {'perf': 'Gflop/s'}


@rfm.simple_test
class osu(printed):
    executable_opts = ['fine lat=1.7 bw=11000 temperature=61']
    reference = {'*': {'lat': (1.5, None, 0.1, 'us')}}
    units = {'lat': 'us', 'bw': 'MB/s', 'temperature': 'C'}


@rfm.simple_test
class broken(printed):
    executable_opts = ['rate=5']
    units = {'rate': 'img/s'}


@rfm.simple_test
class functional(printed):
    executable_opts = ['nothing']
"""
SETTINGS = """\
from membw.results.run_ledger import note_cases

note_cases()
site_configuration = {
    'systems': [{'name': 'daint', 'hostnames': ['.*'], 'partitions': [
        {'name': 'mc', 'scheduler': 'local', 'launcher': 'local', 'environs': ['gnu']}]}],
    'environments': [{'name': 'gnu'}],
}
"""


@pytest.fixture(scope='module')
def site(call, tmp_path_factory):
    """What a site's own ReFrame leaves: report.json, perflogs, results.db."""
    folder = tmp_path_factory.mktemp('site')
    (folder / 'checks.py').write_text(CHECKS)
    (folder / 'settings.py').write_text(SETTINGS)
    words = '-C settings.py -c checks.py --perflogdir perflogs --report-file report.json -r'
    storage = {'RFM_ENABLE_RESULTS_STORAGE': '1', 'RFM_SQLITE_DB_FILE': folder / 'results.db'}
    done = call('reframe', *words.split(), cwd=folder, RFM_CONFIG_PATH='', RFM_PREFIX=folder,
                RFM_SYSTEM='daint', **storage)  # fmt: skip
    assert 'Ran 5/5' in done.stdout, done.stdout + done.stderr
    return folder


def test_two_lines_of_a_site_s_settings_give_a_ledger(site, tmp_path, membw):
    """ReFrame is killed in its first case: of five none is nothing."""
    lines = (site / 'report.ledger').read_text().splitlines(keepends=True)
    (tmp_path / 'report.ledger').write_text(''.join(lines[:6]))
    status, out, _ = membw('summary', tmp_path / 'report.json')
    assert status == 2 and 'stopped: 4 of 6 rows not begun' in out and 'MISSING: 6 MISSING' in out


FORMS = 'report.json', 'perflogs', 'results.db'


@pytest.mark.parametrize('forms', [*zip(FORMS), FORMS], ids=' '.join)
def test_what_reframe_itself_wrote_is_read_once(site, forms):
    table = read_table([str(site / form) for form in forms], wanted=Wanted(lower=('temperature',)))
    assert not table.problems
    read = {
        (f.setting.test, f.setting.more, f.metric, f.value, f.unit, f.better, f.reference)
        for f in table.figures
    }
    assert len(table.figures) == len(read) and read == {
        ('hpl', 'nb=192', 'perf', 1234.5, 'Gflop/s', 'higher', 1200.0),
        ('hpl', 'nb=384', 'perf', 1234.5, 'Gflop/s', 'higher', 1200.0),
        ('osu', '', 'lat', 1.7, 'us', 'lower', 1.5),
        ('osu', '', 'bw', 11.0, 'GB/s', 'higher', None),
        ('osu', '', 'temperature', 61.0, 'C', 'lower', None),
    }
    f = table.figures[0]
    assert (f.setting.where, f.setting.preset) == ('daint:mc', 'gnu')
    assert (f.low, f.verdict) == (None, 'VALID')
    (lost,) = table.lost  # a check without figures was to have none
    assert (lost.setting.test, lost.word, lost.node) == ('broken', 'MISSING', f.node)


@pytest.mark.parametrize('unit, limits, better', [
    ('GB/s', (0, None, None), 'higher'), ('Gflop/s', (9, -0.1, 0.1), 'higher'),
    ('img/s', (0, None, None), 'higher'), ('ns/day', (0, None, None), 'higher'),
    ('Gbps', (0, None, None), 'higher'), ('GFLOPS', (0, None, None), 'higher'),
    ('s', (0, None, None), 'lower'), ('us', (9, -0.1, 0.1), 'lower'), ('ns', (0, 0, 0), 'lower'),
    ('seconds', (0, None, None), 'lower'), ('hour/ns', (0, None, None), 'lower'),
    ('\u00b5s', (0, None, None), 'lower'), ('s/step', (0, None, None), 'lower'),
    ('C', (9, -0.1, None), 'higher'), ('C', (9, None, 0.1), 'lower'),
    ('GB/s', (9, None, 0.1), 'lower'),  # the open side says more than the unit
    *((unit, (0, None, None), '') for unit in ('C', 'W', '%', '', 'steps', 'GB', 'bytes/cycle')),
])  # fmt: skip
def test_the_direction_of_a_metric(tmp_path, unit, limits, better):
    one = made.case('t', 'n1', figures={'x': (5, unit, *limits)})
    file = made.write(tmp_path / 'r.json', [one])
    table = read_table([str(file)])
    assert [f.better for f in table.figures] == [better] * bool(better)
    asked = [note for note in table.notes if '--lower' in note]
    assert len(asked) == (not better) and not table.problems
    for option in ('lower', 'higher'):
        (f,) = read_table([str(file)], wanted=Wanted(**{option: ('x',)})).figures
        assert f.better == option


FIGURE = {'perf': (1200.0, 'Gflop/s', *made.REFERENCE)}
NONE = {'perf': (None, 'Gflop/s', *made.REFERENCE)}


@pytest.mark.parametrize('more, figures, lost', [
    ({'result': 'fail', 'fail_phase': 'performance'}, FIGURE, ''),
    ({'result': 'xfail'}, FIGURE, ''),
    ({'result': 'fail', 'fail_phase': 'sanity', 'fail_reason': 'not found'}, NONE, 'MISSING'),
    ({'result': 'fail', 'fail_phase': 'sanity'}, FIGURE, 'MISSING'),
    ({'result': 'fail', 'fail_phase': 'run', 'job_nodelist': None}, NONE, 'MISSING'),
    ({'result': 'abort'}, NONE, 'MISSING'),
    ({'result': 'fail', 'fail_phase': 'sanity', 'job_exitcode': 139}, NONE, 'DIED'),
    ({'result': 'skip'}, NONE, ''), ({'fixture': True}, FIGURE, ''),
    ({'job_nodelist': []}, FIGURE, ''),
])  # fmt: skip
def test_what_a_check_calls_failed_is_no_figure(tmp_path, more, figures, lost):
    one = made.case('hpl', 'n1', figures=figures, **more)
    table = read_table([str(made.write(tmp_path / 'r.json', [one]))])
    is_figure = not lost and one['result'] != 'skip' and not one['fixture'] and one['job_nodelist']
    assert [f.node for f in table.figures] == ['n1'] * bool(is_figure)
    is_lost = lost and one['job_nodelist']
    assert [one.word for one in table.lost] == [lost] * bool(is_lost)
    assert any('no known node' in note for note in table.notes) == (not one['job_nodelist'])
    assert all(one.text.startswith('hpl: ') for one in table.lost)


TITLES = 'result|job_completion_time_unix|job_nodelist|info|perf_value|perf_unit'
GOOD = f'pass|{START}|n1|hpl %nb=192 /1a2b @daint:mc+gnu|1200|Gflop/s'
NO_FIGURE = [0.0, -1.0, float('nan'), float('inf'), -float('inf'), 1e19, 'high', '1,5', '']


@pytest.mark.parametrize('value', NO_FIGURE, ids=repr)
@pytest.mark.parametrize('form', ['report', 'perflog', 'database'])
def test_what_is_no_figure_is_invalid_with_its_node(tmp_path, membw, form, value):
    """Of 20 nodes one reads so: absent, it passed for one that was not measured."""
    if isinstance(value, str) and form != 'perflog':
        return
    cases = made.fleet(20)
    cases[6]['perfvalues']['daint:mc:perf'][0] = value
    if form == 'report':
        file = made.write(tmp_path / 'r.json', cases)
    elif form == 'database':
        file = made.database(tmp_path / 'r.db', [made.report(cases)])
    else:
        rows = [f'{c["job_nodelist"][0]}|{c["perfvalues"]["daint:mc:perf"][0]}' for c in cases]
        line = 'pass|{}|{}|hpl %nb=192 /1a2b @daint:mc+gnu|{}|Gflop/s\n'
        lines = (line.format(START, *row.split('|')) for row in rows)
        (tmp_path / 'r.log').write_text(f'{TITLES}\n{"".join(lines)}')
        file = tmp_path / 'r.log'
    status, out, _ = membw('rank', file)
    if value == '':  # as ReFrame writes one that was not measured
        assert status == 1 and 'n007 MISSING (hpl: no figure' in out
        return
    assert status == 1 and '19 PASS, 1 INVALID' in out
    for words in (['rank', file, '--json'], ['why', 'n007', file]):
        status, out, _ = membw(*words)
        assert status == 1 and 'INVALID' in out and f'perf is {value}' in out
    assert 'node="n007",verdict="INVALID"' in membw('export', file)[1]


SIZES = 1, 2, 4, 8
# a column of a perflog, what it has of a test with the parameter size
NAMED = {
    'name': 'like_hpcg %size={0}', 'display_name': 'like_hpcg %size={0} %.nid={1}',
    'info': 'like_hpcg %size={0} /1a2b3c4d @daint:mc+gnu', 'unique_name': 'like_hpcg_{0}',
}  # fmt: skip
COLUMNS = (
    'result|job_completion_time_unix|job_nodelist|system|partition|environ|{}|rate_value|rate_unit'
)


@pytest.mark.parametrize('columns', [
    *([one] for one in NAMED), ['info', 'unique_name'], ['unique_name', 'display_name'], [*NAMED],
], ids='+'.join)  # fmt: skip
@pytest.mark.parametrize('order', [SIZES, SIZES[::-1]])
def test_tests_of_a_perflog_are_told_apart_by_whatever_has_their_parameters(
    tmp_path, membw, columns, order
):
    """Four sizes became one, sizes were taken for retests: a slow node passed."""
    lines = [COLUMNS.format('|'.join(columns))]
    for n in range(1, 17):
        for size in order:
            rate = 10 * size * (1 + 1e-3 * (n * size % 7)) * (0.8 if (n, size) == (5, 2) else 1)
            names = (NAMED[one].format(size, f'n{n:03d}') for one in columns)
            when = START + 60 * order.index(size)
            row = 'pass', when, f'n{n:03d}', 'daint', 'mc', 'gnu', *names, rate, 'GFlop/s'
            lines.append('|'.join(map(str, row)))
    (tmp_path / 'like_hpcg.log').write_text('\n'.join(lines) + '\n')
    status, out, _ = membw('rank', tmp_path)
    assert status == 1 and '16 nodes: 15 PASS' in out and 'n005 UNDECIDED (rate 16' in out
    settings = {f.setting for f in read_table([str(tmp_path)]).figures}
    assert len(settings) == 4 and {(s.system, s.partition) for s in settings} == {('daint', 'mc')}


@pytest.mark.parametrize('without', ['info', 'job_nodelist', 'perfvalues', 'system', 'environ'])
def test_a_perflog_from_which_no_case_can_be_known_is_refused_by_name(tmp_path, membw, without):
    titles = COLUMNS.format('unique_name' if without in ('system', 'environ') else 'info')
    titles = titles.replace('rate_value', 'perf_var') if without == 'perfvalues' else titles
    titles = '|'.join(title for title in titles.split('|') if title != without)
    (tmp_path / 'hpl.log').write_text(f'{titles}\n{"|".join("1" for _ in titles.split("|"))}\n')
    for path in (tmp_path, tmp_path / 'hpl.log'):
        status, _, err = membw('rank', path)
        assert status == 2 and 'hpl.log: a perflog that cannot be read' in err
        assert f'%(check_{without})s' in err


@pytest.mark.parametrize('form', ['report', 'perflog'])
def test_what_begins_as_windows_begins_a_text_is_read(tmp_path, form):
    row = 'pass', START, 'n1', 'daint', 'mc', 'gnu', 'hpl', 180, 'GB/s'
    lines = COLUMNS.format('name'), '|'.join(map(str, row))
    text = '\n'.join(lines) + '\n'
    if form == 'report':
        text = made.write(tmp_path / 'r.json', [made.hpl('n1')]).read_text()
    (tmp_path / 'r.json').write_text('\ufeff' + text)
    table = read_table([str(tmp_path / 'r.json')])
    assert {f.node for f in table.figures} == {'n1'} and not table.problems


SANITY = {'result': 'fail', 'fail_phase': 'sanity', 'fail_reason': 'not found'}


@pytest.mark.parametrize('nodes', [1, 2, 16])
@pytest.mark.parametrize('values', [None, {}])
def test_what_failed_its_sanity_is_named_beside_whatever_else_is_said(
    tmp_path, membw, nodes, values
):
    names = [f'n{n:02d}' for n in range(1, nodes + 1)]
    cases = [made.case('aaa', node) for node in names]
    bbb = [made.case('bbb', node, **SANITY) for node in names]
    bbb = [{**one, 'perfvalues': values} if values is not None else one for one in bbb]
    for one in bbb if values is None else ():
        one['perfvalues']['daint:mc:perf'][0] = None
    file = made.write(tmp_path / 'r.json', cases + bbb)
    words = () if values is None else ('-n', 'bbb')  # of a test without figures none was to come
    for path in (file, made.database(tmp_path / 'r.db', [made.report(cases + bbb)])):
        status, out, err = membw('rank', path, *words, '--node-check', tmp_path / 'check')
        assert status and 'bbb: sanity: not found' in out
        lines = (tmp_path / 'check').read_text().splitlines()
        assert len(lines) == nodes and all('bbb: sanity: not found' in line for line in lines)
        _, out, _ = membw('rank', path, *words, '--json')
        every = json.loads(out)['nodes']
        assert len(every) == nodes and all('bbb: sanity' in one['reason'] for one in every)


def test_a_test_without_figures_that_failed_is_named_where_nobody_requests_it(tmp_path, membw):
    cases = [made.hpl('n1'), {**made.case('functional', 'n1', **SANITY), 'perfvalues': {}}]
    _, out, _ = membw('rank', made.write(tmp_path / 'r.json', cases))
    assert 'note: functional: left out: failed, and no run of it has a figure' in out


def test_a_case_without_a_node_is_no_node(tmp_path, membw):
    cases = [*made.fleet(4), made.hpl([], **SANITY)]
    status, out, _ = membw('rank', made.write(tmp_path / 'r.json', cases))
    assert '4 nodes: ' in out and 'hpl (sanity: not found): left out: on no known node' in out


def test_a_database_that_is_written_is_said_to_be(tmp_path, membw, monkeypatch):
    monkeypatch.setattr('membw.results.site_tests.LOCKED_S', 0.1)
    file = made.database(tmp_path / 'r.db', [made.report([made.hpl('n1')])])
    with sqlite3.connect(file) as other:
        other.execute('BEGIN EXCLUSIVE')
        status, _, err = membw('rank', file)
        other.rollback()
    assert status == 2 and 'ReFrame writes it now' in err and 'not a results database' not in err
    assert read_table([str(file)]).figures


@pytest.mark.parametrize('unit, better', [
    ('MLUPS', 'higher'), ('GLUP/s', 'higher'), ('MTEPS', 'higher'), ('GCUPS', 'higher'),
    ('MLUP/s', 'higher'), ('us/step', 'lower'),
])  # fmt: skip
def test_units_of_the_field_have_a_direction(unit, better):
    assert Wanted().better('x', unit, None, None) == better


def test_a_count_of_0_and_a_figure_that_is_not_there_are_none(tmp_path):
    figures = {m: (v, u, 0, None, 0) for m, v, u in [('a', 0, 'errors'), ('c', 2, 's')]}
    figures['d'] = (None, 's', 0, None, 0)
    file = made.write(tmp_path / 'r.json', [made.case('t', 'n1', figures=figures)])
    table = read_table([str(file)])
    assert [f.metric for f in table.figures] == ['c'] and not table.problems
    assert any('a (errors) of t' in note for note in table.notes)


@pytest.mark.parametrize('name, content, fact, figures', [
    ('cut.json', json.dumps(made.report([made.hpl('n1')]))[:-40], 'not a report', 0),
    ('old.json', '{"session_info": {}, "cases": []}', 'not a report', 0),
    ('a.json', json.dumps(made.report([{**made.hpl('n1'), 'job_nodelist': 7}, made.hpl('n2')])),
     'hpl', 1),
    ('b.json', json.dumps(made.report([made.hpl('n1; reboot'), made.hpl('n2')])), "'host'", 1),
    ('late.json', json.dumps(made.report([made.hpl('n1', when=9e9), made.hpl('n2')])), 'later', 1),
    ('a.log', f'{TITLES}\n{GOOD}\npass|{START}|n2\n', 'a.log:3: 3 columns of 6', 1),
    ('b.log', f'{TITLES}|perf_ref\n{GOOD}|x\n{GOOD}|9\n', "b.log:2: could not convert", 1),
    ('c.log', f'{TITLES.replace("job_nodelist", "jobid")}\n{GOOD}\n', 'check_job_nodelist', 0),
    ('a.db', b'SQLite format 3\0' + b'x' * 200, 'not a results database', 0),
])  # fmt: skip
def test_what_cannot_be_read_is_named_and_left_out(tmp_path, name, content, fact, figures):
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(data)
    for path in (tmp_path / name, tmp_path):  # by its name, and in a folder
        table = read_table([str(path)])
        assert len(table.figures) == figures
        (problem,) = table.problems
        assert name in problem and fact in problem


def test_a_database_of_another_schema_or_with_a_damaged_session_is_named(tmp_path):
    good, other = made.report([made.hpl('n1')]), made.report([made.hpl('n2')], START + DAY)
    file = made.database(tmp_path / 'new.db', [good], '2.0')
    assert "schema is ('2.0',)" in read_table([str(file)]).problems[0]
    file = made.database(tmp_path / 'half.db', [good, {**other, 'runs': 7}])
    table = read_table([str(file)])
    assert len(table.figures) == 1 and 'session 1' in table.problems[0]


def test_a_report_of_our_own_checks_is_no_second_reading(tmp_path, membw):
    ours = {**made.hpl('n1'), 'reference_expired': ''}
    file = made.write(tmp_path / 'run.json', [ours, made.hpl('n2')])
    assert [f.node for f in read_table([str(file)]).figures] == ['n2']
    file = made.write(tmp_path / 'run.json', [ours])
    for command in ('rank', 'history'):
        status, _, err = membw(command, file)
        assert status == 2 and 'hpl: left out: give its records' in err
        assert "and of plain ReFrame's, give the folder 'records'" in err
    file = made.write(tmp_path / 'run.json', [made.hpl('n2')])
    assert '  hpl: ' in membw('why', 'n2', file)[1]  # not "reframe"


def again(nodes, share, day):
    return [made.hpl(node, share, START + day * DAY + 60 * i) for i in (1, 2, 3) for node in nodes]


@pytest.mark.parametrize('nodes, slow', [(64, 17), (1100, 1034)])
def test_a_slow_node_of_a_fleet_is_found_by_every_command(tmp_path, membw, nodes, slow):
    def said(status, *words):
        done, out, _ = membw(*words)
        assert done == status
        return out

    days, name, is_small = 16, f'n{slow:03d}', nodes < 1000
    reports = [
        made.report(made.fleet(nodes, d, {slow: 0.9} if d > 8 else {}), START + d * DAY)
        for d in (range(days) if is_small else [days - 1])
    ]
    further = again([name], 0.9, days - 1) + again(['n001', 'n002', 'n003'], 1.0, days - 1)
    reports.append(made.report(further, START + days * DAY))
    file = str(made.database(tmp_path / 'results.db', reports))
    check, page = tmp_path / 'nodecheck.txt', tmp_path / 'page.html'
    out = said(1, 'rank', file, '--node-check', check)
    assert out.count('not validated by membw') == 1 and f'{name} FAIL' in out
    bad = [line for line in check.read_text().splitlines() if ' PASS' not in line]
    assert len(bad) == 1 and bad[0].startswith(f'{name} FAIL perf')
    assert f'{name}  FAIL' in said(1, 'why', name, file)
    said(0, 'report', file, '-o', page)
    text = page.read_text()
    assert f'1 of {nodes} nodes' in text and text.count('not validated by membw') == 1
    if is_small:
        assert re.findall('NodeName=(\\S+)', said(1, 'rank', file, '--drain')) == [name]
        assert f'{name} STEP -' in said(1, 'history', file)
        pasted = r"reference = {'daint:mc': {'perf': \(1\d+\.\d+, -0.0"
        assert re.search(pasted, said(0, 'calibrate', file, '-n', 'hpl'))
        assert f'node="{name}",verdict="FAIL"' in said(0, 'export', file, '--headline')


def test_nodes_that_measured_together_are_never_judged_alone(tmp_path, membw):
    """A set is compared with other sets; none of its nodes is drained, or missing for it."""
    pairs = [[f'n{i:03d}', f'n{i + 1:03d}'] for i in range(1, 40, 2)]
    cases = [made.hpl(pair, 1 - 0.2 * (i == 0)) for i, pair in enumerate(pairs)]
    out = membw('rank', made.write(tmp_path / 'r.json', cases))[1]
    assert "measure again: for nodes in 'n[001-002]' 'n[" in out
    assert fold(['n5', 'n[3-4]', 'n[1-2]']) == 'n5 n[1-2] n[3-4]'
    cases += again([pairs[0]], 0.8, 0) + again(pairs[1:4], 1.0, 0)
    cases += [made.hpl(['n091', 'n092'], 1, START - DAY)]  # not in the newest measurement
    died = {'result': 'fail', 'fail_phase': 'sanity', 'job_exitcode': 139}
    file = made.write(tmp_path / 'r.json', [*cases, made.hpl(pairs[5], when=START + 300, **died)])
    assert {f.node for f in read_table([str(file)]).figures} >= {'n[001-002]', 'n[039-040]'}
    status, out, _ = membw('rank', file)
    assert status == 1 and 'n[001-002] UNDECIDED' in out and 'measure each alone' in out
    assert not any(word in out.partition('\n')[0] for word in ('FAIL', 'MISSING', 'DIED'))
    assert membw('rank', file, '--drain')[:2] == (1, '# no node to drain\n')


@pytest.mark.parametrize('words, tests', [
    ([], {'hpl', 'osu_lat', 'osu_bw'}), (['-n', 'hpl'], {'hpl'}),
    (['-n', 'osu_*'], {'osu_lat', 'osu_bw'}), (['--since', '2026-05-30'], {'osu_bw'}),
])  # fmt: skip
def test_tests_and_days_are_chosen(tmp_path, membw, words, tests):
    days = {'hpl': 0, 'osu_lat': 0.5, 'osu_bw': 3}
    cases = [made.case(test, 'n1', START + day * DAY) for test, day in days.items()]
    _, out, _ = membw('export', '--format', 'csv', made.write(tmp_path / 'r.json', cases), *words)
    assert {row['test'] for row in csv.DictReader(out.splitlines())} == tests


def test_a_reference_of_others_is_a_floor(tmp_path, membw):
    """A node is not too good because somebody wrote down a low number."""
    file = made.write(tmp_path / 'r.json', made.fleet(20, slow={3: 0.5}))
    (tmp_path / 'check').touch()
    assert membw('rank', file, '--node-check', tmp_path / 'check')[0] == 1
    words = dict(line.split()[:2] for line in (tmp_path / 'check').open())
    assert words.pop('n003') == 'FAIL' and {*words.values()} == {'PASS'}


def test_equal_figures_of_others_are_no_copies_in_an_acceptance(tmp_path, membw):
    """They have few digits: each node but the first lacked its runs."""
    protocol = yaml.safe_load(membw('accept', '--template')[1])
    runs = {'test': 'hpl', 'system': 'daint', 'preset': 'gnu', 'repetitions': 1}
    protocol |= {
        'contract': {'perf': {'value': 1100, 'unit': 'Gflop/s', 'better': 'higher'}},
        'nodes': {'count': 3}, 'runs': {**runs, 'statistic': 'median'},
        'rule': {**protocol['rule'], 'allowed_failures': 0},
        'period': {'from': '2026-05-01', 'to': '2026-06-30'},
    }  # fmt: skip
    (tmp_path / 'p.yaml').write_text(json.dumps(protocol))
    file = made.write(tmp_path / 'r.json', [made.hpl(node) for node in ('n1', 'n2', 'n3')])
    _, out, _ = membw('accept', tmp_path / 'p.yaml', file, '--json')
    assert [node['status'] for node in json.loads(out)['nodes']] == ['PASS'] * 3


# what the line of n005 of a perflog has: (word of n005, in its reason)
ODD_LINES = {
    'no time': ({'job_completion_time_unix': 'null'}, 'MISSING', 'no record since 19'),
    'no unit': ({'rate_unit': 'null'}, 'MISSING', 'hpl: no figure'),
    'no figure': ({'rate_value': 'null'}, 'MISSING', 'hpl: no figure'),
    'a unit of its own': ({'rate_unit': 's'}, 'UNDECIDED', "'rate' is in s, lower"),
    'MB/s': ({'rate_value': '144000', 'rate_unit': 'MB/s'}, 'UNDECIDED', 'low once'),
    'its domain': ({'job_nodelist': 'n005.a', 'rate_value': '144'}, 'UNDECIDED', 'low once'),
}  # fmt: skip


@pytest.mark.parametrize('separator', ['|', ';', ',', '\t', '::'])
@pytest.mark.parametrize('odd', ODD_LINES)
def test_no_node_of_a_perflog_is_lost_by_its_line(tmp_path, membw, odd, separator):
    """It passed, as nothing was left of it."""
    changes, word, said = ODD_LINES[odd]
    titles = COLUMNS.format('name').split('|')
    lines = [separator.join(titles)]
    for n in range(1, 9):
        row = dict(zip(titles, ('pass', START, f'n{n:03d}', 'daint', 'mc', 'gnu', 'hpl',
                                180 + n / 100, 'GB/s'), strict=True))  # fmt: skip
        row |= changes if n == 5 else {}
        lines.append(separator.join(str(row[title]) for title in titles))
    (tmp_path / 'hpl.log').write_text('\n'.join(lines) + '\n')
    status, out, _ = membw('rank', tmp_path)
    (line,) = [line for line in out.splitlines() if line.startswith('n005')]
    assert status == 1 and '7 PASS' in out
    assert line.split()[1] == word and said in line
