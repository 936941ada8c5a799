"""One launch of the battery: its record, how it ended, and who took the CPU meanwhile."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from membw.node import trace
from membw.results.ledger import how, last_words
from membw.results.record import BadRecord, evidence

POLL_S = 0.05
# as in ci/entries/membw-health: whoever sends these wants it to end, and SIGILL is of code for
# another CPU; any other is a finding
NAMES = ('HUP', 'INT', 'TERM', 'USR1', 'USR2', 'XCPU', 'ILL')
NO_FINDING = {getattr(signal, f'SIG{name}') for name in NAMES}


def launch(words: list[str], environment: Mapping[str, str], limit_s: float) -> dict[str, Any]:
    """A part of a record of a node, as results/record.py has it, without name and command."""
    with tempfile.TemporaryDirectory(prefix='membw-node-') as folder:
        file, said = Path(folder, 'record.json'), Path(folder, 'said')
        before, begun, mine = trace.snapshot(), time.monotonic(), time.process_time()
        with open(said, 'wb') as stderr:
            line = [*words, '--json', str(file)]
            process = subprocess.Popen(line, env=dict(environment), stdout=stderr, stderr=stderr)
        status, usage, stopped, is_late = waited(process, begun + limit_s)
        own_s = usage.ru_utime + usage.ru_stime + time.process_time() - mine
        taken = trace.between(before, trace.snapshot(), {process.pid, os.getpid()}, own_s)
        taken['preempted'] = usage.ru_nivcsw
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
        'stopped': stopped,
        'trace': taken,
    }


def waited(process: subprocess.Popen, end: float) -> tuple[int, Any, int, bool]:
    """(status, what it used, times it was seen stopped, too late)."""
    stopped, is_late, pid = 0, False, 0
    try:
        while not pid:
            seen = trace.stat_of(Path('/proc', str(process.pid)))
            stopped += bool(seen and seen[3] in 'Tt')
            if time.monotonic() > end and not is_late:
                is_late = True
                process.kill()
            time.sleep(POLL_S)
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
    except BaseException:
        process.kill()
        raise
    process.returncode = os.waitstatus_to_exitcode(code)
    return process.returncode, usage, stopped, is_late
