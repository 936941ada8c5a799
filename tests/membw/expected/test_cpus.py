"""What the memory of each known CPU can do, by the CPU and by its modules."""

import re

import pytest
from made_up_cpus import IDENTITIES, identity, modules, record_of

from membw.expected import sentence
from membw.site import cpu_peak as peak

CPUS = peak.facts_of('cpus')
KEYS = {
    'name', 'vendor', 'family', 'models', 'steppings', 'named', 'implementer', 'parts', 'machine',
    'in_parts', 'channels', 'kind', 'mts', 'slower', 'or', 'peak_gbs', 'in_package', 'cores',
    'kin', 'claims', 'sources', 'sold', 'is_about', 'shared',
}  # fmt: skip


def test_a_row_says_how_it_is_recognised_what_it_can_and_by_which_source():
    for row in CPUS['cpus']:
        assert set(row) <= KEYS and row.get('cores', 1) > 0, row
        ways = ({'vendor'}, {'implementer', 'parts'}, {'named', 'machine'})
        assert [way for way in ways if way <= set(row)] != [], row
        assert len({'peak_gbs', 'channels'} & set(row)) == 1 or 'in_package' in row, row
        assert row['sources'] and set(row['sources']) <= set(CPUS['sources']), row
        assert all(a <= b for a, b in row.get('models', [])), row
        speeds = [row.get('mts', 6400), *row.get('slower', {}).values()]
        assert max(speeds) == speeds[0] or row.get('in_package'), row
        top = row.get('peak_gbs', row.get('channels', 2) * speeds[0] * 8 / 1000)
        assert 10 < top <= 1200 or row.get('is_about'), row
        for pattern in (row.get('named', ''), row.get('sold', ''), *row.get('slower', {})):
            re.compile(pattern)


def test_each_source_is_used_and_no_two_rows_have_one_name():
    used = {source for row in CPUS['cpus'] for source in row['sources']}
    names = [row['name'] for row in CPUS['cpus']]
    assert used == set(CPUS['sources']) and len(set(names)) == len(names)


def sure_limit(record):
    return peak.sure_limit(peak.of_node(record), record['facts'])


def test_a_cpu_is_recognised_by_what_it_calls_itself_or_not_at_all():
    for machine in IDENTITIES:
        record = record_of(machine)
        assert peak.cpu_of(record['facts']).get('name', '') == machine['is'], machine
        top = peak.of_node(record)
        assert not top.lacks and top.is_most == bool(top.gbs), machine
        known = 0 if top.only_if else top.gbs
        assert known == pytest.approx(machine.get('gbs', 0)), machine
        assert not (top.only_if and sure_limit(record)), machine
        if not machine['is'] and not top.only_if:
            masked = machine.get('hypervisor') or '@ 2.90' in (machine['name'] or '')
            why = 'a name without a model' if masked else 'not in systems/facts/cpus.yaml'
            assert why in top.what, machine


@pytest.mark.parametrize('name, id, gbs, row', [
    ('AMD EPYC', 'AuthenticAMD 25 17 1', 460.8, 'EPYC 9004 (Genoa)'),
    ('AMD EPYC-Rome Processor', 'AuthenticAMD 23 49 0', 204.8, 'EPYC 7002 (Rome)'),
    ('Intel(R) Xeon(R) Processor', 'GenuineIntel 6 143 8', 307.2,
     'Xeon Scalable 4th generation (Sapphire Rapids)'),
    (None, 'AuthenticAMD 26 2 1', 614.4, 'EPYC 9005 (Turin)'),
    ('QEMU Virtual CPU version 2.5+', 'AuthenticAMD 15 107 1', 0, None),
])  # fmt: skip
def test_the_numbers_of_a_hidden_name_give_a_peak_that_holds_only_if_they_are_true(
    name, id, gbs, row
):
    machine = {'name': name, 'id': id, 'hypervisor': True, 'cores': 2}
    top = peak.of_node(record_of(machine))
    assert (top.gbs, top.row.get('name')) == (pytest.approx(gbs), row)
    assert bool(top.only_if) == bool(gbs) and not sure_limit(record_of(machine))
    said = ' '.join(sentence.lines_of(record_of(machine), 20).lines)
    assert ("If the CPU's numbers (family" in said) == bool(gbs) and 'as it should be' not in said


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
    record = record_of(identity(), dimms=dimms, memory_channels=channels)
    first = sentence.lines_of(record, 200).lines[0]
    assert first.startswith(lacks[0] if lacks else '49 % of the peak of 409.6 GB/s')


def named(count, locator='DIMM', kind='DDR'):
    return [{**module, 'locator': locator, 'type': kind} for module in modules(count)]


UNKNOWN = 'their channels are not known'


# modules, more facts, GB/s that are populated, what is lacking, what is noted
@pytest.mark.parametrize('dimms, facts, here, lacks, notes', [
    (named(16), {'memory_channels': 16}, 409.6, '', ''),
    (named(16), {}, 409.6, '', f'16 modules: {UNKNOWN}'),
    (named(16), {'memory_sockets': 2}, 409.6, '', f'16 modules: {UNKNOWN}'),
    (named(16), {'memory_sockets': 1}, 204.8, '8 of 16 channels', f'16 modules: {UNKNOWN}'),
    (named(4), {'memory_sockets': 1}, 102.4, '4 of 16 channels', f'4 modules: {UNKNOWN}'),
    (named(16) + named(2, kind=None), {'memory_channels': 16}, 409.6, '', '2 modules not on a'),
    (named(2, kind=None), {}, 0, '', ''),
    ([{**module, 'configured_mts': None, 'rated_mts': None} for module in named(15)],
     {'memory_channels': 15}, 384.0, '15 of 16 channels', ''),
], ids=str)  # fmt: skip
def test_modules_are_counted_by_where_they_are(dimms, facts, here, lacks, notes):
    record = record_of(identity(), dimms=dimms, **facts)
    top = peak.of_node(record)
    assert top.here == pytest.approx(here) and top.gbs == 409.6
    assert '; '.join(top.lacks).startswith(lacks) and bool(top.lacks) == bool(lacks)
    assert '; '.join(top.notes).startswith(notes) and bool(top.notes) == bool(notes)
    said = sentence.lines_of(record, 200).lines
    assert all(f'{note}.' in said for note in top.notes)


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
    found = [sure_limit(record_of(identity(name))) for name in ('7763', '6980P')]
    assert found == pytest.approx([409.6, 1689.6])
    assert not any(sure_limit(record_of(identity(n))) for n in ('X7550', '5950X', '6767P'))


@pytest.mark.parametrize('facts', [
    {'dimms': [{'configured_mts': 2933}] * 16, 'dimms_are_virtual': True},
    {'dimms': [{'configured_mts': None}] * 16},
    {'dimms': []}, {'dimms': [], 'memory_channels': 8},
], ids=['virtual', 'no speed', 'none', 'channels alone'])  # fmt: skip
def test_modules_that_say_nothing_leave_the_peak_of_the_cpu_and_a_given_one_counts(facts):
    record = record_of(identity(), **facts)
    assert peak.of_node(record).is_most
    assert peak.of_node({**record, 'peak_gbs': 400.0})[:2] == (400.0, 'as given')
