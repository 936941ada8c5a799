"""Is that good? The peak of each known CPU, what others reach, and the sentence made of both."""

import re

import pytest
import yaml
from places import ROOT

from membw.possible import peak, published, sentence

IDENTITIES = yaml.safe_load((ROOT / 'tests/data/identities.yaml').read_text())
CPUS, FIGURES = peak.facts_of('cpus'), peak.facts_of('published')
KEYS = {
    'name', 'vendor', 'family', 'models', 'steppings', 'named', 'implementer', 'parts', 'machine',
    'in_parts', 'channels', 'kind', 'mts', 'or', 'peak_gbs', 'in_package', 'cores', 'sources',
}  # fmt: skip


def record_of(machine, **more):
    words = machine['id'].split()
    names = {1: ('model',), 2: ('implementer', 'part')}.get(
        len(words), ('vendor', 'family', 'model', 'stepping')
    )
    seen = dict.fromkeys(('vendor', 'family', 'model', 'stepping', 'implementer', 'part'))
    seen |= dict(zip(names, words)) | {'hypervisor': machine.get('hypervisor', False)}
    vendor, _, product = machine.get('machine', '').partition(' ')
    seen |= {'machine_vendor': vendor or None, 'machine': product or None}
    facts = {'cpu_model': machine['name'], 'cpu_id': seen, 'cores': machine.get('cores')}
    return {'facts': {**facts, 'sockets': machine.get('sockets', 1), **more}}


def identity(text='EPYC 7763'):
    return next(m for m in IDENTITIES if text in (m['name'] or ''))


@pytest.mark.parametrize('row', CPUS['cpus'], ids=lambda row: row['name'])
def test_a_row_says_how_it_is_recognised_what_it_can_and_by_which_source(row):
    assert set(row) <= KEYS and row['cores'] > 0
    ways = ({'vendor'}, {'implementer', 'parts'}, {'named', 'machine'})
    assert [way for way in ways if way <= set(row)] != []
    assert ('peak_gbs' in row) != ('channels' in row and 'mts' in row)
    assert row['sources'] and set(row['sources']) <= set(CPUS['sources'])
    re.compile(row.get('named', ''))
    assert all(a <= b for a, b in row.get('models', []))
    assert 10 < row.get('peak_gbs', row.get('channels', 0) * row.get('mts', 0) * 8 / 1000) < 1100


def test_each_source_is_used_and_no_two_rows_have_one_name():
    used = {source for row in CPUS['cpus'] for source in row['sources']}
    names = [row['name'] for row in CPUS['cpus']]
    assert used == set(CPUS['sources']) and len(set(names)) == len(names)


@pytest.mark.parametrize('machine', IDENTITIES, ids=lambda m: m['name'] or m['id'] or 'nothing')
def test_a_cpu_is_recognised_by_what_it_calls_itself_or_not_at_all(machine):
    record = record_of(machine)
    assert peak.cpu_of(record['facts']).get('name', '') == machine['is']
    top = peak.of_node(record)
    assert top.gbs == pytest.approx(machine.get('gbs', 0))
    assert top.is_most == bool(top.gbs)
    if not machine['is']:
        assert 'not in systems/facts/cpus.yaml' in top.what


def test_a_slice_of_a_socket_says_so_and_is_compared_with_nobody():
    lines = sentence.lines_of(record_of(IDENTITIES[0]), 30.8, stores='ordinary')
    assert lines == [
        '2 of up to 96 cores: the peak of the whole socket is at most 460.8 GB/s '
        '(12 channels x DDR5-4800).'
    ]


@pytest.mark.parametrize('count, gbs, what', [
    (16, 375.424, '2 sockets x 8 channels x DDR4-2933'),
    (15, 351.96, '15 channels x DDR4-2933'),
    (32, 375.424, '2 sockets x 8 channels x DDR4-2933'),
])  # fmt: skip
def test_the_modules_say_what_is_configured(count, gbs, what):
    record = record_of(identity(), dimms=[{'configured_mts': 2933}] * count)
    top = peak.of_node(record)
    assert (top.gbs, top.what, top.is_most) == (pytest.approx(gbs), what, False)


@pytest.mark.parametrize('facts', [
    {'dimms': [{'configured_mts': 2933}] * 16, 'dimms_are_virtual': True},
    {'dimms': [{'configured_mts': None}] * 16},
    {'dimms': []}, {'dimms': [], 'memory_channels': 8},
], ids=['virtual', 'no speed', 'none', 'channels alone'])  # fmt: skip
def test_modules_that_say_nothing_leave_the_peak_of_the_cpu(facts):
    assert peak.of_node(record_of(identity(), **facts)).is_most


def test_a_peak_that_was_given_counts_before_all_others():
    record = {**record_of(identity()), 'peak_gbs': 400.0}
    assert peak.of_node(record)[:2] == (400.0, 'as given')


@pytest.mark.parametrize('row', FIGURES['figures'], ids=lambda row: row['id'])
def test_a_published_figure_has_its_conditions_and_its_source(row):
    assert row['source'] in FIGURES['sources']
    assert row['use'] in ('reference', 'range', 'floor', 'warning')
    assert row['stores'] in ('ordinary', 'non-temporal', 'claimed', 'not said')
    assert row['scope'] in ('node', 'socket', 'domain', 'machine')
    assert row.get('family', '') in {'', *(cpu['name'] for cpu in CPUS['cpus'])}
    values = [
        v
        for key in ('copy', 'scale', 'add', 'triad', 'all')
        for v in published.ends(row.get(key, 1))
    ]
    assert all(isinstance(v, int | float) and v > 0 for v in values)


def test_all_figures_are_there_and_thirteen_of_them_are_warnings():
    uses = [row['use'] for row in FIGURES['figures']]
    assert (len(uses), uses.count('warning')) == (64, 13)


def test_a_figure_with_a_warning_is_compared_with_by_nobody():
    warned = {row['id'] for row in FIGURES['figures'] if row['use'] == 'warning'}
    for machine in IDENTITIES:
        for stores in ('ordinary', 'non-temporal', 'claimed', 'not said'):
            top = peak.of_node(record_of(machine))
            with_whom = published.others(top, stores, machine.get('sockets', 1))
            assert not with_whom or not warned & {row['id'] for row in with_whom.machines}


def test_no_figure_that_is_compared_with_is_above_its_peak():
    for row in published.usable():
        assert all(gbs <= row.get('peak', gbs) for gbs in published.ends(row['triad']))


@pytest.mark.parametrize('gbs, word', [
    (720, 'as it should be'), (700, 'as it should be'), (690, 'below them'), (800, 'above them'),
])  # fmt: skip
def test_the_same_cpu_with_the_same_stores_is_compared_first(gbs, word):
    record = record_of(next(m for m in IDENTITIES if m['name'] == 'AMD EPYC 9R14'))
    assert sentence.lines_of(record, gbs, stores='non-temporal') == [
        f'{100 * gbs / 921.6:.0f} % of a peak of at most 921.6 GB/s '
        '(2 sockets x 12 channels x DDR5-4800), by non-temporal stores.',
        f'Published, non-temporal stores: 716 to 754 GB/s (1 machine): {word}.',
    ]


@pytest.mark.parametrize('gbs, is_bound, word', [
    (164, False, 'as it should be'), (100, False, 'possibly below them'),
    (100, True, 'possibly below them'), (230, True, 'above them'),
])  # fmt: skip
def test_another_cpu_is_compared_by_its_share_of_the_peak(gbs, is_bound, word):
    record = record_of(identity('Gold 6230'))
    line = sentence.lines_of(record, gbs, is_bound, 'ordinary')[1]
    assert re.fullmatch(rf'Published, .*: 52 to 6\d % \(7 machines\): {word}\.', line), line


def test_who_is_below_the_others_with_a_configured_peak_is_below_them():
    record = record_of(identity('Gold 6230'), dimms=[{'configured_mts': 2933}] * 12)
    assert sentence.lines_of(record, 100, stores='ordinary')[1].endswith(': below them.')


def test_an_unknown_cpu_says_what_is_missing(monkeypatch):
    monkeypatch.setattr('os.geteuid', lambda: 0)
    record = record_of(identity('X7550'))
    assert sentence.lines_of(record, 30) == [
        'Peak unknown: Intel(R) Xeon(R) CPU X7550 @ 2.00GHz, family 6, model 46: not in '
        "systems/facts/cpus.yaml; set 'peak_gbs' in systems/."
    ]


def test_the_list_and_one_figure_on_the_terminal(call):
    done = call('membw', 'published')
    assert done.returncode == 0 and all(row['id'] in done.stdout for row in FIGURES['figures'])
    assert max(map(len, done.stdout.splitlines())) <= 100
    one = call('membw', 'published', 'suse-9004')
    assert 'caching effects' in one.stdout and 'warning' in one.stdout


def test_a_misspelt_figure_is_refused_with_the_nearest(call):
    done = call('membw', 'published', 'suse-9005')
    assert done.returncode == 2
    assert (
        done.stderr == "membw: no published figure 'suse-9005'\nhint: did you mean 'suse-9004'?\n"
    )


@pytest.mark.parametrize('brief, stores', [
    ('memmove/64', 'ordinary'), ('256nt', 'non-temporal'), ('', 'not said'),
    ('512/512/512/256nt', 'non-temporal'), ('mixed', 'not said'),
])  # fmt: skip
def test_the_kind_of_stores_is_triads(brief, stores):
    assert published.stores_of(brief) == stores


def looks(one=None, threads=12, bound=False, **gbs):
    every = {**gbs, **({'one': one} if one else {})}
    rows = {name: {'gbs': v, 'is_bound': bound, 'repetitions': 7} for name, v in every.items()}
    return rows | {'half_threads': threads // 2}


@pytest.mark.parametrize('seen, line', [
    ({'ordinary': 100, 'half': 50}, 'These cores are the limit, not the memory: 6 of 12 threads '
                                    'reach 50 % of it.'),
    ({'ordinary': 100, 'half': 75}, 'Cores and memory limit it together: 6 of 12 threads reach '
                                    '75 % of it.'),
    ({'ordinary': 100, 'half': 98}, 'The memory is the limit: 6 of 12 threads reach 98 % of it.'),
    ({'ordinary': 100, 'half': 98, 'one': 22}, 'The memory is the limit: 6 of 12 threads reach '
                                               '98 % of it, saturated from some 5 cores on.'),
    ({'ordinary': 100, 'half': 98, 'bound': True}, 'What limits it is not known: other processes '
                                                   'disturbed the look.'),
    ({'read': 100}, ''),
])  # fmt: skip
def test_what_limits_it_is_what_half_of_the_threads_reach(seen, line):
    assert sentence.limit(looks(**seen), 12) == line


@pytest.mark.parametrize('avoided, gain, line', [
    (0.0, 133, '100 % of the ordinary stores cost a read here: non-temporal stores give +33 %.'),
    (0.94, 102, 'Ordinary stores cost no read here: non-temporal stores give +2 %.'),
    (None, 133, ''),
])  # fmt: skip
def test_what_a_store_costs_is_said_where_it_was_told(avoided, gain, line):
    seen = looks(ordinary=100, nontemporal=gain, half=98) | {'write_allocate_avoided': avoided}
    assert sentence.cost(seen) == line


def test_a_cpu_that_claims_its_lines_is_compared_with_such_cpus():
    grace = next(m for m in IDENTITIES if m['is'] == 'NVIDIA Grace')
    seen = looks(ordinary=880, nontemporal=890, half=870, threads=144)
    record = record_of(grace) | {'looks': seen | {'write_allocate_avoided': 0.97}}
    lines = sentence.lines_of(record, 880, stores='ordinary')
    assert lines[0].endswith('by claimed stores.')
    assert lines[1] == 'Published, claimed stores: 820 to 972 GB/s (1 machine): as it should be.'


def test_a_domain_that_reads_less_than_the_others_is_named():
    domains = {'0': {'apart': 0}, '1': {'apart': -0.126}, '2': {'apart': 0}}
    assert sentence.apart({'domains': domains}) == [
        'NUMA domain 1 reads 13 % less than the others.'
    ]


@pytest.mark.parametrize('threads, lines', [(192, 2), (None, 2), (96, 1), (1, 1)])
def test_a_run_on_some_of_the_cores_is_compared_with_nobody(threads, lines):
    machine = next(m for m in IDENTITIES if m['name'] == 'AMD EPYC 9R14')
    record = record_of(machine) | {'threads': threads}
    assert len(sentence.lines_of(record, 100, stores='non-temporal')) == lines
