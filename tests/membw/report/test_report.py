"""`membw report`: the page begins with the headline and the verdict, and loads nothing."""

import base64
import hashlib
import html as html_module
import re

import made_up_records as made_up
import pytest
from made_run import metric
from made_up_cpus import identity, measured

from membw.cli import main
from membw.report.page import page_of
from membw.report.run import run_of_report
from membw.summary.command import read, show

KNOWN = {'references': {'triad': [180.0, -0.05, 0.1, 'GB/s']}}
WRONG = {'environ': 'bad', 'verdict': 'INVALID', 'reasons': ['not-validated (bit 3)']}
SOURCE = {'peak_source': '10 channels x 3200 MT/s x 8 B'}
PEAK = {'peak': {'value': 256.0, 'unit': 'GB/s'}}
KNOWN |= SOURCE


def run(**changes):
    """Records of one run: two presets that pass, one that fails, one that is INVALID."""
    return [
        made_up.record(case=KNOWN, **PEAK, **changes),
        made_up.record(case={'environ': 'fast'} | SOURCE, rows=made_up.stream(share=1.1), **PEAK),
        made_up.record(case={**KNOWN, 'environ': 'slow'}, rows=made_up.stream(share=0.8), **PEAK),
        made_up.record(case=WRONG, rows=made_up.stream(share=2), **PEAK),
    ]


@pytest.fixture
def html(tmp_path, stored, membw):
    """A function: the page of these records as text."""

    def of(records, *words):
        assert membw('report', stored(records), '-o', tmp_path / 'r.html', *words)[0] == 0
        return (tmp_path / 'r.html').read_text()

    return of


def test_the_head_is_the_best_valid_figure_and_the_verdict_counts_rows(page):
    found = page(run())
    assert found.headline == 'Triad 198.0 ±1.0 GB/s'
    assert '77 % of the peak of 256 GB/s (10 channels x 3200 MT/s x 8 B).' in found.standing
    assert 'No reference is set.' in found.standing
    assert (found.verdict, found.counts) == ('VALID', '1 VALID, 1 PASS, 1 FAIL, 1 INVALID')
    assert [(a.verdict, a.what, a.why) for a in found.attention] == [
        ('INVALID', 'stream bad omp', 'not-validated (bit 3)'),
        ('FAIL', 'stream slow omp', 'triad 144 GB/s, at least 171 wanted (-20%)'),
    ]
    _, title, fields = found.provenance[0]
    names = dict(fields)
    assert title.startswith('stream') and names['compiler'] == 'gcc 12.2.0'
    assert names['record'].endswith('.jsonl') and names['session'] == 's1'
    table, picture = found.sections[0].tables[0], found.picture.as_text()
    (bad,) = [line for line in table.texts() if line[0] == 'bad']  # no figure of it
    assert not any('±' in text for text in bad)
    assert '>bad omp INVALID<' in picture and '360' not in picture
    assert 'reference' in found.picture.how_to_read and 'Circle' not in found.picture.how_to_read


@pytest.mark.parametrize('bound, case, headline, word', [
    ('lower', {}, 'Triad ≥ 37.2 GB/s', 'VALID'), ('upper', {}, 'Triad ≤ 37.2 GB/s', 'UNDECIDED'),
    ('lower', KNOWN, 'Triad ≥ 37.2 GB/s', 'UNDECIDED'),
])  # fmt: skip
def test_a_bound_has_its_sign(page, bound, case, headline, word):
    rows = {'triad': {'value': 37.2, 'unit': 'GB/s', 'better': 'higher', 'bound': bound}}
    found = page([made_up.record(rows=rows, case=case)])
    assert (found.headline, found.verdict) == (headline, word)
    assert [a.verdict for a in found.attention] == [word] * (word != 'VALID')


def test_a_warning_is_no_reason_and_one_metric_more_changes_no_picture(page):
    """A note once made a good run INVALID by what was 'allowed'."""
    rows = made_up.stream() | made_up.metrics({'rounds': 3.0}, 's', 'lower')
    warnings = [{'reason': 'thp', 'detail': 'always'}]
    found = page([made_up.record(rows=rows, warnings=warnings, case={'environ': e}) for e in 'ab'])
    assert found.verdict == 'VALID' and not found.attention
    assert found.picture.title.startswith('Triad')


OLD = made_up.record(day=-1, rows=made_up.stream(share=2))
ROUNDS = [made_up.record(rows=made_up.stream(share=s)) for s in (0.9, 1.0, 0.95)]
NODES = [made_up.record(f'n{i}', rows=made_up.stream(share=i / 10)) for i in (9, 10, 12)]


@pytest.mark.parametrize('records, headline, counts', [
    ([OLD, made_up.record(case=False)], 'Triad 180.0 ±0.9 GB/s', '1 VALID'),
    (ROUNDS, 'Triad 180.0 ±18.0 GB/s', '1 VALID'),
    (NODES, '3 of 3 nodes are UNDECIDED: n9 -18.2 %, n10 -4.8 %, n12 +26.3 %', '3 UNDECIDED'),
    ([made_up.record(case=WRONG)], 'No valid figure', '1 INVALID'),
], ids=['newest night', 'rounds are one row', 'nodes', 'invalid'])  # fmt: skip
def test_what_the_headline_is_of(page, records, headline, counts):
    found = page(records)
    assert (found.headline, found.counts) == (headline, counts)
    assert (found.picture is None) == (records is not NODES)  # one figure is no picture


@pytest.mark.parametrize('day, end', [(0.002, '20:29'), (0.35, '2026-05-29 04:50')])
def test_the_subtitle_has_the_day_of_its_end_where_that_is_another(page, day, end):
    """Runs of three days read 'measured 2026-10-01 01:00 to 01:40'."""
    rows = [made_up.record(f'n{i}', at * day) for i in range(3) for at in (0, 1)]
    assert page(rows).subtitle.endswith(f' to {end} UTC')


def test_each_benchmark_has_a_table_of_its_own_columns(page):
    latency = made_up.metrics({'latency': 97.5}, 'ns', 'lower')
    rows = [*run(), made_up.record(rows=latency, program='chase', case={'test': 'chase'})]
    stream, chase = page(rows).sections[:2]
    titles, *_ = stream.tables[0].texts()
    assert titles[:6] == ['preset', 'pinning', 'verdict', 'Copy', 'Scale', 'Add']
    titles, *_ = chase.tables[0].texts()
    assert 'Latency' in titles and 'Triad' not in titles
    assert not chase.pictures


def curves(points, axes, *of):
    """Metrics of {(series, numbers): value}."""
    rows = {}
    for number, ((series, places), value) in enumerate(points.items()):
        (row,) = made_up.metrics({series: value}, *of).values()
        at = dict(zip(axes, places, strict=True))
        rows[f'{series}_{number}'] = {**row, 'series': series, 'at': at}
    return rows


CURVES = [
    (('threads',), {(f'triad_{m}', (n,)): n * 9.0 for m in 'ab' for n in range(1, 9)},
     ['>triad_a<', '>triad_b<', '>threads<']),
    (('bytes',), {('t', (4**n,)): 1.5 * 3**n for n in range(11)}, ['>1 MiB<']),
    (('cpu', 'memory'), {('r', (a, b)): 10.0 for a in range(4) for b in range(4)}, []),
]  # fmt: skip


@pytest.mark.parametrize('axes, points, shown', CURVES, ids=['curves', 'logarithmic', 'no curve'])
def test_points_of_a_series_are_curves_but_not_of_a_map(page, axes, points, shown):
    rows = curves(points, axes, 'us', 'lower') | made_up.metrics({f't_{n}': 9.0 for n in (32, 64)})
    (section,) = page([made_up.record(rows=rows, case={'test': 'scan'}, headline='t_64')]).sections
    texts = [picture.as_text() for picture in section.pictures]
    assert len(texts) == bool(shown) and all(word in texts[0] for word in shown)
    assert all(table.is_folded and table.title for table in section.tables)
    cells = [cell for table in section.tables for row in table.rows for cell in row]
    assert sum(isinstance(cell.value, float) for cell in cells) == len(rows)


def test_a_long_table_shows_what_is_wrong_first_and_counts_the_rest(page):
    presets = [('gcc-o2', 1.0), *((f'p{n:02d}', 1 + n / 100) for n in range(99))]
    rows = [
        made_up.record(case={**KNOWN, 'environ': preset}, rows=made_up.stream(share=share))
        for preset, share in presets
    ]
    rows[50] = made_up.record(case={**KNOWN, 'environ': 'low'}, rows=made_up.stream(share=0.5))
    (table,) = page(rows).sections[-1].tables
    assert len(table.rows) == 60 and table.texts()[1][0] == 'low'
    assert table.title == '60 of 100 rows: what is not PASS, then the slowest, GB/s'


def test_array_size_threads_and_stores_are_said_with_a_link_to_what_they_mean(html):
    kinds = (('n1', 'nontemporal'), ('n2', 'ordinary'))
    rows = [
        made_up.record(n, codegen={'triad': {'stores': s, 'width_bits': 256}}) for n, s in kinds
    ]
    text = html(rows)
    assert 'arrays of 762.9 MiB, 8 threads, non-temporal and ordinary stores.' in text
    assert '<a href="#words">What these mean</a>' in text and 'id="words"' in text
    explained = re.findall('<dt>([A-Z]+)</dt>', text)
    assert explained == ['UNDECIDED']  # each word of the page, and no other


def inside(text, tag):
    return re.search(rf'<{tag}>(.*?)</{tag}>', text, re.S)[1]


def test_the_page_loads_nothing_and_its_policy_allows_nothing_but_its_own_style_and_script(html):
    text = html(run())
    marks = ''.join(
        re.findall('<[^>]*>', re.sub(r'<(style|script)>.*?</\1>', '', text, flags=re.S))
    )
    assert not re.search(r'<(link|img|iframe|form)\b|\s(style|src)=', marks)
    hrefs = re.findall(r'\shref="(.*?)"', marks)
    assert {href.lstrip('#') for href in hrefs} <= {*re.findall(r'\sid="(.*?)"', marks)}
    style, script = (
        base64.b64encode(hashlib.sha256(inside(text, tag).encode()).digest()).decode()
        for tag in ('style', 'script')
    )
    (policy,) = re.findall(r'http-equiv[^>]*content="(.*?)"', text)
    assert html_module.unescape(policy) == (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # printed from a dark browser, names and figures of the pictures were white on white
    assert re.findall('@media (.*)prefers-color-scheme: dark', text) == ['screen and ('] * 2


def test_text_of_other_parties_is_no_markup(html):
    forged = {'compiler': '<script>alert(1)</script>', 'environ': 'a"><b>\x1b[31m'}
    text = html([made_up.record(case=forged), *run()])
    assert text.count('<script') == 1 and '<b>' not in text and '\x1b' not in text


def test_each_reason_is_on_the_page_once_the_first_ones_in_sight(html):
    why = [f'not-validated (bit {n})' for n in range(25)]
    cases = [{**WRONG, 'environ': f'p{n}', 'reasons': [text]} for n, text in enumerate(why)]
    text = html([made_up.record(case=case) for case in cases])
    assert [text.count(f'(bit {n})') for n in range(25)] == [1] * 25
    folded = text[text.index('<summary>5 more</summary>') :]
    assert folded.count('not-validated') == 5


def test_no_path_of_the_checkout_is_on_the_page(page, monkeypatch):
    monkeypatch.setattr('membw.report.page.root', lambda: '/home/me/membw')
    line = 'gcc -O2 stream.c -o /home/me/membw/build/stream'
    found = page([made_up.record(case={'compile_line': line})])
    assert dict(found.provenance[0][2])['compile_line'] == 'gcc -O2 stream.c -o build/stream'


def test_the_picture_of_the_headline_is_saved_with_its_own_colours(tmp_path, stored, membw):
    words = ['report', stored(run()), '-o', tmp_path / 'r.html', '--svg', tmp_path / 'h.svg']
    assert 'Triad 198.0 ±1.0 GB/s VALID; 1' in membw(*words)[1]
    text = (tmp_path / 'h.svg').read_text()
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"') and '<style>' in text
    assert '198.0 ±1.0' in text and 'prefers-color-scheme: dark' in text


def test_damaged_lines_are_named_on_the_page_and_on_stderr(tmp_path, membw):
    file = made_up.write(tmp_path / 'r.jsonl', [made_up.record()])
    file.write_text(file.read_text() + 'x\n')
    status, _, err = membw('report', file, '-o', tmp_path / 'r.html')
    assert status == 0 and 'r.jsonl:2: not JSON' in err
    text = (tmp_path / 'r.html').read_text()
    assert 'r.jsonl:2: not JSON' in text and '1 line not read: see the end.' in text


@pytest.mark.parametrize('words', [['gone.json'], ['empty']])
def test_nothing_to_show_is_a_usage_error(tmp_path, monkeypatch, membw, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'empty').mkdir()
    status, _, err = membw('report', *words)
    assert status == 2 and err.startswith('membw: ') and not list(tmp_path.glob('*.html'))


def test_evidence_that_is_damaged_stops_no_page(stored, membw):
    file = stored([made_up.record(element_bytes='x')])
    status, _, err = membw('report', file, '--output', f'{file}.html')
    assert status == 0 and 'a bug' not in err


def test_the_page_of_a_report_has_the_rows_and_the_verdict_of_the_terminal(made, tmp_path, capsys):
    made.add({'triad': metric(41.0, 40.5, 41.5)}, round=1)
    made.add({'triad': metric(42.5, 42.0, 43.0)}, round=2)
    made.add({'triad': metric(90.0)}, preset='gcc-o3', reasons=['fits-in-cache (1 MiB)'])
    path = made.build('icx', result='fail', why='icx: not found').failed_with('icx').write()
    found = page_of(run_of_report(path))
    counts = '1 VALID, 1 MISSING, 1 INVALID, 1 build failed'
    assert show(read(path)) == 1 and found.counts == counts
    assert f'Verdict: INVALID: {counts}' in capsys.readouterr().out
    assert [(a.verdict, a.what) for a in found.attention] == [
        ('INVALID', 'stream gcc-o3 omp'), ('MISSING', 'stream icx omp')
    ]  # fmt: skip
    assert 'icx: not found' in found.attention[1].why
    table = found.sections[0].tables[0]
    assert [line[0] for line in table.texts()[1:]] == ['gcc-o2', 'gcc-o3', 'icx']
    assert main(['report', path, '-o', str(tmp_path / 'r.html')]) == 0
    assert 'Triad 42.5 ±1.5 GB/s VALID; 1 VALID' in capsys.readouterr().out


def test_a_bad_row_of_another_benchmark_does_not_make_the_headline_wrong(made):
    busy = {'wall_s': 2.0, 'other_share': 0.5, 'processes': [{'name': 'cc1', 'cpu_s': 3.0}]}
    made.add({'triad': metric(37.2, bound=True)}, record={'busy': busy})
    wrong = {'reasons': ['generators-stopped (1)'], 'record': {'busy': busy}}
    made.add({'unloaded_ns': metric(90.0)}, test='loaded', **wrong)
    found = page_of(run_of_report(made.write()))
    assert found.headline == 'Triad ≥ 37.2 GB/s' and found.verdict == 'VALID'
    assert [a.verdict for a in found.attention] == ['INVALID']
    assert 'Other processes used 1.0 of 2 CPUs: cc1 1.5.' in ' '.join(found.standing)


def test_the_badge_of_a_run_is_the_word_that_its_rows_are_counted_by(made):
    """A ratio of bounds was VALID in the terminal's count and UNDECIDED in the headline."""
    ratio = metric(1.09, unit='x') | {'bound': 'unknown'}
    made.add({'speedup_2': ratio}, test='nbody', record={'headline': 'speedup_2'})
    found = page_of(run_of_report(made.write()))
    assert (found.verdict, found.counts) == ('VALID', '1 VALID') and not found.attention


def test_a_run_without_a_figure_has_a_page(made):
    made.build('icx', result='fail', why='no').failed_with('icx')
    found = page_of(run_of_report(made.write()))
    assert found.headline == 'No valid figure' and found.verdict == 'MISSING'


def test_each_node_of_a_whole_cluster_is_in_the_table(made, tmp_path):
    file = tmp_path / 'records' / 'cluster.jsonl'
    made_up.write(file, made_up.fleet(5, case={'test': 'cluster_stream'}))
    values = {'local:default:triad': [180.0, 0, None, None, 'GB/s', 'pass']}
    made.add(test='cluster_stream', node_check='nodecheck.txt', perfvalues=values)
    made.cases[-1]['record'] = str(file)
    found = page_of(run_of_report(made.write()))
    assert (found.counts, found.headline) == ('5 PASS', 'All 5 nodes pass')
    assert 'median of 5 nodes' in found.standing[0]
    assert found.sections[0].id == 'nodes'


def test_the_page_of_one_node_has_the_shares_that_others_reach(page):
    node = measured(identity('EPYC 7742'), {}, llc_mib=512)
    rows = made_up.metrics({'triad': 221.2, 'read': 280.0})
    of = {key: node[key] for key in ('codegen', 'llc_mib', 'array_size', 'residency', 'threads')}
    made = page([made_up.record(rows=rows, facts=node['facts'], **of)])
    (section,) = [one for one in made.sections if one.id == 'expected']
    assert section.notes[0].startswith('EPYC 7002 (Rome): the peak is at most 409.6 GB/s')
    drawn = made.picture.as_text()
    for mark in ('gcc-o2 omp: 221.2', 'moved at most: 294.9', '>others, read alone<', 'half of it',
                 'this node: 280', 'ORFEO EPYC node: 54 %: 221.2', 'peak 409.6'):  # fmt: skip
        assert mark in drawn
    assert 'Triangle' in made.picture.how_to_read and 'reference' not in made.picture.how_to_read
