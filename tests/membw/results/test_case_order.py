"""In which order `membw run` measures."""

import types

from membw.results.case_order import in_order


class Case:
    def __init__(self, test, deps=(), round=1, pinning=None):
        more = {'pinning': pinning} if pinning else {}
        self.check = type(test, (), {'round': round, **more, 'is_fixture': lambda self: False})()
        self.deps, self.name = list(deps), f'{test} {round} {pinning}'


def build(name):
    case = Case(name)
    case.check = types.SimpleNamespace(is_fixture=lambda: True)
    return case


def test_stream_is_first_and_each_case_follows_what_it_needs():
    tool, program, other, alone = map(build, ('tool', 'program', 'other', 'alone'))
    program.deps = [tool, build('of another session')]
    rows = [Case('stream', [program], round, pin) for round in (2, 1) for pin in ('none', 'omp')]
    late = [Case(name, [other]) for name in ('ladder', 'nbody', 'pingpong')]
    cases = [other, *late, tool, program, *rows, alone]
    ordered = in_order(cases)
    assert sorted(map(id, ordered)) == sorted(map(id, cases))
    names = [case.name.split()[0] for case in ordered]
    assert names[:2] == ['tool', 'program'] and ordered[2:6] == rows[::-1]
    assert names[6:] == ['other', 'pingpong', 'nbody', 'ladder', 'alone']
