"""The faults that are planted for the tests to find: chosen ones, and such as nobody chose."""

import ast
import subprocess
import sys

import pytest
from places import ROOT

CHOSEN = """\
- tests: tests/test_it.py
  it.py:
  - ['a > 1', 'a >= 1']
  - ['a > 2', 'a >= 2']
"""
SOURCE = '''\
LIMIT = 3


def low(a: int = 0) -> bool:
    """Up to 3."""
    for _ in range(2):
        if a > LIMIT and not f'{a > 1}':
            continue
        print(min(a, 1.5))
    return [x for x in (a, -1) if x + a]
'''
MADE = [
    '1: 3 -> 4', '1: 3 -> 2', '4: 0 -> 1', '4: 0 -> -1', '6: 2 -> 3', '6: 2 -> 1',
    "7: a > LIMIT and (not f'{a > 1}') -> a > LIMIT or not f'{a > 1}'",
    "7: a > LIMIT and (not f'{a > 1}') -> not f'{a > 1}'",
    "7: a > LIMIT and (not f'{a > 1}') -> a > LIMIT", '7: a > LIMIT -> a >= LIMIT',
    "7: not f'{a > 1}' -> f'{a > 1}'", '8: continue -> pass', '9: print(min(a, 1.5)) -> pass',
    '9: min(a, 1.5) -> max(a, 1.5)', '9: 1.5 -> 2.25', '9: 1.5 -> 1.0',
    '10: return [x for x in (a, -1) if x + a] -> return None', '10: x + a -> True', '10: 1 -> 2',
    '10: 1 -> 0', '10: x + a -> x - a',
]  # fmt: skip


@pytest.fixture
def generated(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'ci')
    import generated_mutants

    return generated_mutants


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'ci')
    import mutants

    return mutants


def test_each_chosen_fault_has_its_place_in_the_sources(mutants):
    assert len(mutants.rooms()) > 10


def test_a_text_that_stands_nowhere_or_twice_is_an_error(tmp_path, mutants):
    (tmp_path / 'ci').mkdir()
    (tmp_path / 'ci/mutants.yaml').write_text(CHOSEN)
    for source, wrong in {
        'a > 1': ["'a > 2' stands there 0"],
        'a > 1, a > 2, a > 2': ["'a > 2' stands there 2"],
        '': ["'a > 1' stands there 0", "'a > 2' stands there 0"],
    }.items():
        (tmp_path / 'it.py').write_text(source)
        with pytest.raises(SystemExit) as end:
            mutants.rooms(tmp_path)
        assert all(text in str(end.value) for text in wrong)
    (tmp_path / 'it.py').write_text('a > 1, a > 2')
    assert len(mutants.rooms(tmp_path)) == 1


def test_faults_that_nobody_chose_are_in_code_alone_and_each_is_python(generated):
    made = [*generated.of_file('it.py', SOURCE)]
    assert sorted(str(m).removeprefix('it.py:') for m in made) == sorted(MADE)
    assert all(ast.parse(m.text(SOURCE)) and m.text(SOURCE) != SOURCE for m in made)
    assert {m.function for m in made if m.node.lineno > 1} == {4}


@pytest.mark.parametrize('test, score', [
    ('low(3) == [3, -1]', '1 of 1'), ('low(3)', '0 of 1'), ('low(4) == 0', ''),
])  # fmt: skip
def test_the_score_of_a_room(tmp_path, test, score):
    """In a folder of its own: one fault, and a test that finds it, finds it not, fails anyway."""
    (tmp_path / 'src/membw/room').mkdir(parents=True)
    (tmp_path / 'tests/membw/room').mkdir(parents=True)
    (tmp_path / 'src/membw/__init__.py').touch()
    (tmp_path / 'src/membw/room/it.py').write_text('def low(a):\n    return [a, -1]\n')
    (tmp_path / 'tests/membw/room/test_it.py').write_text(
        f'from membw.room.it import low\n\ndef test_low():\n    assert {test}\n'
    )
    (tmp_path / 'pyproject.toml').write_text('[tool.pytest.ini_options]\n')
    script = f"""
import pathlib, sys
sys.path.insert(0, {str(ROOT / 'ci')!r})
import generated_mutants as g
g.ROOMS = {{'room': (['room'], ['room'])}}
g.faults = lambda node: [g.ast.Return(g.ast.Constant(5))] if isinstance(node, g.ast.Return) else []
g.try_room('room', pathlib.Path({str(tmp_path)!r}), 9, 'a day', False)
"""
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True)
    if not score:
        assert (
            done.returncode
            and 'without any fault: room: tests/membw/room/test_it.py' in done.stderr
        )
        return
    assert f'mutants: room: {score} found' in done.stdout, done.stderr
    assert ('LIVES: src/membw/room/it.py:2: return [a, -1] -> return 5' in done.stdout) == (
        score == '0 of 1'
    )
    assert (tmp_path / 'src/membw/room/it.py').read_text().endswith('return [a, -1]\n')
