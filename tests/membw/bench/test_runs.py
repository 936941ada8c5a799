"""The part runs of `membw bench`: what a row of runs says, from made-up runs."""

import json
import re

import pytest
from with_intervals import with_intervals, with_pair

from membw.bench import runs
from membw.errors import MembwError
from membw.tables import as_text

QUIET = lambda *_, **__: None  # noqa: E731


def line(value, half=1.0, verdict='PASS', nearest=28.0, name='stream gcc-o2 omp', reasons=()):
    metrics = {'triad': (value, value - half, value + half)} if verdict == 'PASS' else {}
    return {'row': name, 'verdict': verdict, 'reasons': list(reasons), 'nearest_ns': nearest,
            'metrics': metrics}  # fmt: skip


def run(*lines, ratio=(1.0, 0.9, 1.1), seconds=100.0):
    return {'status': 0, 'seconds': seconds, 'load': 0.1, 'report': 'run-1.json',
            'rows': list(lines), 'ratios': {'stream: gcc-o3 to gcc-o2, triad': ratio}}  # fmt: skip


@pytest.fixture
def made(monkeypatch):
    """measured() over these runs, one after the other."""

    def measured(*planned, **options):
        left = list(planned)
        monkeypatch.setattr(runs, 'one_run', lambda command: left.pop(0))
        return runs.measured(QUIET, len(planned), **options)

    return measured


def test_a_figure_is_held_to_the_median_of_the_others_in_its_state(made):
    """40, 40.5 and 43 of one state: 43 +-1 does not hold 40.25; 60 of another is held to none."""
    found = made(*(run(line(value)) for value in (40.0, 40.5, 43.0)), run(line(60.0, nearest=125)))
    (held,) = runs.by_test(found).values()
    assert [yes for yes, *_ in held] == [False, True, False]  # 40 +-1 to 41.75, 43 +-1 to 40.25
    assert held[0][2] == pytest.approx(0.75 / 41.75) and held[1][1] == pytest.approx(1 / 40.5)
    text = as_text(list(runs.blocks(found)))
    assert re.search(r'^ *stream +3 +33% ', text, re.M)


def test_busy_runs_are_held_to_the_quiet_ones_that_were_kept(made, tmp_path):
    quiet = made(run(line(40.0)), run(line(41.0)))
    path = tmp_path / 'quiet.json'
    path.write_text(json.dumps({'runs': quiet}))
    lost = line(0, verdict='INVALID', name='stream gcc-o3 omp', reasons=['disturbed'])
    found = made(run(line(40.2), lost), run(line(30.0)), held_to=path)
    assert [yes for yes, *_ in runs.by_test(found)['stream']] == [True, False]
    text = as_text(list(runs.blocks(found)))
    assert 'INVALID: 1 of 3 rows of all runs' in text
    assert 'stream gcc-o3 omp: 1 times (disturbed)' in text and f'quiet runs of {path}' in text
    for text, why in (('{"repeats": {}}', 'holds no runs'), ('no JSON', 'cannot read')):
        path.write_text(text)
        with pytest.raises(MembwError, match=why) as caught:
            made(run(line(40.0)), held_to=path)
        assert "names as 'kept as ...'" in caught.value.hint


def test_no_run_is_begun_that_would_end_after_the_time(made):
    begun = made(*[run(line(40.0), seconds=30)] * 5, seconds=20)
    assert (len(begun['runs']), begun['asked']) == (1, 5)


def test_ratios_of_any_two_runs_agree_where_one_holds_the_other(made):
    found = made(run(line(1.0)), run(line(1.0), ratio=(1.3, 0.8, 1.8)),
                 run(line(1.0), ratio=(2.0, 1.9, 2.1)))  # fmt: skip
    assert runs.ratios_agree(found['runs']) == [True, False, False]


def case_of(folder, gbs, before, after=None):
    """A row of stream ±10 %, the nearest cores that far apart before and after."""
    record = {'host': 'n1', 'kernels': {'triad': {'best_mbs': 1000.0 * gbs}}, 'verdict': 'VALID'}
    path = folder / f'{before}-{after}.json'
    path.write_text(json.dumps(with_pair(with_intervals(record, 0.1), before, after)))
    return {'name': 'stream %pinning=omp', 'display_name': 'stream %pinning=omp', 'fixture': False,
            'unique_name': 'stream_1', 'hashcode': 'h', 'scheduler': 'local', 'system': 'local',
            'partition': 'default', 'environ': 'gcc-o2', 'pinning': 'omp', 'result': 'pass',
            'verdict': 'VALID', 'record': str(path), 'dependencies_actual': [],
            'perfvalues': {'local:default:triad': [gbs, 0, None, None, 'GB/s']}}  # fmt: skip


def test_each_figure_is_told_of_its_own_state_and_none_of_what_crossed(tmp_path):
    """A row of two states has two lines; one that was moved while it measured repeats in none."""
    near, far = case_of(tmp_path, 43.0, 28.0), case_of(tmp_path, 65.0, 125.0)
    moved = case_of(tmp_path, 52.0, 28.0, 125.0) | {'unique_name': 'stream_2', 'environ': 'gcc-o3'}
    told = runs.told({'session_info': {}, 'runs': [{'testcases': [near, moved]},
                                                  {'testcases': [far, moved]}]})  # fmt: skip
    figures = [line['metrics'].get('triad', [None])[0] for line in told['rows']]
    assert figures == [43.0, 65.0, None]
    assert [line['nearest_ns'] for line in told['rows']] == pytest.approx([28, 125, 0])
    assert runs.verdicts(told) == {'PASS': 2}  # rows, not lines


def test_a_report_is_told_with_intervals_and_states(tmp_path):
    case = case_of(tmp_path, 40.0, 28.0)
    spoilt = case | {'unique_name': 'stream_2', 'result': 'fail', 'fail_phase': 'sanity',
                     'fail_reason': 'sanity error: INVALID: disturbed (others)'}  # fmt: skip
    good, bad = runs.told({'session_info': {}, 'runs': [{'testcases': [case, spoilt]}]})['rows']
    assert good['row'] == 'stream gcc-o2 omp' and good['nearest_ns'] == pytest.approx(28)
    assert good['metrics']['triad'] == pytest.approx((40, 36, 44))
    assert (bad['verdict'], bad['reasons'], bad['metrics']) == ('INVALID', ['disturbed'], {})
