"""What a command says while it works."""

import time

import pytest
from made_run import MadeRun

from membw import progress
from membw.results import run_events

BUILD = 'stream_binary ~local:default+gcc-o2'
RUNS = [f'stream %round=1 %pinning={name}' for name in ('omp', 'none', 'likwid')]


@pytest.fixture
def clock(monkeypatch):
    now = [1e9]
    monkeypatch.setattr(time, 'time', lambda: now[0])
    return now


def ledger(made, tests, total=20, scheduler='local', of=(), **more):
    """Of cases that ended, then the begin of the last, each ten seconds after the one before."""
    rest = [f'x{number}' for number in range(total - len(tests))]
    for name in of or (*tests, *rest):
        made.cases = []
        made.add(unique_name=name).cases[0]['name'] = name
        made.event('expected')
    for number, name in enumerate(tests, 1):
        made.cases[0]['unique_name'] = name
        begun = 1e9 + 10 * number
        made.event('setup', stage=f'{made.folder}/{name}', scheduler=scheduler, time=begun)
        job = more if name == tests[-1] else {}
        made.event('run', stage=f'{made.folder}/{name}', scheduler=scheduler, time=begun, **job)
        if name != tests[-1]:
            made.event('success', time=begun + 9)
    return str(made.path), begun + 3


TEXTS = [
    ([BUILD], {}, '1 of 20: building stream gcc-o2, 3 s so far'),
    ([BUILD, RUNS[0]], {}, '2 of 20: stream gcc-o2 omp, round 1, 3 s so far'),
    (RUNS, {'scheduler': 'slurm', 'job': '7'}, '3 of 20: stream gcc-o2 likwid, round 1, job 7'),
]


@pytest.mark.parametrize('tests, more, text', TEXTS, ids=[t[2] for t in TEXTS])
def test_the_line_says_what_is_under_way_and_since_when(clock, tmp_path, tests, more, text):
    report, clock[0] = ledger(MadeRun(tmp_path), tests, **more)
    shown = progress.under_way(report)
    assert shown.startswith(text) and ('job' in text or shown == text)
    clock[0] -= 60  # put back
    assert ' -' not in progress.under_way(report)


@pytest.mark.parametrize('kind', ['build', 'job'])
def test_a_job_that_waits_builds_and_measures_nothing(clock, tmp_path, kind):
    """In a partition that was closed it was 'building stream gcc-o2, 10 min so far'."""
    made = MadeRun(tmp_path).add(unique_name='x')
    made.cases[0]['name'] = BUILD if kind == 'build' else RUNS[0]
    event = 'compile' if kind == 'build' else 'run'
    made.event('expected').event(event, stage=f'{tmp_path}', scheduler='slurm', job='7', time=1e9)
    clock[0] = 1e9 + 40
    assert progress.under_way(str(made.path)).endswith(', job 7 waits in the queue, 40 s so far')
    (tmp_path / f'rfm_{kind}.out').touch()
    assert progress.under_way(str(made.path)).endswith(', job 7, 40 s so far')


def test_a_program_says_what_it_has_done_of_its_own_plan(clock, tmp_path):
    report, _ = ledger(MadeRun(tmp_path), ['ladder'], total=1)
    stage = tmp_path / 'ladder'
    stage.mkdir()
    plan = 'membw-progress: 31 of 72 sizes, about 70 s left'
    (stage / 'rfm_job.err').write_text(f'membw-progress: 1 of 72 sizes\n{plan}\nwarning: x\n')
    text = progress.under_way(report)
    assert text == '1 of 1: ladder gcc-o2, 31 of 72 sizes, about 70 s left'


def test_without_a_ledger_or_at_its_end_nothing_is_said(tmp_path):
    assert progress.under_way(str(tmp_path / 'run.json')) == ''


@pytest.mark.parametrize('is_terminal', [False, True])
def test_a_line_moves_and_none_is_said_twice(monkeypatch, capsys, is_terminal):
    monkeypatch.setattr(progress, 'EVERY_S', 0.02)
    monkeypatch.setattr(progress, 'TERMINAL_S', 0.02)
    monkeypatch.setattr('sys.stderr.isatty', lambda: is_terminal, raising=False)
    passing, texts, asked = progress.Passing(), iter(['one', 'one', 'one', 'two']), []
    passing.now(lambda: asked.append(1) or next(texts, 'three'))
    while len(asked) < 9:  # however long a busy machine takes
        time.sleep(0.02)
    passing.close()
    text = capsys.readouterr().err
    if is_terminal:
        assert text.endswith('\r\033[Kthree\r\033[K')
    else:
        lines = text.splitlines()
        assert lines[-1] == 'membw: three' and len(lines) == len({*lines})


AGAIN = ['stream %round=2 %pinning=omp', 'stream %round=2 %pinning=none']
LEFT = [  # what began, the last 3 s ago and each before it for 9 s; all; the run before; said
    (RUNS, [*RUNS, *AGAIN], [], ', about 24 s left'),
    (RUNS, [*RUNS, 'ladder', AGAIN[0]], [], ', more than 15 s left'),
    (['ladder'], ['ladder', *RUNS], [], ''),  # nothing is known
    (['ladder'], ['ladder', *RUNS], [*RUNS, 'x'], ', more than 24 s left'),
    (['ladder'], ['ladder', 'stream %pinning=omp'], [*RUNS, 'ladder', 'x'], ', about 15 s left'),
    (['ladder'], ['ladder', 'stream %pinning=x'], ['stream %pinning=omp', 'x'],
     ''),  # under ten seconds
]  # fmt: skip


@pytest.mark.parametrize('begun, every, before, said', LEFT)
def test_the_time_left_is_by_what_the_same_took(clock, tmp_path, begun, every, before, said):
    """In this run, else in the one before, else its test; 'more than' where some are unknown."""
    earlier = []
    if before:
        earlier = run_events.read(ledger(MadeRun(tmp_path), before, of=before)[0])
    (tmp_path / 'now').mkdir()
    report, clock[0] = ledger(MadeRun(tmp_path / 'now'), begun, of=every)
    text = progress.under_way(report, earlier)
    assert text.startswith(f'{len(begun)} of {len(every)}{said}: ')


@pytest.mark.parametrize('before, more', [([], {'scheduler': 'slurm', 'job': '7'}), (None, {})])
def test_no_time_is_promised_of_a_job_or_where_a_limit_ends_it(clock, tmp_path, before, more):
    """Others run at the same time; rounds of the quick run are left out."""
    report, clock[0] = ledger(MadeRun(tmp_path), RUNS, of=[*RUNS, *AGAIN], **more)
    assert ' left' not in progress.under_way(report, before)
