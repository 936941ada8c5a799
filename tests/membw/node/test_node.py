"""`membw node`: its word, record and exit status; the programs are stand-ins."""

import json
import signal

import jsonschema
import made_up_nodes as made
import pytest
from places import ROOT

from membw import cli
from membw.node import baseline, battery, store, text
from membw.node.command import word_for
from membw.results.table import read_table

SCHEMA = json.loads((ROOT / 'src/membw/node/record.schema.json').read_text())
PEERS = [made.node(f'p{i}', facts_own={'cpus_allowed': 8}) for i in range(5)]


def word(node, peers=PEERS, earlier=()):
    return word_for(node, peers, list(earlier), '')


BUSY = {'other_share': 0.4, 'processes': [{'name': 'python', 'pid': 7, 'cpu_s': 4.0}]}
ALL_BUSY = {name: BUSY for name in made.METRICS}
STOLEN = {name: {'steal_share': 0.2} for name in made.METRICS}


@pytest.mark.parametrize(
    'planted, text',
    [
        ({}, 'FIT'),
        # a bound that meets its reference
        ({'traces': ALL_BUSY}, 'FIT (other processes took CPU time)'),
        ({'shares': {'rate': 0.875}}, 'SLOW (cause not known: Triad 0.875 of the reference)'),
        (
            {'shares': {'rate': 0.8}, 'traces': ALL_BUSY},
            'NOT JUDGED (other processes took CPU time: Triad ≥ 144 GB/s, 180 wanted)',
        ),
        # of what the ladder measured, nothing is firm where others had the CPUs
        (
            {'shares': {'cache': 0.1, 'l3': 0.5}, 'traces': ALL_BUSY},
            'NOT JUDGED (other processes took CPU time: latency of L3 ≤ 40 ns, 20 wanted)',
        ),
        (
            {'shares': {'rate': 0.8}, 'traces': STOLEN},
            'NOT JUDGED (the host of this virtual machine took CPU time: Triad ≥ 144',
        ),
        (
            {'shares': {'rate': 0.8}, 'stopped': made.METRICS},
            'NOT JUDGED (the battery was stopped by a signal meanwhile: Triad ≥ 144 GB/s, 180',
        ),
        (
            {'shares': {'rate': 0.6}, 'facts_own': {'cpus_allowed': 4}},
            'NOT JUDGED (it may use fewer CPUs than before, or than its peers: Triad ≥ 108 GB/s',
        ),
        (
            {'shares': {'rate': 0.8}, 'counted': {'quota_throttles': 9}},
            'NOT JUDGED (a quota of CPU time stopped the threads: Triad ≥ 144 GB/s, 180 wanted)',
        ),
    ],
)
def test_the_word_of_a_node(planted, text):
    assert word(made.node(**planted)).text.startswith(text)


def test_pages_elsewhere_and_another_memory_policy_are_named():
    before = {'policy': 'default', 'pages_sampled': 96, 'pages_misplaced': 0}
    peers = [made.node(f'p{i}') for i in range(5)]
    huge = {'array_size': 2**20, 'pages': {'huge_mib': 24}}  # all of them
    for node in peers:
        record_of(node, 'stream').update(huge, placement_before=before)
    interleaved = made.node(shares={'rate': 0.8})
    other = {**before, 'policy': 'interleave'}
    # two pages of a hundred of another size explain nothing
    record_of(interleaved, 'stream').update(huge, pages={'huge_mib': 23.5}, placement_before=other)
    found = word(interleaved, peers)
    assert found.text == 'SLOW (the NUMA settings differ)'
    assert 'memory policy: interleave, not default' in found.causes[0].evidence
    moved = made.node()
    record_of(moved, 'one').update(
        verdict='INVALID',
        reasons=[{'reason': 'wrong-placement'}],
        placement_before=before,
        placement_after={**before, 'pages_misplaced': 48},
    )
    found = word(moved, peers)
    assert found.word == 'NOT JUDGED' and found.why.startswith('memory lies on a NUMA domain')
    assert 'share of the pages elsewhere: 0.5' in found.causes[0].evidence


def changed(name, **fields):
    node = made.node()
    next(part for part in node['parts'] if part['name'] == name).update(fields)
    return node


def test_a_program_that_died_is_dead_and_one_that_is_missing_leaves_it_not_judged():
    died = changed('ladder', record=None, died=True, why='ended by SIGBUS (signal 7)')
    late = changed('ladder', record=None, why='not measured within 28 s')
    assert word(died).text == 'DEAD (ladder: ended by SIGBUS (signal 7))'
    assert word(late).text == 'NOT JUDGED (ladder: not measured within 28 s)'


def test_a_part_that_is_undecided_is_no_fit():
    node = made.node()
    (part,) = (part for part in node['parts'] if part['name'] == 'ladder')
    part['record'] |= {'verdict': 'UNDECIDED', 'reasons': [{'reason': 'not-proven'}]}
    assert word(node).text == 'NOT JUDGED (ladder: UNDECIDED not-proven)'


def test_an_invalid_triad_is_not_judged_and_says_why():
    node = made.node()
    for part in node['parts']:
        if part['name'] in ('stream', 'late'):
            part['record'] |= {'verdict': 'INVALID', 'reasons': [{'reason': 'wrong-pinning'}]}
    assert word(node).why.startswith('stream: INVALID wrong-pinning')


def record_of(node, name):
    return next(part['record'] for part in node['parts'] if part['name'] == name)


@pytest.mark.parametrize(
    'part, metric, change, why',
    [
        # of a cache, perhaps: no figure, whatever it is compared with
        ('stream', 'triad', {'bound': 'upper'}, 'Triad was not measured'),
        ('one', 'triad', {'bound': 'unknown'}, 'one: no Triad of one thread'),
        ('ladder', 'memory_latency', {'bound': 'lower'}, 'ladder: no latency of memory'),
        ('loaded', 'max_gbs_1r0w', {'value': None}, 'loaded: no highest rate of reads'),
        ('dgemm', 'square', {'value': 0}, 'dgemm: no DGEMM'),
        # a cache that is not seen: a busy machine may hide it
        ('ladder', 'l3_latency', {'value': None}, ''),
    ],
)
def test_a_part_without_its_figure_or_with_one_too_good_leaves_it_not_judged(
    part, metric, change, why
):
    node = made.node(facts_own={'cpus_allowed': 8})
    for name in {part, 'late'} if part == 'stream' else {part}:
        record_of(node, name)['metrics'][metric].update(change)
    judged = word(node)
    assert (judged.word, judged.why) == (('NOT JUDGED', why) if why else ('FIT', ''))


def test_no_node_is_fit_beyond_a_tenth_where_its_references_differ_by_more():
    varied = [made.node(f'p{i}', shares={'rate': 1 + (i - 3) / 15}) for i in range(7)]
    found = word(made.node(shares={'rate': 0.85}), varied)
    assert found.text == 'NOT JUDGED (Triad 153 GB/s, 180 wanted: 7 peers differ as much)'
    assert word(made.node(shares={'rate': 0.92}), varied).text == 'FIT'
    # what a fact may explain of it is named
    never = {'shares': {'rate': 0.85}, 'facts': {'thp': 'never'}}
    assert word(made.node(**never), varied).why.startswith('large pages were not had: Triad 153')


def test_three_records_show_too_little_of_their_spread_to_condemn_by_a_tenth():
    loss = made.node(shares={'loaded': 0.895})
    assert [word(loss, PEERS[:count]).word for count in (3, 5)] == ['FIT', 'SLOW']
    assert word(made.node(shares={'loaded': 0.6}), PEERS[:3]).word == 'SLOW'


def test_it_is_compared_with_peers_else_with_itself_before_else_with_nothing():
    slow = made.node(day=9, shares={'rate': 0.8})
    earlier = [made.node(day=day) for day in range(4)]
    # what others published clears nobody
    assert word(slow, [], []).text.startswith('NOT JUDGED (nothing to compare with')
    assert word(slow, [], earlier).word == 'SLOW'
    assert word(slow, [], earlier[:2]).why.endswith('by 2 earlier runs: compare it with its peers')
    assert (
        word(made.node(day=9), [], earlier[:2]).text == 'FIT (only compared with 2 earlier runs)'
    )
    assert word(slow).bases['rate'].source == '5 peers'
    # what was slow before is no reference, nor what lost by a cause that a fact confirmed; and a
    # peer of another CPU is none
    assert word(slow, [], [{**n, 'word': 'SLOW'} for n in earlier]).word == 'NOT JUDGED'
    lost = {'word': 'NOT JUDGED', 'causes': [{'disturbs': False}]}
    assert word(slow, [], [{**n, **lost} for n in earlier]).word == 'NOT JUDGED'
    assert word(slow, [made.node('x', facts={'cpu_model': 'Other'})]).word == 'NOT JUDGED'


def test_a_virtual_machine_is_compared_within_one_state_of_its_host():
    def state(node, ns):
        node['parts'][0]['record'] |= {'core_pair': {'ns': ns}, 'core_pair_after': {'ns': ns}}
        return node

    near = [state(made.node(day=day), 28) for day in range(4)]
    far = state(made.node(day=9, shares={'rate': 0.7}), 104)
    assert word(far, [], near).why.startswith('nothing to compare with')
    assert word(state(far, 27), [], near).word == 'SLOW'
    fell = state(made.node(shares={'late': 0.7}), 28)
    fell['parts'][-1]['record'] |= {'core_pair': {'ns': 104}, 'core_pair_after': {'ns': 104}}
    assert 'late' not in word(fell).quantities


def test_a_reference_of_its_system_counts_first_where_it_is_the_only_one(monkeypatch):
    row = {'gcc-o2': {'omp': {'triad': [150, -0.05, 0.1, 'GB/s']}}}
    files = {'one': {'one:node': row}, 'two': {'two:a': row, 'two:b': row}}
    monkeypatch.setattr(baseline, '_references', lambda name: {'stream': files[name]})
    record = made.node()['parts'][0]['record']
    base = (150, 0.05, 'reference of one:node')
    assert baseline.of_reference(record, 'one')['rate'][:3] == base
    assert baseline.of_reference(record, 'two') == {}
    assert baseline.of_reference(record, 'two:b')['rate'].source == 'reference of two:b'


@pytest.mark.parametrize(
    'seconds, domains, cores', [(30, 1, 1), (30, 1, 2), (60, 1, 2), (60, 8, 96), (180, 8, 96)]
)
def test_the_plan_fits_its_seconds_and_each_part_has_some(seconds, domains, cores):
    parts = list(battery.plan(seconds, domains, cores, has_blas=True))
    assert sum(s + battery.SETTLE_S for _, s in parts) <= seconds + 0.5
    assert min(s for _, s in parts) >= 2
    # `--seconds` would end stream without a figure on a busy node, and leave out its domains
    assert not any('--seconds' in battery.words(p, s) for p, s in parts)
    assert [p.name for p, _ in parts][0] == 'stream' and parts[-1][0].name == 'late'
    assert ('tiers' in [p.name for p, _ in parts]) == (domains > 1)
    assert ('loaded' in [p.name for p, _ in parts]) == (cores > 1)
    assert ('dgemm' in [p.name for p, _ in parts]) == (seconds > 30)
    assert 'dgemm' not in [p.name for p, _ in battery.plan(seconds, domains, cores)]  # no BLAS


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder of stand-ins, and results of this test's own."""
    monkeypatch.setattr(battery, 'SETTLE_S', 0)
    monkeypatch.setattr(store, 'folder', lambda: tmp_path / 'nodes')
    monkeypatch.setattr('socket.gethostname', lambda: 'n1')
    monkeypatch.delenv('SLURMD_NODENAME', raising=False)
    folder = tmp_path / 'bin'
    folder.mkdir()
    for part in made.node()['parts']:
        (folder / f'{part["name"]}.json').write_text(json.dumps(part['record']))
        put(folder, part['name'].replace('one', 'stream').replace('late', 'stream'))
    return folder


def put(folder, name, more=''):
    text = f'#!/bin/sh\n{more}\nfor file; do :; done\ncp "{folder}/{name}.json" "$file"\n'
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def run(capsys, *words):
    status = cli.main(['node', *map(str, words)])
    return status, capsys.readouterr()


def test_a_node_is_fit_against_its_peers_and_leaves_a_record(programs, tmp_path, capsys):
    peers = tmp_path / 'peers.jsonl'
    # the stand-in of one thread is that of all: no peer has that figure
    alike = [made.node(f'p{i}') for i in range(5)]
    for node in alike:
        node['parts'] = [part for part in node['parts'] if part['name'] != 'one']
    peers.write_text(''.join(json.dumps(node) + '\n' for node in alike))
    status, said = run(capsys, '--programs', programs, '--peers', peers, '--line')
    record = json.loads(next((tmp_path / 'nodes').glob('n1-*.json')).read_text())
    jsonschema.validate(record, SCHEMA)
    jsonschema.validate(made.node(), SCHEMA)
    assert record['word'] in said.out
    busy = 'other processes' in said.out  # the machine of this test need not be quiet
    assert busy or (status, said.out) == (0, 'n1 FIT\n')
    read = read_table([str(tmp_path / 'nodes')])  # it is one for rank, history and the page, too
    assert {f.metric for f in read.figures if f.word == record['word']} >= {'triad', 'l3_size'}


def test_a_program_that_a_signal_ends_is_dead(programs, capsys):
    put(programs, 'ladder', f'kill -{signal.SIGBUS} $$')
    status, said = run(capsys, '--programs', programs, '--line')
    assert (status, said.out) == (1, 'n1 DEAD ladder: ended by SIGBUS (signal 7)\n')


def test_one_that_somebody_stopped_is_not_judged(programs, capsys):
    put(programs, 'ladder', 'kill -TERM $$')
    status, said = run(capsys, '--programs', programs, '--json')
    assert status == 1 and json.loads(said.out)['word'] == 'NOT JUDGED'


@pytest.mark.parametrize(
    'words, fact',
    [
        (['--seconds', '5'], "'5' is not a number of seconds from 30 to 180"),
        (['--programs', '/nowhere'], "no program 'stream' in '/nowhere'"),
        (['--peers', '/nowhere'], "no file '/nowhere'"),
        (['--system', 'thn'], "no system 'thn' in systems/"),
        (['--preset', 'gcc-o9'], "no compiler here for preset 'gcc-o9'"),
    ],
)
def test_a_usage_error_is_one_line(words, fact, capsys):
    status, said = run(capsys, *words)
    assert status == 2 and fact in said.err


def test_who_took_the_cpus_is_said_and_how_often_the_battery_was_preempted(programs, capsys):
    busy = {'preempted': 7, 'other_s': 4, 'processes': [{'name': 'cron', 'pid': 7, 'cpu_s': 4}]}
    (line,) = text.cpu_time(made.node(traces={'ladder': busy}))
    assert 'preempted 7 times, other processes 4.0 s (cron (7) 4.0 s)' in line
    run(capsys, '--programs', programs)
    (record,) = store.read([store.folder()])
    assert all(part['trace']['preempted'] >= 0 for part in record['parts'])


def test_the_plan_is_printed(capsys):
    status, said = run(capsys, '--plan', '--seconds', 30)
    assert status == 0 and 'ladder --quick' in said.out
