"""The order in which `membw run` measures: STREAM first, last what takes a minute or more."""

from typing import Any

LAST = ('nbody', 'loaded', 'ladder', 'tiers', 'numa_scan')  # the quicker ones first


def in_order(cases: list[Any]) -> list[Any]:
    """ReFrame's cases: each after what it needs; rounds in turn, of each the pinning by OpenMP
    first."""
    own, ordered = {case: case for case in cases}, dict[Any, None]()

    def add(case: Any) -> None:
        for needed in case.deps:
            if needed in own:
                add(own[needed])
        ordered.setdefault(case)

    for case in sorted((case for case in cases if not case.check.is_fixture()), key=place):
        add(case)
    return [*ordered, *(case for case in cases if case not in ordered)]


def place(case: Any) -> tuple[bool, int, int, bool]:
    test, round = type(case.check).__name__, getattr(case.check, 'round', 1)
    late = 1 + LAST.index(test) if test in LAST else 0
    return test != 'stream', late, round, getattr(case.check, 'pinning', 'omp') != 'omp'
