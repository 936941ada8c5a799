"""Pictures of pairs: cores, messages, nodes."""

import json

import link_fleet
import pair_records
import pytest
from fleet_generator import name

from membw.report import inputs, pairs, pictures, sections
from membw.results.record import parse_record


def values(chart):
    """All rows of data in a chart, whatever layer holds them."""
    if isinstance(chart, list):
        return [row for part in chart for row in values(part)]
    if not isinstance(chart, dict):
        return []
    own = chart['values'] if isinstance(chart.get('values'), list) else []
    own = own + [row for rows in chart.get('datasets', {}).values() for row in rows]
    return [row for row in own if isinstance(row, dict)] + [
        row for key, part in chart.items() if key not in ('values', 'datasets')
        for row in values(part)
    ]  # fmt: skip


def cells(picture):
    return {(r['row'], r['column']): r['value'] for r in values(picture.chart) if 'value' in r}


@pytest.fixture(scope='module')
def drawn(tmp_path_factory):
    """{name: Picture} of a run on the posed Ulysses and a fleet of nodes."""
    folder = pair_records.folder(tmp_path_factory.mktemp('run'))
    cluster = link_fleet.Cluster(24, 3)
    cluster.two_switches(8, 0.25)
    cluster.slow_link(10, 20, 0.5)
    fleet = folder / 'links.jsonl'
    fleet.write_text(''.join(json.dumps(row) + '\n' for row in cluster.records()))
    found = sections.build(inputs.gather([folder / 'reports', fleet]))
    (section,) = [section for section in found.sections if section.id == 'pairs']
    assert not section.empty
    return {picture.name: picture for picture in section.pictures}


def test_a_cell_per_pair_and_home_the_row_being_the_home(drawn):
    (picture,) = [p for key, p in drawn.items() if key.startswith('pairs-cores-')]
    found = cells(picture)
    assert len(found) == 20 * 19
    assert 85 < found['0', '19'] < 105 < found['19', '0'] < 125, 'the far home costs more'
    assert [row[0].text for row in picture.table.rows] == ['llc', 'node']


def test_cpus_that_share_a_cache_lie_beside_each_other_however_they_are_numbered():
    record = pair_records.cores(2, 4, interleaved=True)
    assert pairs.by_topology(record['pairs']) == [0, 2, 4, 6, 1, 3, 5, 7]


def test_of_192_cores_several_share_a_cell():
    record = parse_record(pair_records.cores(2, 96), 'synthetic')
    (picture,) = pairs.section([record], [], []).pictures
    assert len(cells(picture)) == 64 * 64
    assert len(json.dumps(picture.chart)) < 1e6


def test_the_published_curve_stands_behind_the_measured_ones(drawn):
    times = values(drawn['pairs-times-ulysses-regular'].chart)
    of = {(p['pair'], p['bytes']): p['value'] for p in times if 'pair' in p}
    assert of['0-13 published', 4194304] == 629.6 and of['0-1 published', 0] == 0.17
    assert of['0-13 IMB', 0] == pytest.approx(1.1 * 0.47, rel=1e-3)
    assert of['0-1 llc', 65536] == pytest.approx(1.2 * 7.96, rel=1e-3)
    rates = values(drawn['pairs-rates-ulysses-regular'].chart)
    rate = {(p['pair'], p['bytes']): p['value'] for p in rates if 'pair' in p}
    assert rate['0-13 published', 4194304] == pytest.approx(6662, rel=1e-3)
    assert ('0-13 published', 0) not in rate


def test_a_slow_link_is_bright_and_crossed_on_both_sides_of_the_diagonal(drawn):
    picture = drawn['pairs-nodes-0']
    found = cells(picture)
    assert found[name(10), name(20)] == found[name(20), name(10)] > 1.4
    crosses = {
        (r['row'], r['column']) for r in values(picture.chart) if set(r) == {'row', 'column'}
    }
    assert crosses == {(name(10), name(20)), (name(20), name(10))}
    assert picture.table.rows[0][0].text == f'{name(10)} - {name(20)}'


def test_every_picture_says_how_to_read_it_and_is_a_file(drawn, tmp_path):
    assert all(picture.how_to_read.startswith('How to read: ') for picture in drawn.values())
    assert pictures.write(drawn.values(), tmp_path) == len(drawn) == 5
    assert len([*tmp_path.glob('*.png'), *tmp_path.glob('*.svg')]) == 10
