"""What records have besides metrics: curves of `ladder` and `loaded`, maps of `tiers` and
`pingpong`."""

import itertools

import made_up_records as made_up
import pytest

from membw.report.record_pictures import by_topology


@pytest.fixture
def section(page):
    """The one section of records of a program; each has a metric."""

    def of(program, *records, metrics=(('x', 1.0),), unit='ns'):
        rows = made_up.metrics(dict(metrics), unit, 'lower')
        same = {'rows': rows, 'program': program, 'case': {'test': program}}
        found = page([made_up.record(**same, **record) for record in records])
        (section,) = (one for one in found.sections if one.id != 'nodes')
        return section

    return of


def drawn(section):
    return [picture.draw(800).as_text() for picture in section.pictures]


def test_a_ladder_has_latency_and_bandwidth_over_its_sizes(section):
    sizes = [2**n for n in range(12, 26)]
    points = {
        'latency_2m_ns': [[1.5] * 14, [None] * 14, [2.5] * 14], 'read_one_gbs': [[90.0] * 14]
    }  # fmt: skip
    record = {'sizes': sizes, 'points': points, 'declared_bytes': [1 << 15, 1 << 20]}
    latency, bandwidth = drawn(section('ladder', record))
    assert 'pages of 2 MiB, 4096: 2' in latency and '>16 MiB<' in latency
    assert '>L1 32 KiB<' in latency and '>L2 1 MiB<' in bandwidth
    band = latency.split('<polygon points="')[1].split('"')[0].split()
    assert len(band) == 2 * len(sizes) and len({corner.split(',')[1] for corner in band}) == 2
    assert 'read, one thread, 4096: 90' in bandwidth


def test_latency_under_load_is_drawn_over_the_traffic_of_points_that_count(section):
    points = [
        {'mix': '1r0w', 'part': part, 'round': n, 'gbs': 100 * part, 'ns': ns, 'counts': counts}
        for part, ns in ((0.5, 120.0), (1.0, 400.0))
        for n, counts in enumerate((True, True, False))
    ]
    text = drawn(section('loaded', {'points': points}))[-1]
    assert '1r0w, 50: 120' in text and '1r0w, 100: 400' in text and text.count('<title>') == 2


def test_tiers_are_a_map_of_each_figure_with_its_numbers(section):
    pairs = [(0, 0, 91.0), (0, 2, 254.0), (1, 0, 143.0), (1, 2, 311.0)]
    metrics = {f'{k}_{c}_{m}': v for k in ('ns', 'read_gbs', 'triad_gbs') for c, m, v in pairs}
    domains = [{'cpus': c, 'memory': m} for c, m, _ in pairs]
    found = section('tiers', {'pairs_of_domains': domains}, metrics=metrics.items())
    texts = [p.draw(800).as_text() for p in found.pictures if 'domains' in p.title]
    assert len(texts) == 3 and all('>254<' in text and '>311<' in text for text in texts)


def test_cores_are_a_map_by_topology_and_not_curves(section):
    """CPU n is of cache n modulo 4."""
    near, far = {'class': 'llc', 'median_ns': 25.0}, {'class': 'node', 'median_ns': 110.0}
    pairs = [
        {'metric': f'cas_{a}_{b}', 'method': 'cas', 'cpu_a': a, 'cpu_b': b, 'home': home,
         **(near if a % 4 == b % 4 else far)}
        for a, b in itertools.combinations(range(8), 2)
        for home in 'ab'
    ]  # fmt: skip
    assert by_topology(pairs) == [0, 4, 1, 5, 2, 6, 3, 7]
    metrics = [(pair['metric'], pair['median_ns']) for pair in pairs]
    (picture,) = section('pingpong', {'pairs': pairs}, metrics=metrics).pictures
    assert picture.title == 'One way between the cores of n1, cas, ns'
    text = picture.draw(800).as_text()
    assert text.count('>110<') == 48 and text.count('>25<') == 8


def links(names, slow):
    """A record for each node: 5 us, 9 us to the slow node."""
    return [
        {'node': one, 'links': [
            {'node': other, 'reason': None,
             'messages': [{'bytes': 4096, 'median_us': 9.0 if slow in (one, other) else 5.0}]}
            for other in names if other > one
        ]}
        for one in names
    ]  # fmt: skip


def test_a_slow_node_is_a_bright_row_and_column_and_a_link_with_a_reason_is_not_drawn(section):
    picture = section('pairs', *links([f'n{i}' for i in range(1, 6)], 'n3')).pictures[-1]
    assert picture.title == '4 KiB between 5 nodes, compared with 5 us'
    assert picture.draw(800).as_text().count('>1.8<') == 8
    records = links(['n1', 'n2', 'n3'], '')
    records[0]['links'][0]['reason'] = 'unstable (spread 60 %)'
    assert drawn(section('pairs', *records))[-1].count('>1<') == 4
