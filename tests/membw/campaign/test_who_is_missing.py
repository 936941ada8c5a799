"""Who is missing in a campaign: what it says of each kind of node. Slurm and the records are made
up; tests/checks/test_campaign.py has a real one."""

import json
import time

import made_up_records as made
import pytest
from places import ROOT

from membw.campaign import command
from membw.campaign.nodes import Nodes
from membw.cli import build_parser
from membw.errors import MembwError

NOW = (time.time() - made.START) / made.DAY
CASE = {'test': 'cluster_stream', 'partition': 'thin', 'environ': 'gcc-o3'}
IDLE, BUSY = 'idle|x|Unknown|none', 'allocated|x|Unknown|none'
DIMM = 'drained|x|{}|DIMM A3'
BOOT = 'down{}|x|2026-11-27T10:00:00|ResumeTimeout reached'
WORDS = 'campaign --system thin -p gcc-o3 --within 7d --idle'.split()
TONIGHT, YESTERDAY, NEVER = NOW, NOW - 1, None
GONE = 'MISSING Slurm has it no more, or not for this job; last measured in'


def since(days):
    return time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(time.time() - days * made.DAY))


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name in ('bin', 'results/records'):
        (tmp_path / name).mkdir(parents=True)
    for name in ('systems', 'reframe-checks'):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    monkeypatch.setenv('PATH', f'{tmp_path}/bin:/usr/bin:/bin')
    cut = "cut -d '|' -f"
    sinfo = f"""case "$*" in
        *-R*) grep -E 'drained|down' slurm | {cut} 1,3 ;;
        *) cat slurm; esac"""
    does_all = {'sinfo': sinfo, 'squeue': 'true', 'sbatch': 'echo 1', 'scontrol': 'exit 1'}
    for name, does in does_all.items():
        (tmp_path / 'bin' / name).write_text(f'#!/bin/sh\ncd {tmp_path}\n{does}\n')
        (tmp_path / 'bin' / name).chmod(0o755)
    return tmp_path


def test_without_slurm_nothing_is_waited_for(place, monkeypatch):
    monkeypatch.setattr(command, 'partitions_of', lambda system: [])
    monkeypatch.setattr(command.shutil, 'which', lambda name: None)
    args = build_parser('campaign').parse_args([*WORDS, since(1), '--wait'])
    args.rest = []
    with pytest.raises(MembwError, match="no 'sbatch' on this host"):
        command.run(args)
    monkeypatch.setattr(
        command, 'partitions_of', lambda system: [{'name': 'x', 'scheduler': 'pbs'}]
    )
    with pytest.raises(MembwError, match="has the scheduler 'pbs': a campaign needs Slurm"):
        command.run(args)


# node n9: in Slurm, measured, its line of nodecheck.txt, exit status, in the first line
NODES = [
    (IDLE, TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (BUSY, TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (BUSY, YESTERDAY, None, 0, '8 of 9 nodes measured; 1 other since'),
    (BUSY, NEVER, 'MISSING PENDING', 2, '1 queued: n9 (allocated, PENDING, job 1)'),
    ('idle~|x|Unknown|none', NEVER, None, 0, '8 of 8 nodes measured; 1 powered down: n9'),
    ('idle~|x|Unknown|none', TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    # of a cloud: switched off (POWERING_DOWN, POWER_DOWN), being booted, and what did not boot
    ('idle%|x|Unknown|none', NEVER, None, 0, '8 of 8 nodes measured; 1 powered down: n9'),
    ('idle!|x|Unknown|none', YESTERDAY, None, 0, '8 of 8 nodes measured; 1 powered down: n9'),
    ('idle#|x|Unknown|none', NEVER, 'MISSING PENDING', 2, '1 queued: n9 (idle#, PENDING, job 1)'),
    ('allocated#|x|Unknown|none', YESTERDAY, None, 0, '8 of 9 nodes measured; 1 other since'),
    (BOOT.format('~'), NEVER, 'MISSING down~ since', 2, "n9 down~ since 2026-11-27T10:00:00"),
    (BOOT.format('*'), YESTERDAY, 'MISSING down* since', 2, "'ResumeTimeout reached'; last meas"),
    (BOOT.format('#'), TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (DIMM.format(since(1)), YESTERDAY, 'MISSING drained since', 2, "'DIMM A3'; last measured in"),
    (DIMM.format(since(1)), TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (DIMM.format(since(13)), NEVER, 'MISSING drained since', 2, '8 of 9 nodes measured; n9 drai'),
    (DIMM.format(since(15)), NEVER, 'KNOWN drained', 0, '8 of 9 nodes'),
    (DIMM.format('Unknown'), NEVER, 'MISSING drained since Unknown', 2, '8 of 9 nodes'),
    (None, TONIGHT, GONE, 2, '8 of 9 nodes'),
    (None, YESTERDAY, GONE, 2, '8 of 9 nodes'),
    (None, NOW - 20, None, 0, '8 of 8 nodes'),  # before this campaign began
    (None, NEVER, None, 0, '8 of 8 nodes measured'),
]  # fmt: skip


class Campaign:
    """Of n1 to n8, measured tonight, and of n9."""

    def __init__(self, place, slurm, measured, words=WORDS):
        rows = [made.record(f'n{i}', NOW, case=CASE) for i in range(1, 9)]
        rows += [] if measured is None else [made.record('n9', measured, case=CASE)]
        made.write(place / 'results/records/cluster_stream-1.json', rows)
        states = {f'n{i}': IDLE for i in range(1, 9)}
        states |= {'n9': slurm} if slurm else {}
        text = ''.join(f'membw|THIN*|{name}|{state}\n' for name, state in states.items())
        (place / 'slurm').write_text(text)
        self.place, self.home = place, place / 'job-1'
        self.home.mkdir()
        (self.home / 'job.sh').write_text('#SBATCH -p THIN\n')
        kept = {'test': 'cluster_stream', 'script': 'job.sh', 'record_in_stage': 'x'}
        (self.home / 'job.json').write_text(json.dumps(kept | {'case': rows[0]['case']}))
        self.words = [*words, since(1 / 24)] if '--idle' in words else words

    def look(self, *more):
        words = [*self.words, *more, '--output', str(self.place)]
        args = build_parser('campaign').parse_args(words)
        return command.advance(self.home, args, 10)

    def lines(self, node='n9'):
        lines = (self.place / 'nodecheck.txt').read_text().splitlines()
        return [one.removeprefix(f'{node} ') for one in lines if one.startswith(f'{node} ')]


@pytest.mark.parametrize(
    'slurm, measured, word, status, line', NODES, ids=[' '.join(map(str, n[2:])) for n in NODES]
)
def test_a_node_is_measured_queued_or_missing(place, capsys, slurm, measured, word, status, line):
    campaign = Campaign(place, slurm, measured)
    is_done, found = campaign.look()
    first, *rest = capsys.readouterr().out.splitlines()
    assert line in first
    said = campaign.lines()
    assert found == status and said == said[: bool(word)]
    assert not word or said[0].startswith(word)
    assert is_done == ('queued' not in line)
    number = int(first.partition(' of ')[2].split()[0])  # one count
    for line in rest[-1:]:
        assert line.startswith(f'Verdict: {number - ("1 other" in first)} nodes: ')


def test_jobs_of_nodes_that_are_measured_say_for_whom(place, capsys):
    """'6 of 6 nodes measured; 4 queued' did not say why."""
    campaign = Campaign(place, IDLE, TONIGHT)
    low = made.record('n9', NOW, rows=made.stream(share=0.85), case=CASE)
    made.write(place / 'results/records/cluster_stream-2.json', [low])
    campaign.look()
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith('9 of 9 nodes measured; 4 queued: ')
    assert first.endswith('; low, so again beside healthy nodes: n9')


def test_who_left_slurm_is_named_until_it_is_acknowledged(place, capsys):
    """Also when its records are too old to be read; without --idle as well."""
    campaign = Campaign(place, None, NOW - 6, 'campaign --system thin -p gcc-o3'.split())
    assert campaign.look()[1] == 2
    made.write(place / 'results/records/cluster_stream-1.json', [
        made.record(f'n{i}', NOW, case=CASE) for i in range(1, 9)])  # fmt: skip
    for _ in range(2):
        assert campaign.look()[1] == 2
        assert campaign.lines()[0].startswith(GONE)
    Nodes(place).again(['n9'])
    assert campaign.look()[1] == 0 and campaign.lines() == []


def test_another_system_of_the_same_nodes_is_another_campaign(place, capsys):
    """Two systems in one checkout: the records of one clear nobody of the other."""
    campaign = Campaign(place, IDLE, NEVER)
    case = {**CASE, 'system': 'vega', 'partition': 'a'}
    rows = [made.record('n9', NOW, case=case), made.record('n10', NOW, case=case)]
    made.write(place / 'results/records/cluster_stream-2.json', rows)
    assert campaign.look()[1] == 2
    assert capsys.readouterr().out.startswith('8 of 9 nodes measured; 1 queued: n9 (idle, PENDING')
    assert campaign.lines('n10') == []


HOW = 'Slurm: FAILED JobLaunchFailure, exit 0:53'
# what became of its jobs, whether it was measured, whether it gets one more, what is said
TRIED = [
    ([], NEVER, True, ''),
    ([HOW], NEVER, True, ''),
    ([HOW, HOW], NEVER, False, f'MISSING {HOW} (job 2), twice'),
    ([HOW, 'NODE_FAIL'], NEVER, False, f'MISSING {HOW} (job 1); NODE_FAIL (job 2)'),
    ([HOW, HOW, ''], TONIGHT, False, 'PASS'),
    (['', ''], NEVER, True, ''),  # somebody removed its records
    (
        ['@', '@', '@'],
        NEVER,
        False,
        'MISSING its record has the time of an earlier one, @ (job 3), twice',
    ),
]


@pytest.mark.parametrize('ends, measured, more, said', TRIED, ids=[str(t[0]) for t in TRIED])
def test_two_jobs_that_leave_nothing_are_enough(place, capsys, ends, measured, more, said):
    campaign = Campaign(place, IDLE, measured)
    nodes = Nodes(place)
    for number, how in enumerate(ends, 1):  # '@': a clock that stands still
        record = '' if how not in ('', '@') else how or str(number)
        nodes.note_end('n9', str(number), how.strip('@'), record)
    nodes.write()
    is_done, status = campaign.look()
    assert is_done != more and (place / 'job-1/nodes/n9').exists() == more
    assert said in campaign.lines()[0]
    Nodes(place).again(['n9'])  # repaired
    campaign.look()
    assert (place / 'job-1/nodes/n9').exists() and 'PENDING' in campaign.lines()[0]


LINES = {
    'two': b'{"host": "\xff"}', 'cut': b'{"schema": "membw-record-2", "host"', 'none': b'3',
    'empty': b'{}', 'deep': b'[' * 100_000,
}  # fmt: skip


@pytest.mark.parametrize('line', LINES.values(), ids=LINES)
def test_a_damaged_record_is_its_nodes_alone(place, line):
    """It was one UnicodeDecodeError, and no node of the campaign had a record, at each call."""
    campaign = Campaign(place, IDLE, NEVER)
    right = json.dumps(made.record('n1', NOW, case=False)).encode()
    for name, text in {'n1': right, 'n9': line}.items():
        folder = place / 'job-1/nodes' / name
        folder.mkdir(parents=True)
        (folder / 'x').write_bytes(text)
        (folder / 'job.number').write_text('7')
        (folder / 'ledger.txt').write_text(f'begun {name}\nended - 0 1 2\n')
    campaign.look()
    assert campaign.lines()[0].startswith('MISSING its record cannot be read: ')
    assert campaign.lines('n1') == ['PASS']
