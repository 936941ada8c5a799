"""rank, history and diff judge what dgemm measures as they judge bandwidths.

tests/data/dgemm-record.json is a record of a real run; nodes and nights are made of it.
"""

import copy
import datetime
import json

import numpy as np
import pytest
from places import ROOT
from record_schema import check

from membw.cli import main

REAL = json.loads((ROOT / 'tests/data/dgemm-record.json').read_text())
NODES = [f'n{i:03}' for i in range(1, 13)]
NIGHTS, SLOW_FROM = 24, 14
FIRST = datetime.datetime(2026, 10, 1, 2, tzinfo=datetime.timezone.utc)
# what a lower clock takes along: the library's share of what is attainable stays
BY_CLOCK = ('square', 'k192', 'attainable', 'attainable_share', 'clock')


def record(host, night=0, slower=0.0, seed=1):
    """The real one, on another node and night; `slower` by its clock."""
    rng = np.random.default_rng([seed, NODES.index(host), night])
    made = copy.deepcopy(REAL) | {'host': host}
    made['time'] = f'{FIRST + datetime.timedelta(days=night):%Y-%m-%dT%H:%M:%SZ}'
    for name, metric in made['metrics'].items():
        factor = 1 - slower * (name in BY_CLOCK)
        noise = 0 if name == 'worked' else rng.normal(0, 0.003)
        factor *= 1 + noise
        for key in {'value', 'low', 'high'} & set(metric):
            metric[key] *= factor
    return made


@pytest.fixture
def membw(capsys):
    def call(*words):
        status = main([str(word) for word in words])
        return status, capsys.readouterr().out

    return call


def written(path, records):
    path.write_text(''.join(json.dumps(one) + '\n' for one in records))
    return path


@pytest.fixture
def nights(tmp_path):
    """Records of a machine, one of whose nodes is 6 % slower by its clock from a night on."""
    rows = [
        record(node, night, 0.06 * (node == 'n004' and night >= SLOW_FROM))
        for night in range(NIGHTS)
        for node in NODES
    ]
    return written(tmp_path / 'nights.jsonl', rows)


def test_the_record_is_one_of_the_schema():
    assert check(REAL)['program'] == 'dgemm'


def test_rank_names_the_node_and_what_of_it_is_slow(membw, tmp_path):
    fleet = [record(host, slower=0.06 * (host == 'n004')) for host in NODES]
    status, said = membw('rank', written(tmp_path / 'fleet.jsonl', fleet))
    assert status == 1 and '12 nodes: 11 PASS, 0 FAIL' in said
    (reason,) = [line for line in said.splitlines() if line.startswith('n004: ')]
    assert reason.split()[1] in BY_CLOCK and reason.endswith(': SUSPECT')


def test_history_names_the_night_from_which_a_node_was_slower(membw, nights):
    status, said = membw('history', nights)
    (change,) = [line for line in said.splitlines() if line.startswith('2026-')]
    day = f'{FIRST + datetime.timedelta(days=SLOW_FROM):%Y-%m-%d}'
    assert status == 1 and change.startswith(f'{day} n004 STEP -6.')
    assert {*change.split()} >= {*BY_CLOCK}


def test_diff_says_which_figures_are_apart(membw, tmp_path):
    one, other = (
        written(tmp_path / f'{name}.json', [made])
        for name, made in (('one', record('n001')), ('other', record('n001', 1, slower=0.06)))
    )
    status, said = membw('diff', one, other)
    assert status == 1
    assert said.splitlines()[-1].endswith(f'figures ({", ".join(BY_CLOCK)})')
