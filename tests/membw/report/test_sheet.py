"""The sheet of a vendor: of records alone, the best row that is good."""

import re

import made_up_records as made
import pytest


def text_of(path):
    text = re.sub(r'<style>.*?</style>|<[^>]+>', ' ', path.read_text(), flags=re.S)
    return ' '.join(text.split())


@pytest.fixture
def sheet(tmp_path, membw):
    """A function: (exit status, text of the sheet or the error) of records."""

    def make(*records):
        file = made.write(tmp_path / 'r.jsonl', records)
        words = ['-o', tmp_path / 'page.html', '--sheet', tmp_path / 'sheet.html']
        status, _, err = membw('report', file, *words)
        return status, text_of(tmp_path / 'sheet.html') if status == 0 else err

    return make


def row(preset, share, **fields):
    case = {'environ': preset, 'test': 'stream'}
    build = {**made.BUILD, 'preset': preset, 'flags': f'-O3 -of-{preset}'}
    return made.record('n1', rows=made.stream(share=share), case=case, build=build, **fields)


def test_it_has_what_tenders_ask_for_of_the_best_row(sheet):
    command = ['stream', '-n', '100000000', '-t', '60']
    status, text = sheet(row('gcc-o2', 1.0), row('icc-nt', 1.3, command=command), row('x', 1.1))
    assert status == 0
    for part in (
        'VALID: row icc-nt omp', 'Triad 234.0 ±1.2 GB/s on n1, 2026-05-28T20:26:40Z',
        'processor 1 x Synthetic 9000', 'cores 8', 'sum of the last-level caches 128 MiB',
        'compiler gcc 12.2.0', 'flags -O3 -of-icc-nt', 'compile_line gcc -O2 -fopenmp *.c',
        'one array 100000000 elements of 8 bytes (762.9 MiB), 6.0 times the caches',
        'command stream -n 100000000 -t 60', 'threads, pinning 8, omp',
        'Triad 234000.0 0.010256 0.010256 0.010256', 'VALID; results validated',
        'record has none', f'source {"a" * 64}', 'Vendor: place, date, signature',
    ):  # fmt: skip
        assert part in text, part
    rows = text.partition('Rows in GB/s, the best first')[2]
    assert rows.index('icc-nt') < rows.index(' x ') < rows.index('gcc-o2')


def test_a_better_row_that_is_not_valid_is_not_the_best(sheet):
    undecided = row('icc-nt', 1.3, verdict='UNDECIDED')
    wrong = row('x', 1.5, verdict='INVALID')
    text = sheet(row('gcc-o2', 1.0), undecided, wrong)[1]
    assert 'VALID: row gcc-o2' in text and ' x omp' not in text
    assert re.search(r'icc-nt omp .* UNDECIDED', text)


@pytest.mark.parametrize('record', [
    row('x', 1.0, verdict='INVALID'), made.record('n1', program='ladder', headline='triad'),
])  # fmt: skip
def test_where_there_is_none_that_is_said(sheet, record):
    record['case']['test'] = record['program']
    assert sheet(record) == (
        2, 'membw: no valid row of stream: there is nothing to put on a sheet\n'
    )  # fmt: skip
