"""Who else was at work: named by the processes that took the CPUs meanwhile."""

import os

import pytest

from membw.run import others


def stat(folder, pid, name, ticks):
    (folder / str(pid)).mkdir(exist_ok=True)
    fields = ['S', *['0'] * 10, *map(str, ticks), *['0'] * 30]
    (folder / str(pid) / 'stat').write_text(f'{pid} ({name}) {" ".join(fields)}\n')


def test_processes_of_one_name_are_added_with_their_ended_children(tmp_path):
    """This one is none of the others, and the orphans of all are not init's work."""
    stat(tmp_path, 7, 'cc1 (a) b', (100, 10, 0, 0))
    stat(tmp_path, 8, 'make', (0, 0, 500, 0))
    stat(tmp_path, os.getpid(), 'membw', (1, 0, 0, 0))
    stat(tmp_path, 1, 'init', (0, 0, 0, 0))
    before = others.seconds_of_processes(tmp_path)
    stat(tmp_path, 7, 'cc1 (a) b', (150, 10, 0, 0))
    stat(tmp_path, 9, 'cc1 (a) b', (25, 0, 0, 0))
    stat(tmp_path, 8, 'make', (0, 0, 500, 200))
    stat(tmp_path, 1, 'init', (0, 0, 900, 0))
    taken = others.by_name(before, others.seconds_of_processes(tmp_path))
    tick = os.sysconf('SC_CLK_TCK')
    assert taken == {'cc1 (a) b': pytest.approx(75 / tick), 'make': pytest.approx(200 / tick)}


def test_the_text_names_who_took_most_and_says_nothing_of_a_quiet_machine(tmp_path, monkeypatch):
    cpus = others.cores_here()

    def machine(busy):
        lines = [f'cpu{cpu} {busy} 0 0 0 0 0 0 0 0 0' for cpu in cpus]
        (tmp_path / 'stat').write_text('\n'.join(lines) + '\n')

    machine(0)
    stat(tmp_path, 7, 'cc1', (0, 0, 0, 0))
    seen = others.Others(tmp_path)
    began = seen.before.wall
    monkeypatch.setattr(others.interference.time, 'monotonic', lambda: began + 10)
    assert seen.text() == ''
    machine(9 * os.sysconf('SC_CLK_TCK'))
    stat(tmp_path, 7, 'cc1', (4 * os.sysconf('SC_CLK_TCK'), 0, 0, 0))
    total = f'{0.9 * len(cpus):.1f} of {len(cpus)} CPUs'
    assert seen.text() == f'{total}: cc1 0.4'
