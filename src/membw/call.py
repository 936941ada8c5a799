"""What another program prints: bytes of any kind, late, or none, where it cannot be started."""

import subprocess
from typing import Any

LIMIT_S = 60
LATE, NOT_STARTED = 124, 127  # as `timeout` and a shell have them
Done = subprocess.CompletedProcess[str]


def call(words: list[str], limit_s: float | None = LIMIT_S, text: str = '', **more: Any) -> Done:
    """As subprocess.run, without its exceptions: what they say is in `stderr`; `text`: its
    input."""
    more |= {'capture_output': True, 'text': True, 'errors': 'replace'}
    try:
        return subprocess.run(words, input=text, timeout=limit_s, **more)
    except subprocess.TimeoutExpired:
        status, why = LATE, f"'{words[0]}': no answer within {limit_s} s"
    except OSError as err:
        status, why = NOT_STARTED, str(err)
    return subprocess.CompletedProcess(words, status, '', why)
