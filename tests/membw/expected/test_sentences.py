"""Is that good? The peak of each known CPU, what others reach, and the sentence made of both."""

import itertools
import json
import os
import re
import shutil

import made_up_records
import pytest
import record_schema
import yaml
from places import ROOT

from membw.expected import published, sentence
from membw.results.record import evidence
from membw.site import cpu_peak as peak

IDENTITIES = yaml.safe_load((ROOT / 'tests/data/identities.yaml').read_text())
CPUS, FIGURES = peak.facts_of('cpus'), peak.facts_of('published')
KEYS = {
    'name', 'vendor', 'family', 'models', 'steppings', 'named', 'implementer', 'parts', 'machine',
    'in_parts', 'channels', 'kind', 'mts', 'slower', 'or', 'peak_gbs', 'in_package', 'cores',
    'kin', 'claims', 'sources',
}  # fmt: skip


SEEN = ('vendor', 'family', 'model', 'stepping', 'implementer', 'part')


def record_of(machine, **more):
    words = machine['id'].split()
    names = {1: SEEN[2:3], 2: SEEN[4:]}.get(len(words), SEEN[:4])
    vendor, _, product = machine.get('machine', '').partition(' ')
    seen = dict.fromkeys(SEEN) | dict(zip(names, words))
    seen |= {'hypervisor': machine.get('hypervisor', False)}
    seen |= {'machine_vendor': vendor or None, 'machine': product or None}
    facts = {'cpu_model': machine['name'], 'cpu_id': seen, 'cores': machine.get('cores')}
    return {'facts': {**facts, 'sockets': machine.get('sockets', 1), **more}}


def identity(text='EPYC 7763'):
    return next(m for m in IDENTITIES if text in (m['name'] or ''))


@pytest.mark.parametrize('row', CPUS['cpus'], ids=lambda row: row['name'])
def test_a_row_says_how_it_is_recognised_what_it_can_and_by_which_source(row):
    assert set(row) <= KEYS and row.get('cores', 1) > 0
    ways = ({'vendor'}, {'implementer', 'parts'}, {'named', 'machine'})
    assert [way for way in ways if way <= set(row)] != []
    assert len({'peak_gbs', 'channels'} & set(row)) == 1 or 'in_package' in row
    assert row['sources'] and set(row['sources']) <= set(CPUS['sources'])
    assert all(a <= b for a, b in row.get('models', []))
    speeds = [row.get('mts', 6400), *row.get('slower', {}).values()]
    assert max(speeds) == speeds[0] or row.get('in_package')
    top = row.get('peak_gbs', row.get('channels', 2) * speeds[0] * 8 / 1000)
    assert 10 < top <= 1200
    for pattern in (row.get('named', ''), *row.get('slower', {})):
        re.compile(pattern)


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
    assert top.is_most == bool(top.gbs) and not top.lacks
    if not machine['is']:
        masked = machine.get('hypervisor') or '@ 2.90' in (machine['name'] or '')
        why = 'a name without a model' if masked else 'not in systems/facts/cpus.yaml'
        assert why in top.what


def modules(count, mts=3200, rated=3200):
    return [{'configured_mts': mts, 'rated_mts': rated}] * count


@pytest.mark.parametrize('dimms, channels, here, lacks', [
    (modules(16), None, 409.6, ()), (modules(32), None, 409.6, ()),
    (modules(12), None, 307.2, ('12 of 16 channels are populated',)),
    (modules(32), 14, 358.4, ('14 of 16 channels are populated',)),
    (modules(15), None, 384.0, ('15 of 16 channels are populated',
                                '15 modules: one socket has fewer')),
    (modules(31), None, 409.6, ('31 modules: one socket has fewer',)),
    (modules(24), None, 409.6, ('24 modules on 16 channels: some have fewer',)),
    (modules(16, 2400), None, 307.2, ('2400 of 3200 MT/s',)),
    (modules(15) + modules(1, 2933), None, 375.424, ('2933 of 3200 MT/s',)),
    (modules(16, 2933, 2933), None, 375.424,
     ('2933 of 3200 MT/s (the modules are rated for 2933)',)),
    (modules(32, 2933), None, 375.424, ('2933 of 3200 MT/s (two modules per channel)',)),
    (modules(12, 2400), None, 230.4, ('12 of 16 channels are populated', '2400 of 3200 MT/s')),
])  # fmt: skip
def test_what_is_populated_never_makes_the_yardstick_shorter(dimms, channels, here, lacks):
    top = peak.of_node(record_of(identity(), dimms=dimms, memory_channels=channels))
    assert (top.gbs, top.what) == (409.6, '2 sockets x 8 channels x DDR4-3200')
    assert (top.here, top.lacks, top.is_most) == (pytest.approx(here), lacks, False)
    first = sentence.lines_of(record_of(identity(), dimms=dimms, memory_channels=channels), 200)[0]
    assert first.startswith(lacks[0] if lacks else '49 % of the peak of 409.6 GB/s')


@pytest.mark.parametrize('name, gbs, mts', [
    ('Silver 4116', 230.4, 2400), ('6726P-B', 0, 6400), ('7980X', 0, 5200), ('5950X', 51.2, 3600),
    ('6980P', 1689.6, 6400), ('6767P', 819.2, 8000),
])  # fmt: skip
def test_the_modules_say_the_speed_where_the_family_does_not(name, gbs, mts):
    machine = identity(name)
    assert peak.of_node(record_of(machine)).gbs == pytest.approx(gbs)
    row = next(row for row in CPUS['cpus'] if row['name'] == machine['is'])
    count = machine.get('sockets', 1) * row['channels']
    top = peak.of_node(record_of(machine, dimms=modules(count, mts, mts)))
    assert (top.gbs, top.lacks) == (pytest.approx(count * mts * 8 / 1000), ())


def test_of_a_cpu_that_is_not_known_the_modules_say_the_most():
    unknown = {'name': 'Next', 'id': 'GenuineIntel 6 999 0'}
    top = peak.of_node(record_of(unknown, dimms=modules(16, 6400)))
    assert top[:2] == (819.2, '16 modules x DDR-6400') and top.is_most
    counted = peak.of_node(record_of(unknown, dimms=modules(16, 6400), memory_channels=8))
    assert counted[:2] == (409.6, '8 channels x DDR-6400') and not counted.is_most


def test_no_peak_is_the_end_where_there_is_faster_memory():
    found = [peak.known_peak(record_of(identity(name))) for name in ('7763', '6980P')]
    assert [gbs for gbs, _ in found] == [409.6, 1689.6]
    assert not any(peak.known_peak(record_of(identity(n))) for n in ('X7550', '5950X', '6767P'))


@pytest.mark.parametrize('facts', [
    {'dimms': [{'configured_mts': 2933}] * 16, 'dimms_are_virtual': True},
    {'dimms': [{'configured_mts': None}] * 16},
    {'dimms': []}, {'dimms': [], 'memory_channels': 8},
], ids=['virtual', 'no speed', 'none', 'channels alone'])  # fmt: skip
def test_modules_that_say_nothing_leave_the_peak_of_the_cpu_and_a_given_one_counts(facts):
    record = record_of(identity(), **facts)
    assert peak.of_node(record).is_most
    assert peak.of_node({**record, 'peak_gbs': 400.0})[:2] == (400.0, 'as given')


@pytest.mark.parametrize('row', FIGURES['figures'], ids=lambda row: row['id'])
def test_a_published_figure_has_its_conditions_its_source_and_a_peak_of_its_family(row):
    assert row['source'] in FIGURES['sources']
    assert row['use'] in ('reference', 'range', 'floor', 'warning')
    assert row['stores'] in ('ordinary', 'non-temporal', 'claimed', 'not said')
    assert row['scope'] in ('node', 'socket', 'domain', 'machine', 'device')
    assert row['use'] != 'warning' or row.get('note')
    values = [v for key in ('copy', 'scale', 'add', 'triad', 'all')
              for v in published.ends(row.get(key, 1))]  # fmt: skip
    assert all(isinstance(v, int | float) and v > 0 for v in values)
    families = {cpu['name']: cpu for cpu in CPUS['cpus']} | {None: {}}
    family = families[row.get('family')]
    if 'peak' in row:
        assert row['peak_from'] and max(values) <= row['peak']
    if 'peak' in row and family and 'of 480 GB' not in row['peak_from']:
        mts = row.get('mts') or peak.memory_of(family, {'cpu_model': row.get('cpu')})[1]
        each = family.get('peak_gbs') or family['channels'] * mts * 8 / 1000
        assert row['peak'] == pytest.approx(row['sockets'] * each, rel=0.001)


def test_all_figures_are_there_and_no_range_holds_a_figure_of_another_kind():
    uses = [row['use'] for row in FIGURES['figures']]
    assert (len(uses), uses.count('warning')) == (92, 24)
    assert {row['source'] for row in FIGURES['figures']} == set(FIGURES['sources'])
    for row in published.usable():
        like = published.like(peak.Peak(1, '', {'name': row.get('family', '')}), row['stores'])
        ends = published.shares([r for r in like if r['stores'] != 'not said']) or [1]
        assert max(ends) < 1.25 * min(ends)
        assert not 0 < published.size(row) < published.LEAST


@pytest.mark.parametrize('row', published.usable(), ids=lambda row: row['id'])
def test_a_published_figure_as_a_run_of_a_healthy_node_is_not_below_the_others(row, monkeypatch):
    """By the range that the other machines make, as if this one had never been published."""
    rest = [other for other in published.usable() if other['machine'] != row['machine']]
    family = next((cpu for cpu in CPUS['cpus'] if cpu['name'] == row.get('family')), {})
    top = peak.Peak(row['peak'], '', family, is_most='at most' in row['peak_from'])
    monkeypatch.setattr(published, 'usable', lambda: rest)
    for gbs in published.ends(row['triad']):
        said = sentence.compared(top, gbs, False, row['stores'])
        assert ': below them' not in said


@pytest.mark.parametrize('gbs, dimms, stores, said', [
    (235, modules(16), 'ordinary', ' as it should be: a loss of 12 % would show.'),
    (235, (), 'ordinary', ' within them: a loss of up to 12 % would not show. A second'),
    (225, modules(16, 2933), 'ordinary', ' within them, and yet less than it should have.'),
    (190, modules(16), 'ordinary', ': below them.'),
    (190, (), 'ordinary', ': possibly below them.'),
    (300, modules(16), 'ordinary', ' 7003: 54 to 60 % of the peak (3 machines): above them.'),
    (310, modules(16), 'ordinary', 'claimed stores: no figure of this CPU or its like. A second'),
    (310, modules(16), 'non-temporal', '1 machine of EPYC 7002 and 7003: 78 % of the peak.'),
])  # fmt: skip
def test_when_there_is_a_word_on_others(gbs, dimms, stores, said):
    lines = sentence.lines_of(record_of(identity(), dimms=dimms), gbs, stores=stores)
    assert said in lines[-1]


TABLE = ROOT / 'tests/data/sentences.txt'
STEPS = [1066, 1333, 1600, 1866, 2133, 2400, 2666, 2933, 3200, 4000, 4400, 4800, 5200, 5600, 6000,
         6400, 8000, 8800]  # MT/s  # fmt: skip
REACH = {'ordinary': 60.0, 'non-temporal': 82.0}  # %, where nobody published of the family
SERVERS = {
    machine['is']: machine for machine in reversed(IDENTITIES)
    if re.search('EPYC|XEON', (machine['name'] or '').upper()) and machine.get('gbs', 0) > 100
    and 'channels' in peak.cpu_of(record_of(machine)['facts']) and not machine.get('hypervisor')
}  # fmt: skip
LOSSES = [*itertools.product((1, 0.875, 0.75), (0, 1), REACH)]  # channels, steps of speed, stores


def of_a_loss(machine, share, steps, stores, is_root=True):
    """(modules, their MT/s, Triad at the most that published machines reach, what is said)."""
    top = peak.of_node(record_of(machine))
    _, mts = peak.memory_of(top.row, {'cpu_model': machine['name']})
    limit = machine.get('sockets', 1) * top.row['channels']
    count, speed = round(share * limit), STEPS[STEPS.index(mts) - steps]
    reach = max(published.shares(published.like(top, stores)), default=REACH[stores])
    gbs = reach / 100 * count * speed * 8 / 1000
    record = record_of(machine, dimms=modules(count, speed, mts) if is_root else [])
    return f'{count}/{limit} at {speed}', gbs, sentence.lines_of(record, gbs, stores=stores)


def table():
    """Each kind of sentence once: how often, without its figures and names, and an example."""
    kinds = {}
    for (name, machine), loss in itertools.product(reversed(SERVERS.items()), LOSSES):
        for user in ('root', 'user'):
            is_root, is_healthy = user == 'root', loss[:2] == (1, 0)
            memory, gbs, lines = of_a_loss(machine, *loss, is_root)
            said = ' '.join(lines)
            assert 'as it should be' not in said or is_root and is_healthy
            assert not is_root or loss[0] == 1 or 'channels are populated' in lines[0]
            assert not is_root or loss[1] == 0 or ' MT/s' in lines[0]
            assert not is_healthy or 'below them' not in said
            kin = published.kin_of(peak.cpu_of(record_of(machine)['facts']))
            kind = re.sub(r'[\d.]*\d', '#', re.sub(r'\(.*?\)', '()', said.replace(kin, 'these')))
            example = f'{name}, {memory}, {user}, {loss[2]}, {gbs:.0f}: {said}'
            kinds.setdefault((loss[0] < 1 or loss[1] > 0, user, kind), []).append(example)
    for (is_lost, user, _), examples in kinds.items():
        what = 'a loss' if is_lost else 'healthy'
        yield f'{len(examples)} x {what}, as {user}, as: {examples[0]}'


def test_what_is_said_of_each_loss_is_the_table_that_was_read_by_eye():
    """WRITE_SENTENCES=1 writes it anew."""
    assert len(SERVERS) >= 24
    said = list(table())
    if os.environ.get('WRITE_SENTENCES'):
        TABLE.write_text('\n'.join(said) + '\n')
    assert TABLE.read_text().splitlines() == said


def test_what_others_published_reaches_no_judge():
    files = [f for f in (ROOT / 'src/membw').rglob('*.py') if 'membw.expected' in f.read_text()]
    rooms = {str(f.relative_to(ROOT / 'src/membw').parent) for f in files}
    assert rooms == {'expected', 'report', 'summary', 'accept'}  # these print it, and no verdict


@pytest.fixture
def shown(own_root, membw):
    """A function: (exit status, standard output, standard error) of `membw published`."""

    def call(*words):
        published.figures.cache_clear()
        return membw('published', *words)

    (own_root / 'systems').rmdir()
    shutil.copytree(ROOT / 'systems', own_root / 'systems')
    yield call
    published.figures.cache_clear()


def test_the_list_one_figure_and_a_misspelt_one_on_the_terminal(shown):
    status, out, _ = shown()
    assert status == 0 and all(row['id'] in out for row in FIGURES['figures'])
    assert max(map(len, out.splitlines())) <= 100
    _, one, _ = shown('suse-9004')
    assert 'caching effects' in one and 'warning' in one
    said = "membw: no published figure 'suse-9005'\nhint: did you mean 'suse-9004'?\n"
    assert shown('suse-9005') == (2, '', said)


def a_record(gbs=235.4, **fields):
    """Of a healthy node of two EPYC 7763, measured as root by `membw run`."""
    size = {'locator': None, 'bank': None, 'size_mib': 2**15, 'width_bits': 72, 'type': 'DDR'}
    dimms = [size | module for module in modules(16)]
    proven = {'known': 'proven', 'bytes': 2**38, 'triad_gbs': gbs, 'largest_bytes': 2**39,
              'largest_triad_gbs': gbs}  # fmt: skip
    made = record_schema.check(made_up_records.record(
        rows=made_up_records.stream({'triad': gbs}), threads=128, llc_mib=512, array_size=2**29,
        facts=record_of(identity(), dimms=dimms, memory_channels=16)['facts'], residency=proven,
        codegen={'triad': {'stores': 'ordinary', 'width_bits': 64}},
    ))  # fmt: skip
    parts = {k: {**made[k], **v} for k, v in fields.items() if isinstance(v, dict)}
    return published.kept({**made, **fields, **parts})


@pytest.mark.parametrize('gbs, fields, why', [
    (235, {'program': 'ladder'}, 'no Triad in GB/s of stream'),
    (235, {'verdict': 'INVALID'}, 'its verdict is INVALID'),
    (235, {'reasons': [{'reason': 'array-too-small', 'allowed': True}]}, 'array-too-small: '),
    (235, {'warnings': [{'reason': 'disturbed', 'detail': 'others'}]}, 'disturbed: others'),
    (235, {'metrics': made_up_records.metrics({'triad': 235}, half=None)}, 'no interval'),
    (235, {'residency': {'known': 'declared'}}, "arrays in memory: 'declared', where 'proven'"),
    (235, {'residency': {'largest_triad_gbs': 190}}, 'of the largest arrays that were tried'),
    (235, {'residency': {'largest_triad_gbs': None}}, 'of the largest arrays that were tried'),
    (235, {'array_size': 2**26}, 'an array is 1.0 caches, 2 are wanted'),
    (235, {'memory_side_cache_mib': 2**16}, 'an array is 0.1 caches'),
    (235, {'validation': {'ok': False}}, 'its results were not validated'),
    (235, {'element_bytes': 4}, 'not the standard kernels, of elements of 8'),
    (235, {'kernels_set': 'tuned'}, 'not the standard kernels'),
    (235, {'busy': {'other_share': 0.3}}, 'other processes used the CPUs'),
    (235, {'llc_mib': 0}, 'an array is 0.0 caches'),
    (235, {'codegen': {'triad': {'stores': 'mixed'}}}, 'its stores are not known'),
    (235, {'build': {'code_sha256': None}}, 'its build is not known'),
    (235, {'build': {'unknown': 'no BINARY.json'}}, 'its build is not known'),
    (235, {'threads': 64}, 'not one process with a thread on each core'),
    (235, {'ranks': 4}, 'not one process with a thread on each core'),
    (235, {'facts': {'cpu_model': 'AMD EPYC'}}, 'its CPU is not known: 16 channels x DDR-3200'),
    (235, {'facts': {'cpu_model': 'AMD EPYC', 'dimms': []}}, 'is not known: AMD EPYC, family 25'),
    (235, {'facts': {'cpu_model': 'AMD EPYC 9R14', 'cores': 2, 'cpu_id': record_of(IDENTITIES[0])[
        'facts']['cpu_id']}}, 'its peak is not known: 2 of up to 96 cores'),
    (235, {'facts': {'dimms': [], 'memory_channels': None}}, 'modules are not known: measure as'),
    (235, {'facts': {'dimms': [], 'memory_channels': 15}}, '15 of 16 channels are populated'),
    (415, {}, 'Triad is above the peak of 409.6 GB/s (2 sockets x 8 channels x DDR4-3200)'),
])  # fmt: skip
def test_a_record_that_nobody_should_be_compared_with_is_no_figure(gbs, fields, why):
    against = [*published.refusals(a_record(gbs, **fields))]
    assert len(against) == 1 and why in against[0]


def test_each_record_among_the_figures_is_checked_again():
    for file in published.folder().glob('*.json'):
        record = evidence(file.read_bytes())
        assert not [*published.refusals(record)] and record == published.kept(record)


def test_a_record_becomes_a_figure_once(shown, own_root, tmp_path):
    folder = own_root / 'systems/facts/published'

    def add(text):
        (tmp_path / 'x.json').write_text(text)
        return shown('add', tmp_path / 'x.json')

    record = a_record() | {'busy': {'other_share': 0, 'processes': [{'name': 'secret'}]}}
    _, out, _ = add(json.dumps(record) + '\n')
    assert out.startswith('thin-gcc-o2: Triad 235.4 GB/s, 57 % of the peak\n')
    text = (folder / 'thin-gcc-o2.json').read_text()
    assert json.loads(text)['metrics'] == record['metrics'] and 'secret' not in text
    line = r'^ +thin-gcc-o2 +thin +ordinary +node +235.4 +57 +8.0 +reference$'
    assert re.search(line, shown()[1], re.M)
    one = shown('thin-gcc-o2')[1]
    assert 'EPYC 7003 (Milan)' in one and 'systems/facts/published/thin-gcc-o2.json' in one
    again = add(json.dumps({**record, 'host': 'hydra'}))
    assert again[:2] == (1, 'refused: there is such a figure: thin-gcc-o2\n')
    for damaged in ('nonsense', json.dumps(record)[:-1], json.dumps({**record, 'residency': 5})):
        status, _, err = add(damaged)
        assert status == 2 and "x.json': not one record" in err
    assert len([*folder.iterdir()]) == 1


def looks(bound=False, threads=12, **gbs):
    rows = {name: {'gbs': v, 'is_bound': bound, 'repetitions': 7} for name, v in gbs.items()}
    return rows | {'half_threads': threads // 2}


REACH_HALF = 'The memory is the limit: 6 of 12 threads reach 98 % of it'


@pytest.mark.parametrize('seen, line', [
    ({'ordinary': 100, 'half': 50}, 'These cores are the limit, not the memory: 6 of 12 threads '
                                    'reach 50 % of it.'),
    ({'ordinary': 100, 'half': 75}, 'Cores and memory limit it together: 6 of 12 threads reach '
                                    '75 % of it.'),
    ({'ordinary': 100, 'half': 98}, f'{REACH_HALF}.'),
    ({'ordinary': 100, 'half': 98, 'one': 22}, f'{REACH_HALF}, saturated from some 5 cores on.'),
    ({'ordinary': 100, 'half': 98, 'bound': True}, 'What limits it is not known: the look was '
                                                   'disturbed.'),
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


def test_a_domain_that_reads_less_than_the_others_is_named():
    domains = {'0': {'apart': 0}, '1': {'apart': -0.126}, '2': {'apart': 0}}
    (line,) = sentence.apart({'domains': domains})
    assert line == 'NUMA domain 1 reads 13 % less than the others.'


CLAIMS = {'looks': looks(ordinary=880, nontemporal=890, half=870, threads=144)
          | {'write_allocate_avoided': 0.97}}  # fmt: skip
WHOLE, SLICE = (
    'AMD EPYC 9R14',
    '2 of up to 96 cores: the peak of the whole socket is at most 460.8',
)
ABOVE = 'Published, claimed stores, NVIDIA Grace: 80 to 95 % of the peak (5 machines): within them'


# machine, more of its record, GB/s, stores, how many lines, the first, the second
@pytest.mark.parametrize('machine, more, gbs, stores, count, first, second', [
    (IDENTITIES[0], {}, 30.8, 'ordinary', 1, SLICE, ''),
    (identity('X7550'), {}, 30, 'ordinary', 2, 'Peak unknown: Intel(R) Xeon(R) CPU X7550 @ 2.00GHz'
     ", family 6, model 46: not in systems/facts/cpus.yaml; set 'peak_gbs' in systems/.", ''),
    (next(m for m in IDENTITIES if m['is'] == 'NVIDIA Grace'), CLAIMS, 880, 'ordinary', 4,
     'by claimed stores.', ABOVE),
    *((next(m for m in IDENTITIES if m['name'] == 'AMD EPYC 9R14'), {'threads': n}, 100,
       'non-temporal', lines, '', '') for n, lines in ((192, 2), (None, 2), (96, 1), (1, 1))),
])  # fmt: skip
def test_a_slice_or_unknown_cpu(monkeypatch, machine, more, gbs, stores, count, first, second):
    monkeypatch.setattr('os.geteuid', lambda: 0)
    lines = sentence.lines_of(record_of(machine) | more, gbs, stores=stores)
    assert len(lines) == count and first in lines[0], lines
    assert not second or lines[1].startswith(second)
