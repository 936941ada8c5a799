"""What the nightly call (`--since 14d`) must tell, and what it must not be blinded by."""

import json
import os
import threading
import time

import history_generator as gen
import numpy as np
import pytest
import results_store

from membw.cli import main
from membw.history import series as history_series
from membw.history.changes import judge
from membw.history.text import is_worse
from membw.results import pieces

DAY = 86400


def record(host, day, triad, rank=0, ranks=1, **fields):
    moment = time.strftime('%Y-%m-%dT02:00:00+00:00', time.gmtime(day * DAY))
    return {
        'schema': 'membw-record-1', 'program': 'stream', 'host': host, 'rank': rank,
        'ranks': ranks, 'time': moment, 'verdict': 'VALID',
        'kernels': {'triad': {'best_mbs': 1000 * triad}}, **fields,
    }  # fmt: skip


def write(path, records):
    path.write_text(''.join(json.dumps(r) + '\n' for r in records))
    return path


def fleet(nights, slow=(), share=0.07, first=gen.FIRST, nodes=12):
    """Records of `nodes` nodes; n3 is slower by `share` from the night `slow` on."""
    rng = np.random.default_rng(4)
    for night in range(nights):
        for n in range(nodes):
            rate = 300 * (1 + rng.normal(0, 0.004))
            rate *= 1 - share if slow and n == 3 and night >= slow else 1
            yield record(f'n{n}', first + night, rate)


@pytest.mark.parametrize('fields', [{'wait_policy': 'passive'}, {'precision': 'double'}])
def test_other_waiting_or_work_is_a_series_of_its_own(tmp_path, capsys, fields):
    """Two runs each night, of records or of a parametrized check: a step in one is told of it."""
    records = [dict(r, time=r['time'].replace('T02', 'T03'), runtime=fields, **fields,
                    kernels={'triad': {'best_mbs': 0.1 * r['kernels']['triad']['best_mbs']}})
               for r in fleet(60, slow=50)]  # fmt: skip
    code, text, _ = told(capsys, write(tmp_path / 'r.jsonl', [*fleet(60), *records]))
    assert code == 1 and 'in 2 groups' in text and text.count('n3') == 1
    (value,) = fields.values()
    assert value in next(line for line in text.splitlines() if 'n3' in line)


def test_a_parameter_of_the_check_makes_another_series(tmp_path, capsys):
    nights = []
    for active, passive in zip(*(list(results_store.sessions_of(gen.healthy(6, 12, seed)))
                                 for seed in (1, 2)), strict=True):  # fmt: skip
        for policy, cases in (('active', active), ('passive', passive)):
            for case in cases:
                case['name'] = f'overheads %pinning=likwid %wait_policy={policy}'
        nights.append([*active, *passive])
    base = results_store.store(tmp_path / 'r.db', nights)
    code, text, _ = told(capsys, base, '--json', '--series')
    groups = {row['group'] for row in json.loads(text)['series']}
    assert code == 0 and {group.split('%')[-1] for group in groups} == {
        'wait_policy=active', 'wait_policy=passive'
    }  # fmt: skip
    assert json.loads(text)['figures'] == 2 * 6 * 12 * 4


def told(capsys, *words):
    code = main(['history', *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize('ahead', [3, 100, 200_000])
def test_a_record_from_the_future_is_left_out_and_blinds_nothing(tmp_path, capsys, ahead):
    today = int(time.time() // DAY)
    records = list(fleet(60, slow=55, first=today - 59))
    records.append(record('n1', today + ahead, 300.0))
    code, text, _ = told(capsys, write(tmp_path / 'r.jsonl', records), '--since', '14d')
    assert code == 1 and 'n3' in text
    assert 'left out: 1 run: dated in the future' in text


def shifted(tmp_path, days, nodes):
    """60 nights up to now, n3 slower in the last 12; the clocks of some nodes are off."""
    today = int(time.time() // DAY)
    records = list(fleet(60, slow=48, first=today - 59))
    for r in records:
        if r['host'] in nodes:
            moment = time.strptime(r['time'][:10], '%Y-%m-%d')
            day = int(time.mktime(moment) // DAY) + days if days is not None else 5
            r['time'] = record(r['host'], day, 1.0)['time']
    return write(tmp_path / 'r.jsonl', records)


@pytest.mark.parametrize('days', [730, 100_000, None], ids=['ahead', 'far ahead', 'no battery'])
def test_a_node_whose_clock_is_off_is_not_called_well(tmp_path, capsys, days):
    """The verdict was "nothing got worse", exit status 0, of a node that nobody had looked at."""
    code, text, err = told(capsys, shifted(tmp_path, days, {'n3'}), '--since', '14d')
    assert 'membw: n3: not judged, its runs are dated ' in err
    says = 'nothing got worse in what was judged; 1 node was not judged: n3 (its runs are dated '
    assert code == 1 and f'Verdict: {says}' in text


def torn(tmp_path, records):
    path = write(tmp_path / 'r.jsonl', records)
    path.write_text(path.read_text() + '{"schema": "membw-record-1", "ho\n')
    return path


@pytest.mark.parametrize('case', ['well', 'slower', 'torn', 'a clock', 'slower and torn'])
def test_exit_status_text_and_json_say_the_same(tmp_path, capsys, case):
    """Above exit status 1 stood "Verdict: nothing got worse", its reason on stderr alone."""
    path = {
        'well': lambda: write(tmp_path / 'r.jsonl', fleet(20)),
        'slower': lambda: write(tmp_path / 'r.jsonl', fleet(20, slow=12)),
        'torn': lambda: torn(tmp_path, fleet(20)),
        'slower and torn': lambda: torn(tmp_path, fleet(20, slow=12)),
        'a clock': lambda: shifted(tmp_path, 730, {'n3', 'n4'}),
    }[case]()
    code, text, err = told(capsys, path)
    code_of_json, data, _ = told(capsys, path, '--json')
    data = json.loads(data)
    verdict = text.splitlines()[-1]
    assert verdict == f'Verdict: {data["verdict"]}'
    assert code == code_of_json == int(bool(data['worse'] or data['problems']))
    assert (code == 0) == (verdict == 'Verdict: nothing got worse') == (case == 'well')
    assert ('slower and not recovered: 1 node change' in verdict) == ('slower' in case)
    assert ('not all could be read: ' in verdict) == ('torn' in case)
    assert set(data['not_judged']) == ({'n3', 'n4'} if case == 'a clock' else set())
    assert ('2 nodes were not judged: n[3-4] (' in verdict) == (case == 'a clock')
    assert all(f'membw: {problem}' in err for problem in data['problems'])


@pytest.mark.parametrize('nodes', [12, 7])
def test_where_most_clocks_are_ahead_ours_is_behind(tmp_path, capsys, nodes):
    """The front end's own was set back: the nights since were left out, and nothing told."""
    ahead = {f'n{n}' for n in range(nodes)}
    code, text, _ = told(capsys, shifted(tmp_path, 730, ahead), '--since', '14d')
    assert code == 1 and 'n3' in text and 'left out' not in text


def test_where_no_clock_is_right_that_is_the_reason(tmp_path, capsys):
    every = {f'n{n}' for n in range(12)}
    code, _, err = told(capsys, shifted(tmp_path, None, every))
    assert code == 2 and 'left out: 720 runs: without a date' in err
    assert 'hint: look at the clocks' in err


@pytest.mark.parametrize('night', ['2099-01-01', '0d', '-3d', '', 'today', '2026-13-01'])
def test_a_night_that_there_is_not_is_refused(tmp_path, capsys, night):
    """A year that is mistyped told that all is well."""
    code, text, err = told(capsys, write(tmp_path / 'r.jsonl', fleet(20)), f'--since={night}')
    assert (code, text) == (2, '') and f"{night}'" in err


def test_a_node_measured_once_a_week_is_told_when_it_is_sure(tmp_path, capsys):
    records = [r for week in range(40) for r in _week(week)]
    for weeks in range(28, 40):
        part = [r for r in records if r['week'] < weeks]
        code, text, _ = told(capsys, write(tmp_path / 'r.jsonl', part), '--since', '14d')
        assert code == 1 and 'n3' in text, weeks


def _week(week):
    rng = np.random.default_rng(week)
    for n in range(12):
        rate = 300 * (1 + rng.normal(0, 0.005)) * (0.9 if n == 3 and week >= 25 else 1)
        yield record(f'n{n}', gen.FIRST + 7 * week, rate, week=week)


@pytest.mark.parametrize('share', [0.3, 0.2, 0.15])
def test_nodes_measured_when_idle_are_told(share):
    for seed in range(4):
        series = gen.healthy(20, 160, seed)
        gone = np.random.default_rng(seed).random(series.software.shape) > share
        series.rates[:, gone], series.software[gone] = np.nan, -1
        gen.step(series, 3, 80, 0.06)
        found = [c for c in judge([series]) if c.node == series.nodes[3]]
        assert found and all(c.sure > c.night for c in found if c.shape == 'step')


def test_what_is_still_slower_stays_told(tmp_path, capsys):
    path = write(tmp_path / 'r.jsonl', fleet(100, slow=30))
    code, text, _ = told(capsys, path, '--since', '14d')
    assert code == 1 and 'n3' in text


def test_a_node_that_is_gone_does_not_stay_told():
    series = gen.healthy(12, 200, 1)
    gen.step(series, 3, 60, 0.07)
    series.rates[:, 3, 90:], series.software[3, 90:] = np.nan, -1
    found = [c for c in judge([series]) if c.node == series.nodes[3]]
    assert found and not any(map(is_worse, found)) and all(c.gone for c in found)


def test_another_number_of_ranks_hides_nothing(tmp_path, capsys):
    records = list(fleet(60))
    rng = np.random.default_rng(8)
    for night in range(60, 100):
        for n in range(12):
            part = 75 * (1 + rng.normal(0, 0.004)) * (0.5 if n == 3 and night >= 70 else 1)
            records += [record(f'n{n}', gen.FIRST + night, part, r, 48) for r in range(4)]
    code, text, _ = told(capsys, write(tmp_path / 'r.jsonl', records))
    assert code == 1 and 'left out' not in text
    row = next(line for line in text.splitlines() if ' n3 ' in line)
    assert row.startswith(history_series.as_date(gen.FIRST + 70)) and '-5' in row


def ranks_lost(nights_lost):
    rng = np.random.default_rng(9)
    for night in range(60):
        for n in range(12):
            part = 75 * (1 + rng.normal(0, 0.004))
            ranks = 3 if n == 3 and night in nights_lost else 4
            yield from (record(f'n{n}', gen.FIRST + night, part, r, 48) for r in range(ranks))


def test_a_rank_lost_for_a_night_is_no_slower_node(tmp_path, capsys):
    path = write(tmp_path / 'r.jsonl', ranks_lost({20, 40, 41, 59}))
    code, text, _ = told(capsys, path)
    assert code == 0 and 'left out: 4 runs: not all ranks of the node reported' in text


def test_a_rank_lost_for_good_is_told_with_the_number(tmp_path, capsys):
    code, text, _ = told(capsys, write(tmp_path / 'r.jsonl', ranks_lost(range(50, 60))))
    assert code == 1 and 'n3' in text and 'ranks: 4 -> 3' in text


def test_a_loss_beside_an_update_of_the_fleet_is_not_masked():
    for seed in range(4):
        series = gen.healthy(20, 100, seed)
        gen.update(series, slice(None), 60, compiler='gcc 13.1.0')
        gen.step(series, slice(None), 60, -0.03)
        gen.step(series, 3, 60, 0.03)
        found = judge([series])
        worse = {c.node for c in found if c.direction == 'slower'}
        assert worse == {series.nodes[3]}


def test_new_flags_of_records_without_a_name_hide_no_loss(tmp_path, capsys):
    """All nodes lose 10 % with `-O3 -g` in place of `-O3`; two sets of flags each night are two
    series."""
    before = [r | {'build': {'flags': '-O3'}} for r in fleet(40)]
    after = [r | {'build': {'flags': '-O3 -g'}} for r in fleet(20, first=gen.FIRST + 40)]
    for r in after:
        r['kernels'] = {'triad': {'best_mbs': 0.9 * r['kernels']['triad']['best_mbs']}}
    code, text, _ = told(capsys, write(tmp_path / 'r.jsonl', before + after), '--json')
    (change,) = json.loads(text)['changes']
    assert (code, change['scope'], change['field']) == (1, 'software', 'flags')
    assert change['percent'] == pytest.approx(-10, abs=0.5)
    both = [r | {'build': {'flags': flags}, 'time': r['time'].replace('T02', hour)}
            for flags, hour in (('-O2', 'T02'), ('-O3', 'T03')) for r in fleet(20)]  # fmt: skip
    assert 'in 2 groups' in told(capsys, write(tmp_path / 'b.jsonl', both))[1]


def test_nodes_that_did_not_lose_what_the_others_lost_and_gained_again_are_not_told():
    series = gen.healthy(20, 150, 1)
    gen.step(series, slice(0, 11), 50, 0.04)
    gen.step(series, slice(0, 11), 100, 1 - 1 / 0.96)
    assert not [c for c in judge([series]) if c.node]


def test_a_file_that_grew_is_read_from_where_it_grew(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pieces, 'PIECE', 20_000)
    monkeypatch.setattr(pieces, 'MOST', 80_000)
    spans, real = [], pieces.read
    monkeypatch.setattr(pieces, 'read', lambda *a: spans.append(a[1:]) or real(*a))
    records = list(fleet(60, slow=40))
    path, cache = tmp_path / 'r.jsonl', tmp_path / 'history.npz'
    write(path, records[:-12])
    told(capsys, path, '--cache', cache)
    assert len(spans) > 4 and spans[-1][1] == path.stat().st_size
    spans.clear()
    write(path, records)
    grown = told(capsys, path, '--json', '--cache', cache)
    assert len(spans) <= 2
    assert grown == told(capsys, path, '--json') and grown[0] == 1


def test_a_long_file_is_not_read_again_until_anything_of_it_is_written(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(pieces, 'PIECE', 20_000)
    monkeypatch.setattr(pieces, 'MOST', 80_000)
    reads, real = [], pieces.texts
    monkeypatch.setattr(pieces, 'texts', lambda *a: reads.append(a) or real(*a))
    path, cache = write(tmp_path / 'r.jsonl', fleet(60, slow=40)), tmp_path / 'history.npz'

    def is_read():
        reads.clear()
        assert told(capsys, path, '--json', '--cache', cache) == told(capsys, path, '--json')
        return len(reads) - 1  # that without a cache reads it

    assert is_read() and is_read()  # what is so new may be written again at the same time
    monkeypatch.setattr(pieces, 'SETTLED_NS', 0)
    path.touch()
    assert is_read()
    (tmp_path / 'other.jsonl').write_text(path.read_text())
    cache.unlink()
    assert is_read() and not is_read()
    before = path.stat()
    with open(path, 'r+', encoding='utf-8') as file:  # as long as it was, and as old
        text = file.read()
        file.seek(text.rindex('VALID'))
        file.write('DOUBT')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert is_read() and not is_read()
    os.replace(tmp_path / 'other.jsonl', path)
    assert is_read() and not is_read()


@pytest.mark.parametrize('name', ['pipe', '-'])
def test_nothing_of_a_pipe_is_lost(tmp_path, monkeypatch, capsys, name):
    """As a shell's <(zcat records.jsonl.gz): what kind of file it is may not be read off it."""
    text = ''.join(json.dumps(r) + '\n' for r in fleet(20))
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    if name == '-':
        monkeypatch.setattr('sys.stdin', pipe.open())
    code, out, _ = told(capsys, '-' if name == '-' else pipe, '--json')
    writer.join()
    assert code == 0 and json.loads(out)['figures'] == 12 * 20


def test_a_device_without_an_end_is_refused(capsys):
    assert main(['rank', '/dev/zero']) == 2
    assert "'/dev/zero' is a device" in capsys.readouterr().err


def test_a_bad_line_of_a_large_file_has_its_own_number(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pieces, 'PIECE', 20_000)
    lines = [json.dumps(r) for r in fleet(60)]
    lines[500] = '{"schema": "membw-record-1", "host": '
    (tmp_path / 'r.jsonl').write_text('\n'.join(lines) + '\n')
    code, _, err = told(capsys, tmp_path / 'r.jsonl')
    assert code == 1 and 'r.jsonl:501: not JSON' in err


def test_pieces_do_not_part_the_ranks_of_a_job(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, 'PIECE', 5_000)
    path = write(tmp_path / 'r.jsonl', ranks_lost(()))
    lines = path.read_text().splitlines()
    firsts = [number for _, _, _, number in pieces.pieces(path)]
    assert len(firsts) > 5
    assert all(json.loads(lines[n - 1])['rank'] == 0 for n in firsts)
    whole = ''.join(pieces.read(path, b, e) for _, b, e, _ in pieces.pieces(path))
    assert whole == path.read_text()


@pytest.mark.parametrize('text', ['99999999999d', 'd', '2026-13-01'])
def test_what_is_no_night_is_a_usage_error(tmp_path, capsys, text):
    path = write(tmp_path / 'r.jsonl', fleet(8))
    code, _, err = told(capsys, path, '--since', text)
    assert code == 2 and 'is no night' in err
