"""Is that good? The sentence of a figure, of each loss and kind of machine."""

import itertools
import math
import os
import re

import pytest
from made_up_cpus import IDENTITIES, identity, measured, modules, record_of, servers
from places import ROOT

from membw.expected import proof, published, sentence
from membw.site import cpu_peak as peak

CASCADE, ROME = '8280', 'EPYC 7742'
XEON = {'name': 'Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz', 'id': 'GenuineIntel 6 85 7',
        'sockets': 2, 'cores': 56}  # fmt: skip


def at_2933(count, mts=2933):
    return modules(count, mts, 2933)


@pytest.mark.parametrize('gbs, dimms, stores, said', [
    (165, at_2933(12), 'ordinary', ' as it should be: a loss of 16 % would show.'),
    (165, (), 'ordinary', ' within them: a loss of up to 16 % would not show.'),
    (165, at_2933(12, 2666), 'ordinary', ' within them, and yet less than it should have.'),
    (140, at_2933(12), 'ordinary', ': below them.'),
    (140, (), 'ordinary', ': possibly below them.'),
    (190, at_2933(12), 'ordinary', ': 56 to 64 % of the peak (3 machines): above them.'),
    (190, at_2933(12), 'call', 'Published, stores not said, Xeon E5 v3 to'),
])  # fmt: skip
def test_when_there_is_a_word_on_others(gbs, dimms, stores, said):
    record = measured(
        XEON, {'triad': gbs}, stores, facts={'dimms': dimms, 'memory_channels': len(dimms)}
    )
    lines, is_low = sentence.lines_of(record, gbs)
    assert any(said in line for line in lines), said
    assert is_low == ('below them' in said or 'yet less' in said)


@pytest.mark.parametrize('name, rates, stores, said', [
    ('EPYC 9755', {'read': 1180}, 'ordinary', 'At least 22 of 24 channels work: Read moves 1082 '),
    ('EPYC 7742', {'triad': 221.2}, 'ordinary',
     'At least 11 of 16 channels work: Triad moves 276.5 GB/s of memory (221.2 x 4/3, less 18 '
     'that caches may hold), and 10 carry 256 at most. 5 missing are not excluded: larger'),
    ('EPYC 7742', {'triad': 221.2}, 'call', 'At least 8 of 16 channels work: Triad moves 202.8'),
    ('EPYC 7742', {'copy': 305.5, 'triad': 221.2}, 'non-temporal', 'At least 11 of 16 channels'),
    ('EPYC 7763', {'triad': 330}, 'ordinary', 'More than 16 channels carry: Triad moves 412.5'),
    ('8480+', {'triad': 300}, 'ordinary', 'At least 8 of 16 channels work: Triad moves 275 GB/s'),
    ('13900K', {'triad': 80}, 'ordinary', '89 % of a peak of at most'),
    ('CPU Max 9480', {'triad': 800}, 'ordinary', 'Peak unknown: Xeon Max'),
])  # fmt: skip
def test_the_first_sentence_is_what_the_figure_proves_by_itself(name, rates, stores, said):
    record = measured(identity(name), rates, stores)
    assert sentence.lines_of(record, rates.get('triad', 100)).lines[0].startswith(said)


@pytest.mark.parametrize('change', [
    {'residency': {'known': 'declared'}}, {'residency': None}, {'ranks': 4}, {'llc_mib': None},
    {'array_size': None}, {'verdict': 'INVALID'}, {'metrics': {}},
    {'metrics': {'read': {'value': 380, 'unit': 'GB/s', 'bound': 'upper'}}},
    {'metrics': {'read': {'value': 380, 'unit': 'GB/s', 'bound': 'unknown'}}},
    {'metrics': {'read': {'value': 380, 'unit': 'MB/s'}}},
    {'metrics': {'read': {'value': None, 'unit': 'GB/s'}}},
    {'facts': record_of(identity(ROME), numa={'2': {'cpus': ''}})['facts']},  # a CXL card
])  # fmt: skip
def test_a_figure_that_may_be_too_high_proves_nothing(change):
    record = {**measured(identity(ROME), {'read': 380}), **change}
    assert 'work:' not in sentence.lines_of(record, 200).lines[0]


def in_domains(machine, count, gbs, distance='21', **facts):
    numa = {str(i): {'distances': ' '.join(['10' if i == j else distance for j in range(count)])}
            for i in range(count)}  # fmt: skip
    rows = {str(i): {'gbs': gbs, 'is_bound': False, 'apart': 0} for i in range(count)}
    record = measured(machine, {'read': count * gbs}, caches=20, facts={'numa': numa, **facts})
    return proof.proven({**record, 'looks': {'domains': rows}}, peak.of_node(record))


def test_a_domain_reads_from_its_own_channels_where_it_has_some():
    snc = in_domains(identity('8480+'), 8, 61.4)
    assert snc.text() == ('All 16 channels work: each of its 8 NUMA domains reads 60.38 GB/s of '
                          'memory or more, and 1 carries 38.4 at most.')  # fmt: skip
    alone = [
        in_domains(identity('8480+'), 8, 61.4, distance='10'),  # Linux's numa=fake
        in_domains(identity('EPYC 9755'), 8, 120),  # may be the L3 caches of an AMD CPU
    ]
    assert [proof.number for proof in alone] == [13, 19]
    assert in_domains(identity('EPYC 9755'), 2, 480).number == 20


STEPS = [1066, 1333, 1600, 1866, 2133, 2400, 2666, 2933, 3200, 4000, 4400, 4800, 5200, 5600, 6000,
         6400, 8000, 8800]  # MT/s  # fmt: skip
LOSSES = (  # what is lost, channels of all, of the speed
    ('nothing', lambda n, sockets: n, 1), ('a channel', lambda n, sockets: n - 1, 1),
    ('two channels', lambda n, sockets: n - 2, 1), ('half the speed', lambda n, sockets: n, 0.5),
    ('a socket', lambda n, sockets: n - n // sockets * (sockets > 1), 1),
)  # fmt: skip
KINDS = ('non-temporal', 'ordinary', 'call')


def run_of(machine, channels, mts, share, stores, caches=4, is_root=False):
    """(record, Triad) of a machine whose memory moves `share` of what it has; its caches hold all
    that they can, and where stores may claim their lines, they do."""
    top = peak.of_node(record_of(machine))
    reads = stores == 'ordinary' and top.row.get('claims') is False
    times = 4 / 3 if reads else 1
    triad = share * channels * mts * 8 / 1000 / (times - 1 / 3 / caches)
    read = share * channels * mts * 8 / 1000 / (1 - 1 / 3 / caches)
    of = {'dimms': modules(channels, mts, top.carries * 125), 'memory_channels': channels}
    return measured(
        machine, {'triad': triad, 'read': read}, stores, caches=caches, facts=of if is_root else {}
    ), triad


def states():
    for machine, (lost, left, speed) in itertools.product(servers(peak), LOSSES):
        top = peak.of_node(record_of(machine))
        channels = left(top.channels, top.sockets)
        if channels and (lost == 'nothing' or channels * speed < top.channels):
            yield machine, lost, top, channels, speed * top.carries * 125


def test_no_figure_proves_more_than_there_is():
    """Of whole servers, each loss, moved shares of 45 to 98 %, and each kind of stores."""
    assert len(servers(peak)) >= 44
    for machine, lost, top, channels, mts in states():
        for share, kind, caches in itertools.product(range(45, 100, 4), KINDS, (2, 12)):
            record, _ = run_of(machine, channels, mts, share / 100, kind, caches)
            found = proof.proven(record, top)
            real = math.ceil(share / 100 * channels * mts / top.carries / 125 - 1e-9)
            assert found.number <= real <= channels, (machine, lost, share, kind, found)
            assert lost == 'nothing' or 'All' not in found.text()
            assert caches < 12 or found.number >= real - 3 * top.sockets


def test_of_a_slice_or_a_virtual_machine_no_share_is_comfort():
    """Whatever it moves, and whatever its hypervisor says that it is."""
    guests = [m for m in IDENTITIES if m.get('hypervisor') or m['id'].startswith('0x')]
    assert len(guests) > 25
    for machine, share, kind in itertools.product(guests, range(45, 100, 9), KINDS):
        top = peak.of_node(record_of(machine))
        gbs = share / 100 * (top.gbs or 50)
        record = measured(machine, {'triad': gbs, 'read': gbs}, kind, caches=12)
        said = ' '.join(sentence.lines_of(record, gbs).lines)
        assert 'as it should be' not in said, said
        assert not (machine.get('hypervisor') or top.is_slice) or 'All ' not in said, said
        assert not top.only_if or "If the CPU's numbers" in said or 'are not true' in said, said
        part = top.is_slice and top.channels and not top.only_if and kind == KINDS[0]
        assert not part or f' of {top.channels} channel' in said, said


TABLE = ROOT / 'tests/data/sentences.txt'


def table():
    """Each kind of sentence once: how often, without its figures and names, and an example."""
    kinds = {}
    for machine, lost, top, channels, mts in states():
        for share, kind, user in itertools.product((0.6, 0.9), KINDS[1:2], ('root', 'user')):
            is_root, is_healthy = user == 'root', lost == 'nothing'
            record, gbs = run_of(machine, channels, mts, share, kind, is_root=is_root)
            lines = sentence.lines_of(record, gbs).lines
            said = ' '.join(lines)
            assert 'as it should be' not in said or is_root and is_healthy
            assert not is_root or is_healthy or 'are populated' in lines[0] or 'MT/s' in lines[0]
            assert not is_healthy or share < 0.8 or ': below them' not in said
            assert ' channels work' in said or ' of ' in said
            kin, what = published.kin_of(top.row), 'healthy' if is_healthy else 'a loss'
            for line in lines:
                short = re.sub(r'\(.*?\)|Read|Triad', '()', line.replace(kin, 'these'))
                kind_of = re.sub(r'[\d.]*\d', '#', short)
                where = f'{machine["is"]}, {channels} channels at {mts:.0f}: {line}'
                kinds.setdefault((what, user, kind_of), []).append(where)
    for (what, user, _), examples in kinds.items():
        yield f'{len(examples)} x {what}, as {user}, as: {examples[0]}'


def test_what_is_said_of_each_loss_is_the_table_that_was_read_by_eye():
    """WRITE_SENTENCES=1 writes it anew."""
    said = list(table())
    if os.environ.get('WRITE_SENTENCES'):
        TABLE.write_text('\n'.join(said) + '\n')
    assert TABLE.read_text().splitlines() == said


@pytest.mark.parametrize('machine, read, is_said', [
    (XEON, 170, True), (XEON, 190, False), ({**XEON, 'cores': 20}, 150, False),
    (identity('8480+'), 300, True), (identity('EPYC 9V33X'), 100, False),
    (identity('CPU Max 9480'), 300, False), (identity('AI MAX+ 395'), 110, False),
])  # fmt: skip
def test_what_is_low_for_any_cpu_is_worth_a_look_and_no_pass(machine, read, is_said):
    record = measured(machine, {'read': read, 'triad': 0.7 * read}, 'non-temporal')
    lines, is_low = sentence.lines_of(record, 0.7 * read)
    assert any(line.startswith('Look: ') for line in lines) == is_said
    assert not is_said or is_low


def test_no_sound_published_machine_of_many_cores_is_worth_a_look():
    rows = [r for r in published.usable() if r['stores'] == 'none']
    many = [r for r in rows if published.cores(r) >= sentence.MANY * r['sockets']]
    assert len(many) > 8 and min(published.shares(many)) > 100 * sentence.LOOK


def test_what_others_published_reaches_no_judge():
    files = [f for f in (ROOT / 'src/membw').rglob('*.py') if 'membw.expected' in f.read_text()]
    rooms = {str(f.relative_to(ROOT / 'src/membw').parent) for f in files}
    assert rooms == {
        'expected',
        'report',
        'summary',
        'accept',
        'node',
    }  # these print it, and no verdict


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
    ({'ordinary': 100, 'half': 98, 'bound': True}, 'Whether cores or memory limit it is not '
                                                   'known: the run was disturbed.'),
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
GRACE = next(m for m in IDENTITIES if m['is'] == 'NVIDIA Grace')
A64FX = next(m for m in IDENTITIES if m['is'] == 'Fujitsu A64FX')


@pytest.mark.parametrize('machine, more, gbs, stores, said', [
    (IDENTITIES[0], {}, 30.8, 'ordinary', '2 of up to 96 cores, which may draw more than their '
     'part, 9.6 GB/s: the peak of the whole socket is at most 460.8 GB/s (12 channels x DDR5-'),
    (identity('X7550'), {}, 30, 'ordinary', 'Peak unknown: Intel(R) Xeon(R) CPU X7550 @ 2.00GHz'
     ", family 6, model 46: not in systems/facts/cpus.yaml; set 'peak_gbs' in systems/NAME"
     '.yaml: channels x MT/s x 8 B.'),
    (GRACE, CLAIMS, 880, 'ordinary', 'by claimed stores.'),
    (GRACE, CLAIMS, 880, 'ordinary', 'Published, claimed stores, NVIDIA Grace: 80 to 95 % of the'),
    (A64FX, {}, 800, 'ordinary', 'by ordinary stores'),
    (A64FX, {}, 600, 'ordinary', 'by ordinary stores'),
    (A64FX, {}, 600, 'zeroed', 'by claimed stores'),
])  # fmt: skip
def test_a_slice_an_unknown_cpu_and_claimed_lines(monkeypatch, machine, more, gbs, stores, said):
    monkeypatch.setattr('os.geteuid', lambda: 0)
    lines, _ = sentence.lines_of(measured(machine, {'triad': gbs}, stores, **more), gbs)
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize('threads, is_compared', [(192, True), (None, True), (96, False)])
def test_some_of_the_cores_are_compared_with_nobody(threads, is_compared):
    machine = next(m for m in IDENTITIES if m['name'] == 'AMD EPYC 9R14')
    record = measured(machine, {'triad': 100}, threads=threads)
    assert ('Look: ' in ' '.join(sentence.lines_of(record, 100).lines)) == is_compared
