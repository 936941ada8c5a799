"""Other programs as they are at their worst: nothing of it is a traceback, and nobody waits for
ever."""

import ast
import time

import pytest
from places import ROOT

from membw.call import LATE, NOT_STARTED, call
from membw.node import battery
from membw.site import slurm
from membw.system import compiler_modules, node
from membw.system import slurm as of_system

# a script of sh, or what stands in its place; the status, what is said
WORST = {
    'another encoding': (r"printf 'Gr\374\337e\n'; exit 3", 3, ''), 'nothing': ('exit 0', 0, ''),
    'a signal': ('kill -SEGV $$', -11, ''), 'closed': ('exec >&- 2>&-', 0, ''),
    'its own 127': ('exit 127', NOT_STARTED, ''), 'its own 124': ('exit 124', LATE, ''),
    'late': ('exec sleep 60', LATE, 'no answer within 1 s'),
    'a child that keeps stdout': ('sleep 60 & exit 0', LATE, 'no answer within 1 s'),
    'it reads': ('cat', 0, ''), 'a folder': (None, NOT_STARTED, 'Permission denied'),
    'not executable': ('', NOT_STARTED, 'Permission denied'),
    'no interpreter': ('#!/nowhere/sh', NOT_STARTED, 'No such file'),
}  # fmt: skip


@pytest.fixture
def place(tmp_path):
    """place(NAME, KIND): a program of that kind."""

    def of(name, kind):
        file, text = tmp_path / name, WORST[kind][0]
        if text is None:
            file.mkdir()
            return file
        file.write_text(text if text.startswith('#!') else f'#!/bin/sh\n{text}\n')
        file.chmod(0o755 if text else 0o644)
        return file

    return of


@pytest.mark.parametrize('kind', WORST)
def test_a_program_is_called_without_an_exception(place, kind):
    _, status, said = WORST[kind]
    began = time.monotonic()
    done = call([str(place('tool', kind))], 1)
    assert (done.returncode, said in done.stderr) == (status, True), done
    assert time.monotonic() - began < 30


ASKED = {
    'lscpu': lambda: node.model(), 'device': None, 'bash': lambda: compiler_modules.available(),
    'sinfo': lambda: slurm.table('sinfo', '%R|%l'),
    'srun': lambda: of_system.node_facts('cpu', []),
}  # fmt: skip


@pytest.mark.parametrize('kind', [kind for kind in WORST if WORST[kind][1] != LATE])
@pytest.mark.parametrize('name', ASKED)
def test_who_asks_one_goes_on_or_says_why(place, monkeypatch, tmp_path, name, kind):
    file = place(name, kind)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=':')
    ask = ASKED[name] or (lambda: battery.of_cards(file))
    try:
        ask()
    except (slurm.NoAnswer, of_system.MembwError) as err:
        assert name in str(err) or 'printed no facts' in str(err)


def test_nobody_reads_another_program_by_our_encoding_alone():
    """`text=True` without `errors` is a UnicodeDecodeError of what a site's prolog prints."""
    wrong = []
    for file in [*ROOT.glob('src/membw/**/*.py'), *ROOT.glob('reframe-checks/**/*.py')]:
        calls = (n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call))
        names = ({keyword.arg for keyword in one.keywords} for one in calls)
        wrong += [
            str(file)
            for of in names
            if {'text', 'capture_output'} <= of - {'errors'} and 'errors' not in of
        ]
    assert wrong == []
