"""An acceptance under attack, and honest vendors: n004 is the node that is not what it says."""

import json
import math
import random
from pathlib import Path

import pytest
import yaml
from acceptances import NODES, fleet, of, reads, retest, said_of, sign
from made_up_records import changed, invalid, metrics, runs

from membw.accept import protocol as protocols
from membw.accept.rule import Decision
from membw.accept.runs import runs_of
from membw.accept.sheet import not_counted
from membw.errors import MembwError
from membw.results.record import sealed
from membw.results.table import read_table

NONE_FAILS = {'rule__allowed_failures': 0}
FACTS = {'governor': 'schedutil', 'thp': 'always', 'smt': 'off', 'hugepages_total': '0',
         'numa_balancing': '0', 'microcode': '0x1', 'kernel': '6.1', 'bios_version': '1.0',
         'mem_total_mib': 262_144, 'memory_channels': 8}  # fmt: skip
HONEST = fleet(**{f'facts__{name}': value for name, value in FACTS.items()})
BUS = {'what': '', 'why': 'ended by SIGBUS (signal 7)', 'died': True, 'node': 'n004'}
ALLOWED = [{'reason': 'array-too-small', 'detail': '', 'allowed': True}]
OWN = [row for row in HONEST if row['host'] == 'n004']


def copies(rows):
    return json.loads(json.dumps(rows))


def other(**changes):
    """n004 differs in all its runs."""
    return of('n004', copies(HONEST), **changes)


def last(**changes):
    """n004 differs in its last run."""
    rows = copies(HONEST)
    changed([row for row in rows if row['host'] == 'n004'][-1], **changes)
    return rows


def more(rows):
    return [*copies(HONEST), *rows]


def instead(rows):
    return [*(row for row in copies(HONEST) if row['host'] != 'n004'), *rows]


def slow(count, day, **changes):
    return runs({'n004': 168.0}, count, day, **changes)


def in_one_second():
    return of('n004', copies(HONEST), time='2026-10-01T01:00:00Z')


def copied(off=0.0):
    rows = [{**copies([row])[0], 'host': 'n004'} for row in HONEST if row['host'] == 'n001']
    return [
        reads(row, **{name: m['value'] * (1 + off) for name, m in row['metrics'].items()})
        for row in rows
    ]


def contradicted(share):
    rows = copies(HONEST)
    for row in (row for row in rows if row['host'] == 'n004'):
        for metric in row['metrics'].values():
            metric['value'] *= share
    return rows


def faster(share):
    """With a time that it had not."""
    rows = contradicted(share)
    for row in (row for row in rows if row['host'] == 'n004'):
        for kernel in row['kernels'].values():
            kernel['min_s'] /= share
    return rows


def numbered(*numbers):
    rows = copies(HONEST)
    for own, number in zip((row for row in rows if row['host'] == 'n004'), numbers):
        own['case'] |= {'session': 's1', 'measurement': number}
    return rows


# records, what is said; the machine is not ACCEPTED
REFUSED = {
    'a launch died': (more([{**OWN[0], 'missing': [BUS], 'metrics': {},
                             'time': '2026-10-01T05:00:00Z'}]), 'failed, 0 allowed'),
    'its runs of another day, dated anew': (
        instead([{**row, 'time': f'2026-10-0{n}T07:00:00Z'} for n, row in
                 enumerate([OWN[0]] * 3, 1)]), 'a copy of the run of n004'),
    'the runs of n001 under its name': (instead(copied()), 'a copy of the run of n001'),
    'other last digits': (instead(copied(1e-10)), 'a copy of the run of n001'),
    'another governor': (other(facts__governor='performance'),
                         "governor 'performance', 'schedutil' on 7 nodes: measure it so, or sign"),
    'huge pages': (other(facts__thp='never'), "thp 'never', 'always' on 7 nodes"),
    'reserved pages': (other(facts__hugepages_total='512'), "hugepages_total '512', '0' on 7"),
    'SMT': (other(facts__smt='on'), "smt 'on', 'off' on 7 nodes"),
    'another kernel': (other(facts__kernel='6.2'), "kernel_release '6.2', '6.1' on 7 nodes"),
    'another microcode': (other(facts__microcode='0x2'), "microcode '0x2', '0x1' on 7 nodes"),
    'a module less': (other(facts__memory_channels=7), "memory_channels '7', '8' on 7 nodes"),
    'a governor that changed': (last(facts__governor='performance'),
                                "governor was 'schedutil' or 'performance' from run to run"),
    'huge pages that changed': (last(facts__thp='never'), "thp was 'always' or 'never'"),
    'SMT that changed': (last(facts__smt='on'), "smt was 'off' or 'on' from run to run"),
    'firmware that changed': (last(facts__bios_version='1.1'), "bios_version '1.1', before '1.0'"),
    'memory that changed': (last(facts__mem_total_mib=196_608), "memory_gib '192', before '256'"),
    'another CPU': (other(facts__cpu_model='Synthetic 9999'), 'counted runs are of 2 settings'),
    'another compiler': (other(build__compiler='gcc 13.1'), 'counted runs are of 2 settings'),
    'other flags': (other(build__flags='-O3'), 'counted runs are of 2 settings'),
    'another source': (other(case__source_sha256='b' * 64), 'counted runs are of 2 settings'),
    'other threads': (other(threads=12), 'counted runs are of 2 settings'),
    'another preset': (other(case__environ='icc-nt'), 'preset icc-nt'),
    'read under --allow': (other(reasons=ALLOWED), 'allowed: array-too-small'),
    'a tiny array, chosen by itself': (other(array_size=1000), 'copy is +'),
    'figures that are not its times': (contradicted(1.09), 'copy is +9% off its own bytes'),
    'a time that no repetition had': (faster(1.09), 'copy is +9% off its own bytes and times'),
    'three runs in one second': (in_one_second(), 'it began before the run before it ended'),
    'the best three of sixty': (numbered(0, 20, 40), 'no record of 38 of the measurements of s1'),
    'the first is left out': (numbered(1, 2, 3), 'no record of 1 of the measurements of s1'),
    'a millionth below': (instead([reads(row, triad=299.9999) for row in copies(OWN)]),
                          '3 runs of the retest round due by 2026-10-14 on n004'),
    'too low later': (more(retest(['n004'], 168.0, 8)), 'n004: its later runs (8) miss'),
    'too good beside the others': (
        instead([reads(row, triad=350.0 + n) for n, row in enumerate(copies(OWN))]),
        'n004: triad 351 GB/s, median of its 8 nodes 306'),
    'runs that overlap': (
        instead([{**row, 'time': f'2026-10-01T01:0{n}:00Z', 'busy': {'wall_s': 90.0}}
                 for n, row in enumerate(copies(OWN))]), 'it began before the run before it'),
}  # fmt: skip
# ACCEPTED; what does not count, and would not pass, stands on the sheet
NAMED = {
    'bad runs before the period': (more(slow(3, '2026-09-29')), 'not under the protocol'),
    'eight bad runs, INVALID': (more(map(invalid, slow(8, '2026-10-03'))), 'INVALID'),
    'twenty INVALID runs': (more(map(invalid, slow(10, '2026-10-02') + slow(10, '2026-10-03'))),
                           'INVALID'),
    'disturbed runs': (more(slow(4, '2026-10-03', bound='lower')), 'disturbed: copy is a bound'),
}  # fmt: skip


@pytest.mark.parametrize('records, said', REFUSED.values(), ids=REFUSED)
def test_an_attack_is_not_accepted_and_named(judged, records, said):
    found = judged(records, **NONE_FAILS)
    assert found.verdict != 'ACCEPTED' and said in said_of(found)
    others = {node.status for node in found.nodes if node.name != 'n004'}
    assert others == {'PASS'}


@pytest.mark.parametrize('records, said', NAMED.values(), ids=NAMED)
def test_what_does_not_count_and_is_below_is_named(judged, records, said):
    found = judged(records, **NONE_FAILS)
    assert found.verdict == 'ACCEPTED'
    (line,) = [one for one in not_counted(found) if said in one]
    count = len([run for run in records if run['host'] == 'n004']) - 3
    assert line.startswith(f'{count} runs of n004: ') and 'below the contract: copy 15' in line


GENOA = {'cpu_model': 'AMD EPYC 9354P', 'sockets': 1, 'cpu_id': {
    'vendor': 'AuthenticAMD', 'family': '25', 'model': '17', 'hypervisor': False}}  # fmt: skip


@pytest.mark.parametrize('cpu, triad, said', [
    ('EPYC 9354', 440.0, ''),
    ('EPYC 7763', 440.0, 'CPU EPYC 9004 (Genoa)'),  # than what was bought
    ('EPYC 9354', 480.0, 'INVALID: triad 480 of a peak of 460.8 GB/s'),
])  # fmt: skip
def test_the_whole_machine_is_not_what_was_agreed(judged, cpu, triad, said):
    made = fleet(NODES, triad, peak={'value': 9999.0, 'unit': 'GB/s'})
    made = [{**row, 'facts': {**row['facts'], **GENOA}} for row in made]
    found = judged(made, **NONE_FAILS, nodes__cpu=cpu, contract={'triad': 300.0})
    assert (found.verdict == 'ACCEPTED') == (not said) and said in said_of(found)


def test_of_many_honest_runs_none_is_a_copy(judged):
    """Of 3,000 runs of a very steady machine, with the six figures that stream has."""
    rng, rows = random.Random(1), []
    nodes = [f'n{i:04}' for i in range(1, 1001)]
    for row in fleet(nodes=nodes):
        names = ('read', 'write', 'copy', 'scale', 'add', 'triad')
        rates = {name: 306.0 * (1 + rng.gauss(0, 0.001)) for name in names}
        rows.append({**row, 'metrics': metrics(rates, half=None), 'kernels': {}})
    found = judged(rows, nodes={'count': 1000}, contract={'triad': 300.0})
    assert found.verdict == 'ACCEPTED' and len(found.counted) == 3000


@pytest.mark.parametrize('figures, off, is_copy', [
    (4, 4e-7, True), (4, 6e-7, False), (3, 4e-7, False), (3, 4e-9, True), (3, 6e-9, False),
    (2, 4e-9, True), (1, 4e-9, False),
])  # fmt: skip
def test_so_much_alike_two_runs_are_one(judged, figures, off, is_copy):
    """Four figures to a millionth, two to a hundred-millionth; one in all its digits."""
    rows = [row for row in fleet(count=1) if row['host'] in ('n001', 'n002')]
    for place, row in enumerate(rows):
        rates = {name: math.exp(5.72 + place * off) for name in ('triad', 'copy', 'add', 'scale')}
        row |= {'metrics': metrics(dict([*rates.items()][:figures]), half=None), 'kernels': {}}
    found = judged(rows, contract={'triad': 270.0})
    assert ('a copy of the run of n001' in said_of(found)) == is_copy


def test_a_flipped_bit_leaves_its_record_out_and_is_named(tmp_path, protocol):
    lines = [sealed(row) for row in copies(HONEST)]
    rng, agreed = random.Random(3), protocols.load(protocol(**NONE_FAILS))
    for _ in range(20):
        line = bytearray(lines[3].encode().rstrip())
        line[rng.randrange(len(line))] ^= 1 << rng.randrange(7)
        file = tmp_path / 'r.jsonl'
        file.write_bytes(b''.join([bytes(line) + b'\n', *(s.encode() for s in lines)][:25]))
        table = read_table([str(file)])
        found = Decision(agreed, runs_of(agreed, table))
        assert found.verdict == 'ACCEPTED' and len(found.counted) == 24
        assert table.problems and ':1: ' in table.problems[0]


def test_one_party_does_not_sign_for_both(protocol, keys):
    own = keys['buyer'].read_text().strip()
    with pytest.raises(MembwError, match='one key of two parties'):
        protocols.load(protocol(parties__vendor={'name': 'them', 'key': own}))


def test_a_key_that_was_changed_after_the_other_party_signed(protocol, keys):
    path = protocol(parties=('buyer',))
    content = yaml.safe_load(Path(path).read_text())
    content['parties']['vendor']['key'] = keys['stranger'].read_text().strip()
    Path(path).write_text(yaml.safe_dump(content))
    sign(path, 'vendor', keys['stranger'])
    with pytest.raises(MembwError, match=r"buyer\.sig' is not the signature of this text"):
        protocols.load(path)


@pytest.mark.parametrize('key', [
    'ssh-ed25519 AAAA', 'cert-authority ssh-ed25519', 'ssh-rsa !', 'nonsense', 'a b\nparty c d',
])  # fmt: skip
def test_what_is_no_key_is_refused(protocol, key):
    with pytest.raises(MembwError, match='key: '):
        protocols.load(protocol(parties=(), parties__vendor={'name': 'them', 'key': key}))


def test_a_protocol_that_multiplies_itself_is_refused_at_once(tmp_path, membw):
    path = tmp_path / 'p.yaml'
    each = ''.join(f'k{n}: &k{n} [{", ".join([f"*k{n - 1}"] * 10)}]\n' for n in range(1, 9))
    path.write_text(f'k0: &k0 x\n{each}')
    status, _, err = membw('accept', path, '--plan')
    assert status == 2 and 'more than 100000 values' in err


# --- honest vendors ----------------------------------------------------------------------------

DAYS = [row for day in (1, 2, 3) for row in fleet(count=1, day=f'2026-10-0{day}')]
VENDORS = {
    'as planned': (HONEST, {}),
    'a run a day': (DAYS, {}),
    '10 % above the contract': (fleet(NODES, 333.0), {}),
    'twice the contract': (HONEST, {'contract': {'triad': 150.0}}),
    'a node passes its retest': ([*fleet(['n004']), *retest(['n004'], 306.0)], {}),
    'a node stays below, as allowed': (
        [*fleet(['n004']), *retest(['n004'], 290.0)], {'rule__allowed_failures': 1}),
    'INVALID runs were repeated': (
        [*map(invalid, retest(['n004'], 306.0, 6, day='2026-10-05')), *HONEST], {}),
    'disturbed runs were repeated': (
        [*retest(['n004'], 306.0, 3, day='2026-10-05'),
         *runs({'n004': 240.0}, 9, '2026-10-04', bound='lower'), *HONEST], {}),
    'more runs than agreed, all good': ([*HONEST, *retest(NODES, 305.0, 9)], {}),
    'a board was replaced, and signed': (
        [*of('n004', fleet(['n004']), facts__board_name='A'),
         *of('n004', retest(['n004'], 306.0, 3, '2026-10-07'), facts__board_name='B')],
        {'replaced': {'n004': '2026-10-06'}}),
    'nodes with their domain': (fleet(nodes=[f'{node}.site.org' for node in NODES]), {}),
    'modules read by root on one day': (
        [changed(row, facts__memory_channels=8 if n > 15 else None) for n, row in
         enumerate(copies(HONEST))], {}),
    'a boot takes half a GiB': (
        [changed(row, facts__mem_total_mib=261_632 + 700 * (n > 15)) for n, row in
         enumerate(copies(HONEST))], {}),
    'measured in one session': (
        [changed(row, case__session='s1', case__measurement=n // 8) for n, row in
         enumerate(copies(HONEST))], {}),
    'other tests and nodes in the folder': (
        [*HONEST, *fleet(nodes=['x1', 'x2'], triad=90.0), *fleet(case__test='ladder', count=1)],
        {}),
    'a clock that is an hour ahead': (
        [changed(row, case__taken=row['time'].replace('T01', 'T00'),
                 time=row['time'].replace('T01', 'T02')) for row in copies(HONEST)], {}),
    'a launch that died, as agreed': (
        [*HONEST, {**OWN[0], 'missing': [BUS], 'metrics': {}, 'time': '2026-10-01T05:00:00Z'}],
        {'runs__deaths': 1}),
}  # fmt: skip


@pytest.mark.parametrize('records, agreed', VENDORS.values(), ids=VENDORS)
def test_an_honest_vendor_is_accepted(judged, records, agreed):
    found = judged(records, **{**NONE_FAILS, **agreed})
    assert found.verdict == 'ACCEPTED', said_of(found)
