"""The ping-pong of two ranks of MPI: sizes, evidence, faults, bad input."""

import os
import re
import subprocess
from functools import partial
from json import loads

import mpi_job
import pytest
from changed_source import OTHER_MACHINE, write_files
from places import ROOT

TWO = sorted(os.sched_getaffinity(0))[:2]
pytestmark = [
    pytest.mark.skipif(len(TWO) < 2, reason='this machine has one CPU, a pair takes two'),
    pytest.mark.skipif(bool(mpi_job.lacking()), reason=f'no {mpi_job.lacking()}'),
]
PAIR = f'{TWO[0]}-{TWO[-1]}'
SHORT = ('--pairs', PAIR, '--seconds', '0.01')


@pytest.fixture
def build(build_program):
    """build('-D...', changes=): the program with MPI."""
    return partial(build_program, 'pingpong', '-DMEMBW_MPI', cc='mpicc')


@pytest.fixture
def run(build, tmp_path):
    """run(options): (exit status, output, record or None)"""

    def start(*options, nodes=('one', 'one'), flags=(), changes=(), json=True, **variables):
        path = tmp_path / 'all.jsonl'
        path.unlink(missing_ok=True)
        variables = {**mpi_job.AT_ONCE, **variables}
        program = build(*flags, changes=changes)
        job = mpi_job.Job(tmp_path, program, nodes, *options, json=json, **variables).wait()
        text = path.read_text() if path.exists() else ''
        assert not list(tmp_path.glob('all.jsonl.*')), 'one record speaks for the job'
        return job.status, job.stdout + job.stderr, loads(text) if text else None

    return start


def test_the_sizes_are_imbs(run):
    """Sent they take a minute of a busy machine: what was chosen is enough."""
    chosen = 'const size_t largest = message_sizes.of[message_sizes.count - 1];'
    told = 'for (int i = 0; i < message_sizes.count; i++)\n'
    told += '\t\tprintf("%zu ", message_sizes.of[i]);'
    left = (('pingpong/main.c', chosen, f'{chosen}\n\t{told}\n\tleave(0);'),)
    sizes = ' '.join(map(str, [0, *(2**i for i in range(23))]))
    assert sizes in run('--pairs', PAIR, changes=left)[1]


@pytest.mark.alone
def test_every_byte_of_a_message_is_checked_and_what_it_took_is_said(run):
    sizes = [0, 1, 64, 4096, 65536]
    status, said, record = run(*SHORT, '--sizes', ','.join(map(str, sizes)))
    assert status == 0, said
    pair = f'mpi_{PAIR.replace("-", "_")}'
    assert list(record['metrics']) == [*(f'{pair}_{size}' for size in sizes), f'{pair}_bandwidth']
    assert [m['bytes'] for m in record['messages']] == sizes
    for message in record['messages']:
        metric = record['metrics'][message['metric']]
        assert metric['unit'] == 'us'
        if 'low' in metric:
            assert (metric['low'], metric['high']) == (message['low_us'], message['high_us'])
        assert 0 < message['min_us'] <= message['low_us'] <= message['median_us']
        assert message['mb_s'] == pytest.approx(message['bytes'] / message['median_us'], rel=1e-6)
        words = -(-message['bytes'] // 8)
        assert message['words_checked'] >= 2 * words * (message['blocks'] + 8)
    bandwidth, largest = record['metrics'][f'{pair}_bandwidth'], record['messages'][-1]
    assert (bandwidth['unit'], bandwidth['better']) == ('GB/s', 'higher')
    assert bandwidth['value'] == pytest.approx(largest['mb_s'] / 1000)
    if 'low' in bandwidth:  # not where other processes disturbed it
        for end, other in (('low', 'high_us'), ('high', 'low_us')):
            assert bandwidth[end] == pytest.approx(largest['bytes'] / largest[other] / 1000)
    assert (record['rank'], record['ranks']) == (0, 1), 'nobody waits for a record of the other'
    assert record['mpi_library'] and record['memory'][0]['method'] == 'lines'
    assert re.search(r'^ +64 Ki +[\d.]+', said, re.M)


@pytest.mark.alone
def test_it_pins_both_ranks_whatever_the_launcher_bound_them_to(run):
    """One bound to the other's CPU, the other to none."""
    bound = {'OMPI_MCA_hwloc_base_binding_policy': 'core'}
    status, said, record = run(*SHORT, '--sizes', '8', **bound)
    assert status == 0, said


@pytest.mark.alone
def test_ranks_of_two_nodes_are_a_remote_pair(run):
    options = (*SHORT, '--sizes', '0,64')
    status, said, record = run(*options, nodes=('here', 'there'))
    assert status == 0, said
    assert (record['node_a'], record['node_b']) == ('here', 'there')
    assert {m['class'] for m in record['messages']} == {'remote'} and record['memory'] == []
    status, said, record = run(*options, '--class', 'remote')
    assert status == 1 and 'not remote' in said


@pytest.mark.alone
def test_of_two_nodes_both_ways_between_two_cpus_are_pairs_and_of_one_node_are_not(run):
    both = f'{PAIR},{TWO[-1]}-{TWO[0]}'
    options = ('--pairs', both, '--sizes', '8', '--seconds', '0.01')
    status, said, record = run(*options, nodes=('here', 'there'))
    assert status == 0 and len(record['messages']) == 2, said
    status, said, record = run(*options)
    assert status == 2 and record is None
    assert f"membw: '--pairs {both}': {TWO[-1]}-{TWO[0]} is the same pair as {PAIR}" in said


def test_a_host_and_its_card_run_a_build_each(build, tmp_path):
    """The card is a stand-in: another build, with another node's name, on this machine."""
    path, line = tmp_path / 'record.json', ['mpirun']
    for node, flags in (('helios1', ()), ('helios1-mic0', ('-O0', '-DMEMBW_CARD_STAND_IN'))):
        line += [':'] if len(line) > 1 else []
        line += ['-n', '1', '-x', f'SLURMD_NODENAME={node}', build(*flags), *SHORT]
        line += ['--sizes', '0,4096', '--json', path]
    env = {**os.environ, **mpi_job.LAUNCHER}
    done = subprocess.run(list(map(str, line)), env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    record = loads(path.read_text())
    assert (record['node_a'], record['node_b']) == ('helios1', 'helios1-mic0')
    assert {m['class'] for m in record['messages']} == {'remote'}
    assert record['messages'][1]['words_checked'] >= 2 * 512


@pytest.mark.alone
def test_an_mpi_that_does_not_use_the_shared_memory_is_named(run):
    tcp = {'OMPI_MCA_btl': 'tcp,self', 'OMPI_MCA_pml': 'ob1'}
    _, said, record = run(*SHORT, '--sizes', '0', **tcp)
    assert 'slow-transport' in [w['reason'] for w in record['warnings']], said


# of the fourth message that rank 0 fills
FLIPPED = ((
    'pingpong/messages.c',
    'static void check(const struct order *order',
    'static void fill_all(const struct order *order, int me, long trip)\n{\n'
    '\tstatic int fills;\n\n\tfill(order, me, trip);\n'
    '\tif (me == 0 && order->size >= 64 && ++fills == 4)\n\t\town.sent[32] ^= 8;\n}\n'
    '#define fill fill_all\n\nstatic void check(const struct order *order',
),)  # fmt: skip


def test_a_flipped_bit_of_a_message_is_found(run):
    status, said, record = run(*SHORT, '--sizes', '64', changes=FLIPPED)
    reasons = {r['reason']: r['detail'] for r in record['reasons']}
    assert status == 1 and 'the first at byte 32' in reasons['not-validated']


@pytest.mark.parametrize('options, nodes, said', [
    ('--sizes 8,x', 'one one', "invalid value for '--sizes': 'x'"),
    ('--method cas', 'one one', "'--method' is for threads"),
    ('', 'one one one', 'a pair needs two ranks, but there are 3'),
    ('--sizes 8', 'one', "'--sizes 8': without MPI a message is always one line"),
    ('--nodes', 'one one', "'--nodes' needs one rank per node, but one has 2"),
    ('--nodes --pairs 0-1', 'a b', "'--nodes' measures pairs of nodes"),
])  # fmt: skip
def test_bad_input_is_one_line_a_hint_and_exit_status_2(run, options, nodes, said):
    words = options.split()
    status, output, record = run(*words, nodes=nodes.split(), json='--nodes' not in words)
    ours = [line for line in output.splitlines() if line.startswith(('membw:', 'hint:'))]
    assert status == 2 and record is None, output
    assert len(ours) == 2 and said in ours[0] and ours[1].startswith('hint: '), output


# MPI says so, and fills nothing
FAILING = ('-D_GNU_SOURCE', '-include', ROOT / 'tests/probes/failing_receive.h')


@pytest.mark.parametrize('number', ['1', '40'])
def test_a_message_that_never_comes_ends_the_job_with_its_reason(run, number):
    """The first, which is an order, and one of a block."""
    status, output, record = run(*SHORT, '--sizes', '64', flags=FAILING, FAIL_AT=number)
    assert status == 1 and record is None and 'Segmentation' not in output, output
    fact, hint = refusal(output)
    assert fact.startswith('membw: rank 1 on one: no message from rank 0: MPI_ERR_OTHER')
    assert hint.startswith('hint: can their nodes reach each other?')


def test_a_signal_ends_the_job_with_one_line(run):
    """Launchers pass SIGINT and SIGTERM on: a message of 1 GiB went on for minutes after both."""
    options = (*SHORT, '--sizes', '64')
    status, output, record = run(*options, flags=FAILING, FAIL_AT='3', STOP_BY='15')
    assert status == 1 and record is None, output
    assert 'membw: rank 1 on one: ended by SIGTERM (signal 15): no record' in output


def refusal(output):
    """(the fact, the hint) of what says nothing else of ours, but of the rank that the launcher
    ends by SIGTERM as the other gave up: where it has the time to, it says so."""
    ours = [ln for ln in output.splitlines() if ln.startswith(('membw:', 'hint:'))]
    fact, hint = [ln for ln in ours if not ln.endswith('ended by SIGTERM (signal 15): no record')]
    return fact, hint


def test_more_memory_than_there_is_is_refused_before_any_of_it_is_touched(build, tmp_path):
    root = write_files(tmp_path / 'root', {'proc/meminfo': 'MemAvailable: 4096 kB'})
    program, there = build(changes=OTHER_MACHINE), {'MACHINE': str(root), **mpi_job.AT_ONCE}
    for nodes, options, mib in (
        (('one', 'one'), (), 8),  # two ranks of one node, a message to send and one to receive
        (('one', 'two'), ('--nodes',), 4),
    ):
        words = ('--sizes', '0,2097152', *options)
        job = mpi_job.Job(tmp_path, program, nodes, *words, **there).wait()
        fact, hint = refusal(job.stderr)
        assert job.status == 2 and not job.records(), job.stdout + job.stderr
        assert f'messages of 2097152 bytes need {mib} MiB on one, but there are 4 MiB' in fact
        assert "leave out the largest of '--sizes'" in hint


def records_of_nodes(folder, program, nodes, *options):
    job = mpi_job.Job(folder, program, nodes, '--nodes', '--seconds', '0.01', *options).wait()
    return job, job.records()


def test_every_pair_of_nodes_meets_once_and_both_sides_keep_the_link(build, tmp_path):
    """Three nodes on two CPUs: one of them waits in each round."""
    allowed = ('--allow', 'oversubscribed', '--sizes', '0,4096')
    job, records = records_of_nodes(tmp_path, build(), ('a', 'b', 'c'), *allowed)
    assert job.status == 0, job.stdout + job.stderr
    assert {r['host'] for r in records.values()} == {'a', 'b', 'c'}
    met = {(r['host'], k['node']): k for r in records.values() for k in r['links']}
    assert sorted(met) == [(x, y) for x in 'abc' for y in 'abc' if x != y]
    for (one, other), link in met.items():
        assert link['messages'] == met[other, one]['messages']
        assert [m['bytes'] for m in link['messages']] == [0, 4096]
        assert link['reason'] in (None, 'disturbed', 'unstable')
        assert link['messages'][1]['words_checked'] >= 2 * 512
    rounds = {frozenset(pair): link['round'] for pair, link in met.items()}
    assert sorted(rounds.values()) == [0, 1, 2]
    assert {'latency', 'bandwidth'} == set(records[0]['metrics'])


def test_a_flipped_bit_makes_its_link_invalid_on_both_sides(build, tmp_path):
    """Of each rank that leads, in the first link that it leads."""
    flip = build(changes=FLIPPED)
    allowed = ('--allow', 'oversubscribed', '--sizes', '64')
    job, records = records_of_nodes(tmp_path, flip, ('a', 'b', 'c'), *allowed)
    links = {(r['host'], k['node']): k for r in records.values() for k in r['links']}
    bad = {pair for pair, link in links.items() if link['reason'] == 'not-validated'}
    first_of_a = min(('b', 'c'), key=lambda node: links['a', node]['round'])
    assert bad == {('a', first_of_a), (first_of_a, 'a'), ('b', 'c'), ('c', 'b')}
    assert {r['host']: r['verdict'] for r in records.values()}[first_of_a] == 'INVALID'
