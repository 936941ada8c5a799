"""`membw report`: the page begins with the headline and the verdict, and loads nothing."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import made_up_records as made_up
import pytest

from membw.cli import main
from membw.report.page import page_of
from membw.report.run import run_of_records
from membw.results.table import read_table

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
def page(tmp_path):
    """A function: the Page of these records, one file each."""

    def of(records, nodes=()):
        (tmp_path / 'records').mkdir(exist_ok=True)
        for number, row in enumerate(records):
            made_up.write(tmp_path / f'records/{number:04d}.json', [row])
        return page_of(run_of_records(read_table([str(tmp_path)])), nodes)

    return of


@pytest.fixture
def html(tmp_path):
    """A function: the page of these records as text."""

    def of(records):
        file = made_up.write(tmp_path / 'r.jsonl', records)
        assert main(['report', str(file), '-o', str(tmp_path / 'r.html')]) == 0
        return (tmp_path / 'r.html').read_text()

    return of


# --- the head -----------------------------------------------------------------------------------


def test_the_head_is_the_best_valid_figure_with_interval_peak_and_reference(page):
    found = page(run())
    assert found.headline == 'Triad 198.0 ±1.0 GB/s'
    assert '77 % of the peak of 256 GB/s (10 channels x 3200 MT/s x 8 B).' in (found.standing)
    assert 'No reference is set.' in found.standing


def test_a_bound_is_shown_as_one_and_explained(page):
    bound = {'triad': {'value': 37.2, 'unit': 'GB/s', 'better': 'higher', 'bound': 'lower'}}
    found = page([made_up.record(rows=bound)])
    assert found.headline == 'Triad ≥ 37.2 GB/s' and found.verdict == 'PASS'
    assert 'lower bound, the true figure is higher' in found.picture.how_to_read


def test_an_upper_bound_is_shown_as_one_and_explained(page):
    bound = {'triad': {'value': 37.2, 'unit': 'GB/s', 'better': 'higher', 'bound': 'upper'}}
    found = page([made_up.record(rows=bound)])
    assert found.headline == 'Triad ≤ 37.2 GB/s'
    assert 'arrow to the left' in found.picture.how_to_read


def test_a_bound_below_its_reference_is_undecided(page):
    bound = {'triad': {'value': 37.2, 'unit': 'GB/s', 'better': 'higher', 'bound': 'lower'}}
    found = page([made_up.record(rows=bound, case=KNOWN)])
    assert found.verdict == 'UNDECIDED' and found.attention[0].verdict == 'UNDECIDED'


def test_the_verdict_counts_rows_and_names_what_is_wrong(page):
    found = page(run())
    assert (found.verdict, found.counts) == ('PASS', 'rows: 2 PASS, 1 FAIL, 1 INVALID')
    assert [(a.verdict, a.what) for a in found.attention] == [
        ('INVALID', 'stream bad omp'),
        ('FAIL', 'stream slow omp'),
    ]
    assert found.attention[0].why == 'not-validated (bit 3)'
    assert found.attention[1].why == 'triad 144 GB/s, at least 171 wanted (-20%)'


def test_a_warning_is_no_reason_against_a_row(page):
    """A note once made a good run INVALID by what was 'allowed'."""
    warned = made_up.record(warnings=[{'reason': 'thp', 'detail': 'always'}])
    found = page([warned])
    assert found.verdict == 'PASS' and not found.attention


def test_a_run_without_a_valid_figure_has_no_headline_figure(page):
    found = page([made_up.record(case=WRONG)])
    assert found.headline == 'No valid figure' and found.picture is None


def test_the_headline_of_several_nodes_is_their_median(page):
    rows = [made_up.record(f'n{i}', rows=made_up.stream(share=i / 10)) for i in (9, 10, 12)]
    assert page(rows).headline == 'Triad 180.0 GB/s, median of 3 nodes (162.0 to 216.0)'


# --- which records ------------------------------------------------------------------------------


def test_rounds_of_one_run_are_one_row_with_the_best_figure(page):
    rounds = [made_up.record(rows=made_up.stream(share=s)) for s in (0.9, 1.0, 0.95)]
    found = page(rounds)
    assert found.counts == 'rows: 1 PASS' and found.headline == 'Triad 180.0 ±18.0 GB/s'


def test_of_records_the_newest_night_is_shown(page):
    old = made_up.record(day=-1, rows=made_up.stream(share=2))
    found = page([old, made_up.record(case=False)])
    assert found.counts == 'rows: 1 PASS' and found.headline == 'Triad 180.0 ±0.9 GB/s'


# --- sections -----------------------------------------------------------------------------------


def test_each_benchmark_has_a_table_of_its_own_columns(page):
    latency = made_up.metrics({'latency': 97.5}, 'ns', 'lower')
    rows = [*run(), made_up.record(rows=latency, program='chase', case={'test': 'chase'})]
    stream, chase = page(rows).sections[:2]
    titles, *_ = stream.tables[0].texts()
    assert titles[:6] == ['preset', 'pinning', 'verdict', '', 'Copy', 'Scale']
    titles, *_ = chase.tables[0].texts()
    assert 'Latency' in titles and 'Triad' not in titles
    assert chase.pictures[0].title == 'Latency, ns (lower is better)'


def test_an_invalid_row_has_no_figure_in_table_and_picture(page):
    table = page(run()).sections[0].tables[0]
    (bad,) = [line for line in table.texts() if line[0] == 'bad']
    assert not any('±' in text for text in bad)
    picture = page(run()).picture.draw(800).as_text()
    assert 'INVALID: not-validated' in picture and '360' not in picture


def curves(points, axis, *of):
    """Metrics of {(series, number): value}."""
    rows = {}
    for (series, number), value in points.items():
        (row,) = made_up.metrics({series: value}, *of).values()
        rows[f'{series}_{number}'] = {**row, 'series': series, 'at': {axis: number}}
    return rows


def test_a_map_of_two_domains_and_names_that_end_in_a_number_are_no_curves(page):
    rows = made_up.metrics({f'triad_{n}': 9.0 * n for n in (32, 64, 80)})
    for here in range(4):
        for there in range(4):
            (row,) = made_up.metrics({'x': 10.0}).values()
            at = {'cpu_domain': here, 'memory_domain': there}
            rows[f'read_gbs_{here}_{there}'] = {**row, 'series': 'read_gbs', 'at': at}
    (section,) = page([made_up.record(rows=rows, headline='triad_80')]).sections
    assert not any('threads' in one.draw(800).as_text() for one in section.pictures)


def test_one_metric_more_behind_the_headline_changes_no_picture(page):
    rows = made_up.stream() | made_up.metrics({'rounds': 3.0}, 's', 'lower')
    assert page([made_up.record(rows=rows)]).picture.title.startswith('Triad')


def test_points_of_a_series_are_curves(page):
    points = {(f'triad_{m}', n): n * 9.0 for m in ('local', 'remote') for n in range(1, 9)}
    row = made_up.record(rows=curves(points, 'threads'), case={'test': 'numa_scan'})
    (section,) = page([row]).sections
    (picture,) = section.pictures
    text = picture.draw(800).as_text()
    assert '>triad_local<' in text and '>triad_remote<' in text and '>threads<' in text
    assert section.tables[0].is_folded and len(section.tables[0].rows) == 16


def test_curves_over_bytes_have_a_logarithmic_axis(page):
    points = {('t', 4**n): 1.5 * 3**n for n in range(11)}
    rows = curves(points, 'bytes', 'us', 'lower')
    row = made_up.record(rows=rows, case={'test': 'imb'})
    assert '>1 MiB<' in page([row]).sections[0].pictures[0].draw(800).as_text()


def test_a_long_table_shows_what_is_wrong_first_and_counts_the_rest(page):
    rows = made_up.fleet(100, slow=[(7, 0.5)])
    for row in rows:
        row['case'].update(KNOWN)
    (table,) = page(rows).sections[1].tables
    assert len(table.rows) == 60 and str(table.rows[0][0]) == 'n007'
    assert table.title == '60 of 100 rows: what is not PASS, then the slowest, GB/s'


def test_array_size_threads_and_stores_are_said_with_a_link_to_what_they_mean(html):
    rows = [made_up.record(case={'stores': '256nt'}), made_up.record('n2', case={'stores': '256'})]
    text = html(rows)
    assert 'arrays of 762.9 MiB, 8 threads, non-temporal and ordinary stores.' in text
    assert '<a href="#words">What these mean</a>' in text and 'id="words"' in text


def test_the_looks_of_a_run_are_a_table(page):
    looks = {
        'ordinary': {'gbs': 30.0, 'is_bound': False},
        'half': {'gbs': 16.5, 'is_bound': True},
        'half_threads': 4,
        'domains': {'1': {'gbs': 12.5, 'is_bound': False, 'apart': -0.17}},
    }
    rows, looks_ = page([made_up.record(looks=looks)]).sections[0].tables
    assert looks_.texts()[1:] == [
        ['Triad, ordinary stores', '30.0'],
        ['Triad, half of the threads (4)', '≥ 16.5'],
        ['read by the threads of NUMA domain 1, -17% to the others', '12.5'],
    ]
    assert rows.title.startswith('All rows') and not rows.is_folded


def test_the_provenance_names_build_and_record(page):
    found = page(run())
    _, title, fields = found.provenance[0]
    names = dict(fields)
    assert title.startswith('stream') and names['compiler'] == 'gcc 12.2.0'
    assert names['record'].endswith('.json') and names['session'] == 's1'


# --- the file -----------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Every tag with its attributes; the text of style and script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.inside = [], ''
        self.text = {'style': '', 'script': ''}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_data(self, data):
        if self.inside in self.text:
            self.text[self.inside] += data

    def handle_endtag(self, tag):
        self.inside = ''


def test_the_page_loads_nothing_and_its_policy_allows_nothing_but_its_own_style_and_script(html):
    found = Reader(html(run()))
    names = {tag for tag, _ in found.tags}
    assert not names & {'link', 'img', 'iframe', 'form'}
    for _, attributes in found.tags:
        assert 'style' not in attributes and 'src' not in attributes
        assert attributes.get('href', '#').startswith('#')
    (policy,) = [a['content'] for t, a in found.tags if 'http-equiv' in a]
    style, script = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (found.text['style'], found.text['script'])
    )
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_dark_colours_are_for_a_screen(html):
    """Printed from a dark browser, names and figures of the pictures were white on white."""
    dark = re.findall('@media (.*)prefers-color-scheme: dark', html(run()))
    assert dark == ['screen and ('] * 2


def test_every_link_leads_to_an_id_of_the_page(html):
    found = Reader(html(run()))
    ids = {attributes['id'] for _, attributes in found.tags if 'id' in attributes}
    assert {a['href'][1:] for _, a in found.tags if 'href' in a} <= ids


def test_text_of_other_parties_is_no_markup(html):
    forged = {'compiler': '<script>alert(1)</script>', 'environ': 'a"><b>\x1b[31m'}
    text = html([made_up.record(case=forged), *run()])
    assert text.count('<script') == 1 and '<b>' not in text and '\x1b' not in text


def test_the_picture_of_the_headline_is_saved_as_a_file_with_its_own_colours(tmp_path, capsys):
    file = made_up.write(tmp_path / 'r.jsonl', run())
    words = ['-o', str(tmp_path / 'r.html'), '--svg', str(tmp_path / 'h.svg')]
    assert main(['report', str(file), *words]) == 0
    text = (tmp_path / 'h.svg').read_text()
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"') and '<style>' in text
    assert '198.0 ±1.0' in text and 'prefers-color-scheme: dark' in text
    assert 'Triad 198.0 ±1.0 GB/s PASS; rows' in capsys.readouterr().out


def test_damaged_lines_are_named_on_the_page_and_on_stderr(tmp_path, capsys):
    file = made_up.write(tmp_path / 'r.jsonl', [made_up.record()])
    file.write_text(file.read_text() + 'x\n')
    assert main(['report', str(file), '-o', str(tmp_path / 'r.html')]) == 0
    assert 'r.jsonl:2: not JSON' in capsys.readouterr().err
    assert 'r.jsonl:2: not JSON' in (tmp_path / 'r.html').read_text()


@pytest.mark.parametrize('words', [['gone.json'], ['empty']])
def test_nothing_to_show_is_a_usage_error(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'empty').mkdir()
    assert main(['report', *words]) == 2
    assert capsys.readouterr().err.startswith('membw: ') and not list(tmp_path.glob('*.html'))


def test_a_large_fleet_is_shown_within_seconds(tmp_path):
    """1,000 nodes; the records of one file are read once each."""
    table = read_table([str(made_up.write(tmp_path / 'r.jsonl', made_up.fleet(1000)))])
    assert len(run_of_records(table).rows) == 1000
