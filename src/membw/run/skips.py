"""Which cases of a ReFrame report were skipped, grouped by why."""

import collections
import os
import re
from collections.abc import Iterator
from typing import Any

SKIPPED = re.compile(r'^\[ +SKIP \] \( *\d+/\d+\) (.*?) /(\w+) @(\S+)(?: \[(.*)\])?$')
DEPENDENCY = 'skipped due to skipped dependencies'


def skip_reasons(path: str) -> dict[tuple[str, str], str]:
    """(hash, where) -> reason, from the log beside the report: the report has no word of it."""
    try:
        with open(os.path.splitext(path)[0] + '.log') as file:
            skips = [m for m in map(SKIPPED.match, file.read().splitlines()) if m]
    except OSError:
        return {}
    return {(m.group(2), m.group(3)): m.group(4) for m in skips}


def root_reason(case: Any, by_name: Any, reasons: Any) -> str:
    """Why a case was skipped; for a dependent, why what it depends on was."""
    where = f'{case["system"]}:{case["partition"]}+{case["environ"]}'
    reason = case.get('skip_reason') or reasons.get((case.get('hashcode'), where))
    if reason and reason != DEPENDENCY:
        return reason
    for name, partition, environ in case.get('dependencies_actual') or []:
        other = by_name.get((name, partition, environ))
        if other and other['result'] == 'skip':
            return root_reason(other, by_name, reasons)
    return reason or "reason not in the report: see ReFrame's output"


def skip_lines(cases: Any, reasons: Any) -> Iterator[str]:
    """Skipped runs by reason; skipped builds only where no run tells of them."""
    by_name = {
        (c.get('unique_name'), f'{c["system"]}:{c["partition"]}', c['environ']): c for c in cases
    }
    groups = collections.defaultdict(list)
    for case in cases:
        if case['result'] == 'skip' and not case.get('fixture'):
            groups[root_reason(case, by_name, reasons)].append(case)
    if groups:
        yield from ('', 'skipped')
    for reason, members in sorted(groups.items()):
        tests = sorted({c['name'].split()[0] for c in members})
        environs = sorted({c['environ'] for c in members})
        yield f'  {reason}: {len(members)} of {", ".join(tests)} ({shorten(environs)})'


def shorten(names: list[str]) -> str:
    return ', '.join(names[:4]) + (f' and {len(names) - 4} more' if len(names) > 4 else '')
