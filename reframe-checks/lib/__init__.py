"""What checks share; each is a check only of what it measures.

Before the first of them loads: which checkout this is, and whether this ReFrame and its Python are
fit. ReFrame shows a fault of a check as a warning per file, finds 0 checks and ends with status 0.
"""

import contextlib
import functools
import importlib.util
import os
import pathlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import NoReturn

import reframe

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
OLDEST, NEWEST = (4, 10), (4, 11)  # that were tried; `$ref` of references is 4.10's
NEEDED = ('membw', 'yaml')


def end(fact: str, hint: str = '') -> NoReturn:
    print(f'membw: {fact}' + (f'\nhint: {hint}' if hint else ''), file=sys.stderr)
    raise SystemExit(2)


def look_at_reframe() -> None:
    version = tuple(map(int, re.findall(r'\d+', reframe.VERSION)[:2]))
    if version < OLDEST:
        fact = f'ReFrame {reframe.VERSION} is too old: it cannot read our references, 4.10 can'
        end(fact, f"'{sys.executable}' -m pip install 'reframe-hpc>=4.10,<4.12'")
    if version > NEWEST:
        print(f'WARNING: membw was not tried with ReFrame {reframe.VERSION}', file=sys.stderr)


def look_at_python() -> None:
    missing = ', '.join(name for name in NEEDED if not importlib.util.find_spec(name))
    if missing:
        fact = f'the Python of this ReFrame lacks {missing}'
        end(fact, f"'{sys.executable}' -m pip install '{CHECKOUT}'")


def where_it_is_shown(warn: Callable) -> Callable:
    """ReFrame unwinds the stack for each deprecated variable of each test, with its warnings
    suppressed: a third of the CPU time of a start. docs/upstream has its patch."""

    @functools.wraps(warn)
    def look_first(*args: object, **kwargs: object) -> None:
        action, _, category, *_ = warnings.filters[0]
        if (action, category.__name__) != ('ignore', 'ReframeDeprecationWarning'):
            warn(*args, **kwargs)

    return look_first


def mend_warnings() -> None:
    """Of a ReFrame that has other names nothing is changed."""
    with contextlib.suppress(ImportError, AttributeError):
        from reframe.core import fields, variables

        for module in (fields, variables):
            module.user_deprecation_warning = where_it_is_shown(module.user_deprecation_warning)


# the folder that `-c` names: an installed membw would unpack a second one
os.environ['MEMBW_ROOT'] = os.environ.get('MEMBW_ROOT') or str(CHECKOUT)
look_at_reframe()
look_at_python()
mend_warnings()
