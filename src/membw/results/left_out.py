"""Presets that a system cannot build: ReFrame has no test case of them, so prints nothing."""

import collections
import json
import subprocess
from collections.abc import Iterable

from membw.checkout import root


def partitions_of(system: str | None) -> list[dict]:
    """As configs/settings.py bound them; [] where ReFrame cannot show its configuration: a run
    says why."""
    words = ['reframe', *(['--system', system] if system else [])]
    words.append('--show-config=systems/0/partitions')
    script = ['sh', '-c', '. ./setup-env.sh && exec "$@"', 'sh', *words]
    shown = subprocess.run(script, cwd=root(), capture_output=True, text=True)
    try:
        return json.loads(shown.stdout)
    except ValueError:
        return []


def by_reason(partitions: Iterable[dict]) -> dict[str, list[str]]:
    """{reason: [presets]} of the `left_out` extras, each reason once for all partitions."""
    presets_of: dict[str, list[str]] = collections.defaultdict(list)
    for partition in partitions:
        for preset, reason in partition.get('extras', {}).get('left_out', {}).items():
            if preset not in presets_of[reason]:
                presets_of[reason].append(preset)
    return dict(presets_of)
