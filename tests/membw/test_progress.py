"""What a command says while it works."""

import time

import pytest

from membw import progress


def cases(*lines):
    """The texts of ReFrame's lines, ten seconds apart."""
    seconds = iter(range(0, 1000, 10))
    counted = progress.Cases(lambda: next(seconds))
    return list(filter(None, map(counted.take, lines)))


def test_all_rounds_are_counted_and_a_case_is_named_without_its_hash():
    said = cases(
        '[ RUN      ] stream_binary ~local:default+gcc-o2 /ddcb375e @local:default+gcc-o2',
        '[       OK ] (1/5) stream_binary ~local:default+gcc-o2 /ddcb375e @local:default+gcc-o2',
        '[ RUN      ] stream %round=2 %pinning=omp /94e6a504 @local:default+gcc-o2',
    )
    assert said == [
        'build of stream gcc-o2',
        '2 of 5, about 40 s left: stream gcc-o2 omp, round 2',
    ]


@pytest.mark.parametrize('is_terminal', [False, True])
def test_a_long_case_is_said_again_where_there_is_no_terminal(monkeypatch, capsys, is_terminal):
    monkeypatch.setattr(progress, 'EVERY_S', 0.05)
    monkeypatch.setattr('sys.stderr.isatty', lambda: is_terminal, raising=False)
    passing = progress.Passing()
    passing.now('stream gcc-o2')
    time.sleep(0.3)
    passing.close()
    said = capsys.readouterr().err
    if is_terminal:
        assert said == '\r\033[Kstream gcc-o2 ...\r\033[K'
    else:
        assert said.count('membw: stream gcc-o2\n') >= 2
