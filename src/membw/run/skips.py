"""Which cases of a run were skipped, by reason: the log of ReFrame has it, not its report."""

import collections
import os
import re
from collections.abc import Iterator

SKIPPED = re.compile(r'^\[ +SKIP \] \( *\d+/\d+\) (\S+).*? @\S+?\+(\S+) \[(.*)\]$', re.M)
# the line of the build has the reason
DEPENDENCY = 'skipped due to skipped dependencies', 'dependencies failed'


def reasons(report: str) -> list[tuple[str, str, str]]:
    """(test, preset, reason) of each case that was skipped by itself."""
    try:
        with open(os.path.splitext(report)[0] + '.log', errors='replace') as file:
            found = SKIPPED.findall(file.read())
    except OSError:
        return []
    return [case for case in dict.fromkeys(found) if case[2] not in DEPENDENCY]


def skip_lines(report: str) -> Iterator[str]:
    """'  compiler 'icc' of icc-o2 not found: stream (icc-o2)' for each reason."""
    groups = collections.defaultdict(list)
    for test, preset, reason in reasons(report):
        groups[reason].append((test, preset))
    if groups:
        yield from ('', 'skipped')
    for reason, cases in sorted(groups.items()):
        tests, presets = (', '.join(dict.fromkeys(part)) for part in zip(*cases, strict=True))
        yield f'  {reason}: {tests} ({presets})'
