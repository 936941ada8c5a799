"""TEST DOUBLES of gcc on the PATH.

`put_up`: the real one, which optimizes nothing, and makes a program of the same sources by the
same line once per checkout. For tests that build by a preset's line and judge neither figure nor
code: the recorded line is the preset's, what it makes is not. `of_doubles`: what it makes leaves
records that lie ready, for nodes that share the memory of this host.
"""

import json
import shlex
import shutil
import subprocess

from places import ROOT
from program_build import BUILDS

SCRIPT = """#!/bin/sh
case " $* " in *" -E "*) exec {plain} "$@" ;; esac # what it is
for word in "$@"; do
	case $word in
	*/*.c) program= ;; # not of this folder
	*.c) program=yes ;;
	esac
	[ "$last" = -o ] && out=$word || line="$line $word"
	last=$word
done
[ "$program" ] && [ "$out" ] && [ -d ../harness ] || exec {real} "$@" -O0
key=$({{ echo {real} "$line ${{PWD##*/}}"
	cat *.f90 *.[ch] ../*/*.[ch] ../*/*/*.[ch] {tests}/*/*.h; }} 2>&1 | sha256sum | cut -c1-16)
kept={builds}/$key
mkdir -p "$kept" && : >"$kept/lock" # as those of program_build.py: removed a day later
cp "$kept/program" "$out" 2>/dev/null && exit
{real} "$@" -O0 || exit
cp "$out" "$kept/$$" && mv "$kept/$$" "$kept/program"
exit 0
"""


def put_up(folder, *planted, name='gcc'):
    """`folder`/gcc, with flags that plant a fault before the line; `folder`, for the PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    real = shutil.which('gfortran' if name == 'gfortran' else 'gcc')
    assert real, 'its compiler is not on the PATH'
    plain, real = real, shlex.join([real, *planted])
    (folder / name).unlink(missing_ok=True)  # never through a link
    (folder / name).write_text(
        SCRIPT.format(real=real, plain=plain, tests=ROOT / 'tests', builds=BUILDS)
    )
    (folder / name).chmod(0o755)
    return folder


OF_DOUBLES = """#!/bin/sh
case " $* " in
*" -E "* | */probe.c\\ *) exec {real} "$@" ;; # what it is
*.c\\ *) ;;
*) exec {real} "$@" ;;
esac
while [ $# != 0 ] && [ "$1" != -o ]; do shift; done
exec {real} {double} -o "$2"
"""


def of_doubles(folder):
    """`folder`/gcc, and `folder`/dgemm of a site; put('n1-stream', record): what it leaves on n1,
    None: it dies."""
    made_up, real = folder / 'made-up', shutil.which('gcc')
    made_up.mkdir()
    source = ROOT / 'tests/data/battery_program.c'
    double = [str(source), f'-DMADE_UP="{made_up}"']
    (folder / 'gcc').write_text(OF_DOUBLES.format(real=real, double=shlex.join(double)))
    (folder / 'gcc').chmod(0o755)
    subprocess.run([real, *double, '-o', folder / 'dgemm'], check=True)

    def put(name, record):
        (made_up / f'{name}.json').unlink(missing_ok=True)
        if record:
            (made_up / f'{name}.json').write_text(json.dumps(record) + '\n')

    return put
