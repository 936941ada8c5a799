"""Who is missing in a campaign: what it says of each kind of node. Slurm and the records are made
up; tests/checks/test_campaign.py has a real one."""

import json
import time

import made_up_records as made
import pytest
from places import ROOT

from membw.campaign import command
from membw.campaign.slurm_queue import Queue
from membw.cli import build_parser
from membw.errors import MembwError

NOW = (time.time() - made.START) / made.DAY
CASE = {'test': 'cluster_stream', 'partition': 'thin', 'environ': 'gcc-o3'}
IDLE, BUSY = 'idle|x|Unknown|none', 'allocated|x|Unknown|none'
DIMM = 'drained|x|{}|DIMM A3'
WORDS = 'campaign --system thin -p gcc-o3 --within 7d --idle'.split()
TONIGHT, YESTERDAY, NEVER = NOW, NOW - 1, None


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
    names = "cut -d '|' -f 2"
    sinfo = f'grep drained slurm | {names} ;; *-n*) {names} slurm ;; *) cat slurm; esac'
    sinfo = f'case "$*" in *-R*) {sinfo}'
    for name, does in {'sinfo': sinfo, 'squeue': 'true', 'sbatch': 'echo 1'}.items():
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


# node n9: in Slurm, measured, its line of nodecheck.txt, exit status, in the first line
NODES = [
    (IDLE, TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (BUSY, TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (BUSY, YESTERDAY, None, 0, '8 of 9 nodes measured; 1 other since'),
    (BUSY, NEVER, 'MISSING PENDING', 2, '1 queued: n9 (allocated, PENDING)'),
    (DIMM.format(since(1)), YESTERDAY, 'MISSING drained since', 2, "'DIMM A3'; last measured in"),
    (DIMM.format(since(1)), TONIGHT, 'PASS', 0, '9 of 9 nodes measured'),
    (DIMM.format(since(13)), NEVER, 'MISSING drained since', 2, '8 of 9 nodes measured; n9 drai'),
    (DIMM.format(since(15)), NEVER, 'KNOWN drained', 0, '8 of 9 nodes'),
    (DIMM.format('Unknown'), NEVER, 'MISSING drained since Unknown', 2, '8 of 9 nodes'),
    (None, YESTERDAY, 'MISSING Slurm does not know it; last measured in', 2, '8 of 9 nodes'),
    (None, NEVER, None, 0, '8 of 8 nodes measured'),
]


@pytest.mark.parametrize(
    'slurm, measured, word, status, line', NODES, ids=[' '.join(map(str, n[2:])) for n in NODES]
)
def test_a_node_is_measured_queued_or_missing(place, capsys, slurm, measured, word, status, line):
    rows = [made.record(f'n{i}', NOW, case=CASE) for i in range(1, 9)]
    rows += [] if measured is None else [made.record('n9', measured, case=CASE)]
    made.write(place / 'results/records/cluster_stream-1.json', rows)
    states = {f'n{i}': IDLE for i in range(1, 9)} | ({'n9': slurm} if slurm else {})
    text = ''.join(f'THIN*|{name}|{state}\n' for name, state in states.items())
    (place / 'slurm').write_text(text)
    home = place / 'job-1'
    home.mkdir()
    (home / 'job.sh').write_text('#SBATCH -p THIN\n')
    kept = {'test': 'cluster_stream', 'script': 'job.sh', 'record_in_stage': 'x', 'cpu': ''}
    (home / 'job.json').write_text(json.dumps(kept | {'case': rows[0]['case']}))
    args = build_parser('campaign').parse_args([*WORDS, since(1 / 24), '--output', str(place)])
    is_done, found = command.advance(home, args, Queue(home / 'job.sh', 'campaign', 10))
    assert line in capsys.readouterr().out.splitlines()[0]
    lines = (place / 'nodecheck.txt').read_text().splitlines()
    said = [one.removeprefix('n9 ') for one in lines if one.startswith('n9 ')]
    assert found == status and said == said[: bool(word)]
    assert not word or said[0].startswith(word)
    assert is_done == ('queued' not in line)
