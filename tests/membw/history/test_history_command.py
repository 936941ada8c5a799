"""`membw history` as it is called: what it reads, prints, returns and draws."""

import json
import shutil

import history_generator as gen
import numpy as np
import pytest
import results_store

from membw.cli import main


@pytest.fixture(scope='module')
def database(tmp_path_factory):
    """ReFrame's own database: 12 nodes, 50 nights, one node slow, one update, an INVALID run."""
    series = gen.healthy(12, 50, 1)
    gen.step(series, 7, 30, 0.05)
    gen.update(series, slice(None), 40, compiler='gcc 13.1.0')
    gen.step(series, slice(None), 40, -0.03)
    nights = list(results_store.sessions_of(series))
    nights[5][0] |= {'verdict': 'INVALID', 'result': 'fail', 'reasons': 'disturbed'}
    return results_store.store(tmp_path_factory.mktemp('store') / 'results.db', nights)


def told(capsys, *words):
    code = main(['history', *map(str, words)])
    return code, capsys.readouterr().out


def test_a_database_is_found_below_any_path(database, capsys, tmp_path):
    odd = tmp_path / 'a#b?c%d' / 'results.db'
    odd.parent.mkdir()
    shutil.copy(database, odd)
    assert told(capsys, odd) == told(capsys, database)
    assert [path.name for path in tmp_path.iterdir()] == ['a#b?c%d']


def test_the_database_is_read_and_judged(database, capsys):
    code, text = told(capsys, database)
    assert code == 1
    assert 'n00008' in text and 'compiler: gcc 12.2.0 -> gcc 13.1.0' in text
    assert 'left out: 1 run: INVALID' in text
    assert 'Verdict: slower and not recovered: 1 node change' in text


def test_json_has_the_documented_shape(database, capsys):
    code, text = told(capsys, '--json', '--series', database)
    data = json.loads(text)
    assert code == 1 and data['worse'] == 4
    assert data['nodes'] == 12 and data['nights'] == 50
    assert {c['scope'] for c in data['changes']} == {'node', 'software'}
    documented = set('scope node nodes group kernel night until shape direction percent '
                     'before after unit confidence recovered field fields sure season share '
                     'scatter last gone now acknowledged back back_sure'.split())  # fmt: skip
    assert all(set(c) == documented for c in data['changes'])
    node = [c for c in data['changes'] if c['scope'] == 'node'][0]
    assert node['node'] == 'n00008' and node['group'] == 'synthetic:node stream gcc-o2 likwid'
    assert node['before'] == pytest.approx(320, rel=0.1) and node['confidence'] > 0.999
    rows = {row['kernel']: row for row in data['series']}
    assert len(rows['triad']['median']) == 50 and list(rows['triad']['nodes']) == ['n00008']


def test_options_choose_what_is_told(database, capsys):
    code, text = told(capsys, database, '--since', '3d')
    assert code == 1 and 'n00008' in text and 'compiler' not in text
    assert 'compiler' in told(capsys, database, '--since', '30d')[1]
    assert told(capsys, database, '--node', 'n00001')[0] == 0
    code, text = told(capsys, database, '--kernel', 'copy', '--json')
    assert {c['kernel'] for c in json.loads(text)['changes']} == {'copy'}


def test_margins_and_alpha_are_what_a_change_has_to_exceed(tmp_path, capsys):
    """Four nodes fall by 2 to 3.5 % in the last nights, one has bad nights, the fleet has 1.5 %
    less."""
    series = gen.healthy(12, 90, 1)
    gen.step(series, slice(None), 20, 0.015)
    bad = np.random.default_rng(1).random(90) < 0.6
    bad[:30] = False
    series.rates[:, 9, bad] *= 0.9
    for i, share in enumerate((0.02, 0.025, 0.03, 0.035)):
        gen.step(series, 2 * i, 80 + 2 * i, share)
    base = results_store.store(tmp_path / 'r.db', results_store.sessions_of(series))

    def changes(*words):
        return json.loads(told(capsys, base, '--json', *words)[1])['changes']

    by_alpha = {alpha: changes('--alpha', alpha) for alpha in (0.0001, 0.1, 1)}
    assert by_alpha[0.1] == changes()
    for alpha, found in by_alpha.items():
        assert {c['shape'] for c in found} == {'step', 'intermittent'}
        assert all(1 - c['confidence'] <= alpha / 100 * (1 + 1e-9) for c in found)
    falls = [{(c['node'], c['kernel']) for c in found} for found in by_alpha.values()]
    assert falls[0] < falls[1] < falls[2]
    of_fleet = {c['kernel'] for c in changes() if c['scope'] == 'fleet'}
    assert of_fleet == set(series.kernels)
    narrow = changes('--fleet-margin', 2)
    assert narrow == [c for c in changes() if c['scope'] == 'node'] != []
    assert {c['scope'] for c in changes('--margin', 15)} == {'fleet'}


@pytest.mark.parametrize('words, fact', [
    (('--since', 'yesterday'), "'yesterday' is no night"),
    (('--node', 'n9'), "no node 'n9' in the results"),
    (('--kernel', 'dot'), "no kernel 'dot' in the results"),
])  # fmt: skip
def test_what_is_not_there_is_asked_wrongly(database, capsys, words, fact):
    assert main(['history', str(database), *words]) == 2
    assert fact in capsys.readouterr().err


def test_nothing_to_judge_is_no_good_news(tmp_path, capsys):
    (tmp_path / 'empty.jsonl').write_text('\n')
    assert main(['history', str(tmp_path / 'empty.jsonl')]) == 2
    assert 'nothing to judge' in capsys.readouterr().err


def test_a_run_that_measured_nothing_long_ago_is_counted_and_spoils_nothing(tmp_path, capsys):
    nights = list(results_store.sessions_of(gen.healthy(6, 20, 1)))
    nights[3][0] |= {'perfvalues': {}, 'record': '/gone/record.json', 'result': 'fail'}
    base = results_store.store(tmp_path / 'results.db', nights)
    code, text = told(capsys, base)
    assert code == 0 and 'left out: 1 run: without a figure' in text


def test_too_few_nights_are_told_and_are_no_good_news(tmp_path, capsys):
    series = gen.healthy(6, 5, 1)
    base = results_store.store(tmp_path / 'r.db', results_store.sessions_of(series))
    code, text = told(capsys, base)
    assert code == 0 and 'not judged yet: 6 of 6 series: fewer than 6 nights' in text
    assert 'Verdict: too few nights to judge anything' in text
