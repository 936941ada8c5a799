"""`membw report`: what it makes of results, before a browser sees it."""

import copy
import json
import re
import shutil
import time

import fleet_generator as fleets
import history_generator as nights
import numpy as np
import pytest
import synthetic_run

from membw import cli
from membw.errors import MembwError
from membw.rank import fleet
from membw.report import (
    bandwidth,
    compilers,
    history,
    inputs,
    numa,
    page,
    past,
    pictures,
    ranking,
    sections,
    theme,
    verdicts,
)
from membw.report.charts import MOST
from membw.report.rows import rows_of
from membw.report.theme import DARK, LIGHT, paint
from membw.results.metrics import Metric
from membw.results.record import read_lines
from membw.run import summary


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    return synthetic_run.folder(tmp_path_factory.mktemp('run') / 'results', nights=4)


@pytest.fixture(scope='module')
def report(results):
    return sections.build(inputs.gather([results]))


@pytest.fixture(scope='module')
def rows(results):
    return rows_of(inputs.gather([results]).cases)


def one(rows, preset, pinning, test='stream'):
    (row,) = [r for r in rows if (r.test, r.preset, r.pinning) == (test, preset, pinning)]
    return row


def fleet_file(path, nodes, slow=(), seed=1):
    made = fleets.healthy(nodes, seed)
    fleets.slow(made, slow, 0.08)
    return fleets.write(fleets.records(made), path)


def judged(file):
    records, problems = read_lines(file.read_text().splitlines(), str(file))
    assert not problems
    return fleet.judge(records), records


# what is read


def test_of_a_folder_the_newest_run_is_shown_whatever_the_dates_of_its_files(results):
    old = results / 'reports' / 'run-000.json'
    old.touch()
    assert [file.name for file, _ in inputs.gather([results]).reports] == ['run-003.json']


def test_a_run_that_skipped_all_hides_none_that_measured(results, tmp_path, capsys):
    shutil.copytree(results, tmp_path / 'results')
    begun = synthetic_run.START + 4 * synthetic_run.DAY
    skipped = {'session_info': {'time_start_unix': begun}, 'runs': [
        {'testcases': [synthetic_run.skipped_case()]}]}  # fmt: skip
    (tmp_path / 'results/reports/run-004.json').write_text(json.dumps(skipped))
    assert cli.main(['report', str(tmp_path / 'results'), '-o', str(tmp_path / 'page.html')]) == 0
    assert "run-004.json' measured nothing: an older run is shown\n" in capsys.readouterr().err
    found = inputs.gather([tmp_path / 'results'])
    assert [file.name for file, _ in found.reports] == ['run-003.json']


def test_a_database_alone_shows_the_run_stored_last(results, tmp_path):
    found = inputs.gather([shutil.copy(results / 'results.db', tmp_path)])
    assert found.reports[0][1]['uuid'] == 's3' and len(rows_of(found.cases)) == 17
    (tmp_path / 'other.db').write_text('no database')
    with pytest.raises(MembwError, match='no results database'):
        inputs.gather([tmp_path / 'other.db'])


def test_no_results_are_a_clear_error(tmp_path):
    with pytest.raises(MembwError, match='no such file or folder'):
        inputs.gather([tmp_path / 'none'])
    with pytest.raises(MembwError, match='nothing was measured'):
        inputs.gather([tmp_path])


def test_an_empty_file_is_named_so_and_one_record_is_no_fleet(tmp_path):
    (tmp_path / 'x.jsonl').touch()
    with pytest.raises(MembwError, match='x.jsonl: is empty: no record'):
        inputs.gather([tmp_path / 'x.jsonl'])
    made = sections.build(inputs.gather([fleet_file(tmp_path / 'one.jsonl', 1)]))
    assert made.headline.startswith('SUSPECT: 1 node, 1 SUSPECT')


@pytest.mark.parametrize('count', [1, 4])
def test_a_fleet_of_which_nothing_may_be_believed_has_a_page(tmp_path, count):
    """No node has a figure to order them by: it was an IndexError, in each such night."""
    file = fleet_file(tmp_path / 'fleet.jsonl', count)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    wrong = {'verdict': 'INVALID', 'reasons': [{'reason': 'disturbed', 'allowed': False}]}
    file.write_text('\n'.join(json.dumps(row | wrong) for row in rows))
    made = sections.build(inputs.gather([file]))
    assert made.headline.startswith('INVALID') and 'n00001' in page.render(made)


def test_a_checkout_that_measured_nothing_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    (tmp_path / 'reframe-checks').mkdir()
    with pytest.raises(MembwError, match="nothing was measured yet: there is no 'results'"):
        inputs.gather([])


@pytest.mark.parametrize('change', ({'result': 'skip'}, {'verdict': '', 'perfvalues': {}}))
def test_a_run_that_skipped_all_and_a_dry_run_are_refused(tmp_path, change):
    case = synthetic_run.case('stream %pinning=omp', 'gcc-o2', pinning='omp', **change)
    report = {'session_info': {'uuid': 'x'}, 'runs': [{'testcases': [case]}]}
    (tmp_path / 'run.json').write_text(json.dumps(report))
    with pytest.raises(MembwError, match='measured nothing'):
        sections.build(inputs.gather([tmp_path]))


def test_lines_that_cannot_be_read_are_shown_in_the_page(tmp_path):
    file = fleet_file(tmp_path / 'fleet.jsonl', 4)
    file.write_text(file.read_text() + 'no json\n')
    made = sections.build(inputs.gather([file]))
    assert len(made.problems) == 1 and 'fleet.jsonl:5: not JSON' in made.problems[0]
    assert '1 lines or files could not be read' in page.render(made)


# the run


def test_a_figure_is_held_to_its_reference_with_tolerance_and_to_the_peak(rows):
    figure = one(rows, 'gcc-o2', 'likwid').figures['triad']
    assert figure.reference == 166.6 and figure.peak == 256.0
    assert (figure.low, figure.high) == (pytest.approx(0.95 * 166.6), pytest.approx(1.1 * 166.6))
    assert figure.of_reference == figure.value / 166.6
    assert figure.of_peak == figure.value / 256
    assert one(rows, 'icx-nt', 'omp').figures['triad'].reference is None


def test_verdicts_of_runs_and_an_invalid_run_has_no_figure(rows):
    assert one(rows, 'gcc-o2', 'none').verdict == 'FAIL'
    invalid = one(rows, 'clang-o3', 'numactl')
    assert (invalid.verdict, invalid.figures) == ('INVALID', {})
    assert 'disturbed' in invalid.why
    assert one(rows, 'clang-o3', 'omp').verdict == 'PASS'


def values(chart):
    return chart.get('data', {}).get('values', [])


def test_an_invalid_run_is_in_no_picture(report):
    for picture in report.sections[0].pictures:
        points = [p for layer in picture.chart['layer'] for p in values(layer) if 'pinning' in p]
        points = points or [p for p in values(picture.chart) if 'pinning' in p]
        runs = {(p['preset'], p['pinning']) for p in points}
        assert len(runs) == 15 and ('clang-o3', 'numactl') not in runs


def test_behind_a_run_stand_binary_compile_line_and_record(rows):
    known = one(rows, 'icx-nt', 'omp').provenance
    assert known['binary sha256'] == 'bbbb-icx-nt'
    assert known['compile line'].startswith('cc --preset icx-nt')
    assert known['cpu model'] == 'Synthetic 9000'
    assert known['record'].endswith('003-icx-nt-omp.json')


def test_a_record_is_found_after_the_results_were_moved(tmp_path, results):
    moved = shutil.copytree(results, tmp_path / 'moved')
    for file in (moved / 'reports').iterdir():
        file.write_text(file.read_text().replace(str(results), '/nowhere'))
    found = one(rows_of(inputs.gather([moved]).cases), 'icx-nt', 'omp')
    assert found.codegen['triad']['stores'] == 'nontemporal'


def test_every_figure_of_the_table_leads_to_its_provenance(report):
    (table,) = report.sections[0].tables
    figures = [cell for row in table.rows for cell in row if re.match(r'\d', cell.text)]
    assert len(figures) >= 60
    assert all(cell.provenance in report.provenance for cell in figures)


def test_numa_curves_local_and_remote_with_their_saturation(rows):
    curves = numa.curves_of(one(rows, 'gcc-o2', 'numactl', 'numa_scan').others)
    assert curves['local']['saturation'] == 8 and curves['remote']['saturation'] == 6
    assert curves['local']['points'][11] == (12, 98.6)
    assert len(curves['remote']['points']) == 12


def test_a_whole_cluster_run_is_ranked_with_the_nodes_it_was_given(tmp_path):
    """As reframe-checks leave it: medians of the nodes, records of all, a node-check file."""
    file = fleet_file(tmp_path / 'cluster.jsonl', 12, slow=(4,))
    check = tmp_path / 'cluster.nodecheck'
    check.write_text(''.join(f'{fleets.name(n)} PASS\n' for n in range(13)))
    medians = {
        f'synthetic:milan:{k}': [300.0, 0, None, None, 'GB/s', None] for k in ('copy', 'triad')
    }
    case = synthetic_run.case('cluster_stream', 'gcc-o2', perfvalues=medians, record=str(file),
        node_check=str(check))  # fmt: skip
    run = {'session_info': {'uuid': 'x'}, 'runs': [{'testcases': [case]}]}
    (tmp_path / 'run.json').write_text(json.dumps(run))
    made = sections.build(inputs.gather([tmp_path / 'run.json']))
    assert made.headline == 'FAIL: 1 run, all PASS; 13 nodes, 1 FAIL, 1 MISSING'
    assert [alarm.node for alarm in made.attention] == ['n00005', 'n00013']
    assert made.sections[0].tables[0].rows[0][0].text == 'gcc-o2'
    page.render(made)


def test_one_numa_domain_has_nothing_remote_and_the_section_says_so(rows):
    row = one(rows, 'gcc-o2', 'numactl', 'numa_scan')
    local = {k: v for k, v in row.others.items() if 'remote' not in k}
    found = numa.section([type(row)(**(vars(row) | {'others': local}))])
    assert len(found.pictures) == 1
    assert found.notes == ['synthetic:milan: one NUMA domain, nothing remote to compare.']


def test_empty_sections_say_why():
    assert 'No run of the check `stream`' in bandwidth.section([]).empty
    assert 'No check `numa_scan` is in this run' in numa.section([]).empty
    assert 'no node with a record' in ranking.section(fleet.judge([])).empty
    assert 'Nothing to compare' in compilers.section([]).empty


def test_compilers_are_compared_with_their_stores_and_moved_bytes(rows):
    best = compilers.best_runs(rows)
    plain, streaming = (best['synthetic:milan', p, Metric('triad')] for p in ('gcc-o2', 'icx-nt'))
    assert compilers.store_of(plain, 'triad') == 'ordinary stores'
    assert compilers.store_of(streaming, 'triad') == 'non-temporal stores'
    assert plain.pinning != 'none'
    (table,) = compilers.section(rows).tables
    moved = {row[0].text: row[-1].key for row in table.rows}
    assert moved['gcc-o2'] == pytest.approx(plain.figures['triad'].value * 4 / 3)
    assert moved['icx-nt'] == streaming.figures['triad'].value


def test_pictures_that_are_compared_by_eye_have_one_axis(rows):
    for made in (compilers.section(rows), bandwidth.section(rows)):
        scales = re.findall(
            r'"domain": (\[0, [\d.]+\])', json.dumps([p.chart for p in made.pictures])
        )
        assert len(scales) >= len(made.pictures) == 4 and len(set(scales)) == 1


def test_how_far_a_run_would_repeat_is_drawn(rows):
    """Marks of one preset lay 30 % apart, and nothing said that this is noise."""
    noisy = copy.deepcopy(rows)
    plain = bandwidth.section(rows).pictures[3].chart['layer']
    assert not any('x2' in part['encoding'] and part['mark']['type'] == 'rule' for part in plain)
    one(noisy, 'gcc-o2', 'omp').figures['triad'].interval = (120.0, 300.0)
    layers = bandwidth.section(noisy).pictures[3].chart['layer']
    (rule,) = [part for part in layers if (part['encoding'].get('x2') or {}).get('field') == 'to']
    assert rule['mark']['type'] == 'rule' and rule['encoding']['x']['field'] == 'from'
    assert '[0, 309' in json.dumps(layers)  # the axis has room for its end


def test_a_column_that_says_the_same_everywhere_is_left_out(report):
    (runs,) = report.sections[0].tables
    heads = [title for title, _ in runs.heads]
    assert 'partition' not in heads and 'synthetic:milan' in runs.caption
    assert {'of reference', 'of peak', 'why'} <= set(heads)
    assert 'test' not in heads  # curves have a section of their own
    assert {len(row) for row in runs.rows} == {len(heads)}


def test_a_reason_that_was_allowed_is_told_of(rows):
    row = one(rows, 'gcc-o2', 'omp')
    changed = type(row)(**(vars(row) | {'why': 'allowed: disturbed'}))
    none = past.of_series([])
    _, headline, _ = verdicts.overall([changed], [], fleet.judge([]), none)
    assert headline.endswith('1 only because a reason against them was allowed')
    (alarm,) = verdicts.attention([changed], [], fleet.judge([]), none)
    assert (alarm.what, alarm.why) == ('1 run PASS that would be INVALID', 'allowed: disturbed')


def test_what_memcpy_moves_is_not_known(rows):
    row = one(rows, 'gcc-o2', 'omp')
    codegen = {'triad': {'stores': 'libc', 'write_allocate_factor': None, 'width_bits': None}}
    changed = type(row)(**(vars(row) | {'codegen': codegen}))
    assert compilers.store_of(changed, 'triad') == 'copy by libc'
    assert compilers._moved(changed, 'triad').text == '-'
    assert compilers.store_of(changed, 'copy') == 'not known'


def test_a_figure_outside_its_reference_says_by_how_much():
    rows = {'s:p:triad': [91.3, 168.3, -0.06, 0.1, 'GB/s', 'fail'],
            's:p:copy': [160.0, 150.0, -0.06, 0.1, 'GB/s', 'pass'],
            's:p:lag': [99.0, 90.0, None, 0.05, 'ns', 'fail'],
            's:p:add': [1.0, 0, None, None, 'GB/s', None]}  # fmt: skip
    case = {'result': 'fail', 'fail_phase': 'performance', 'fail_reason': 'x', 'perfvalues': rows}
    assert summary.judge(case) == ('FAIL', (
        'triad 91.3 GB/s, at least 158.2 wanted: -46 % to its reference; '
        'lag 99 ns, at most 94.5 wanted: +10 % to its reference'))  # fmt: skip


def test_builds_that_failed_are_no_runs(tmp_path):
    build = synthetic_run.case('stream_binary', 'icx-o2', fixture=True, result='fail',
                               fail_phase='compile', fail_reason='no icx')  # fmt: skip
    figures = {'synthetic:milan:triad': [300.0, 0, None, None, 'GB/s', None]}
    run = synthetic_run.case('stream %pinning=omp', 'gcc-o2', pinning='omp', perfvalues=figures)
    report = {'session_info': {'uuid': 'x'}, 'runs': [{'testcases': [build, run]}]}
    (tmp_path / 'run.json').write_text(json.dumps(report))
    made = sections.build(inputs.gather([tmp_path / 'run.json']))
    assert made.headline == 'FAIL: 1 run, all PASS; 1 build failed'
    assert ('builds failed', 1, 'FAIL') in made.counts
    assert made.facts[0][0] == 'measured'


def test_the_peak_stands_with_its_source(report):
    source = '10 synthetic channels x 3200 MT/s x 8 B'
    assert report.sections[0].notes[:2] == [
        '11 of 15 runs have no reference: recorded only.',
        f'synthetic:milan: theoretical peak 256 GB/s ({source}).',
    ]


def test_presets_are_compared_by_pairs_of_one_round(report):
    said = [note for note in report.sections[0].notes if 'within one round' in note]
    assert any(
        'gcc-native is 1.01 ±0.01 of gcc-o2, the median of 4 pairs' in note for note in said
    )


# verdicts


def test_the_summary_counts_and_lists_the_worst_first(report):
    assert report.headline == 'FAIL: 17 runs, 1 FAIL, 1 INVALID; 1 build failed'
    assert ('runs PASS', 15, 'PASS') in report.counts
    assert [alarm.verdict for alarm in report.attention] == ['FAIL', 'FAIL', 'INVALID']
    assert 'unknown argument' in report.attention[0].why


def test_nodes_with_one_complaint_are_one_line(tmp_path):
    file = fleet_file(tmp_path / 'fleet.jsonl', 60, slow=(3, 4, 5))
    made = sections.build(inputs.gather([file]), 'n[00001-00061]')
    assert made.headline == 'FAIL: 61 nodes, 3 FAIL, 1 MISSING'
    slow, missing = made.attention
    assert slow.what == '3 nodes' and slow.why.endswith('n[00004-00006]')
    assert (missing.verdict, missing.what, missing.node) == ('MISSING', 'n00061', 'n00061')


# the ranking


def test_points_of_the_ranking_are_percent_to_the_median_with_outliers_marked(tmp_path):
    found, _ = judged(fleet_file(tmp_path / 'fleet.jsonl', 40, slow=(7,)))
    points = ranking.points(found.groups[0], found.groups[0].metrics[-1])
    slowest = min(points, key=lambda p: p['place'])
    assert (slowest['n'], slowest['v'], slowest['name']) == ('n00008', 'FAIL', 8)
    assert slowest['p'] == pytest.approx(-8, abs=1)
    assert sorted(p['place'] for p in points) == list(range(1, 41))
    assert [p['n'] for p in points if p['v'] == 'FAIL'] == ['n00008']
    assert [p['l'] for p in ranking.with_labels(points) if p['l']] == ['n00008']


def test_on_paper_a_large_fleet_is_thinned_but_no_outlier_is_lost(tmp_path):
    slow = range(0, 3000, 100)
    found, _ = judged(fleet_file(tmp_path / 'fleet.jsonl', 3000, slow))
    points = ranking.with_labels(ranking.points(found.groups[0], found.groups[0].metrics[-1]))
    thinned = ranking.thin(points)
    assert len(thinned) < 600
    assert {p['n'] for p in thinned} >= {fleets.name(n) for n in slow}
    named = [p for p in points if p['l']]
    assert 5 < len(named) <= ranking.NAMED


def test_the_page_knows_every_node_and_no_figure_of_an_invalid_one(tmp_path):
    made = fleets.healthy(12, 1)
    lines = fleets.records(made)
    lines[5] |= {'verdict': 'INVALID', 'reasons': [{'reason': 'disturbed', 'allowed': False}]}
    found, records = judged(fleets.write(lines, tmp_path / 'fleet.jsonl'))
    data = ranking.as_data(found, records)
    rows = {row[0]: row for row in data['nodes']}
    assert len(rows) == 12 and data['kernels'] == ['copy', 'scale', 'add', 'triad']
    assert rows['n00006'][1:5] == ['INVALID', 0, [None] * 4, 'disturbed']
    assert rows['n00001'][3][3] == pytest.approx(made.rates[0, 0, 3] / 1000, abs=0.01)
    assert data['files'][rows['n00001'][5]].endswith('fleet.jsonl')
    assert data['traits'][rows['n00001'][7]]['cpu_model'] == 'Synthetic 9000'


# the page


def test_no_text_of_the_results_becomes_markup(tmp_path):
    file = fleet_file(tmp_path / 'fleet.jsonl', 4)
    evil = "</script><script>alert('n')</script>"
    file.write_text(file.read_text().replace('n00002', evil))
    html = page.render(sections.build(inputs.gather([file])))
    assert evil not in html and '&lt;/script&gt;' in html


def test_the_page_names_nothing_to_fetch(report):
    html = page.render(report)
    markup = re.sub(r'(?s)<script.*?</script>', '', html)
    assert not re.search(r'(src|href|action|srcset)\s*=\s*["\']?\s*(https?:)?//', markup)
    assert not re.search(r'@import|url\((?!#)', markup)


def test_each_svg_of_the_page_has_ids_of_its_own(report):
    html = page.render(report)
    markup = re.sub(r'(?s)<script.*?</script>', '', html)
    ids = re.findall(r'\bid="([^"]+)"', markup)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'url\(#([^)]+)\)', markup)) <= set(ids)


def encodings(chart):
    found = [chart['encoding']] if 'encoding' in chart else []
    return found + [e for layer in chart.get('layer', []) for e in encodings(layer)]


def test_nothing_is_told_by_colour_alone(report, tmp_path):
    ranked = sections.build(inputs.gather([fleet_file(tmp_path / 'f.jsonl', 30, slow=(1,))]))
    charts = [p.chart for p in report.pictures() + ranked.pictures()]
    assert len(charts) > 10
    for chart in charts:
        found = encodings(chart)
        colored = {e['color']['field'] for e in found if 'field' in e.get('color', {})}
        shaped = {e['shape']['field'] for e in found if 'shape' in e}
        assert colored and colored <= shaped, chart['description']
        for domain in (
            e['color']['scale']['domain'] for e in found if 'field' in e.get('color', {})
        ):
            assert len(domain) <= len(theme.CATEGORIES) == MOST


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize('colors', (LIGHT, DARK), ids=('light', 'dark'))
def test_contrast_as_wcag_asks_for_marks_and_for_text(colors):
    for name in ('one', 'two', 'three', 'four', 'five'):
        assert contrast(colors[name], colors['back']) >= 3, name
    for name in ('fore', 'muted', 'link', 'pass', 'fail', 'invalid'):
        assert contrast(colors[name], colors['back']) >= 4.5, name
        assert contrast(colors[name], colors['page']) >= 4.3, name


def test_both_themes_have_the_same_names_and_leave_no_placeholder(report):
    assert LIGHT.keys() == DARK.keys()
    for picture in report.pictures():
        assert '"@' not in json.dumps(paint(picture.chart, LIGHT))


def test_each_picture_says_how_to_read_it_and_what_it_is(report):
    assert {s.id for s in report.sections if s.pictures} == {
        'bandwidth', 'numa', 'history', 'compilers',
    }  # fmt: skip
    for picture in report.pictures():
        assert picture.how_to_read.startswith('How to read: ')
        assert len(picture.chart['description']) > 10


# the command


def test_the_command_writes_the_page_and_its_pictures(results, tmp_path, capsys):
    out, folder = tmp_path / 'r.html', tmp_path / 'pictures'
    status = cli.main(['report', str(results), '-o', str(out), '--pictures', str(folder)])
    said = capsys.readouterr().out
    assert status == 0 and 'FAIL: 17 runs, 1 FAIL, 1 INVALID; 1 build failed' in said
    assert out.read_text().startswith('<!DOCTYPE html>')
    names = {file.stem for file in folder.iterdir()}
    assert 'numa-synthetic-milan-gcc-o2' in names and len(names) >= 9
    for name in names:
        assert (folder / f'{name}.png').read_bytes().startswith(b'\x89PNG')
        assert 'How to read' in (folder / f'{name}.svg').read_text()


def test_what_cannot_be_written_is_an_error_and_the_last_report_stays(results, tmp_path, capsys):
    out = tmp_path / 'report.html'
    out.mkdir()
    assert cli.main(['report', str(results), '-o', str(out)]) == 2
    assert f"cannot write '{out}'" in capsys.readouterr().err
    assert out.is_dir() and not list(tmp_path.glob('*.part'))


def test_results_that_do_not_exist_are_an_error_of_one_line_and_a_hint(tmp_path, capsys):
    assert cli.main(['report', str(tmp_path / 'none')]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith('membw: no such file') and second.startswith('hint: ')


def test_8000_nodes_and_4_kernels_stay_under_10_mb(tmp_path, capsys):
    file = fleet_file(tmp_path / 'fleet.jsonl', 8000, slow=range(0, 8000, 400))
    begun = time.time()
    html = page.render(sections.build(inputs.gather([file])))
    size = len(html.encode())
    with capsys.disabled():
        print(f'\n8,000 nodes x 4 kernels: {size / 1e6:.1f} MB in {time.time() - begun:.1f} s')
    assert size < 10e6
    assert 'FAIL: 8,000 nodes, 20 FAIL' in html


def test_pictures_are_drawn_in_light_colours(report):
    text = pictures.svg(pictures.titled(report.pictures()[0]))
    assert LIGHT['one'] in text and DARK['back'] not in text


# history


def history_of(series):
    return past.of_series([series], ['results.db'])


def test_a_step_of_all_nodes_is_marked_with_the_field_that_changed():
    series = nights.healthy(20, 40, 1)
    nights.step(series, slice(None), 30, 0.03)
    series.provenances.append(series.provenances[0] | {'compiler': 'gcc 13.1.0'})
    series.software[:, 30:] = 1
    found = history_of(series)
    (picture,) = history.section(found).pictures
    labels = [
        p['label'] for layer in picture.chart['layer'] for p in values(layer) if 'label' in p
    ]
    assert {label.split(' % ')[1] for label in labels} == {'compiler'}
    (event,) = found.events
    assert past.because(event) == 'compiler: gcc 12.2.0 → gcc 13.1.0'
    assert past.provenance(found)['past-0-1']['compiler'] == 'gcc 13.1.0'


def test_what_did_not_change_is_folded():
    every = [nights.healthy(20, 40, seed) for seed in (1, 2, 3)]
    for number, series in enumerate(every):
        series.label += f' {number}'
    nights.step(every[2], slice(None), 30, 0.03)
    made = history.section(past.of_series(every))
    assert [p.title[:-10] for p in made.pictures] == [every[2].label]
    assert [p.title[:-10] for p in made.folded] == [s.label for s in every[:2]]


def test_kernels_are_drawn_to_one_axis(rows):
    """Four of their own, by 2 and by 5, could not be compared by eye."""
    drawn = [p.chart for p in bandwidth.section(rows).pictures]
    axes = [
        layer['encoding']['x']['scale']['domain']
        for chart in drawn for layer in chart['layer'] if 'scale' in layer['encoding'].get('x', {})
    ]  # fmt: skip
    assert len(axes) == len(drawn) == 4 and all(axis == axes[0] for axis in axes)
    assert axes[0][1] > synthetic_run.PEAK


def test_slow_nodes_beside_each_other_are_all_named():
    rows = [{'n': f'n{i}', 'place': i, 'p': -9 + i / 5, 'v': 'FAIL', 'l': ''} for i in range(1, 6)]
    rows += [{'n': f'm{i}', 'place': i, 'p': 0, 'v': 'PASS', 'l': ''} for i in range(6, 190)]
    assert ranking.with_labels(rows)[0]['l'] == 'n1 n2 n3 …'
    assert not any(row['l'] for row in rows[1:])
    rows[0]['p'], rows[0]['l'] = -20, ''  # alone, far below: the others' names do not stand there
    assert [row['l'] for row in ranking.with_labels(rows)][:3] == ['n1', 'n2 n3 n4 …', '']


def test_points_of_a_series_have_median_band_and_software():
    series = nights.healthy(20, 3, 1)
    series.rates[:, :, 1] = np.nan
    found = history_of(series)
    points = list(history._points(found, series, 3))
    assert len(points) == 2
    low, median, high = np.percentile(series.rates[3, :, 2], [5, 50, 95])
    expected = {'g': median, 'low': low, 'high': high, 'c': 20}
    assert {k: points[1][k] for k in expected} == pytest.approx(expected, abs=0.006)
    assert points[1]['provenance'] == 'past-0-0'
    assert points[1]['t'] == (nights.FIRST + 2) * 86_400_000


def test_a_node_that_drifted_away_has_a_picture_of_its_own_and_is_told_of():
    series = nights.healthy(20, 60, 1)
    nights.step(series, 7, 52, 0.06)
    found = history_of(series)
    _, picture = history.section(found).pictures
    points = [p for layer in picture.chart['layer'] for p in values(layer)]
    points = points or values(picture.chart)
    assert {p['n'] for p in points} == {'n00008'}
    (at,) = {p['t'] for p in points if p['at']}
    assert at == (nights.FIRST + 52) * 86_400_000
    (alarm,) = verdicts.attention([], [], fleet.judge([]), found)
    assert alarm.verdict == 'CHANGE' and 'n00008' in alarm.what


def test_what_is_long_ago_or_over_needs_no_attention_but_stays_in_the_table():
    series = nights.healthy(20, 60, 1)
    nights.step(series, 7, 20, 0.06)
    found = history_of(series)
    assert len(found.events) == 1 and found.recent() == []
    assert len(history.section(found).tables[0].rows) == 1


def test_a_fault_of_a_node_in_all_its_groups_is_one_alarm():
    both = [nights.healthy(20, 40, seed) for seed in (1, 2)]
    for number, series in enumerate(both):
        series.label += f' {number}'
        nights.step(series, 7, 30, 0.06)
    found = past.of_series(both)
    (alarm,) = verdicts.attention([], [], fleet.judge([]), found)
    assert len(found.events) == 2 and 'in 2 groups' in alarm.why


def test_the_database_is_read_night_by_night(tmp_path):
    results = synthetic_run.folder(tmp_path / 'results', nights=30, slower_from=20)
    made = sections.build(inputs.gather([results]))
    assert made.headline == (
        'FAIL: 17 runs, 1 FAIL, 1 INVALID; 1 build failed; lasting changes for the worse: 1'
    )
    (alarm,) = [alarm for alarm in made.attention if alarm.verdict == 'CHANGE']
    events, series = next(s for s in made.sections if s.id == 'history').tables
    # how many of the 15 groups are sure enough is for the tests of membw history
    assert len(events.rows) >= 8
    assert 'since 2026-06-17' in alarm.why and f'in {len(events.rows)} groups' in alarm.why
    assert len(series.rows) == 15 and {row[2].key for row in series.rows} == {30}
    assert all(row[1].provenance in made.provenance for row in events.rows)


def test_one_night_is_no_history_and_none_says_where_it_would_come_from():
    assert 'a second one begins' in history.section(history_of(nights.healthy(3, 1, 1))).empty
    assert 'results/results.db' in history.section(past.of_series([])).empty


def test_memory_without_cpus_has_its_curve_and_its_saturation(tmp_path):
    case = synthetic_run.scan_case(tmp_path, 0)
    for threads in range(1, 13):
        gbs = min(210.0, 21.0 * threads)
        name = f'synthetic:milan:triad_cpuless_{threads}'
        case['perfvalues'][name] = [gbs, 0, None, None, 'GB/s', None]
    case['perfvalues']['synthetic:milan:saturation_cpuless'] = [10, 0, None, None, 'threads', None]
    (picture,) = numa.section(rows_of([case])).pictures
    shown = {(row[0].text, row[3].text) for row in picture.table.rows}
    assert ('cpuless', 'saturated') in shown and ('remote', 'saturated') in shown
    assert 'cpuless saturates at 10 threads' in picture.chart['description']
