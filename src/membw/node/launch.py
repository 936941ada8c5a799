"""One launch of the battery: its record, and how it ended."""

import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from membw.results.ledger import how, last_words
from membw.results.record import BadRecord, evidence

# as in ci/entries/membw-health: whoever sends these wants it to end, and SIGILL is of code for
# another CPU; any other is a finding
NAMES = ('HUP', 'INT', 'TERM', 'USR1', 'USR2', 'XCPU', 'ILL')
NO_FINDING = {getattr(signal, f'SIG{name}') for name in NAMES}


def launch(words: list[str], environment: Mapping[str, str], limit_s: float) -> dict[str, Any]:
    """A part of a record of a node, as results/record.py has it, without name and command."""
    with tempfile.TemporaryDirectory(prefix='membw-node-') as folder:
        file, said, begun = Path(folder, 'record.json'), Path(folder, 'said'), time.monotonic()
        is_late = False
        with open(said, 'wb') as output:
            process = subprocess.Popen(
                [*words, '--json', str(file)], env=dict(environment), stdout=output, stderr=output
            )
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                is_late = True
            finally:
                process.kill()  # what has ended is not
                status = process.wait()
        try:
            record, why = evidence(file.read_bytes().rstrip(b'\n')), ''
        except (OSError, BadRecord):
            record, line_of = None, last_words(said.read_text(errors='replace'))
            why = line_of.removeprefix('membw: ')
            why = why if why != line_of else ': '.join(filter(None, (how(status), line_of)))
    if is_late or status < 0:
        why = f'not measured within {limit_s:.0f} s' if is_late else how(status)
        why += ': was it built for another CPU?' if status == -signal.SIGILL else ''
    return {
        'record': record,
        'why': why,
        'died': not is_late and status < 0 and -status not in NO_FINDING,
        'seconds': round(time.monotonic() - begun, 2),
    }
