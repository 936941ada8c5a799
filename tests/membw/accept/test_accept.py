"""`membw accept`: the rule as written, which runs count, signatures, risks, reports."""

import csv
import hashlib
import json
import math
import re
import subprocess
from pathlib import Path

import pytest
from acceptances import NODES, each, fleet, of, only_of, reads, retest, said_of
from made_up_records import changed, invalid, runs
from places import ROOT
from scipy.stats import binom, hypergeom

from membw.accept import protocol as protocols
from membw.accept import terms
from membw.accept.plan import assess, sentences
from membw.accept.signatures import command
from membw.errors import MembwError
from membw.results.record import sealed


@pytest.mark.parametrize('bad, allowed, verdict', [
    (0, 0, 'ACCEPTED'), (1, 0, 'REFUSED'), (1, 1, 'ACCEPTED'), (2, 1, 'REFUSED'),
    (8, 7, 'REFUSED'),
])  # fmt: skip
def test_at_most_the_allowed_number_may_fail_both_rounds(judged, bad, allowed, verdict):
    slow = NODES[:bad]
    found = judged(fleet(slow) + retest(slow, 290.0), rule__allowed_failures=allowed)
    assert found.verdict == verdict
    assert [node.name for node in found.with_status('BELOW')] == slow
    assert found.reasons == [f'{bad} of 8 nodes failed, {allowed} allowed']


NONE_FAILS, NO_RETEST = {'rule__allowed_failures': 0}, {'retest__repetitions': 0}
ONE = {'nodes': {'count': 1}, **NONE_FAILS}
LATENCY = {'nodes': {'count': 2}, 'contract': {'triad': {'value': 95, 'unit': 'ns',
                                                         'better': 'lower'}}}  # fmt: skip
WITHIN = {'contract': {'triad': {'within': 0.02, 'unit': 'GB/s', 'better': 'higher'}}}
TUNED = {'runs__record': {'kernels_set': 'tuned', 'threads': 24}}
ALLOWED = [{'reason': 'array-too-small', 'detail': '', 'allowed': True}]
BUS = {'what': '', 'why': 'ended by SIGBUS (signal 7)', 'died': True, 'node': 'n1'}
DEAD = {**fleet()[0], 'missing': [BUS], 'metrics': {}, 'time': '2026-10-01T08:20:00Z'}
FAILED = [*fleet(['n005']), *retest(['n005'], 290.0), {**DEAD, 'host': 'n005'}]
REPAIRED = [*FAILED, *retest(['n005'], 306.0, day='2026-10-06')]
COPY = 'a copy of the run of n001 of 2026-10-01T01:00:00Z: its figures are equal'
NO_RUN = '1 of 8 nodes have no run under the protocol: n006'
BOARD = {'facts__board_name': 'A1', 'facts__bios_version': '1.0', 'facts__microcode': '0x1',
         'facts__kernel': '6.1'}  # fmt: skip
# records, the protocol, the verdict, the word of a node, what is said
RULE = {
    'a retest clears or confirms': (
        [*fleet(['n002', 'n005']), *retest(['n002'], 306), *retest(['n005'], 290)], {},
        'ACCEPTED', {'n002': 'PASS', 'n005': 'BELOW'}, ''),
    'a failed node without its retest is named': (
        fleet(['n005']) + retest(['n005'], 306.0, 2), {},
        'INCOMPLETE', {'n005': 'BELOW'}, '1 run of the retest round due by 2026-10-14 on n005'),
    'none is agreed on': (fleet(['n005']), NO_RETEST, 'ACCEPTED', {}, ''),
    'nothing can save it': (
        fleet(NODES[:2], nodes=NODES[:3]) + retest(NODES[:2], 290.0), {}, 'REFUSED', {}, ''),
    'of more runs than agreed the earliest count': (
        fleet(['n001']) + retest(['n001'], 290.0) + retest(['n001'], 310.0, 9)[3:], NONE_FAILS,
        'REFUSED', {}, 'more than the protocol requires'),
    'a latency is at most its value': (
        runs({'n1': 92.0, 'n2': 98.0}, 3, unit='ns', better='lower'), NO_RETEST | LATENCY,
        'ACCEPTED', {'n1': 'PASS', 'n2': 'BELOW'}, ''),
    'within compares with the median of the first rounds': (
        fleet(['n003'], 306 * 0.975) + retest(NODES, 330.0, 5), NO_RETEST | WITHIN,
        'ACCEPTED', {'n003': 'BELOW', 'n004': 'PASS'}, ''),
    'a lower bound does not count': (runs({'n1': 306}, 3, bound='lower'), ONE, 'INCOMPLETE',
                                     {'n1': 'MISSING'}, 'disturbed: triad is a bound'),
    'nor one that misses': (runs({'n1': 299}, 3, bound='lower'), ONE, 'INCOMPLETE',
                            {'n1': 'MISSING'}, 'disturbed: '),
    'nor an upper one': (of('n003', fleet(), metrics__triad__bound='upper'), {}, 'INCOMPLETE',
                         {'n003': 'MISSING'}, 'triad ≤ 306 GB/s: it may be worse'),
    'nor an unknown one': (of('n003', fleet(), metrics__triad__bound='unknown'), {}, 'INCOMPLETE',
                           {'n003': 'MISSING'}, 'triad ~ 306 GB/s: it may be worse'),
    'invalid runs are repeated': (
        [*map(invalid, each(range(306, 326)))], ONE, 'INCOMPLETE', {'n1': 'MISSING'}, ''),
    'valid by --allow alone': (fleet(reasons=ALLOWED), {}, 'INCOMPLETE', {},
                               'UNDECIDED: allowed: array-too-small'),
    'tuned kernels, agreed on': (fleet(kernels_set='tuned'), TUNED, 'ACCEPTED', {}, ''),
    'two compilers': (fleet(nodes=NODES[:4]) + fleet(nodes=NODES[4:], build__compiler='gcc 11.4'),
                      {}, 'INCOMPLETE', {}, 'gcc 11.4'),
    'two sources': (fleet(nodes=NODES[:4]) + fleet(nodes=NODES[4:], case__source_sha256='b' * 64),
                    {}, 'INCOMPLETE', {}, 'counted runs are of 2 settings: '),
    'a copy under another date': (
        [{**r, 'time': f'2026-10-0{day}T01:00:00Z'} for day in (1, 2, 3) for r in fleet(count=1)],
        {}, 'INCOMPLETE', {}, COPY),
    'a copy under another name': (
        fleet(nodes=NODES[:1] + NODES[2:])
        + [{**r, 'host': 'n002'} for r in fleet(nodes=NODES[:1])], {}, 'INCOMPLETE', {},
        'a copy of the run of n00'),
    'one death, and nothing else was agreed': (
        [*fleet(), DEAD], NONE_FAILS, 'REFUSED', {'n001': 'DIED'}, ''),
    'a node that failed and died': (REPAIRED, NONE_FAILS, 'REFUSED', {'n005': 'DIED'}, ''),
    'was repaired, another one did not run since': (
        REPAIRED, NONE_FAILS | {'replaced': {'n[005-006]': '2026-10-06'}}, 'INCOMPLETE',
        {'n005': 'PASS'}, NO_RUN),
    'modules are read by root alone, a boot takes half a GiB': (
        [changed(r, facts__microcode=None if 7 < i < 16 else '0x1',
                 facts__mem_total_mib=260_000 + 700 * (7 < i < 16))
         for i, r in enumerate(fleet(**BOARD))], {}, 'ACCEPTED', {}, ''),
    'what one node does not say is not compared': (
        [changed(r, facts__governor=None if r['host'] == 'n003' else 'performance')
         for r in fleet()], {}, 'ACCEPTED', {}, ''),
    'two nodes swapped their names': (
        of('n001', fleet(count=2, **BOARD), facts__board_name='B2')
        + of('n002', fleet(count=1, day='2026-10-02', **BOARD), facts__board_name='B2'),
        {}, 'INCOMPLETE', {'n001': 'UNDECIDED', 'n002': 'UNDECIDED', 'n003': 'PASS'},
        "n002: changed by 2026-10-02: board_name 'B2', before 'A1'"),
    'nodes are matched by short name, the rest is named': (
        fleet(nodes=[*(f'{node}.site.org' for node in NODES), 'x1']), {}, 'ACCEPTED', {}, ''),
    'without names the nodes are counted': (fleet(), {'nodes': {'count': 8}}, 'ACCEPTED', {}, ''),
    'one too few': (fleet(), {'nodes': {'count': 9}}, 'INCOMPLETE', {},
                    '1 of 9 nodes have no run'),
    'one too many': (fleet(), {'nodes': {'count': 7}}, 'INCOMPLETE', {},
                     '8 nodes reported, the protocol is of 7: name them in nodes.names'),
}  # fmt: skip


@pytest.mark.parametrize('records, agreed, verdict, words, said', RULE.values(), ids=RULE)
def test_the_rule_and_which_runs_count(judged, records, agreed, verdict, words, said):
    found = judged(records, **agreed)
    assert (found.verdict, said in said_of(found)) == (verdict, True), said_of(found)
    assert {name: only_of(found, name).status for name in words} == words
    assert found.elsewhere == ['x1'] * any(r['host'] == 'x1' for r in records)


def test_every_metric_of_the_contract_counts(judged):
    made = fleet()
    for record in made[:24:8]:
        reads(record, copy=269.0)
    found = only_of(judged(made), 'n001')
    assert found.rounds[0].missed == ['copy'] and found.status == 'BELOW'


@pytest.mark.parametrize('statistic, figures, passes', [
    ('median', (310, 300, 290), True), ('median', (310, 299, 290), False),
    ('median', (310, 300, 299, 290), False), ('worst', (310, 305, 299), False),
    ('best', (300, 290, 280), True),
])  # fmt: skip
def test_the_statistic_is_the_agreed_one(judged, statistic, figures, passes):
    agreed = {'runs__statistic': statistic, 'runs__repetitions': len(figures)}
    found = judged(each(figures), contract={'triad': 300.0}, **agreed, **ONE, **NO_RETEST)
    assert (found.verdict == 'ACCEPTED') == passes


@pytest.mark.parametrize('triad', [290.0, 306.0])
def test_invalid_runs_are_neither_passes_nor_failures_and_are_repeated(judged, triad):
    first = fleet(['n001'], triad)
    first[::8] = map(invalid, first[::8])
    found = judged(first)
    assert found.verdict == 'INCOMPLETE'
    assert found.reasons[0] == '3 runs of the first round due by 2026-10-14 on n001'
    assert only_of(found, 'n001').runs[0].counted.startswith('INVALID: wrong-placement')
    assert judged(first + retest(['n001'], 306.0)).verdict == 'ACCEPTED'


@pytest.mark.parametrize('has_figures', [[], ['copy'], ['copy', 'triad']])
@pytest.mark.parametrize('died, verdict', [(2, 'ACCEPTED'), (3, 'REFUSED')])
def test_launches_that_died_use_up_what_was_agreed(judged, has_figures, died, verdict):
    """A node that died in some launches passed with the others: it read the records of those."""
    well, made = each((320, 321, 322), 50), each((310, 311, 312)[:died])
    dead = [{**r, 'missing': [BUS], 'metrics': {n: r['metrics'][n] for n in has_figures}}
            for r in made]  # fmt: skip
    found = judged([*dead, *well[:2]], runs__deaths=2, **ONE)
    assert found.verdict == ('REFUSED' if died > 2 else 'INCOMPLETE')
    found = judged([*dead, *well], runs__deaths=2, **ONE)
    assert found.verdict == verdict
    reasons = [run.counted for run in only_of(found, 'n1').runs if run.word]
    assert reasons == ['DIED: ended by SIGBUS (signal 7) on n1'] * died


@pytest.mark.parametrize('change, said', [
    ({'case__environ': 'clang-o2'}, 'preset clang-o2'), ({'case': {}}, 'preset not recorded'),
    ({'case__pinning': 'omp'}, 'pinning omp'), ({'case__test': 'ladder'}, 'test ladder'),
    ({'day': '2026-09-30'}, 'measured on 2026-09-30'), ({'kernels_set': 'tuned'}, 'kernels_set'),
    ({'element_bytes': 4}, 'element_bytes 4'), ({'unit': 'GFlop/s'}, 'triad not measured in GB/s'),
    ({'build__compiler': 'gcc 13.1'}, 'compiler gcc 13.1'),
])  # fmt: skip
def test_a_run_that_was_not_agreed_on_does_not_count_and_says_why(judged, change, said):
    found = judged(fleet(**change), runs__record={'compiler': 'gcc 12.2.0'})
    assert found.verdict == 'INCOMPLETE'
    assert found.reasons[0] == '8 of 8 nodes have no run under the protocol: n[001-008]'
    assert found.nodes[0].runs[0].counted.startswith('not under the protocol: ')
    assert said in found.nodes[0].runs[0].counted


@pytest.mark.parametrize('count, triad, day, verdict', [
    (8, 280.0, None, 'INCOMPLETE'),  # a replaced board, one channel of which is lost
    (1, 280.0, None, 'INCOMPLETE'), (8, 306.0, None, 'ACCEPTED'),
    (8, 280.0, '2026-10-02', 'REFUSED'), (8, 306.0, '2026-10-02', 'ACCEPTED'),
])  # fmt: skip
def test_later_runs_count_and_a_replacement_begins_anew(judged, count, triad, day, verdict):
    made = fleet() + retest(['n001'], triad, count)
    found = judged(made, **NONE_FAILS, **({'replaced': {'n001': day}} if day else {}))
    assert found.verdict == verdict
    said = f'n001: its later runs ({count}) miss'
    assert (said in '; '.join(found.reasons)) == (verdict == 'INCOMPLETE')
    counted = {run.counted for run in only_of(found, 'n001').runs}
    assert ('before its replacement on 2026-10-02' in counted) == bool(day)


@pytest.mark.parametrize('fact, value, name', [
    ('board_name', 'B2', 'board_name'), ('bios_version', '1.1', 'bios_version'),
    ('microcode', '0x2', 'microcode'), ('kernel', '6.2', 'kernel_release'),
    ('memory_channels', 7, 'memory_channels'), ('mem_total_mib', 3 * 2**18, 'memory_gib'),
    ('dimms', [{'locator': 'A', 'size_mib': 65536}], 'dimms'),
])  # fmt: skip
@pytest.mark.parametrize('is_later', [True, False])
def test_a_changed_machine_that_nobody_declared_is_named(judged, fact, value, name, is_later):
    usual = {**BOARD, 'facts__memory_channels': 8, 'facts__mem_total_mib': 2**18,
             'facts__dimms': [{'locator': 'A', 'size_mib': 32768}]}  # fmt: skip
    made, new = fleet(**usual), {f'facts__{fact}': value}
    if is_later:
        made += fleet(nodes=['n002'], day='2026-10-02', **usual | new)
    else:  # within the first round: of the last of n002's three runs
        changed(made[17], **new)
    found = judged(made)
    assert found.verdict == 'INCOMPLETE' and only_of(found, 'n002').status == 'UNDECIDED'
    day = '2026-10-02' if is_later else '2026-10-01'
    assert f'n002: changed by {day}: {name} ' in '; '.join(found.reasons)


GENOA = {  # 12 channels of DDR5-4800: 460.8 GB/s
    'cpu_model': 'AMD EPYC 9354P', 'sockets': 1,
    'cpu_id': {'vendor': 'AuthenticAMD', 'family': '25', 'model': '17', 'hypervisor': False},
}  # fmt: skip


@pytest.mark.parametrize('level, triad, contract, facts, said', [
    (306.0, 802.0, 300.0, {}, 'n003: triad 802.03 GB/s, median of its 8 nodes 306.01: +162'),
    (306.0, 306.0, 200.0, {}, ''),  # a contract is a floor
    (306.0, 306.0, 300.0, {}, ''),
    (455.0, 455.0, 450.0, GENOA, ''),
])  # fmt: skip
def test_too_good_is_undecided_and_named(judged, level, triad, contract, facts, said):
    made = runs(dict.fromkeys(NODES, level) | {'n003': triad}, 3)
    made = [{**r, 'facts': {**r['facts'], **facts}} for r in made]
    found = judged(made, contract={'triad': contract})
    assert found.verdict == ('INCOMPLETE' if said else 'ACCEPTED')
    assert said in '; '.join(found.reasons)
    assert ('too good: a cache, another size?' in '; '.join(found.reasons)) == bool(said)


def test_a_run_above_the_peak_does_not_count(judged):
    made = runs(dict.fromkeys(NODES, 480.0), 3)
    made = [{**r, 'facts': {**r['facts'], **GENOA}} for r in made]
    found = judged(made, contract={'triad': 470.0})
    assert found.verdict == 'INCOMPLETE'
    # of the "at most" peak of a CPU whose modules were not read
    assert {run.word for node in found.nodes for run in node.runs} == {'UNDECIDED'}


def test_a_machine_that_lacks_memory_is_not_accepted_unless_its_peak_was_agreed(judged):
    module = {'size_mib': 32_768, 'type': 'DDR', 'rated_mts': 4800, 'configured_mts': 4800}
    facts = {**GENOA, 'dimms': [module] * 8, 'memory_channels': 8}
    made = [{**r, 'facts': {**r['facts'], **facts}} for r in runs(dict.fromkeys(NODES, 250.0), 3)]
    found = judged(made, contract={'triad': 240.0})
    assert found.verdict == 'INCOMPLETE'
    assert 'it lacks memory: 8 of 12 channels are populated: repair it' in '; '.join(found.reasons)
    agreed = judged(made, contract={'triad': 240.0}, nodes__peak_gbs=307.2)
    assert agreed.verdict == 'ACCEPTED', agreed.reasons


# --- the protocol ------------------------------------------------------------------------------


def test_the_template_takes_the_cpu_of_a_record(tmp_path, stored, membw):
    path, records = tmp_path / 'p.yaml', fleet()
    assert membw('accept', '--template', stored(records))[0] == 2
    made = [{**r, 'facts': {**r['facts'], **GENOA, 'sockets': 2}} for r in records]
    path.write_text(membw('accept', '--template', stored(made))[1])
    agreed = protocols.load(path)
    assert agreed.cpu['name'] == 'EPYC 9004 (Genoa)'
    assert agreed.peak_gbs == pytest.approx(921.6)


def test_the_template_is_right(tmp_path, membw):
    path = tmp_path / 'protocol.yaml'
    path.write_text(membw('accept', '--template')[1])
    why = 'the protocol names no key of the {}'
    unsigned = {party: why.format(party) for party in ('buyer', 'vendor')}
    assert protocols.load(path).unsigned == unsigned


@pytest.mark.parametrize('change, said', [
    ({'title': 'two\nlines'}, "title: 'two\\nlines' does not match"),
    ({'contract': {'triad': -1}}, 'contract.triad'), ({'rule': None}, 'rule: is missing'),
    ({'contract__triad': {'within': 0.02}}, 'contract.triad'),
    ({'runs__statistic': 'mean'}, "runs.statistic: 'mean' is not one of"),
    ({'runs__prset': 'x'}, "runs.prset: unknown key; did you mean 'preset'?"),
    ({'nodes__of': 7}, 'nodes.of: 7 nodes, but 8 of them are measured'),
    ({'rule__allowed_failures': 8}, 'rule.allowed_failures: the number of all nodes'),
    ({'period__to': '2026-09-01'}, 'period: ends before it begins'),
    ({'nodes__names': 'n[001-007]'}, 'nodes.names: 7 names, count is 8'),
    ({'replaced': {'n009': '2026-10-06'}}, 'replaced.n009: not among nodes.names'),
    ({'schema': 'membw-protocol-1'}, 'schema'),
    ({'rule__allowed_failures': 9, 'period__to': '2026-09-01'}, 'allowed_failures'),
    ({'rule__allowed_failures': 9, 'period__to': '2026-09-01'}, '\nmembw: '),  # all at once
])  # fmt: skip
def test_a_wrong_protocol_is_refused_with_the_place(protocol, change, said):
    with pytest.raises(MembwError) as err:
        protocols.load(protocol(**change))
    assert said in str(err.value)


def test_a_protocol_is_signed_byte_by_byte(protocol, membw, keys):
    path = protocol()
    text = Path(path).read_text()
    assert protocols.load(path).unsigned == {}
    assert protocols.load(path).checksum == hashlib.sha256(text.encode()).hexdigest()
    for other in (text.replace('copy: 270.0', 'copy: 269.0'), f'# agreed\n{text}'):
        Path(path).write_text(other)
        status, _, err = membw('accept', path, '/dev/null')
        assert status == 2 and "buyer.sig' is not the signature of this text by the key of" in err
    Path(path).write_text('title: a\ntitle: b\n')
    with pytest.raises(MembwError, match="line 2: 'title' is given twice"):
        protocols.load(path)


@pytest.mark.parametrize('parties, missing', [
    ((), 'buyer vendor'), (('buyer',), 'vendor'), (('vendor',), 'buyer'),
    (('buyer', 'vendor'), ''),
])  # fmt: skip
def test_an_unsigned_protocol_is_not_accepted(judged, parties, missing):
    found = judged(fleet(), parties=parties)
    assert found.verdict == ('INCOMPLETE' if missing else 'ACCEPTED')
    assert [why.partition(':')[0] for why in found.reasons[:-1]] == [
        f'not signed by {party}' for party in missing.split()
    ]


@pytest.mark.parametrize('by, namespace', [
    ('stranger', 'membw'), ('vendor', 'membw'), ('buyer', 'git'), ('buyer', None),
])  # fmt: skip
def test_a_signature_by_another_key_or_for_another_purpose_is_refused(
    protocol, keys, by, namespace
):
    path = protocol(parties=('vendor',))
    if namespace:
        words = command(path, 'buyer').replace('~/.ssh/id_ed25519', str(keys[by].with_suffix('')))
        subprocess.run(words.replace('-n membw', f'-n {namespace}'), shell=True, check=True)
    else:
        Path(f'{path}.buyer.sig').write_text('A. Person, 2026-09-30')
    with pytest.raises(MembwError, match='is not the signature of this text by the key of buyer'):
        protocols.load(path)


PEAK = {'nodes__peak_gbs': 256}


@pytest.mark.parametrize('changes, status, said', [
    ({'runs__preset': 'gcc-o9'}, 2, "no preset 'gcc-o9' on 'thin'"),
    ({'runs__system': 'nova', 'runs__preset': 'gcc-o9'}, 2, "no preset 'gcc-o9'"),
    (PEAK | {'contract': {'triad': 540.0}}, 1, '540 GB/s is 211 % of the peak of 256 GB/s: no'),
    (PEAK | {'contract': {'triad': 540.0}}, 1, 'NOT POSSIBLE: triad reaches 192 GB/s at most'),
    (PEAK | {'contract': {'triad': 200.0}}, 1, 'stores move 32 bytes where triad counts 24'),
    (PEAK | {'contract': {'triad': 192.0, 'copy': 171.0}}, 1, 'NOT POSSIBLE: copy reaches 170.7'),
    (PEAK | {'contract': {'triad': 192.0, 'copy': 170.0}}, 0, ': above them: let the vendor show'),
    ({'contract': {'triad': 450.0}, 'nodes__cpu': 'NVIDIA Grace'}, 0, '88 % of the peak of 512'),
    (PEAK | {'contract': {'triad': 540.0}}, 1, 'every machine is refused'),
    ({'nodes__cpu': 'Xyz 1'}, 2, "'Xyz 1' is no CPU that is known here: give"),
    ({'nodes__cpu': 'EPYC 9354', 'nodes__sockets': 2}, 0, 'peak of 921.6 GB/s'),
    (PEAK | {'contract': {'traid': 180.0}}, 0, "'traid', which is no kernel of STREAM: did "),
    (PEAK | {'contract': {'triad': 5.0}}, 0, ': below them: a machine that lost 96 % passes.'),
    (PEAK | {'contract': {'copy': 80.0}}, 0, 'LOW: copy may be reached by a node that lost 53 %'),
    ({'nodes__cpu': 'EPYC 9354', 'nodes__peak_gbs': 614.4}, 2, 'EPYC 9354 carries 460.8 at most'),
    ({'runs__system': 'nova', 'nodes__peak_gbs': 460.8}, 0, "no file of 'nova' in systems/ yet"),
    ({'runs__system': 'nova', 'nodes__peak_gbs': 460.8}, 0, '65 % of the peak of 460.8 GB/s'),
    ({'runs__system': 'nova'}, 0, 'that is not known: set nodes.cpu'),
    ({'runs__preset': 'icc-nt', 'nodes__peak_gbs': 500}, 0, 'Published, non-temporal'),
    (PEAK | {'contract': {'triad': 170.0}}, 0, 'Published, ordinary stores'),
    ({'runs__test': 'strem'}, 0, "'strem', which is no test of membw"),
    ({'contract': {'triad': float('nan')}}, 2, 'contract.triad: is nan'),
])  # fmt: skip
def test_the_plan_says_what_the_contract_asks_for(protocol, membw, changes, status, said):
    found, *out = membw('accept', protocol(**changes), '--plan')
    assert status == found and said in ''.join(out)


# --- risks -------------------------------------------------------------------------------------


def test_the_risks_are_those_of_the_binomial(protocol):
    agreed = protocols.load(protocol(rule__allowed_failures=0, retest__repetitions=5))
    first, again = binom.sf(1, 3, 0.1), binom.sf(2, 5, 0.1)  # 2 of 3, 3 of 5 runs reach it
    assert assess(agreed).accepted == pytest.approx(1 - (1 - first) * (1 - again))
    fails = binom.cdf(1, 3, 0.9) * binom.cdf(2, 5, 0.9)
    assert assess(agreed).refused == pytest.approx(1 - (1 - fails) ** 8)
    slips, refused, days = sentences(agreed)
    assert slips.startswith('at most 3.6 % chance that one bad node slips through (bad: 9 of 10 ')
    assert refused.startswith('at most 0.19 % chance that a machine of good nodes is refused (go')
    assert days.startswith('both assume that such nodes exist, and that runs are independent')
    sample = protocols.load(protocol(nodes__of=40, retest__repetitions=5))  # 8 nodes of 40
    both = hypergeom.pmf(2, 40, 2, 8) * ((1 - first) * (1 - again)) ** 2
    assert assess(sample).accepted == pytest.approx(1 - both)
    assert assess(sample).refused == pytest.approx(binom.sf(1, 8, fails))


# --- the command -------------------------------------------------------------------------------


def test_the_verdict_is_the_first_line_and_the_lowest_node_the_next(accept):
    status, out = accept(fleet(['n004'], triad=303.0))
    verdict, _, nodes, _, lowest, *_ = out.splitlines()
    assert nodes == 'Nodes: 8 PASS'
    assert (status, verdict) == (0, 'Verdict: ACCEPTED: 0 of 8 nodes failed, 1 allowed')
    assert lowest == '  triad 303.0 GB/s on n004: 1.0% better than the limit of 300 GB/s'


def test_missing_runs_are_named_with_their_commands(accept):
    status, out = accept(fleet(['n005'], nodes=NODES[:6]))
    run = 'membw run --system thin -n stream%pinning=likwid -p gcc-o2 --repeat=3 -J nodelist=$node'
    assert status == 1 and f'for node in n007 n008; do {run}; done   # first round' in out
    assert f'for node in n005; do {run}; done   # retest round' in out


def test_text_and_json_have_everything_and_agree(accept):
    records = [invalid(fleet()[0]), *fleet(['n008'])[1:]]
    status, text = accept(records)
    found = json.loads(accept(records, '--json')[1])
    assert (status, found['verdict'], found['counts']['BELOW']) == (1, 'INCOMPLETE', 1)
    assert found['newest'] == max(row['time'] for row in records)
    assert found['builds'][0]['source_sha256'] == 'a' * 64
    assert '/r.jsonl' in found['nodes'][1]['runs'][0]['record']
    assert len(found['protocol_sha256']) == 64
    own = {'nodes': 'n001', 'runs': 1, 'round': 'first', 'until': '2026-10-14'}
    assert {'code': 'runs-due', 'numbers': own} in found['findings']
    first, *_ = found['nodes'][0]['runs']
    assert (first['word'], first['findings'][0]['code']) == ('INVALID', 'wrong-placement')
    for part in ('INCOMPLETE', 'wrong-placement', 'n008', '--sheet'):
        assert part in text, part


def test_what_was_compared_of_the_records_is_said(tmp_path, protocol, membw):
    """smt no record has, the governor all but one."""
    rows = [changed(row, facts__governor='a', facts__kernel='6.1') for row in fleet()]
    del rows[0]['facts']['governor']
    lines = [sealed(row) for row in rows[:10]] + [json.dumps(row) + '\n' for row in rows[10:]]
    (tmp_path / 'r.jsonl').write_text(''.join(lines))
    _, out, _ = membw('accept', protocol(), tmp_path / 'r.jsonl', '--json')
    found = json.loads(out)
    assert (found['records'], found['records_without_checksum']) == (24, 14)
    compared, lacks = {*found['compared']}, {*found['not_recorded']}
    assert {'governor', 'kernel_release'} <= compared and 'smt' not in compared
    assert {'governor', 'smt'} <= lacks and 'kernel_release' not in lacks


def test_what_is_no_protocol_is_said(membw):
    for words, fact in ([], 'no protocol given'), (['gone.yaml'], "cannot read 'gone.yaml'"):
        status, _, err = membw('accept', *words)
        assert status == 2 and fact in err


def test_the_simulated_risks_are_those_that_are_printed():
    """Of 400 acceptances per cell, where runs are independent: within three standard errors."""
    rows = list(csv.DictReader((ROOT / 'tests/evidence/acceptance.csv').open()))
    assert len(rows) == 24
    for row in (row for row in rows if row['day_sd_pct'] == '0'):
        for side in ('accepted', 'refused'):
            found, printed = (float(row[f'{part}{side}_pct']) / 100 for part in ('', 'printed_'))
            assert abs(found - printed) <= 3 * math.sqrt(printed * (1 - printed) / 400) + 1 / 400


@pytest.mark.parametrize('change', [
    {'period__from': '2026-10-02'}, {'period__to': '2026-10-13'}, {'nodes__names': 'n[002-009]'},
    {'nodes': {'count': 9}}, {'nodes__of': 100}, {'runs__test': 'dgemm'},
    {'runs__system': 'helios'}, {'runs__preset': 'gcc-o3'}, {'runs__pinning': 'omp'},
    {'runs__repetitions': 5},
    {'runs__statistic': 'worst'}, {'runs__deaths': 2},
    {'runs__record': {'threads': 24}}, {'rule__allowed_failures': 2}, {'retest__repetitions': 0},
    {'retest__repetitions': 5}, {'replaced': {'n002': '2026-10-03'}},
])  # fmt: skip
def test_each_key_of_the_rule_is_in_its_sentences(protocol, change):
    before, after = ([*terms.sentences(protocols.load(protocol((), **c)))] for c in ({}, change))
    assert before != after
    assert all(len(part.split()) <= 25 for s in after for part in re.split(r'[.;:,] ', s))
