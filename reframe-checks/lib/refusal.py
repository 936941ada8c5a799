"""A value after `-S` that makes no sense: one line, exit status 2, before anything is measured.

An error of a check's hook would not do: ReFrame passes over the check and ends with status 0.
"""

import sys


def refuse(check, fact):
    print(f'membw: {type(check).__name__}: {fact}', file=sys.stderr)
    raise SystemExit(2)
