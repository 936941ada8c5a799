"""rank, history and diff judge what dgemm measures as they judge bandwidths.

tests/data/dgemm-record.json is a record of a real run; nodes and nights are made of it.
"""

import copy
import datetime
import json

import numpy as np
import pytest
import results_store
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


def case(made):
    """A test case as the check `dgemm` logs it."""
    metrics = made['metrics']
    seconds = datetime.datetime.fromisoformat(made['time']).timestamp()
    kinds = {name: {'unit': m['unit'], 'better': m['better']} for name, m in metrics.items()}
    figures = {
        f'thin:thin:{name}': [m['value'], None, None, None, m['unit'], 'pass']
        for name, m in metrics.items()
    }
    return results_store.case(
        made['host'], seconds, [0] * 4, where='thin:thin', name='dgemm %binary.blas=mkl-intel',
        pinning='mkl-intel', perfvalues=figures, metrics=json.dumps(kinds),
    )  # fmt: skip


@pytest.fixture(scope='module')
def nights(tmp_path_factory):
    """A database of a machine, one of whose nodes is 6 % slower by its clock from a night on."""
    sessions = [
        [case(record(n, night, 0.06 * (n == 'n004' and night >= SLOW_FROM))) for n in NODES]
        for night in range(NIGHTS)
    ]
    return results_store.store(tmp_path_factory.mktemp('store') / 'results.db', sessions)


def test_the_record_is_one_of_the_schema():
    assert check(REAL)['program'] == 'dgemm'


def test_rank_names_the_node_and_what_of_it_is_slow(membw, tmp_path):
    fleet = [record(host, slower=0.06 * (host == 'n004')) for host in NODES]
    status, said = membw('rank', written(tmp_path / 'fleet.jsonl', fleet))
    verdicts = [line.split() for line in said.splitlines() if line.startswith('n0')]
    assert status == 1 and '12 nodes: 11 PASS, 1 FAIL' in said
    (slow,) = [words for words in verdicts if 'FAIL' in words]
    assert slow[0] == 'n004' and '%' not in slow[1] and {*slow} & {*BY_CLOCK}


def test_history_names_the_night_from_which_a_node_was_slower(membw, nights):
    status, said = membw('history', nights)
    (change,) = [line for line in said.splitlines() if line.startswith('2026-')]
    day = f'{FIRST + datetime.timedelta(days=SLOW_FROM):%Y-%m-%d}'
    kernels = change.split('  ')
    assert status == 1 and change.startswith(f'{day}  node   n004  -6.')
    assert ' '.join(BY_CLOCK) in [part.strip() for part in kernels]


def test_diff_says_which_figures_are_apart(membw, tmp_path):
    one, other = (
        written(tmp_path / f'{name}.json', [made])
        for name, made in (('one', record('n001')), ('other', record('n001', 1, slower=0.06)))
    )
    status, said = membw('diff', one, other)
    assert status == 1
    assert said.splitlines()[-1].endswith(f'apart by more than 2.0%: {", ".join(BY_CLOCK)}')
