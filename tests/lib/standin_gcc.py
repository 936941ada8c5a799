"""TEST DOUBLE of gcc on the PATH: the real one, which optimizes nothing and takes a third of the
time. For tests that build by a preset's line and judge neither figure nor code: the recorded line
is the preset's, what it makes is not.
"""

import shlex
import shutil


def put_up(folder, *planted, name='gcc'):
    """`folder`/gcc, with flags that plant a fault before the line; `folder`, for the PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    real = shutil.which('gcc')
    assert real, "'gcc' is not on the PATH"
    script = f'#!/bin/sh\nexec {shlex.join([real, *planted])} "$@" -O0\n'
    (folder / name).unlink(missing_ok=True)  # never through a link
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)
    return folder
