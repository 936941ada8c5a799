"""One question has one answer: each planted fault through every mouth, none more comfortable."""

import collections
import csv
import json
import re
from statistics import median

import made_up_nodes as nodes
import made_up_records as made
import pytest
import yaml
from acceptances import BASE
from made_run import MadeRun

from membw.accept import protocol as protocols
from membw.accept.rule import Decision
from membw.accept.runs import runs_of
from membw.report.page import page_of
from membw.report.run import run_of_records
from membw.results.table import read_table
from membw.summary import command as summary
from membw.summary import junit
from membw.words import GOOD, OF, WORST_FIRST, exit_status

BUS = {'what': '', 'why': 'ended by SIGBUS (signal 7)', 'died': True, 'node': 'n011'}
SMALL = {'reason': 'array-too-small', 'detail': '', 'allowed': True}
WRONG = {'reason': 'wrong-placement', 'detail': '', 'allowed': False}


def in_gib(rows):
    return {n: {**m, 'unit': 'GiB/s', **{k: m[k] / 1.073741824 for k in ('value', 'low', 'high')}}
            for n, m in rows.items()}  # fmt: skip


def again(host, share):
    return [made.record(host, 0.001 * i, made.stream(share=share)) for i in (1, 2, 3)]


def bounds(kind, share=1.05, **more):
    rows = {n: {**m, 'bound': kind} for n, m in made.stream(share=share).items()}
    return made.record('n011', rows=rows, **more)


BEYOND = {'reason': 'not-proven', 'detail': 'beyond 360 MiB', 'allowed': False}
NOT_PROVEN = {'verdict': 'UNDECIDED', 'exit_status': 1, 'reasons': [BEYOND]}
# {fault: (lines of its node, the word of all mouths)}
FAULTS = {
    'low, and calls itself PASS': ([made.record('n011', rows=made.stream(share=0.8), word='PASS')],
                                   'UNDECIDED'),
    'low once': ([made.record('n011', rows=made.stream(share=0.95))], 'UNDECIDED'),
    'low once, within its reference': ([made.record(
        'n011', rows=made.stream(share=0.95),
        case={'references': {'triad': [180.0, -0.08, 0.1]}})], 'UNDECIDED'),
    'a wide reference': ([made.record(
        'n011', case={'references': {'triad': [180.0, -0.1, 0.1]}})], 'UNDECIDED'),
    'good, then low four times': ([made.record('n011'), *again('n011', 0.9), made.record(
        'n011', 0.005, made.stream(share=0.9))], 'FAIL'),
    'low again': ([made.record('n011', rows=made.stream(share=0.9)), *again('n011', 0.9)], 'FAIL'),
    'well again': ([made.record('n011', rows=made.stream(share=0.9)), *again('n011', 1.0)],
                   'PASS'),
    'FAIL by its own past': ([made.record('n011', word='FAIL', why='below its first runs')],
                             'FAIL'),
    'four times too good': ([made.record('n011', rows=made.stream(share=4.0))], 'UNDECIDED'),
    'Copy four times too good': ([made.record('n011', rows=made.stream() | {'copy': made.stream(
        share=4.0)['copy']})], 'UNDECIDED'),
    'Copy a quarter too good': ([made.record('n011', rows=made.stream() | {'copy': made.stream(
        share=1.25)['copy']})], 'UNDECIDED'),
    'another metric than its peers': ([made.record('n011', rows=made.metrics({'other': 180.0}))],
                                      'UNDECIDED'),
    'well again, beside a cache': ([made.record('n011', rows=made.stream(share=0.95)),
                                    *again('n011', 1.0), *again('n001', 4.0)], 'PASS'),
    'of yesterday alone': ([made.record('n011', -1)], 'MISSING'),
    'other threads': ([made.record('n011', threads=4)], 'UNDECIDED'),
    'other threads, and low': ([made.record('n011', rows=made.stream(share=0.6), threads=4)],
                               'UNDECIDED'),
    'the only one of its compiler': ([made.record(
        'n011', build={**made.BUILD, 'compiler': 'gcc 14.2.0'})], 'UNDECIDED'),
    'the only one of its CPU': ([made.record('n011', facts={'cpu_model': 'Another'})], 'VALID'),
    'of an unknown CPU': ([made.record('n011', facts={'cpu_model': None})], 'UNDECIDED'),
    'low, and of an unknown CPU': ([made.record('n011', rows=made.stream(
        share=0.8), facts={'cpu_model': None})], 'UNDECIDED'),
    'the only one of its partition': ([made.record('n011', case={'partition': 'p2'})], 'VALID'),
    'low in one cluster, well in another': ([
        made.record('n011', rows=made.stream(share=0.9), cluster='a'),
        *({**one, 'cluster': 'b'} for one in again('n011', 1.0))], 'UNDECIDED'),
    'in a unit that is no rate': ([made.record('n011', rows={
        n: {**m, 'unit': 'GB'} for n, m in made.stream().items()})], 'UNDECIDED'),
    'less is better, by itself': ([made.record('n011', rows={
        n: {**m, 'better': 'lower'} for n, m in made.stream().items()})], 'UNDECIDED'),
    'by a clock that stands at its first second': ([made.record('n011') | {
        'time': '1970-01-01T00:00:00Z'}], 'MISSING'),
    'by a clock of before 1970': ([made.record('n011') | {'time': '0001-01-01T00:00:00Z'}],
                                  'MISSING'),
    'other threads, at its reference': ([made.record(
        'n011', threads=4, case={'references': {'triad': [180.0, -0.05, 0.1]}})], 'PASS'),
    'sound, then wrong': ([made.record('n011'), made.record(
        'n011', 0.001, verdict='INVALID', reasons=[WRONG])], 'INVALID'),
    'beyond the peak': ([made.record('n011', peak={'value': 175.0, 'unit': 'GB/s'})], 'INVALID'),
    '--allow': ([made.record('n011', reasons=[SMALL])], 'UNDECIDED'),
    'INVALID': ([made.record('n011', verdict='INVALID', reasons=[WRONG])], 'INVALID'),
    'wrong elements': ([made.record('n011', validation={'ok': True, 'wrong_elements': 12})],
                       'INVALID'),
    'died': ([{**made.record('n011'), 'metrics': {}, 'missing': [BUS]}], 'DIED'),
    'of two programs one ended by a signal': ([{**made.record('n011'), 'missing': [BUS]}], 'DIED'),
    'of two programs one was refused': ([{**made.record('n011'), 'missing': [
        {**BUS, 'died': False, 'why': 'no such option'}]}], 'MISSING'),
    'died again, by a clock that is ahead': ([
        made.record('n011', 0.01, case={'session': 's', 'measurement': 0}),
        {**made.record('n011', 0.001, case={'session': 's', 'measurement': 2}), 'metrics': {},
         'missing': [BUS]}], 'DIED'),
    'refused': ([{**made.record('n011'), 'metrics': {},
                  'missing': [{**BUS, 'died': False, 'why': 'no such preset'}]}], 'MISSING'),
    'no figure, not proven': ([made.record('n011', **NOT_PROVEN) | {'metrics': {}}], 'UNDECIDED'),
    'no figure, wrong': ([made.record('n011', verdict='INVALID', reasons=[WRONG])
                          | {'metrics': {}}], 'INVALID'),
    'sound, in GiB/s': ([made.record('n011', rows=in_gib(made.stream()))], 'PASS'),
    'below its reference': ([made.record(
        'n011', case={'references': {'triad': [200.0, -0.02, 0.1]}})], 'FAIL'),
    'reaches its reference': ([made.record(
        'n011', case={'references': {'triad': [184.0, -0.02, 0.1]}})], 'UNDECIDED'),
    'known': ([made.record('n011', case={'references': {'triad': [200.0, -0.02, 0.1]},
                                         'known_issues': {'triad': 'a slow DIMM'}})], 'KNOWN'),
    'bounds': ([bounds('lower', 0.8)], 'UNDECIDED'),
    'may be worse': ([bounds('upper')], 'UNDECIDED'),
    'may be anything': ([bounds('unknown')], 'UNDECIDED'),
    'may be worse, not proven': ([bounds('upper', **NOT_PROVEN)], 'UNDECIDED'),
    'not proven': ([made.record('n011', rows=made.stream(share=1.05), **NOT_PROVEN)], 'UNDECIDED'),
}  # fmt: skip


def by_rank(membw, file):
    found = json.loads(membw('rank', file, '--json')[1])
    return {node['node']: node['verdict'] for node in found['nodes']}


def by_node_check(membw, file, path):
    status, *_ = membw('rank', file, '--node-check', path)
    lines = path.read_text().splitlines()
    assert status == int(any(line.split()[1] not in GOOD for line in lines))
    return dict(line.split(maxsplit=2)[:2] for line in lines)


def by_why(membw, file, node):
    status, out, _ = membw('why', node, file, '--json')
    word = json.loads(out)['word']
    assert status == int(word not in GOOD)
    return word


def by_export(membw, file, form):
    text = membw('export', '--format', form, file)[1]
    if form == 'csv':
        return {(r['node'], r['verdict']) for r in csv.DictReader(text.splitlines())}
    return {*re.findall(r'membw_verdict\{.*node="(\w+)",verdict="(\w+)"', text)}


def by_page(page, node='n011'):
    """What the fleet's table says; what is not PASS or VALID is an alarm, too."""
    (fleet,) = [section for section in page.sections if section.id == 'nodes']
    (word,) = [str(row[1]) for row in fleet.tables[0].rows if str(row[0]) == node]
    alarms = {a.verdict for a in page.attention if node in a.what}
    assert alarms == {word} - {'PASS', 'VALID'}
    return word


def run_of_rows(tmp_path, rows):
    """A run of ReFrame's that left these records."""
    run, rounds = MadeRun(tmp_path), collections.Counter()
    for number, row in enumerate(rows):
        path = tmp_path / 'records' / f'{number}.json'
        path.write_text(json.dumps(row) + '\n')
        host, case = row['host'], row['case']
        rounds[host] += 1
        name = f'stream %round={rounds[host]} %pinning={case["pinning"]} %.nid={host}'
        run.cases.append({
            'name': name, 'display_name': name, 'system': case['system'], 'result': 'pass',
            'partition': case['partition'], 'environ': case['environ'], 'fixture': False,
            'round': rounds[host], 'perfvalues': {}, 'record': str(path), 'scheduler': 'local',
            'reference_expired': '',
        })  # fmt: skip
    return run


def worst(pairs, node='n011'):
    return min((word for host, word in pairs if host == node), key=WORST_FIRST.index)


def by_commands(membw, file, nodecheck):
    """{mouth: what it says of n011} of each command."""
    return {
        'rank': by_rank(membw, file)['n011'],
        'nodecheck': by_node_check(membw, file, nodecheck)['n011'],
        'why': by_why(membw, file, 'n011'),
        'csv': worst(by_export(membw, file, 'csv')),
        'openmetrics': worst(by_export(membw, file, 'openmetrics')),
    }


@pytest.mark.parametrize('fault', FAULTS)
def test_every_mouth_has_the_same_word(tmp_path, stored, membw, fault):
    lines, word = FAULTS[fault]
    file = stored([*(row for row in made.fleet(20) if row['host'] != 'n011'), *lines])
    found = by_commands(membw, file, tmp_path / 'nodecheck.txt')
    found['page'] = by_page(page_of(run_of_records(read_table([file]))))
    assert found == dict.fromkeys(found, word)


@pytest.mark.parametrize(('bound', 'word'), [('unknown', 'VALID'), ('upper', 'UNDECIDED')])
def test_a_node_alone_has_one_word_too(tmp_path, stored, membw, bound, word):
    """Of '~' nothing can be missed where nothing is there to compare it with."""
    found = by_commands(membw, stored([bounds(bound)]), tmp_path / 'nodecheck.txt')
    assert found == dict.fromkeys(found, word)
    made_run = run_of_rows(tmp_path, [bounds(bound)])
    (row,) = summary.read(made_run.write()).rows
    assert row.word == word


# below its reference, and under the name of another machine
TWO_MACHINES = [made.record(
    'n011', 0.001 * i, facts={'boot_id': boot},
    case={'references': {'triad': [200.0, -0.02, 0.1]}})
    for i, boot in enumerate('aba')]  # fmt: skip


@pytest.mark.parametrize('lines, word', [
    ([made.record('n011')], 'VALID'), ([bounds('upper')], 'UNDECIDED'),
    (TWO_MACHINES[:1], 'FAIL'), (TWO_MACHINES, 'UNDECIDED'),
])  # fmt: skip
def test_the_page_of_one_node_has_the_word_of_rank(stored, membw, lines, word):
    file = stored(lines)
    assert by_rank(membw, file) == {'n011': word}
    assert page_of(run_of_records(read_table([file]))).verdict == word


# an acceptance asks its contract, no reference and no past; what is wrong may be repeated
# (of runs of two settings the machine is not accepted)
OF_A_CONTRACT = ('a wide reference', 'past', 'below its reference', 'reaches its', 'then wrong',
                 'threads', 'compiler', 'unknown')  # fmt: skip


@pytest.fixture
def agreed(tmp_path):
    """A contract of 97 % of what the nodes read, of one run and a retest."""
    night = made.fleet(20)
    usual = {name: median(r['metrics'][name]['value'] for r in night) for name in made.KERNELS}
    content = {**BASE, 'contract': {name: 0.97 * gbs for name, gbs in usual.items()}}
    content['period'] = dict.fromkeys(('from', 'to'), night[0]['time'][:10])
    content['nodes'] = {'count': 20, 'names': 'n[001-020]'}
    content['runs'] = {**BASE['runs'], 'pinning': 'omp', 'repetitions': 1}
    path = tmp_path / 'protocol.yaml'
    path.write_text(yaml.safe_dump(content))
    return protocols.load(str(path))


@pytest.mark.parametrize('fault', FAULTS)
def test_an_acceptance_is_no_more_comfortable(stored, agreed, fault):
    lines, word = FAULTS[fault]
    file = stored([*(row for row in made.fleet(20) if row['host'] != 'n011'), *lines])
    found = Decision(agreed, runs_of(agreed, read_table([file])))
    status = {node.name: node.status for node in found.nodes}
    own = status.pop('n011')
    assert {*status.values()} == {'PASS'} and found.verdict != 'ACCEPTED'
    assert own != 'PASS' or word in GOOD or any(part in fault for part in OF_A_CONTRACT)
    assert (own == 'DIED') == (word == 'DIED')


# of a run there is no night before, another check, and what died is in ReFrame's report
NO_RUN = ('yesterday', 'died', 'refused', 'no figure', 'threads', 'past', 'clock', 'partition')


@pytest.mark.parametrize('fault', [f for f in FAULTS if not any(word in f for word in NO_RUN)])
def test_a_run_s_terminal_its_junit_and_its_status_say_so_too(tmp_path, fault):
    lines, word = FAULTS[fault]
    run = run_of_rows(tmp_path, [*(r for r in made.fleet(20) if r['host'] != 'n011'), *lines])
    found = summary.read(run.write())
    (row,) = [row for row in found.rows if row.node == 'n011']
    assert row.word == word, row.reason
    assert found.status == exit_status(row.word for row in found.rows) >= OF[word].status
    suite = junit.suite_of(found).findall('testcase')
    (case,) = [case for case in suite if 'n011' in case.get('name')]
    tags = [child.tag for child in case if child.tag != 'system-out']
    assert tags == [OF[word].tag] * bool(OF[word].tag)


def test_a_slow_node_of_the_battery_is_not_PASS_in_any_exported_figure(stored, membw):
    rows = [nodes.node(f'p{i:02d}') for i in range(12)]
    file = stored(rows + nodes.measured(4, 'p99', shares={'rate': 0.7}))
    assert {word for node, word in by_export(membw, file, 'csv') if node == 'p99'} == {'FAIL'}


def test_an_old_record_is_no_evidence_of_today(stored, membw):
    """A ladder of 300 days ago, at half, made a node SLOW whose stream of today is sound."""
    metrics = nodes.node('n011', -300)['metrics']
    old = {name: metrics[name] for name in ('l1_latency', 'l2_latency')}
    ladder = made.record('n011', -300, old, program='ladder', case={'test': 'ladder'})
    file = stored([*made.fleet(20), ladder])
    assert by_why(membw, file, 'n011') == by_rank(membw, file)['n011'] == 'PASS'
