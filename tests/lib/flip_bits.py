"""Inside gdb: flips bits of elements in each of many runs of the stream program.

Reads runs.json (a list of [where, pass, [[array, index, bit], ...]]), starts the program once for
each, stops it at its pass through function `where`, flips the bits there and lets it go on; the
program writes its record to record-<number>.json.
"""

import json
import os

import gdb

folder = os.environ['FLIPS']
size, ntimes = os.environ['FLIPS_SIZE'], os.environ['FLIPS_NTIMES']


def flip(array, index, bit):
    address = int(gdb.parse_and_eval(f'(unsigned long)&arrays->of[{array}][{index}]')) + bit // 8
    inferior = gdb.selected_inferior()
    byte = inferior.read_memory(address, 1)[0][0] ^ (1 << bit % 8)
    inferior.write_memory(address, bytes([byte]))


for setting in [
    'pagination off',
    'confirm off',
    'debuginfod enabled off',
    'auto-solib-add off',
    'print thread-events off',
    'libthread-db-search-path /none',
    'startup-with-shell off',
]:
    gdb.execute(f'set {setting}')
with open(f'{folder}/runs.json') as file:
    runs = json.load(file)
for number, (where, passes, flips) in enumerate(runs):
    stop = gdb.Breakpoint(where)
    stop.ignore_count = passes
    record = f'{folder}/record-{number}.json'
    gdb.execute(f'run -n {size} -t {ntimes} --json {record}', to_string=True)
    for each in flips:
        flip(*each)
    stop.delete()
    gdb.execute('continue', to_string=True)
