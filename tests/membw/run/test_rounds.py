"""`membw run` in rounds: attempts become one row, what compares is paired, sessions restore."""

import json
import math
import random
import statistics

import fleet_generator
import pytest
import reframe_case
from scipy import stats
from with_intervals import with_intervals, with_pair

from membw.results import case as of_case
from membw.results import run_lock
from membw.results.intervals import with_interval
from membw.run import between_rounds, ratios, reframe_run, rounds, rows, summary, under_way
from membw.run.judge import judge

DISTURBED = 'sanity error: INVALID: disturbed (others took 7 % of CPUs 0-1 (0.01 s stolen))'
WRONG = 'sanity error: INVALID: not-validated (a is 3, 2 expected); disturbed (others took 7 %)'


def attempt(triad, environ='gcc-o2', pinning='omp', why=None, reference=0, record='', **more):
    figures = {'local:default:triad': [triad, reference, -0.1, 0.1, 'GB/s', None]}
    failed = {'result': 'fail', 'fail_phase': 'sanity', 'fail_reason': why} if why else {}
    known = {
        'scheduler': 'local', 'pinning': pinning, 'record': record, 'hashcode': f'hash{pinning}',
        'perfvalues': {} if why and 'INVALID' in why else figures, **failed, **more,
    }  # fmt: skip
    return reframe_case.case(f'stream %pinning={pinning}', environ) | known


def session(*runs):
    return {'session_info': {'num_cases': 1}, 'runs': [{'testcases': list(run)} for run in runs]}


def only(*runs):
    (case,) = rows.of_report(session(*([case] for case in runs)))
    return case


def test_a_disturbed_round_is_told_and_costs_the_row_nothing():
    case = only(attempt(0, why=DISTURBED), attempt(40.0))
    assert judge(case) == ('PASS', '1 of 2 rounds disturbed')


def test_a_round_with_a_wrong_result_makes_the_row_invalid_whatever_the_others_say():
    case = only(attempt(40.0), attempt(0, why=WRONG), attempt(41.0))
    assert judge(case)[0] == 'INVALID' and 'not-validated' in judge(case)[1]


def test_the_best_round_is_shown_and_the_interval_holds_all_of_them(capsys, tmp_path):
    report = session([attempt(40.0)], [attempt(38.5)])
    (tmp_path / 'run.json').write_text(json.dumps(report))
    assert summary.show(str(tmp_path / 'run.json')) == 0
    out = capsys.readouterr().out
    assert '40.0 ±1.5' in out
    assert 'half of the rows would read within ±3.8%' in out


def test_the_interval_of_the_program_is_in_the_table(tmp_path):
    data = {'metrics': {'triad': {'value': 40000.0, 'low': 39000.0, 'high': 40200.0,
                                  'unit': 'MB/s', 'better': 'higher'}}}  # fmt: skip
    (tmp_path / 'r.json').write_text(json.dumps(data))
    case = only(attempt(40.0, record=str(tmp_path / 'r.json')))
    assert case['intervals'] == {'triad': (39.0, 40.2)}
    assert with_interval(40.0, case['intervals']['triad']) == '40.0 ±1.0'


def test_rounds_that_differ_by_more_than_the_tolerance_are_unstable_not_pass():
    case = only(
        attempt(100.0, reference=100), attempt(91.0, reference=100), attempt(112.0, reference=100)
    )
    word, why = judge(case)
    assert word == 'INVALID' and why == (
        'unstable (triad 112, 91 to 112 GB/s: wider than the tolerance, 90 to 110)'
    )
    assert rows.transient(case)


def test_rounds_that_pass_and_fail_are_no_verdict():
    fail = attempt(80.0, reference=100) | {
        'result': 'fail', 'fail_phase': 'performance',
        'fail_reason': 'performance error: triad=80'}  # fmt: skip
    word, why = judge(only(attempt(95.0, reference=100), fail))
    assert (word, why) == ('INVALID', 'unstable (the rounds disagree: 1 FAIL, 1 PASS)')
    assert judge(only(fail, fail))[0] == 'FAIL'


def overheads(folder, environ, policy, figures, **more):
    """A round of src/overheads: {metric: us}, each with an interval of 10 %."""
    path = folder / f'{environ}-{policy}-{len(list(folder.iterdir()))}.json'
    path.write_text(json.dumps({'metrics': {
        name: {'value': us, 'low': 0.9 * us, 'high': 1.1 * us, 'unit': 'us', 'better': 'lower'}
        for name, us in figures.items()
    }}))  # fmt: skip
    values = {f'local:default:{name}': [us, 0, None, None, 'us', None]
              for name, us in figures.items()}  # fmt: skip
    known = {'scheduler': 'local', 'pinning': 'omp', 'record': str(path), 'perfvalues': values}
    name = f'overheads %pinning=omp %wait_policy={policy}'
    return reframe_case.case(name, environ, **known | more)


def test_a_figure_that_one_round_left_out_is_no_key_error(tmp_path):
    """The shown round lacks what the program was not sure of; another one had it."""
    case = only(
        overheads(tmp_path, 'gcc-o2', 'passive', {'copyin': 6.0, 'barrier': 0.5}),
        overheads(tmp_path, 'gcc-o2', 'passive', {'barrier': 0.4}),
    )
    assert list(case['intervals']) == ['barrier']


def test_a_pair_differs_in_one_parameter_alone(tmp_path):
    """clang's passive round was INVALID: its active one is no partner of gcc's passive one."""
    runs = []
    for _ in range(2):
        run = [overheads(tmp_path, 'gcc-o2', 'active', {'barrier': 0.1})]
        run.append(overheads(tmp_path, 'clang-o3', 'active', {'barrier': 0.2}))
        run.append(overheads(tmp_path, 'gcc-o2', 'passive', {'barrier': 5.0}))
        run.append(attempt(0, 'clang-o3', why=DISTURBED) | {
            'name': run[2]['name'], 'unique_name': run[2]['name']})  # fmt: skip
        runs.append(run)
    (group,) = ratios.groups(session(*runs))
    ((name, base, medians, pairs),) = group.lines
    assert (name, base, pairs) == ('clang-o3', 'gcc-o2', 2)
    assert medians['barrier'].median == pytest.approx(2.0)


def test_what_has_a_line_for_each_figure_is_in_no_sentence_of_all_rows(tmp_path):
    many = {f'private_{n}': 0.001 * (n + 1) for n in range(rows.WIDE + 1)}
    runs = [[overheads(tmp_path, environ, 'active', many) for environ in ('gcc-o2', 'clang-o3')]
            for _ in range(2)]  # fmt: skip
    assert ratios.groups(session(*runs)) == []
    assert rows.quality(rows.of_report(session(*runs))) == []


@pytest.mark.parametrize('lost, status, word', [
    ({}, 0, 'PASS of what could be measured: 1 passed, 0 failed, 1 invalid'),
    ({'is_held': True}, 1, 'INVALID: 1 passed'),
    ({'scheduler': 'slurm'}, 1, 'INVALID: 1 passed'),
    ({'fail_reason': WRONG}, 1, 'INVALID: 1 passed'),
])  # fmt: skip
def test_rows_that_could_not_be_had_are_named_and_fail_only_where_something_waits_for_them(
    capsys, tmp_path, lost, status, word
):
    """On this machine, with no reference, what is not known is neither right nor wrong."""
    spoilt = attempt(0, why=DISTURBED) | lost
    (tmp_path / 'run.json').write_text(json.dumps(session([spoilt, attempt(40.0, 'gcc-o3')])))
    assert summary.show(str(tmp_path / 'run.json')) == status
    out = capsys.readouterr().out
    assert f'Verdict: {word}' in out
    if 'fail_reason' not in lost:
        assert 'No figure could be had of 1 of 2 rows:\n  disturbed: stream gcc-o2 omp\n' in out
        assert 'Others were at work on these CPUs: each row says who. Wait' in out


def test_a_run_without_a_single_figure_is_no_pass(tmp_path):
    (tmp_path / 'run.json').write_text(json.dumps(session([attempt(0, why=DISTURBED)])))
    assert summary.show(str(tmp_path / 'run.json')) == 1


def test_what_is_no_rate_is_in_no_sentence_of_all_rows(tmp_path):
    """An overhead of 0.001 us may be -0.02 to 0.02."""
    folder = tmp_path / 'records'
    folder.mkdir()
    near_zero = overheads(folder, 'gcc-o2', 'active', {'copyin': 0.001})
    assert rows.half_width(only(near_zero)) is None
    rate = attempt(40.0, environ='gcc-o3'), attempt(39.0, environ='gcc-o3')
    report = session([near_zero, rate[0]], [rate[1]])
    (_, sentence) = rows.quality(rows.of_report(report))
    assert sentence.endswith('the worst (stream gcc-o3 omp) within ±2.5%.')


def two_presets(weathers, ratio=1.02):
    """One round per weather: gcc-o3 is `ratio` of gcc-o2 whatever the weather."""
    return session(*(
        [attempt(40.0 * w, 'gcc-o2', p) for p in ('omp', 'none')]
        + [attempt(40.0 * w * ratio, 'gcc-o3', p) for p in ('omp', 'none')]
        for w in weathers
    ))  # fmt: skip


def test_a_bad_minute_cancels_in_the_ratio_of_two_presets():
    (group,) = ratios.groups(two_presets([1.0, 0.6, 0.9]))
    assert [(name, base, pairs) for name, base, _, pairs in group.lines] == [
        ('gcc-o3', 'gcc-o2', 6), ('none', 'omp', 6)]  # fmt: skip
    assert ratios.text(group.lines[0][2]['triad']) == '1.02 ±0.00'
    assert 'gcc-o3 is 1.02 ±0.00 of gcc-o2' in ratios.sentences([group])[0]


def test_figures_of_different_rounds_are_no_pair():
    report = session([attempt(40.0, 'gcc-o2')], [attempt(30.0, 'gcc-o3')])
    assert ratios.groups(report) == []


def in_state(folder, triad, before, after=None, **more):
    """An attempt whose record has that figure ±1 %, and the latency of the nearest cores."""
    (data,) = fleet_generator.records(fleet_generator.healthy(1, seed=1))
    data['kernels'] = {'triad': data['kernels']['triad'] | {'best_mbs': 1000 * triad}}
    path = folder / f'{len(list(folder.iterdir()))}.json'
    path.write_text(json.dumps(with_pair(with_intervals(data, 0.01), before, after)))
    return attempt(triad, record=str(path), **more)


def test_two_states_of_a_machine_are_two_lines_of_a_row_and_never_one_interval(tmp_path, capsys):
    (tmp_path / 'records').mkdir()
    report = session(*(
        [in_state(tmp_path / 'records', triad, *ns)]
        for triad, *ns in ((43.0, 28), (65.0, 125), (43.5, 29), (52.0, 28, 125))
    ))  # fmt: skip
    (case,) = rows.of_report(report)
    assert case['intervals']['triad'] == pytest.approx((43.0, 43.935))
    (tmp_path / 'run.json').write_text(json.dumps(report))
    assert summary.show(str(tmp_path / 'run.json')) == 0
    out = capsys.readouterr().out
    usual, other = (line for line in out.splitlines() if line.startswith('  gcc-o2'))
    assert '43.5 ±0.5' in usual and 'nearest cores 28 to 29 ns apart' in usual
    assert '1 of 4 rounds between two states' in usual
    assert '65.0 ±0.7' in other and 'nearest cores 125 ns apart' in other
    assert '1 of 1 rows were measured in several states' in out and '1 passed' in out


def test_rows_of_different_states_say_so_each(tmp_path):
    near, far = in_state(tmp_path, 43.0, 28), in_state(tmp_path, 65.0, 125, environ='gcc-o3')
    found = rows.of_report(session([near, far]))
    assert [c['note'] for c in found] == [
        'nearest cores 28 ns apart',
        'nearest cores 125 ns apart',
    ]
    assert only(near)['note'] == ''


def test_where_one_row_crossed_a_steady_one_says_in_which_state_it_was(tmp_path):
    runs = [[in_state(tmp_path, 43.0, 28), in_state(tmp_path, 50.0, 28, after, environ='gcc-o3')]
            for after in (29, 125)]  # fmt: skip
    steady, crossed = rows.of_report(session(*runs))
    assert steady['note'] == 'nearest cores 28 ns apart'
    assert crossed['note'] == 'nearest cores 28 ns apart; 1 of 2 rounds between two states'


def test_a_row_that_crossed_in_every_round_says_so(tmp_path):
    case = only(in_state(tmp_path, 52.0, 28, 125), in_state(tmp_path, 60.0, 125, 28))
    assert case['note'] == 'the nearest cores were moved while it measured'
    assert case['intervals']['triad'] == pytest.approx((52.0, 60.6))


def test_a_pair_of_two_states_is_no_ratio(tmp_path):
    def runs(*latencies):
        figures = {28: 43.0, 125: 65.0}
        return session(*(
            [in_state(tmp_path, figures[ns] * share, ns, environ=environ)
             for ns, environ, share in zip(pair, ('gcc-o2', 'gcc-o3'), (1, 1.02))]
            for pair in latencies
        ))  # fmt: skip

    (group,) = ratios.groups(runs((28, 28), (28, 125), (125, 125), (125, 28)))
    ((_, _, found, pairs),) = group.lines
    assert pairs == 2 and ratios.text(found['triad']) == '1.02 ±0.00'
    assert list(ratios.left_out([group])) == []


def test_a_ratio_that_two_states_left_out_is_named(tmp_path, capsys):
    (tmp_path / 'records').mkdir()
    runs = [[in_state(tmp_path / 'records', 43.0, one), in_state(tmp_path / 'records', 65.0, other,
             environ='gcc-o3')] for one, other in ((28, 125), (125, 28))]  # fmt: skip
    (tmp_path / 'run.json').write_text(json.dumps(session(*runs)))
    assert summary.show(str(tmp_path / 'run.json')) == 0
    out = capsys.readouterr().out
    assert 'ratios of stream' not in out
    assert 'No ratio, the two of most pairs were measured in two states of this machine' in out
    assert 'gcc-o3 to gcc-o2 (stream).' in out


@pytest.mark.parametrize('count, left_out', [(6, 0), (8, 0), (9, 1), (20, 5)])
def test_the_interval_of_a_median_is_the_one_of_the_tables(count, left_out):
    """Ranks of the 95 % interval of a median, as tabled in textbooks on order statistics."""
    found = ratios.median_of([float(i) for i in range(count)])
    assert (found.low, found.high) == (left_out, count - 1 - left_out)


@pytest.mark.parametrize('count', [2, 3, 5])
def test_the_interval_of_a_few_pairs_is_students(count):
    """The smallest and the largest of two hold their median in half of the cases only."""
    values = [1.0 + 0.01 * i for i in range(count)]
    found = ratios.median_of(values)
    t = stats.t.ppf(0.975, count - 1)
    half = t * statistics.stdev(values) / count**0.5
    assert found.high - found.median == pytest.approx(half, rel=1e-3)
    assert found.median - found.low == pytest.approx(half, rel=1e-3)


def test_only_local_rows_that_compare_go_into_rounds():
    far = attempt(40.0, 'gcc-o2', scheduler='slurm', in_rounds=True)
    alone = attempt(9.0, name='core_pairs', display_name='core_pairs', unique_name='core_pairs')
    mine = [attempt(40.0, environ, in_rounds=True) for environ in ('gcc-o2', 'gcc-o3')]
    once = [attempt(4.0, environ, name='nbody', unique_name='nbody', in_rounds=False)
            for environ in ('gcc-o2', 'gcc-o3')]  # fmt: skip
    chosen = rounds.rows_in_turn(session([*mine, alone | {'in_rounds': True}, *once]))
    assert [case['environ'] for case in chosen] == ['gcc-o2', 'gcc-o3']
    assert {of_case.test(case) for case in chosen} == {'stream'}
    assert rounds.rows_in_turn(session([far, far | {'environ': 'gcc-o3'}])) == []


def test_the_interval_of_the_best_of_two_rounds_holds_the_best_of_the_next_two():
    """Normal figures, each with an interval that holds the next one's in 95 %."""
    draw = random.Random(11).gauss
    held = {}
    for better in ('higher', 'lower'):
        best, yes = (max if better == 'higher' else min), 0
        for _ in range(2000):
            figures = [draw(40, 2) for _ in range(4)]
            spans = [(v, v - 1.96 * 2 * 2**0.5, v + 1.96 * 2 * 2**0.5) for v in figures[:2]]
            low, high = rows.span_of_best(spans, better)
            yes += low <= best(figures[2:]) <= high
        held[better] = yes / 2000
    assert min(held.values()) > 0.94, held
    assert rows.span_of_best([(38, 33, 43), (42, 36, 48)], 'higher') == (36, 48)
    assert rows.span_of_best([(38, 37, 39), (42, 41, 43)], 'higher') == (38, 43)
    assert rows.span_of_best([(38, 33, 43), (42, 36, 48)], 'lower') == (33, 43)


PRESETS = [f'preset-{number}' for number in range(20)]


def whole_run(draw, moves):
    """Two rounds of twenty rows, each preset with a rate of its own; the host gives another part
    every second row, as far apart as `moves` says; 1 % of a row's own."""
    rounds_of_it = []
    for number in range(2):
        order = PRESETS if number == 0 else random.Random(number).sample(PRESETS, len(PRESETS))
        given = [1 + draw(0, moves) for _ in order[::2]]
        rounds_of_it.append([
            attempt((40 + PRESETS.index(name)) * given[i // 2] * (1 + draw(0, 0.01)), name)
            for i, name in enumerate(order)
        ])  # fmt: skip
    return {case['environ']: case for case in rows.of_report(session(*rounds_of_it))}


@pytest.mark.parametrize('moves', [0.0, 0.03, 0.1])
def test_a_row_carries_how_far_the_host_moved_all_of_them(moves):
    """The next run's figures lie in this one's intervals, whatever the host does meanwhile; and
    where it stays, the intervals are as narrow as the rows'."""
    draw = random.Random(7).gauss
    runs = [whole_run(draw, moves) for _ in range(20)]
    halves, held = [], []
    for run, later in zip(runs, runs[1:]):
        for name, case in run.items():
            low, high = case['intervals']['triad']
            held.append(low <= of_case.figures(later[name])['triad'].value <= high)
            halves.append((high - low) / 2 / of_case.figures(case)['triad'].value)
    assert statistics.mean(held) > 0.9
    assert statistics.median(halves) < 0.03 + 3 * moves


def test_rounds_too_far_apart_for_an_interval_are_unstable_not_pass():
    """As a program's own interval beyond half its figure is none; each row as wide as it is."""
    halves = [[attempt(40.0 * given, name) for name in PRESETS] for given in (1, 0.6, 0.95)]
    case, *_ = rows.of_report(session(*halves))
    word, why = judge(case)
    assert word == 'INVALID' and why.startswith('unstable (triad 40.0 ±'), why
    assert 'beyond half the figure is none' in why and rows.transient(case)
    allowed = [[one | {'allow': 'too-short,unstable'} for one in half] for half in halves]
    assert judge(rows.of_report(session(*allowed))[0])[0] == 'PASS'
    near = [[attempt(40.0 * given, name) for name in PRESETS] for given in (1, 0.9, 0.95)]
    assert judge(rows.of_report(session(*near))[0])[0] == 'PASS'


def test_too_few_rounds_say_nothing_of_the_host():
    def whole(count):
        halves = [[attempt(40.0 * given, name) for name in PRESETS[:count]] for given in (1, 0.95)]
        return rows.of_report(session(*halves))[0]['intervals']['triad']

    freedom = between_rounds.LEAST
    assert whole(freedom - 1) == pytest.approx((38.0, 40.0))
    low, high = whole(freedom)
    t, deviation = stats.t.ppf(0.975, freedom), abs(math.log(0.95)) / 2**0.5
    apart = t * deviation * between_rounds.BEST_TO_BEST
    assert math.log(high / 40) == pytest.approx(apart)
    assert math.log(40 / low) == pytest.approx(math.hypot(apart, math.log(0.95)))


def test_only_what_the_weather_spoilt_is_measured_once_more_and_not_all_of_it():
    spoilt, wrong = attempt(0, why=DISTURBED), attempt(0, 'gcc-o3', why=WRONG)
    report = session([spoilt, wrong, attempt(1.0, 'clang-o3')])
    assert [case['environ'] for case in rounds.spoilt(report)] == ['gcc-o2']
    assert rounds.spoilt(session([spoilt, attempt(0, 'gcc-o3', why=DISTURBED)])) == []


def test_what_is_not_measured_in_rounds_is_measured_once_more_as_far_as_there_is_time():
    long = [attempt(0, name, why=DISTURBED, time_run=25.0) for name in ('gcc-o2', 'gcc-o3')]
    short = attempt(0, 'clang-o2', why=DISTURBED, time_run=15.0)
    row = attempt(0, 'clang-o3', why=DISTURBED, time_run=99.0, in_rounds=True)
    whole = [attempt(1.0, f'preset-{number}') for number in range(4)]
    chosen = rounds.spoilt(session([*long, short, row, *whole]))
    assert [case['environ'] for case in chosen] == ['clang-o3', 'clang-o2', 'gcc-o2']
    assert rounds.last_takes(chosen) == 10 + 15 + 25  # said before it begins


@pytest.mark.parametrize('count, seconds', [(1, 30), (10, 3), (3, 10), (20, 2)])
def test_what_was_spoilt_has_a_bound_for_all_of_it_together(count, seconds):
    assert rounds.last_seconds(count) == seconds


def test_a_further_session_restores_the_first_and_selects_by_itself():
    words = rounds.words('first.json', ['-n', 'stream', '-Sx=1', '-pgcc.*', '--name=one', '-v'],
                         [attempt(1.0), attempt(1.0, 'gcc-o3', 'none')])  # fmt: skip
    assert words[:4] == ['-Sx=1', '-v', '--restore-session=first.json', '--exec-order=random']
    assert words[4:8] == ['-n', '/hashnone', '-n', '/hashomp']
    assert words[8:] == ['-p', r'^(gcc\-o2|gcc\-o3)$']


@pytest.mark.parametrize('word', ['--dry-run', '--reruns=3', '--restore-session'])
def test_who_repeats_by_means_of_reframe_is_left_alone(word):
    assert not rounds.applies(['-n', 'stream', word])


def test_the_runs_of_a_further_session_are_of_the_same_report(tmp_path):
    for name, end in (('first', 5), ('other', 9)):
        info = {'time_end': str(end), 'time_end_unix': end, 'num_cases': 1}
        text = json.dumps({'session_info': info, 'runs': [{'testcases': [attempt(end)]}]})
        (tmp_path / name).write_text(text)
    report = rounds.merge(tmp_path / 'first', tmp_path / 'other')
    assert [rows.of_case.figures(c)['triad'].value for c in rows.of_case.cases_of(report)] == [
        5,
        9,
    ]
    assert not (tmp_path / 'other').exists()
    assert json.loads((tmp_path / 'first').read_text()) == report


def test_who_interrupts_a_run_has_what_was_measured_until_then(monkeypatch, tmp_path, capsys):
    """Ctrl-C in the second round: ReFrame writes the report of what had ended, then ends; the
    program under way writes its record, which ReFrame does not read."""
    ended = {'result': 'abort', 'fail_phase': 'run', 'fail_reason': 'aborted due to '
             'KeyboardInterrupt', 'perfvalues': {}, 'stagedir': str(tmp_path)}  # fmt: skip
    (tmp_path / 'record.json').write_text('{"complete": false}\n')
    sessions = [[attempt(40.0, 'gcc-o2'), attempt(41.0, 'gcc-o3')],
                [attempt(42.0, 'gcc-o2'), attempt(0, 'gcc-o3') | ended]]  # fmt: skip

    def interrupted(words, base, verbose):
        (file,) = (word.partition('=')[2] for word in words if word.startswith('--report-file='))
        cases = [case | {'in_rounds': True} for case in sessions.pop(0)]
        times = {'time_end': '', 'time_end_unix': 0}
        report = session(cases) | {'session_info': times | {'num_cases': len(cases)}}
        with open(file, 'w') as stream:
            json.dump(report, stream)
        if not sessions:
            raise KeyboardInterrupt
        return []

    for place in (reframe_run, run_lock):
        monkeypatch.setattr(place, 'root', lambda: str(tmp_path))
    monkeypatch.setattr(reframe_run, 'partitions_of', lambda system: [{'scheduler': 'local'}])
    monkeypatch.setattr(reframe_run, 'reframe', interrupted)
    with pytest.raises(KeyboardInterrupt):
        reframe_run.measure('local', [], 2)
    out, err = capsys.readouterr()
    assert '42.0 ±2.0' in out and 'Verdict: PASS: 2 passed' in out
    assert '1 of 2 rounds not measured' in out
    assert (
        'cut short was stream gcc-o3 omp, its record: ' in err
    )  # its record is kept, the round's is not left
    (record,) = (tmp_path / 'results/records').iterdir()
    assert record.read_text() == '{"complete": false}\n'
    assert [file.suffix for file in (tmp_path / 'results').rglob('*run-*')] == ['.json']


def test_a_case_that_its_time_limit_ended_is_not_measured_and_its_record_is_kept(tmp_path):
    """ReFrame reads nothing then: what the program saved lies in the stage, for the next run to
    empty."""
    why = 'job error: [jobid=7] job timed out (3.1s > 3.0s)'
    ended = {'result': 'fail', 'fail_phase': 'run_wait', 'fail_reason': why, 'perfvalues': {},
             'stagedir': str(tmp_path)}  # fmt: skip
    report = session([attempt(41.0, 'gcc-o3'), attempt(0, 'gcc-o2') | ended])
    text, status = summary.verdict(rows.of_report(report))
    assert (text.partition(':')[0], status) == ('NOT MEASURED', 1)
    assert list(under_way.kept(report, tmp_path / 'results')) == []
    (tmp_path / 'record.json').write_text('{"complete": false}\n')
    (said,) = under_way.kept(report, tmp_path / 'results')
    (record,) = (tmp_path / 'results/records').iterdir()
    assert said == f'cut short was stream gcc-o2 omp, its record: {record}'
    assert record.read_text() == '{"complete": false}\n'
