"""What `-S` sets: refused where it makes no sense, else words of a command line.

Refused is one line, exit status 2, before anything is measured. An error of a check's hook would
not do: ReFrame passes over the check and ends with status 0.
"""

import sys
from typing import NoReturn

import reframe as rfm
from reframe.core.fields import remove_convertible


def refuse(check: rfm.RegressionTest, fact: str) -> NoReturn:
    end(type(check).__name__, fact)


def end(name: str, fact: str) -> NoReturn:
    print(f'membw: {name}: {fact}', file=sys.stderr)
    raise SystemExit(2)


class own_variables:
    """For every test class."""

    @classmethod
    def setvar(cls, name: str, value: object) -> object:
        """`-S array_size=abc`: ReFrame ends with a traceback."""
        try:
            return type(cls).setvar(cls, name, value)
        except (TypeError, ValueError) as err:
            end(cls.__name__, f"'-S {name}={remove_convertible(value)}': {err}")

    @classmethod
    def loggable_attrs(cls) -> list[tuple]:
        """Without `variables`, deprecated since ReFrame 4.0: it unwinds the stack each time it is
        read, and all variables are read for each line of the log. `env_vars` stays."""
        return [attr for attr in type(cls).loggable_attrs(cls) if attr[0] != 'variables']


def option_words(given: dict[str, object]) -> list[str]:
    """['-n', '1000'] of {'-n': 1000, '--pages': None}: without a value the program decides."""
    return [word for name, value in given.items() if value for word in (name, str(value))]
