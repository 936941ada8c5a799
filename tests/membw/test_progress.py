"""What a command says while it works."""

import time

import pytest
from made_run import MadeRun, metric

from membw import progress

WHERE = '@local:default+gcc-o2'
BUILD = f'stream_binary ~local:default+gcc-o2 /ddcb375e {WHERE}'


def begins(test):
    return f'[ RUN      ] {test} {WHERE}'


def ends(test, number, total):
    return f'[       OK ] ({number}/{total}) {test} {WHERE}'


def session(*tests, total=20):
    """Lines of cases that ended, then the begin of the last."""
    for number, test in enumerate(tests[:-1], 1):
        yield from (begins(test), ends(test, number, total))
    yield begins(tests[-1])


@pytest.fixture
def clock(monkeypatch):
    """Ten seconds between two lines."""
    now = [1e9]
    monkeypatch.setattr(time, 'time', lambda: now[0])
    return now


def said(clock, cases, lines):
    for line in lines:
        clock[0] += 10
        cases.take(line)
    clock[0] += 3
    return cases.text()


RUNS = [f'stream %round=1 %pinning={name} /94e6a504' for name in ('omp', 'none', 'likwid')]
TEXTS = [
    ([BUILD], {}, 'building stream gcc-o2, 3 s so far'),
    ([BUILD, RUNS[0]], {}, '2 of 20: stream gcc-o2 omp, round 1, 3 s so far'),
    (RUNS, {}, '3 of 20: stream gcc-o2 likwid, round 1, 3 s so far'),
    (RUNS, {'until': 1e9 + 100}, 'stream gcc-o2 likwid, round 1, 3 s so far'),
    (
        ['stream %round=2 %pinning=omp /94e6a504'],
        {'until': 1e9 + 53},
        'stream gcc-o2 omp, round 2, 3 s so far, about 40 s left',
    ),
]


@pytest.mark.parametrize('tests, options, text', TEXTS, ids=[t[2] for t in TEXTS])
def test_the_line_says_what_is_under_way_and_a_time_left_where_it_is_known(
    clock, tmp_path, tests, options, text
):
    cases = progress.Cases(results=tmp_path, **options)
    assert said(clock, cases, session(*tests)) == text


def test_a_program_says_what_it_has_done_of_its_own_plan(clock, tmp_path):
    stage = tmp_path / 'stage/local/default/gcc-o2/ladder_1a2b'
    stage.mkdir(parents=True)
    plan = 'membw-progress: 31 of 72 sizes, about 70 s left'
    clock[0] = 1e9
    cases = progress.Cases(results=tmp_path)
    (stage / 'rfm_job.err').write_text(f'membw-progress: 1 of 72 sizes\n{plan}\nwarning: x\n')
    text = said(clock, cases, session('ladder /1a2b'))
    assert text == 'ladder gcc-o2, 31 of 72 sizes, about 70 s left'


def test_the_best_valid_figure_so_far_is_in_the_line(tmp_path):
    cases, made = progress.Cases(results=tmp_path), MadeRun(tmp_path)
    lines = list(session(*RUNS, RUNS[0]))
    for rate, reasons in ((40, ()), (50, ()), (60, ['wrong-pinning'])):
        cases.take(lines.pop(0))
        made.add({'triad': metric(rate)}, reasons=reasons, record={'headline': 'triad'})
        cases.take(lines.pop(0))
    cases.take(lines.pop(0))
    assert cases.text().endswith('; best: triad 50 GB/s (gcc-o2)')


@pytest.mark.parametrize('is_terminal', [False, True])
def test_a_line_moves_and_none_is_said_twice(monkeypatch, capsys, is_terminal):
    monkeypatch.setattr(progress, 'EVERY_S', 0.02)
    monkeypatch.setattr(progress, 'TERMINAL_S', 0.02)
    monkeypatch.setattr('sys.stderr.isatty', lambda: is_terminal, raising=False)
    passing, texts = progress.Passing(), iter(['one', 'one', 'one', 'two'] + 99 * ['three'])
    passing.now(lambda: next(texts, 'three'))
    time.sleep(0.2)
    passing.close()
    text = capsys.readouterr().err
    if is_terminal:
        assert text.endswith('\r\033[Kthree\r\033[K')
    else:
        lines = text.splitlines()
        assert lines[-1] == 'membw: three' and len(lines) == len({*lines})
