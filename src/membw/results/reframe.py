"""Reads ReFrame's own report: which cases there were, and which were not measured.

What was measured is in the records (results/table.py).
"""

import json

from membw.results.table import BadRecord

# of a test case: what each has, and what is text where it is there
ALWAYS = 'name', 'system', 'partition', 'environ', 'result'
TEXTS = (
    *ALWAYS, 'unique_name', 'display_name', 'uuid', 'record', 'stagedir', 'reasons', 'verdict',
    'fail_reason', 'fail_phase', 'node', 'pinning',
)  # fmt: skip


def parse_report(text: str) -> dict:
    """A report's JSON object, checked; BadRecord if it is not as ReFrame writes it."""
    name = ''
    try:
        report = json.loads(text)
        if not isinstance(report['session_info'], dict):
            raise TypeError('no session')
        for run in report['runs']:
            for case in run['testcases']:
                name = f'{case["name"]!a}: '
                _check(case)
    except KeyError as err:
        raise BadRecord(f'not a report as ReFrame 4.10 writes it: {name}{err} is missing') from err
    except (AttributeError, TypeError, ValueError, RecursionError) as err:
        raise BadRecord(f'not a report as ReFrame 4.10 writes it: {name}{str(err)[:100]}') from err
    return report


def _check(case: dict) -> None:
    """TypeError where a field is of another type than ReFrame's."""
    wrong = [name for name in TEXTS if not isinstance(case.get(name) or '', str)]
    wrong += [name for name in ALWAYS if not case.get('fixture') and case[name] is None]
    if wrong:
        raise TypeError(f"'{wrong[0]}' is {ascii(case[wrong[0]])[:80]}")
    if not isinstance(case.get('perfvalues') or {}, dict):
        raise TypeError("'perfvalues' is no mapping")
