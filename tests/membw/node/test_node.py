"""`membw node`: its record and exit status; the programs are stand-ins."""

import json
import shutil
import signal
import subprocess
import time

import made_up_nodes as made
import pytest
from made_up_cpus import identity, measured

from membw.node import assembled, battery, text
from membw.results.table import read_table
from membw.site import machine
from membw.site.programs import built


@pytest.mark.parametrize(
    'seconds, domains, cores', [(30, 1, 1), (30, 1, 2), (60, 2, 2), (60, 8, 96), (180, 8, 96)]
)
def test_the_plan_fits_its_seconds_and_each_part_has_some(seconds, domains, cores):
    parts = list(battery.plan(seconds, domains, cores))
    assert sum(part.seconds + battery.SETTLE_S for part in parts) <= seconds + 0.5
    assert min(part.seconds for part in parts) >= 2
    # `--seconds` would end stream without a figure on a busy node, and leave out its domains
    assert not any('--seconds' in part.args.split() for part in parts)
    names = [part.name for part in parts]
    assert names[0] == 'stream' and names[-1] == 'late'
    assert ('tiers' in names) == (domains > 1) and ('loaded' in names) == (cores > 1)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder of stand-ins, and results of this test's own."""
    monkeypatch.setattr(battery, 'SETTLE_S', 0)
    monkeypatch.setattr(assembled, 'folder', lambda: tmp_path / 'nodes')
    monkeypatch.setattr('membw.results.run_lock.root', lambda: tmp_path)
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


@pytest.fixture
def run(membw):
    return lambda *words: membw('node', *words)


def peers_of(tmp_path):
    # of today; the stand-in of one thread is that of all, and of one domain is nothing across: no
    # peer has these figures
    today = (time.time() - made.made.START) / made.made.DAY
    alike = [made.node(f'p{i}', today) for i in range(5)]
    for node in alike:
        node['parts'] = [p for p in node['parts'] if p['name'] not in ('one', 'tiers')]
        for metric in ('triad_one_thread', 'read_gbs_across'):
            del node['metrics'][metric]
    return made.made.write(tmp_path / 'peers.jsonl', alike)


def test_a_node_passes_beside_its_peers_and_leaves_a_record(programs, tmp_path, run):
    status, out, err = run('--programs', programs, '--peers', peers_of(tmp_path), '--line')
    record = json.loads(next((tmp_path / 'nodes').glob('n1-*.json')).read_text())
    assert (status, record['word'], out.split()[:2]) == (0, 'PASS', ['n1', 'PASS'])
    read = read_table([str(tmp_path / 'nodes')])  # it is one for rank, history and the page, too
    assert {f.metric for f in read.figures} >= {'triad', 'l3_size'}
    assert {f.of.word for f in read.figures} == {record['word']}


def test_what_a_node_proves_by_itself_is_said_and_is_no_part_of_the_word(programs, tmp_path, run):
    file = programs / 'stream.json'
    rome = measured(identity('EPYC 7742'), {'read': 320}, caches=12)
    proven = {key: rome[key] for key in ('llc_mib', 'array_size', 'residency')}
    record = json.loads(file.read_text()) | proven
    record['facts'] |= rome['facts']
    file.write_text(json.dumps(record))
    _, out, _ = run('--programs', programs)
    assert 'At least 7 of 16 channels work: Triad moves' in out
    word = json.loads(next((tmp_path / 'nodes').glob('n1-*.json')).read_text())['word']
    assert word in out.splitlines()[0]


def test_a_signal_is_died_and_the_word_is_printed_without_a_disk(programs, tmp_path, run):
    status, out, err = run('--programs', programs, '--unjudged')  # others judge its record
    record = json.loads(next((tmp_path / 'nodes').glob('n1-*.json')).read_text())
    assert (status, out) == (0, '') and 'word' not in record
    put(programs, 'ladder', f'kill -{signal.SIGBUS} $$')
    shutil.rmtree(tmp_path / 'nodes')
    (tmp_path / 'nodes').write_text('no folder')
    status, out, err = run('--programs', programs, '--line')
    assert out.startswith('n1 DIED ')
    assert 'ladder: ended by SIGBUS (signal 7)' in out and status != 0


@pytest.mark.parametrize('end, why', [
    ('kill -TERM $$', 'ended by SIGTERM'), ('kill -ILL $$', 'was it built for another CPU?'),
    ('echo ladder: no libgomp.so.1 >&2; exit 127', 'exit status 127: ladder: no libgomp.so.1'),
])  # fmt: skip
def test_one_that_was_stopped_or_built_elsewhere_is_missing(programs, tmp_path, run, end, why):
    put(programs, 'ladder', end)
    status, out, err = run('--programs', programs, '--json')
    found = json.loads(out)
    assert status == 1 and found['word'] in ('MISSING', 'UNDECIDED')
    assert 'UNDECIDED' == found['word'] or 'ladder' in found['why']
    (lost,) = json.loads(next((tmp_path / 'nodes').glob('*.json')).read_text())['missing']
    assert why in lost['why'] and not lost['died']


def test_each_part_that_did_not_end_well_is_named_the_worst_first():
    """The last Triad was missing, and was not named beside a part that was UNDECIDED."""
    found = made.word(made.node(verdicts={'one': ('UNDECIDED', 'not-proven')}, late=['ladder']))
    assert (found.word, found.why) == (
        'UNDECIDED', 'one: not-proven; ladder: not measured within 20 s')  # fmt: skip


@pytest.mark.parametrize('words, fact', [
    ('--seconds 5', "'5' is not a number of seconds from 30 to 180"),
    ('--seconds 60s', "'60s' is not a number of seconds from 30 to 180"),
    ('--seconds 60 --programs /nowhere', "no program 'stream' in '/nowhere'"),
    ('--programs /nowhere', "no program 'stream' in '/nowhere'"),
    ('--system thn', "no system 'thn' in systems/"),
    ('--preset gcc-o9', "no compiler here for preset 'gcc-o9'"),
])  # fmt: skip
def test_a_usage_error_is_one_line(words, fact, run):
    status, out, err = run(*words.split())
    assert status == 2 and fact in err


def test_who_took_the_cpus_is_said():
    busy = {part: {'processes': [{'name': 'cron', 'cpu_s': 2}]} for part in ('ladder', 'late')}
    found = made.word(made.node(busy=busy))
    assert text.other_processes(found.newest) == ['Other processes: cron 4.0 s']
    noise = dict.fromkeys(made.METRICS, ('UNDECIDED', 'noise'))  # what was measured is shown
    assert '  Triad of all cores: triad 180 GB/s' in text.screen(
        made.word(made.node(verdicts=noise))
    )


def test_programs_for_another_cpu_are_built_in_another_folder(monkeypatch):
    """Two kinds of nodes on one home: in one folder each would build over the other's."""
    machine.on_path()  # asks for the compilers once, before nothing is run
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr('subprocess.run', lambda *words, **more: done)
    folders = set()
    for cpu in 'znver3', 'znver4', 'znver3':
        monkeypatch.setattr('membw.presets.plan', lambda *words, cpu=cpu: cpu)
        folders.add(built(['stream'], None, None))
    assert len(folders) == 2


CARDS = """#!/bin/sh
[ "$1" != --list ] || { printf 'a banner\\n0 NVIDIA H200\\n1 NVIDIA H200\\n'; exit; }
for file; do :; done
sed "s/.index.: 0/\\"index\\": $2/" "$0.json" >"$file"
"""


def test_each_card_is_measured_and_is_one_among_cards(programs, tmp_path, run):
    device = {'index': 0, 'name': 'NVIDIA H200', 'driver': '550', 'count': 2}
    rows = made.made.metrics({'triad': 4000.0}, 'GB/s', half=None)
    card = made.made.record('n1', 0, rows, case=False, program='device', device=device)
    (programs / 'device').write_text(CARDS)
    (programs / 'device').chmod(0o755)
    (programs / 'device.json').write_text(json.dumps(card))
    assert run('--programs', programs, '--unjudged')[0] == 0
    table = read_table([str(tmp_path / 'nodes')])
    cards = [f for f in table.figures if f.setting.card_model]
    assert [(dict(f.setting.parameters)['card'], f.value) for f in cards] == [
        ('0', 4000.0),
        ('1', 4000.0),
    ]
    (count,) = [f for f in table.figures if f.metric == 'cards']
    assert (count.value, count.node, count.setting.program) == (2, 'n1', 'node')


def test_a_node_that_lost_a_card_says_so():
    def node(host, number, day=0.0):
        cards = {'cards': {'value': number, 'unit': 'cards', 'better': 'higher'}}
        one = made.node(host, day)
        return one | {'metrics': one['metrics'] | cards}

    before = [node('n1', 3, 0.001 * i) for i in range(3)]
    found = made.word(node('n1', 3, 0.01), [*(node(f'p{i}', 4) for i in range(8)), *before])
    assert found.word == 'FAIL' and [c.name for c in found.causes] == ['card-gone']
