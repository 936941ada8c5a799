"""The maps of pairs: cores by their topology, nodes by their messages."""

import made_up_records as made_up

from membw.report.page import page_of
from membw.report.record_pictures import by_topology
from membw.report.run import run_of_records
from membw.results.table import read_table


def core_pairs(count=8, per_cache=2):
    """CPUs that take turns between caches: CPU n is of cache n modulo count / per_cache."""
    caches = count // per_cache
    return [
        {
            'metric': f'cas_{a}_{b}',
            'method': 'cas',
            'cpu_a': a,
            'cpu_b': b,
            'home': home,
            'class': 'llc' if a % caches == b % caches else 'node',
            'median_ns': 25.0 if a % caches == b % caches else 110.0,
        }
        for a in range(count)
        for b in range(a + 1, count)
        for home in 'ab'
    ]


def links(names, slow):
    """{node: its links}: 5 us, 9 us to the slow node."""
    return {
        one: [
            {
                'node': other,
                'reason': None,
                'messages': [{'bytes': 4096, 'median_us': 9.0 if slow in (one, other) else 5.0}],
            }
            for other in names
            if other > one
        ]
        for one in names
    }


def sections(tmp_path, rows):
    table = read_table([str(made_up.write(tmp_path / 'r.jsonl', rows))])
    return [s for s in page_of(run_of_records(table)).sections if s.id != 'nodes']


def test_cpus_that_share_a_cache_are_neighbours_in_the_map():
    assert by_topology(core_pairs()) == [0, 4, 1, 5, 2, 6, 3, 7]


def test_pairs_of_cores_are_a_map_and_not_curves(tmp_path):
    pairs = core_pairs()
    metrics = made_up.metrics({p['metric']: p['median_ns'] for p in pairs}, 'ns', 'lower')
    case = {'test': 'core_pairs'}
    row = made_up.record(rows=metrics, program='pingpong', pairs=pairs, case=case)
    (section,) = sections(tmp_path, [row])
    (picture,) = section.pictures
    assert picture.title == 'One way between the cores of n1, cas, ns'
    text = picture.draw(800).as_text()
    assert text.count('>110<') == 48 and text.count('>25<') == 8


def picture_of(tmp_path, of):
    """The map of the links of {node: its links}."""
    rows = [
        made_up.record(
            node,
            rows=made_up.metrics({'t': 5.0}, 'us', 'lower'),
            links=those,
            program='pingpong',
            case={'test': 'cluster_pairs'},
        )
        for node, those in of.items()
    ]
    (section,) = sections(tmp_path, rows)
    return section.pictures[-1]


def test_a_slow_node_is_a_bright_row_and_column(tmp_path):
    picture = picture_of(tmp_path, links([f'n{i}' for i in range(1, 6)], 'n3'))
    assert picture.title == '4 KiB between 5 nodes, compared with 5 us'
    assert picture.draw(800).as_text().count('>1.8<') == 8


def test_a_link_with_a_reason_against_it_is_not_drawn(tmp_path):
    of = links(['n1', 'n2', 'n3'], '')
    of['n1'][0]['reason'] = 'unstable (spread 60 %)'
    assert picture_of(tmp_path, of).draw(800).as_text().count('>1<') == 4
