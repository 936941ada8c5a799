"""`--notify COMMAND`: tells whoever should know, at the end of a night or when it was stopped."""

import os
import shlex
import subprocess
import sys

LIMIT_S = 60


def tell(commands, night):
    """COMMAND FOLDER STATUS for each; whether all of them ended well. None may hold up a night."""
    return all([_tell(command, night) for command in commands])


def _tell(command, night):
    status = night.status()
    environment = {**os.environ, 'MEMBW_NIGHT': str(night.folder), 'MEMBW_STATUS': str(status)}
    try:
        done = subprocess.run(
            [*shlex.split(command), str(night.folder), str(status)],
            env=environment, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
        )  # fmt: skip
        why = f'exit status {done.returncode}' if done.returncode else ''
    except subprocess.TimeoutExpired:
        why = f'not done in {LIMIT_S} s'
    except OSError as err:
        why = err.strerror
    if why:
        print(f"membw: nobody was told by '{command}': {why}", file=sys.stderr)
    return not why
