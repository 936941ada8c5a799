"""A file may be longer than memory: what is kept of it says the same as all of it."""

import io
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fleet_generator as gen
import numpy as np
import pytest

from membw.cli import main
from membw.rank.fleet import judge
from membw.results import pieces
from membw.results.latest import Latest
from membw.results.record import parse_record

TONIGHT = datetime(2026, 11, 21, 13, tzinfo=UTC)
NOW = TONIGHT.timestamp() + 3600


def nights(count, nodes=8, ranks=2):
    """Records of `ranks` ranks each, in files of 30 nights; the last night has a slow node, a
    node that is silent since long, and a clock that is a year ahead."""
    rows = gen.records(gen.healthy(nodes, 5, ranks=ranks))
    for night in range(count):
        at = TONIGHT - timedelta(days=count - 1 - night)
        for row in rows:
            row = json.loads(json.dumps(row))
            host, silent = row['host'], night > count - 30
            if host == 'n00003' and silent:
                continue
            ahead = timedelta(days=365) if host == 'n00004' and night % 7 == 0 else timedelta()
            row['time'] = (at + ahead).strftime('%Y-%m-%dT%H:%M:%SZ')
            if host == 'n00002' and night == count - 1:
                for kernel in row['kernels'].values():
                    kernel['best_mbs'] *= 0.8
            yield row, f'{night // 30}.jsonl'


def shown(records):
    fleet = judge(records, now=NOW)
    nodes = sorted((n.name, n.verdict, n.reason) for n in fleet.nodes)
    return nodes, sorted(fleet.problems)


@pytest.mark.parametrize('order', ['as measured', 'mixed'])
def test_the_newest_say_what_all_say(order):
    every = [parse_record(row, file) for row, file in nights(120)]
    if order == 'mixed':
        every = [every[i] for i in np.random.default_rng(1).permutation(len(every))]
    latest = Latest(NOW)
    for i in range(0, len(every), 50):
        latest.add(every[i : i + 50])
    assert len(latest.records()) < len(every) / 1.5 and len(every) > 1500
    assert shown(latest.records()) == shown(every)
    verdicts = {name: verdict for name, verdict, _ in shown(every)[0]}
    assert verdicts['n00002'] == 'FAIL' and verdicts['n00003'] == 'MISSING'


COMMANDS = {
    'rank': (), 'history': (), 'export': ('--format', 'csv'),
    'report': ('-o', 'x.html'),
}  # fmt: skip
CLOCK = r'[\d.]+ s\)|"written".*|written.{0,40}\d\d:\d\d:\d\d'


def what_it_says(command, file, capsys):
    """(exit status, output, errors, the page of a report), without the time of day."""
    code = main([command, *COMMANDS[command], file])
    page = Path('x.html').read_text() if command == 'report' else ''
    return code, *(re.sub(CLOCK, '', text) for text in (*capsys.readouterr(), page))


@pytest.mark.parametrize('command', COMMANDS)
def test_a_pipe_is_read_in_pieces_and_says_what_the_file_says(
    tmp_path, capsys, monkeypatch, command
):
    lines = [json.dumps(row) for row, _ in nights(20)]
    lines[70] = '{"schema": "membw-record-1"'
    text = '\n'.join(lines) + '\n'
    (tmp_path / 'stdin').write_text(text)
    monkeypatch.chdir(tmp_path)
    whole = what_it_says(command, 'stdin', capsys)
    monkeypatch.setattr(pieces, 'PIECE', 320_000)
    largest, real = [], pieces.texts

    def spy(*args):
        for piece in real(*args):
            largest.append(len(piece))
            yield piece

    monkeypatch.setattr(pieces, 'texts', spy)
    stdin = io.BufferedReader(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(stdin))
    assert what_it_says(command, '-', capsys) == whole
    assert 'stdin:71: not JSON' in whole[2] and whole[0] == (command != 'report')
    assert len(largest) > 2 and max(largest) < 400_000
