"""What others published: its conditions, and a record that becomes one of its figures."""

import json
import re
import shutil

import made_up_records
import pytest
import record_schema
from made_up_cpus import IDENTITIES, identity, modules, record_of
from places import ROOT

from membw.expected import consistent, published, sentence
from membw.presets import sources
from membw.results.record import evidence
from membw.site import cpu_peak as peak

CPUS, FIGURES = peak.facts_of('cpus'), peak.facts_of('published')


def test_a_published_figure_has_its_conditions_its_source_and_a_peak_of_its_family():
    families = {cpu['name']: cpu for cpu in CPUS['cpus']} | {None: {}}
    keys = ('copy', 'scale', 'add', 'triad', 'all', 'read')
    for row in FIGURES['figures']:
        assert row['source'] in FIGURES['sources'], row
        assert row['use'] in ('reference', 'range', 'floor', 'warning'), row
        kinds = ('ordinary', 'non-temporal', 'claimed', 'not said', published.READ)
        assert row['stores'] in kinds and (row['stores'] == published.READ) == ('read' in row), row
        assert row['scope'] in ('node', 'socket', 'domain', 'machine', 'device'), row
        assert row['use'] != 'warning' or row.get('note'), row
        values = [v for key in keys for v in published.ends(row.get(key, 1))]
        assert all(isinstance(v, int | float) and v > 0 for v in values), row
        family = families[row.get('family')]
        if 'peak' in row:
            assert row['peak_from'] and max(values) <= row['peak'], row
        if (
            'peak' in row
            and family
            and row['scope'] != 'domain'
            and '480 GB' not in row['peak_from']
        ):
            mts = row.get('mts') or peak.memory_of(family, {'cpu_model': row.get('cpu')})[1]
            each = family.get('peak_gbs') or family['channels'] * mts * 8 / 1000
            assert row['peak'] == pytest.approx(row['sockets'] * each, rel=0.001), row


def test_all_figures_are_there_and_no_range_holds_a_figure_of_another_kind():
    uses = [row['use'] for row in FIGURES['figures']]
    assert (len(uses), uses.count('warning')) == (135, 36)
    assert {row['source'] for row in FIGURES['figures']} == set(FIGURES['sources'])
    for row in published.usable():
        assert published.cores(row), row  # no `threads`, no range
        like = published.like(peak.Peak(1, '', {'name': row.get('family', '')}), row['stores'])
        ends = published.shares([r for r in like if r['stores'] != 'not said']) or [1]
        assert max(ends) < 1.25 * min(ends), row
        assert not 0 < published.size(row) < published.LEAST_CACHES, row


def test_each_published_figure_judged_by_the_others_is_no_false_alarm(monkeypatch):
    """As if its machine had never been published; a healthy one is 'below' only where it is said
    of a range, of which a new machine may be the lowest: those are named here."""
    every, low = published.usable(), []
    assert len(every) > 35
    for row in every:
        rest = [other for other in every if other['machine'] != row['machine']]
        family = next((cpu for cpu in CPUS['cpus'] if cpu['name'] == row.get('family')), {})
        top = peak.Peak(row['peak'], '', family, is_most='at most' in row['peak_from'])
        monkeypatch.setattr(published, 'usable', lambda rest=rest: rest)
        for gbs in published.ends(published.rate(row)):
            if published.like(top, row['stores']):
                low += [row['id']] * sentence.compared(top, gbs, False, row['stores'])[1]
    assert low == []


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
    assert re.search(r'^ +my-7742 .* 206\.8 +- ', out, re.M)  # its peak is not known
    _, one, _ = shown('suse-9004')
    assert 'caching effects' in one and 'warning' in one
    said = "membw: no published figure 'suse-9005'\nhint: did you mean 'suse-9004'?\n"
    assert shown('suse-9005') == (2, '', said)
    assert "unexpected argument 'r.jsonl'" in shown('suse-9004', 'r.jsonl')[2]


def a_record(gbs=235.4, **fields):
    """Of a healthy node of two EPYC 7763, measured as root by `membw run`."""
    size = {'locator': None, 'bank': None, 'size_mib': 2**15, 'width_bits': 72, 'type': 'DDR'}
    dimms = [size | module for module in modules(16)]
    proven = {'known': 'proven', 'bytes': 2**38, 'triad_gbs': gbs, 'largest_bytes': 2**39,
              'largest_triad_gbs': gbs}  # fmt: skip
    rates = {'copy': gbs, 'scale': 0.98 * gbs, 'add': 1.01 * gbs, 'triad': gbs}
    made = record_schema.check(made_up_records.record(
        rows=made_up_records.stream(rates), threads=128, llc_mib=512, array_size=2**29,
        facts=record_of(identity(), dimms=dimms, memory_channels=16)['facts'], residency=proven,
        codegen=dict.fromkeys(rates, {'stores': 'ordinary', 'width_bits': 64}),
    ))  # fmt: skip
    for name, rate in rates.items():
        best = (16 if name in ('copy', 'scale') else 24) * 2**29 / (1e9 * rate)
        made['kernels'][name] |= {'min_s': best, 'times_s': [2 * best, best, 1.1 * best]}
    parts = {k: {**made[k], **v} for k, v in fields.items() if isinstance(v, dict)}
    return published.kept({**made, **fields, **parts})


STREAMED = {'codegen': {'triad': {'stores': 'nontemporal'}}}


@pytest.mark.parametrize('gbs, fields, why', [
    (235, {'program': 'ladder'}, 'no Triad in GB/s of stream'),
    (235, {'metrics': made_up_records.metrics({'triad': 235}, 'GiB/s')}, 'no Triad in GB/s of'),
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
    (235, {'facts': {'cpu_model': 'AMD EPYC', 'dimms': []}}, 'its CPU is not known: '),
    (235, {'facts': {'cpu_model': 'AMD EPYC 9R14', 'cores': 2, 'cpu_id': record_of(IDENTITIES[0])[
        'facts']['cpu_id']}}, 'its peak is not known: 2 of up to 96 cores'),
    (235, {'facts': {'dimms': [], 'memory_channels': None}}, 'modules are not known: measure as'),
    (235, {'facts': {'dimms': [], 'memory_channels': 15}}, '15 of 16 channels are populated'),
    (330, {}, 'Triad is more than ordinary stores can reach: 307.2 GB/s'),
    (415, STREAMED, 'Triad is above the peak of 409.6 GB/s (2 sockets x 8 channels x DDR4-3200)'),
])  # fmt: skip
def test_a_record_that_nobody_should_be_compared_with_is_no_figure(gbs, fields, why):
    against = [*published.refusals(a_record(gbs, **fields))]
    assert len(against) == 1 and why in against[0]


@pytest.mark.parametrize('gbs, fields', [(307, {}), (330, STREAMED), (409, STREAMED)])
def test_up_to_what_its_stores_can_reach_nothing_is_against_a_record(gbs, fields):
    assert [*published.refusals(a_record(gbs, **fields))] == []


def test_each_record_among_the_figures_is_checked_again():
    for file in published.folder().glob('*.json'):
        record = evidence(file.read_bytes())
        against = [*published.refusals(record), *consistent.disagreements(record)]
        assert not against and record == published.kept(record)


SOURCES = 'a' * 64  # of made-up records


@pytest.fixture
def of_this_repository(monkeypatch):
    monkeypatch.setattr(sources, 'at_commit', lambda commit, program: SOURCES)


def scaled(record, share, *names):
    """A record whose text was edited: the rates of some kernels alone."""
    rows = record['metrics']
    changed = {n: {k: share * v if isinstance(v, float) else v for k, v in rows[n].items()}
               for n in names}  # fmt: skip
    return {**record, 'metrics': {**rows, **changed}}


def slower(record, name, share):
    times = [share * t for t in record['kernels'][name]['times_s']]
    return {**record, 'kernels': {**record['kernels'], name: {'times_s': times}}}


@pytest.mark.parametrize('change, why', [
    (lambda r: r, ''),
    (lambda r: scaled(r, 1.15, 'triad'), 'triad is 270.7 GB/s, and its bytes by its best'),
    (lambda r: scaled(r, 1.15, *published.KERNELS), 'copy is 270.7 GB/s, and its bytes'),
    (lambda r: slower(scaled(r, 1.15, 'triad'), 'triad', 1 / 1.15), 'add and triad move the same'),
    (lambda r: slower(scaled(r, 1.15, 'copy'), 'copy', 1 / 1.15), 'copy and scale move the same'),
    (lambda r: {**r, 'array_size': 2**30}, 'and its bytes by its best time 470.8'),
    (lambda r: {**r, 'kernels': {}}, 'no times of triad'),
    (lambda r: {**r, 'build': {**r['build'], 'source_sha256': 'b' * 64}}, 'are not those of'),
    (lambda r: {**r, 'case': {'commit': '0' * 40 + '-dirty'}}, 'are of no commit'),
    (lambda r: {**r, 'case': {}}, 'are of no commit'),
])  # fmt: skip
def test_the_parts_of_a_record_agree_or_it_is_refused(of_this_repository, change, why):
    against = [*consistent.disagreements(change(a_record()))]
    assert any(why in one for one in against) if why else against == []


def test_a_commit_has_its_sources_where_it_is_in_this_repository():
    sources.commit.cache_clear()  # a test before may have looked elsewhere
    head = sources.commit().removesuffix('-dirty')
    assert re.fullmatch('[0-9a-f]{64}', sources.at_commit(head, 'stream'))
    assert [sources.at_commit(name, 'stream') for name in ('0' * 40, 'HEAD', '--help')] == [''] * 3
    (why,) = consistent.disagreements(a_record())
    assert why == 'commit 000000000000 is not in this repository'


def test_a_record_becomes_a_figure_once(shown, own_root, tmp_path, of_this_repository):
    folder = own_root / 'systems/facts/published'

    def add(text):
        (tmp_path / 'x.json').write_text(text)
        return shown('add', tmp_path / 'x.json')

    record = a_record() | {'busy': {'other_share': 0, 'processes': [{'name': 'secret'}]}}
    _, out, _ = add(json.dumps(record) + '\n')
    assert out.startswith('thin-gcc-o2: Triad 235.4 GB/s, 57 % of the peak\n')
    text = (folder / 'thin-gcc-o2.json').read_text()
    assert json.loads(text)['metrics'] == record['metrics'] and 'secret' not in text
    line = r'^ +thin-gcc-o2 +ordinary +235.4 +57 +reference +its record, s'
    assert re.search(line, shown()[1], re.M)
    one = shown('thin-gcc-o2')[1]
    assert 'EPYC 7003 (Milan)' in one and 'systems/facts/published/thin-gcc-o2.json' in one
    again = add(json.dumps({**record, 'host': 'hydra'}))
    assert again[:2] == (1, 'refused: there is such a figure: thin-gcc-o2\n')
    for damaged in ('nonsense', json.dumps(record)[:-1], json.dumps({**record, 'residency': 5})):
        status, _, err = add(damaged)
        assert status == 2 and "x.json': not one record" in err
    assert len([*folder.iterdir()]) == 1
