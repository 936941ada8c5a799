"""A value after `-S` that makes no sense: one line, exit status 2, before anything is measured.

An error of a check's hook would not do: ReFrame passes over the check and ends with status 0.
"""

import sys
from typing import NoReturn

import reframe as rfm
from reframe.core.fields import remove_convertible


def refuse(check: rfm.RegressionTest, fact: str) -> NoReturn:
    end(type(check).__name__, fact)


class wrong_type_is_refused:
    """`-S array_size=abc`: ReFrame ends with a traceback."""

    @classmethod
    def setvar(cls, name: str, value: object) -> object:
        try:
            return type(cls).setvar(cls, name, value)
        except (TypeError, ValueError) as err:
            end(cls.__name__, f"'-S {name}={remove_convertible(value)}': {err}")


def end(name: str, fact: str) -> NoReturn:
    print(f'membw: {name}: {fact}', file=sys.stderr)
    raise SystemExit(2)
