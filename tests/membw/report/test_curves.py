"""What records have besides metrics: curves of `ladder` and `loaded`."""

import made_up_records as made_up
import pytest


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
        for part, ns in ((0.25, 90.0), (0.5, 120.0), (1.0, 400.0))
        for n, counts in enumerate((True, True, False))
    ]
    text = drawn(section('loaded', {'points': points}))[-1]
    assert '1r0w, 50: 120' in text and '1r0w, 100: 400' in text and text.count('<title>') == 3
