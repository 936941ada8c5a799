"""Programs on machines that nobody has here: verdicts, placements and words, never rates."""

import copy
import functools
import subprocess

import emulated_machine as machines
import made_up_nodes
import pytest
from places import ROOT

from membw.node.assembled import assembled

pytestmark = [pytest.mark.night, pytest.mark.timeout(1800)]  # emulated, on a host that may be busy
PROGRAMS = ('stream', 'tiers', 'pingpong')
LOOKS, DONE = 'stream/looks/looks.c', 'done[omp_get_thread_num()] = clock_now();'
LATE = 'for (double until = clock_now() + 3 * (omp_get_thread_num() == 3); clock_now() < until;);'
STREAM_LATE = (
    (LOOKS, DONE, LATE + DONE),
    (LOOKS, 'return !rate->is_bound && rate->value > 0;', 'return 1;'),
    (LOOKS, 'APART = 0.03', 'APART = 0.5'),
)


@pytest.fixture(scope='module')
def programs(build_program, tmp_path_factory):
    """programs(machine) -> {name: path}; static where the guest has not this host's libraries."""

    def build(machine):
        if machine.is_foreign:
            return {p: build_program(p, '-static', cc=machine.cc) for p in PROGRAMS}
        refuse = tmp_path_factory.mktemp('probe') / 'refuse_calls'
        source = ROOT / 'tests/probes/refuse_calls.c'
        subprocess.run(['gcc', source, '-o', refuse], check=True)
        found = {p: build_program(p) for p in PROGRAMS} | {'refuse_calls': refuse}
        if any(run['run'].startswith('stream_late') for run in machine.facts['runs']):
            found['stream_late'] = build_program('stream', changes=STREAM_LATE)
        return found

    return build


@pytest.mark.parametrize('name', machines.names())
def test_each_run_says_what_it_must(name, programs, tmp_path, need):
    machine = machines.Machine(name, tmp_path)
    if machine.why_not():
        pytest.skip(machine.why_not())
    if machine.is_foreign:
        need(machine.cc)
    if 'host' in machine.facts:
        subprocess.run(machine.facts['host'], shell=True, cwd=ROOT, capture_output=True)
    outcomes = machine.boot(programs(machine))
    print(f'{name}: {machine.seconds:.0f} s')
    problems = []
    for expected, outcome in zip(machine.facts['runs'], outcomes):
        texts = differences(expected, outcome, outcomes)
        problems += [f'{expected["run"]}: {text}' for text in texts]
        problems += [outcome.text] if problems else []
    assert not problems, '\n'.join([*problems, machine.console[-3000:]])


def judged(record, like, share):
    """`membw node` of a record beside eight peers with the facts of another; planted rates."""

    def node(host, record, share=1.0):
        rate = {'value': 10 * share, 'unit': 'GB/s', 'better': 'higher'}
        part = {'name': 'stream', 'command': 'stream', 'why': '', 'died': False}
        part['record'] = record | {'host': host, 'metrics': record['metrics'] | {'triad': rate}}
        own = {'host': host, 'time': record['time'], 'version': '1', 'seconds': 1.0}
        return assembled(own, [part])

    for domain in like.get('looks', {}).get('domains', {}).values():
        domain['apart'] = 0.0  # of no peer is one slower
    peers = [node(f'p{i}', like) for i in range(8)]
    return made_up_nodes.word(node('n1', record, share), peers).text


def differences(expected, outcome, outcomes):
    """What a run says, and does not say, of what its file expects."""
    if outcome.status != expected.get('status', 0):
        yield f'status {outcome.status}, not {expected.get("status", 0)}'
    for text in expected.get('says', ()):
        if text not in outcome.text:
            yield f"does not say '{text}'"
    for text in expected.get('never', ()):
        if text in outcome.text:
            yield f"says '{text}'"
    if 'pages_on' in expected:
        found = sorted({int(d) for pages in outcome.placements() for d in pages})
        if found != expected['pages_on']:
            yield f'pages on {found}, not {expected["pages_on"]}'
    if 'pairs' in expected:
        pairs = outcome.record.get('pairs_of_domains', [])
        found = [f'{pair["cpus"]}-{pair["memory"]}' for pair in pairs]
        if found != expected['pairs']:
            yield f'pairs {found}, not {expected["pairs"]}'
        if any(list(p['placement_after']['pages_on']) != [str(p['memory'])] for p in pairs):
            yield 'pages of a pair lie elsewhere'
        own = {'host': 'n1', 'time': outcome.record['time']}
        part = {'name': 'tiers', 'command': 'tiers', 'why': '', 'died': False}
        # which figures it takes, however well they are known: a guest is disturbed
        rows = {name: m | {'bound': None} for name, m in outcome.record['metrics'].items()}
        told = outcome.record | {'host': 'n1', 'metrics': rows}
        node = assembled(own, [part | {'record': told}])
        across = 'read_gbs_across' in node['metrics']
        if len(expected['pairs']) > 1 and not across:
            yield 'no reads from another domain for membw node'
    if 'word' in expected:
        beside, like = expected.get('beside', {}), copy.deepcopy(outcome.record)
        if isinstance(beside, int):  # the facts of another run
            like = copy.deepcopy(outcomes[beside].record)
        else:
            like['facts'] |= beside
        word = judged(outcome.record, like, expected.get('share', 0.8))
        first, then = expected['word']
        if not (word.startswith(f'{first} (') and then in word):
            yield f'membw node: {word}'
    for path, value in expected.get('recorded', {}).items():
        found = functools.reduce(
            lambda part, key: part.get(key, {}), path.split('.'), outcome.record
        )
        if found != value:
            yield f'{path} is {found}, not {value}'
    if 'threads' in expected and outcome.record.get('threads') != expected['threads']:
        yield f'{outcome.record.get("threads")} threads, not {expected["threads"]}'
