"""Faults that nobody chose: made by rule in each room of verdicts, a sample of each day.

usage: python ci/generated_mutants.py [--sample N] [--seed WORD] [--quick] [ROOM ...]

The tests of a room run against each fault, first those that call the function it is in. A line per
fault that lives, a score per room. The seed is the day; N is 60. --quick: where tests call the
function, no others are run. Exit status: 0; 2 if tests fail without a fault.

Why no tool of PyPI: mutmut 3.8 leaves constants of modules as they are, and there our limits
stand. Of the 350 faults that cosmic-ray 8.7 makes of the 146 lines of rank/group.py most are
errors of types (`<<` for `*`), and none drops a clause. Each brings twenty packages.
"""

import argparse
import ast
import copy
import datetime
import json
import os
import pathlib
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

# what tests need is imported once; membw itself anew for each fault, in a process of its own
import msgspec  # noqa: F401
import mutants
import numpy as np  # noqa: F401
import pytest
import yaml  # noqa: F401

MEMBW = 'src/membw'
# looks for a commit, and the copy is no repository
OF_THE_REPOSITORY = (
    'tests/membw/expected/test_published.py::'
    'test_a_commit_has_its_sources_where_it_is_in_this_repository'
)
ROOMS = {  # {room: (its files, the tests that must find what is wrong there)}
    'results': (
        [f'results/{n}.py' for n in ('verdict', 'too_good', 'case', 'node_names')] + ['words.py'],
        ['results', 'summary'],
    ),
    'rank': (['rank'], ['rank']),
    'statistics': (['statistics'], ['statistics', 'history', 'rank/test_judge.py']),
    'node': (['node'], ['node']),
    'history': (['history'], ['history']),
    'accept': (['accept'], ['accept']),
    'expected': (['expected'], ['expected', f'--deselect={OF_THE_REPOSITORY}']),
    'calibrate': (['calibrate'], ['calibrate']),
}
MOST_S, MOST_BYTES = 600, 8 << 30

OTHER = {  # each stands for the other
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
OTHER_CALL = {'min': 'max', 'max': 'min', 'any': 'all', 'all': 'any'}


class Mutant(NamedTuple):
    file: str
    function: int  # the line on which the innermost one begins; 0: none
    node: ast.AST
    new: ast.AST

    def text(self, source: str) -> str:
        """The source with the fault in it."""
        begin, end = place(source, self.node)
        instead = ast.unparse(self.new)
        if isinstance(self.node, ast.expr):
            instead = f'({instead})'
        encoded = source.encode()
        return (encoded[:begin] + instead.encode() + encoded[end:]).decode()

    def __str__(self) -> str:
        old, new = (' '.join(ast.unparse(n).split())[:150] for n in (self.node, self.new))
        return f'{self.file}:{self.node.lineno}: {old} -> {new}'


def place(source: str, node: ast.AST) -> tuple[int, int]:
    """Where it begins and ends, in bytes."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    return lines[node.lineno - 1] + node.col_offset, lines[
        node.end_lineno - 1
    ] + node.end_col_offset


def changed(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def faults(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand there instead: a limit one further, a clause less, another word."""
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                yield changed(node, ops=[*ops[:at], OTHER[type(op)](), *ops[at + 1 :]])
        case ast.BoolOp(op=op, values=values):
            yield changed(node, op=OTHER[type(op)]())
            for at in range(len(values)):
                rest = [*values[:at], *values[at + 1 :]]
                yield changed(node, values=rest) if len(rest) > 1 else rest[0]
        case ast.BinOp(op=op) if type(op) in OTHER:
            yield changed(node, op=OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=float(value)):
            yield from (ast.Constant(value * 1.5 or 1.0), ast.Constant(value / 1.5 or -1.0))
        case ast.Call(func=ast.Name(id=name)) if name in OTHER_CALL:
            yield changed(node, func=ast.Name(OTHER_CALL[name]))
        case ast.Return(value=value) if value and not is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Raise():
            yield ast.Pass()


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def of_file(name: str, source: str) -> Iterator[Mutant]:
    """All of a file but in types, in patterns, and in f-strings, of which no place is known."""

    def visit(node: ast.AST, function: int) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef):
            function = min(n.lineno for n in (node, *node.decorator_list))
        yield from (Mutant(name, function, node, new) for new in faults(node))
        if isinstance(node, ast.comprehension):
            yield from (Mutant(name, function, n, ast.Constant(True)) for n in node.ifs)
        for field, value in ast.iter_fields(node):
            if field not in ('annotation', 'returns', 'decorator_list', 'pattern'):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                        yield from visit(child, function)

    return visit(ast.parse(source), 0)


def forget() -> None:
    """Nothing of membw is kept from test to test, so that each calls what it needs."""
    of_membw = [module for name, module in sys.modules.items() if name.split('.')[0] == 'membw']
    for value in (value for module in of_membw for value in vars(module).values()):
        if hasattr(value, 'cache_clear'):
            value.cache_clear()


class Watch:
    """Of each test how long it takes and which functions below `under` it calls; what fails first.
    With `order`, only those tests run, in that order."""

    def __init__(self, under: pathlib.Path | None = None, order: list[str] | None = None) -> None:
        self.under, self.order, self.failed = str(under), order, ''
        self.tests: dict[str, tuple[float, list]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list) -> None:
        if self.order is not None:
            at = {name: place for place, name in enumerate(self.order)}
            items[:] = sorted((i for i in items if i.nodeid in at), key=lambda i: at[i.nodeid])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        called = set()

        def note(frame, event, arg) -> None:  # noqa: ANN001
            if event == 'call' and frame.f_code.co_filename.startswith(self.under):
                called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

        began = time.process_time()
        if self.order is None:
            forget()
            sys.setprofile(note)
            threading.setprofile(note)
        yield
        sys.setprofile(None)
        self.tests[item.nodeid] = time.process_time() - began, sorted(called)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


def run(folder: pathlib.Path, tests: list[str], watch: Watch, most_s: int) -> tuple[int, dict]:
    """(pytest's status, or above 100: by which signal it ended; what it noted), in a process of
    its own, in which membw is imported for the first time."""
    said = folder / 'said.json'
    said.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        os.chdir(folder)
        with open('output.txt', 'w') as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        os.environ.update(mutants.environment(folder))
        sys.path.insert(0, str(folder / 'src'))
        status = pytest.main(['-x', '-q', '-p', 'no:cacheprovider', *tests], [watch])
        said.write_text(json.dumps({'failed': watch.failed, 'tests': watch.tests}))
        os._exit(int(status))
    end, done = time.monotonic() + MOST_S, (0, 0)
    while not done[0]:
        time.sleep(0.02)
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        done = os.waitpid(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test left behind
    status = os.waitstatus_to_exitcode(done[1])
    return (100 - status if status < 0 else status), (
        json.loads(said.read_text()) if said.is_file() else {}
    )


def order_of(mutant: Mutant, folder: pathlib.Path, tests: dict, is_quick: bool) -> list[str]:
    """The tests that call its function, the shortest first, and then the others."""
    here = [str(folder / mutant.file), mutant.function]
    calls = {name: here in called for name, (_, called) in tests.items()}
    if is_quick and any(calls.values()):
        tests = {name: test for name, test in tests.items() if calls[name]}
    return sorted(tests, key=lambda name: (not calls[name], tests[name][0]))


def try_room(room: str, folder: pathlib.Path, sample: int, seed: str, is_quick: bool) -> None:
    sources, tests = ROOMS[room]
    tests = [name if name[0] == '-' else f'tests/membw/{name}' for name in tests]
    files = [
        f
        for s in sources
        for f in sorted((folder / MEMBW).glob(f'{s}/*.py' if '.' not in s else s))
    ]
    every = [m for f in files for m in of_file(str(f.relative_to(folder)), f.read_text())]
    chosen = random.Random(f'{seed} {room}').sample(every, min(sample, len(every)))
    status, noted = run(folder, tests, Watch(under=folder / MEMBW), MOST_S)
    if status or not files:
        raise SystemExit(f'mutants: without any fault: {room}: {noted.get("failed") or status}')
    sys.dont_write_bytecode = True  # a fault of the same second would have the file's old code
    most_s = int(3 * sum(seconds for seconds, _ in noted['tests'].values())) + 10
    found = 0
    for mutant in chosen:
        path = folder / mutant.file
        source = path.read_text()
        path.write_text(mutant.text(source))
        for compiled in path.parent.glob(f'__pycache__/{path.stem}.*'):
            compiled.unlink()
        order = order_of(mutant, folder, noted['tests'], is_quick)
        needed = [*dict.fromkeys(name.partition('::')[0] for name in order)]
        status, said = run(folder, needed, Watch(order=order), most_s)
        path.write_text(source)
        found += status != 0
        by = 'LIVES' if not status else said.get('failed') or f'status {status}'
        print(f'{by}: {mutant}', flush=True)
    score = f'{found} of {len(chosen)} found ({100 * found / len(chosen):.0f} %)'
    print(f'mutants: {room}: {score}, of {len(every)} that can be made', flush=True)
    sys.dont_write_bytecode = False


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].removeprefix('usage: '))
    parser.add_argument('rooms', nargs='*', metavar='ROOM')
    parser.add_argument('--sample', type=int, default=60)
    parser.add_argument('--seed', default=datetime.date.today().isoformat())
    parser.add_argument('--quick', action='store_true')
    given = parser.parse_args()
    if wrong := set(given.rooms) - set(ROOMS):
        parser.error(f'no such room: {", ".join(wrong)}; there are {", ".join(ROOMS)}')
    print(f'mutants: the sample of {given.seed}')
    with tempfile.TemporaryDirectory() as name:
        folder = mutants.copy(pathlib.Path(name))
        for room in given.rooms or ROOMS:
            try_room(room, folder, given.sample, given.seed, given.quick)


if __name__ == '__main__':
    main()
