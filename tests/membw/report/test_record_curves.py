"""The curves of `ladder` and of `loaded`, from the points of their records."""

import made_up_records as made_up

from membw.report.page import page_of
from membw.report.run import run_of_records
from membw.results.table import read_table


def pictures(tmp_path, **record):
    rows = [made_up.record(rows=made_up.metrics({'x': 1.0}, 'ns', 'lower'), **record)]
    table = read_table([str(made_up.write(tmp_path / 'r.jsonl', rows))])
    (section,) = page_of(run_of_records(table)).sections
    return [picture.draw(800).as_text() for picture in section.pictures]


def height(corner):
    return corner.split(',')[1]


def test_a_ladder_has_latency_and_bandwidth_over_its_sizes(tmp_path):
    sizes = [2**n for n in range(12, 26)]
    points = {
        'latency_2m_ns': [[1.5] * 14, [None] * 14, [2.5] * 14],
        'read_one_gbs': [[90.0] * 14],
    }
    case = {'test': 'ladder'}
    record = {'program': 'ladder', 'sizes': sizes, 'points': points}
    latency, bandwidth = pictures(tmp_path, case=case, declared_bytes=[1 << 15, 1 << 20], **record)
    assert 'pages of 2 MiB, 4096: 2' in latency and '>16 MiB<' in latency
    assert '>L1 32 KiB<' in latency and '>L2 1 MiB<' in bandwidth
    band = latency.split('<polygon points="')[1].split('"')[0].split()
    assert len(band) == 2 * len(sizes) and len({y for y in map(height, band)}) == 2
    assert 'read, one thread, 4096: 90' in bandwidth


def test_the_levels_of_a_ladder_have_measured_beside_declared_sizes(tmp_path):
    levels = [
        {'name': 'L2', 'bytes': 4.3e5, 'low_bytes': 360_448, 'high_bytes': 1 << 19,
         'latency_ns': 3.8, 'read_one_gbs': 118.2},
        {'name': 'memory', 'from_bytes': 1 << 23, 'low_bytes': 1 << 23, 'high_bytes': 1 << 23,
         'latency_ns': 136.6},
    ]  # fmt: skip
    record = {'program': 'ladder', 'levels': levels, 'declared_bytes': [1 << 15, 1 << 20]}
    row = made_up.record(rows=made_up.metrics({'x': 1.0}), case={'test': 'ladder'}, **record)
    table = read_table([str(made_up.write(tmp_path / 'r.jsonl', [row]))])
    _, shown = page_of(run_of_records(table)).sections[0].tables
    assert (
        shown.texts()
        == [
            ['level', 'declared', 'measured', 'ns', 'read, one'],
            ['L2', '1 MiB', '352 KiB to 512 KiB', '3.80', '118.2'],
            ['memory', '', 'from 8 MiB', '136.6', ''],
        ]
        and not shown.is_folded
    )


def test_latency_under_load_is_drawn_over_the_traffic_of_points_that_count(tmp_path):
    points = [
        {'mix': '1r0w', 'part': part, 'round': n, 'gbs': 100 * part, 'ns': ns, 'counts': counts}
        for part, ns in ((0.5, 120.0), (1.0, 400.0))
        for n, counts in enumerate((True, True, False))
    ]
    (text,) = pictures(tmp_path, program='loaded', case={'test': 'loaded'}, points=points)[-1:]
    assert '1r0w, 50: 120' in text and '1r0w, 100: 400' in text and text.count('<title>') == 2


def test_tiers_are_a_map_of_each_figure_with_its_numbers(tmp_path):
    pairs = [(0, 0, 91.0), (0, 2, 254.0), (1, 0, 143.0), (1, 2, 311.0)]
    metrics = {f'{k}_{c}_{m}': v for k in ('ns', 'read_gbs', 'triad_gbs') for c, m, v in pairs}
    domains = [{'cpus': c, 'memory': m} for c, m, _ in pairs]
    row = made_up.record(
        rows=made_up.metrics(metrics, 'ns', 'lower'),
        case={'test': 'tiers'},
        pairs_of_domains=domains,
    )
    table = read_table([str(made_up.write(tmp_path / 'r.jsonl', [row]))])
    (section,) = page_of(run_of_records(table)).sections
    texts = [p.draw(800).as_text() for p in section.pictures if 'domains' in p.title]
    assert len(texts) == 3 and all('>254<' in text and '>311<' in text for text in texts)
