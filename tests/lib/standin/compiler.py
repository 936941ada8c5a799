#!/usr/bin/env python3
"""TEST DOUBLE of a compiler that is not here: records its arguments, then calls gcc.

Copy it to <prefix>/bin/<name> with the banner in <prefix>/VERSION; <prefix>/REMARK goes to stderr
at each call, and each becomes one JSON line in <prefix>/calls.jsonl. It proves what line arrives,
never a figure. <prefix>/MACROS are those of the real one; <prefix>/LINK, if any, has what the real
one links by itself: its own runtime.
"""

import json
import os
import pathlib
import re
import sys

OPENMP = {'-qopenmp', '-openmp', '-fiopenmp', '-mp', '-Kopenmp'}
# options of the real one that gcc does not take
UNKNOWN = re.compile(
    r'-(x[A-Z]|mmic|opt-|qopt-|diag-|fnt-store|Wl,-T|Kfast|mcpu=)|-L.*/obj64$|.*elf_x86_64\.xBDT$'
)

me = pathlib.Path(sys.argv[0]).absolute()
prefix, args = me.parent.parent, sys.argv[1:]
sys.stderr.write((prefix / 'REMARK').read_text())
sys.stderr.flush()
compiles = any(a.endswith('.c') for a in args)
if not compiles and {'--version', '-V', '-v', '-dumpversion'} & set(args):
    print((prefix / 'VERSION').read_text(), end='')
    sys.exit(0)
if '-E' in args and compiles:
    text = pathlib.Path(args[-1]).read_text()
    for name, value in json.loads((prefix / 'MACROS').read_text()).items():
        text = re.sub(rf'\b{name}\b', lambda _, value=value: value, text)
    print(text)
    sys.exit(0)
with open(prefix / 'calls.jsonl', 'a') as log:
    log.write(json.dumps([me.name, *args]) + '\n')
passed, words = [], iter(args)
for word in words:
    if word in ('-opt-streaming-stores', '-qopt-streaming-stores'):
        next(words)  # the keyword is a word of its own in icc 13
    elif word in OPENMP:
        passed.append('-fopenmp')
    elif not UNKNOWN.match(word):
        passed.append(word)
link = prefix / 'LINK'
if compiles and link.exists():
    passed += link.read_text().split()
os.execvp('gcc', ['gcc', *passed])
