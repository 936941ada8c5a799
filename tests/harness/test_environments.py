"""Every program in every environment that takes something away: it measures with what came, or
says what it lacks. Sizes are tiny, and no figure counts."""

import json
import os
import subprocess

import pytest
import silent_kernel
from places import ROOT

PROGRAMS = {
    'stream': '-n 20000 -t 3',
    'ladder': '--quick',
    'loaded': '--mixes 1r0w --rounds 3 --window 0.001 --chain-mib 1',
    'tiers': '--array-mib 1 --rounds 3',
    'pingpong': '--seconds 0.002',
    'nbody': '--bodies 100 --rounds 6 --seconds 0.01',
    'overheads': '--pairs 6 --constructs barrier',
    'dgemm': '--shape square -n 16 -t 2',
}
CARD = {'device': '--cpu -n 65536 --rounds 10 --local 64 --width 1 --no-transfers'}
# of what lasts by the clock: a tenth of it
SHORT = {
    'stream': [],
    'ladder': [('ladder/main.c', 'QUICK_SECONDS = 4.3', 'QUICK_SECONDS = 0.2'),
               ('ladder/main.c', 'QUICK_RESIDENCY = 2', 'QUICK_RESIDENCY = 0.1')],
    'loaded': [('loaded/main.c', 'QUICK_SECONDS : SECONDS / 3', '0.1 : 0.1')],
    'tiers': [('tiers/main.c', 'QUICK_SECONDS : SECONDS / 3', '0.1 : 0.1')],
    'device': [('device/size.c', 'SIZE_MOST = (size_t)48 << 30', 'SIZE_MOST = (size_t)48 << 20')],
}  # fmt: skip
WITHOUT = 'unshare -m sh -c \'mount -t tmpfs none {} && exec "$@"\' sh "$@"'
# a line of sh around the program, "$@", and variables
ENVIRONMENTS = {
    'nothing special': ('', {}),
    'no environment': ('exec env -i "$@"', {}),
    'one thread at most': ('', {'OMP_THREAD_LIMIT': '1'}),
    'no parallel region': ('', {'OMP_MAX_ACTIVE_LEVELS': '0'}),
    'threads come and go': ('', {'OMP_DYNAMIC': 'true', 'OMP_NUM_THREADS': '4'}),
    'one thread requested': ('', {'OMP_NUM_THREADS': '1'}),
    'three threads on two CPUs': ('', {'OMP_NUM_THREADS': '3'}),
    'no number of threads': ('', {'OMP_NUM_THREADS': 'all'}),
    'too many threads': ('', {'OMP_NUM_THREADS': '99999999'}),
    'one thread in a place of one core': ('', {'OMP_NUM_THREADS': '1', 'OMP_PLACES': 'cores'}),
    'one place': ('', {'OMP_PLACES': '{0}'}),
    'no such place': ('', {'OMP_PLACES': '{4000}'}),
    'no value for places': ('', {'OMP_PLACES': 'everywhere'}),
    'places nested': ('', {'OMP_PROC_BIND': 'spread,close', 'OMP_NUM_THREADS': '2,2'}),
    'one CPU by the runtime': ('', {'GOMP_CPU_AFFINITY': '0'}),
    'little stack of the threads': ('', {'OMP_STACKSIZE': '1k'}),
    'much stack of the threads': ('', {'OMP_STACKSIZE': '900G'}),
    'no number of a schedule': ('', {'OMP_SCHEDULE': 'never', 'OMP_WAIT_POLICY': 'now'}),
    'one CPU': ('exec taskset -c 0 "$@"', {'OMP_NUM_THREADS': ''}),
    'memory for nothing': ('ulimit -v 20000; exec "$@"', {}),
    'memory for little': ('ulimit -v 300000; exec "$@"', {}),
    'no data': ('ulimit -d 30000; exec "$@"', {}),
    'few files': ('ulimit -n 4; exec "$@"', {}),
    'no file to write': ('ulimit -f 0; exec "$@"', {}),
    'half a file to write': ('ulimit -f 4; exec "$@"', {}),
    'little stack': ('ulimit -s 100; exec "$@"', {}),
    'any stack': ('ulimit -s unlimited; exec "$@"', {}),
    'nothing locked, no core': ('ulimit -l 0; ulimit -c 0; exec "$@"', {}),
    'no /sys': (WITHOUT.format('/sys'), {}),
    'no /proc': (WITHOUT.format('/proc'), {}),
    'stdout closed': ('exec "$@" >&-', {}),
    'all closed': ('exec "$@" >&- 2>&- <&-', {}),
    'stdout full': ('exec "$@" >/dev/full', {}),
    'nobody reads': ('{ "$@"; echo $? >"$STATUS"; } | true; exit $(cat "$STATUS")', {}),
    'the last in the queue': ('exec nice -n 19 "$@"', {'TZ': 'x', 'LC_ALL': 'none'}),
}  # fmt: skip


# of a card's driver
DRIVERS = {
    'no driver registered': ('', {'OCL_ICD_VENDORS': '/nowhere/'}),
    'no list of drivers': (WITHOUT.format('/etc/OpenCL'), {}),
    'a driver that is none': ('', {'OCL_ICD_FILENAMES': 'libm.so.6'}),
    'one thread of the driver': ('', {'POCL_MAX_PTHREAD_COUNT': '1'}),
    'no such device': ('', {'POCL_DEVICES': 'nothing'}),
    'nowhere to compile': ('', {'POCL_CACHE_DIR': '/proc/none', 'HOME': '/proc'}),
    'no device file': (WITHOUT.format('/dev'), {}),
}  # fmt: skip


@pytest.mark.parametrize('program', PROGRAMS)
@pytest.mark.parametrize('place', ENVIRONMENTS)
def test_a_program_measures_or_says_why_not(build_program, tmp_path, place, program):
    ends_well(build_program, tmp_path, place, program, ['-fopenmp'])


@pytest.mark.parametrize('place', ENVIRONMENTS | DRIVERS)
def test_a_card_is_measured_or_its_driver_is_named(build_program, tmp_path, place):
    """pocl ends its process by abort() without linker, /sys, data, by exit(1) without a file."""
    ends_well(build_program, tmp_path, place, 'device', ['-fopenmp'])


@pytest.mark.parametrize('program', [p for p in PROGRAMS if p != 'overheads'])
def test_a_program_without_openmp_measures_or_says_why_not(build_program, tmp_path, program):
    ends_well(build_program, tmp_path, 'nothing special', program, [])


@pytest.mark.parametrize('program', ['stream', 'dgemm'])
def test_a_clock_that_stands_still_ends_a_program(build_program, tmp_path, program):
    """Each loop that waits for a time never ended, and heeded no signal."""
    stands = silent_kernel.with_a_slow_clock(10**17)
    said = ends_well(build_program, tmp_path, 'a standing clock', program, ['-fopenmp'], stands)
    assert (
        said.startswith('2\n') and 'membw: the clock of this machine stands still\nhint:' in said
    )


def ends_well(build_program, folder, place, program, flags, preloaded=()):
    """Status 0, 1 or 2; a whole record, or a sentence of ours; no file half written."""
    line, variables = (ENVIRONMENTS | DRIVERS).get(place, ('', dict(preloaded)))
    more = [ROOT / 'tests/data/plain_dgemm.c'] if program == 'dgemm' else []
    path = build_program(program, *more, usual=('-O1', *flags), changes=SHORT.get(program, ()))
    out = folder / 'out'
    out.mkdir()
    words = [str(path), *(PROGRAMS | CARD)[program].split(), '--json', f'{out}/r.json']
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(('OMP_', 'GOMP_'))
    }
    env |= {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive', 'STATUS': f'{folder}/status'}
    words = ['sh', '-c', line or 'exec "$@"', 'sh', *words]
    done = subprocess.run(words, env=env | variables, capture_output=True, text=True, timeout=120)
    if 'unshare' in line and 'not permitted' in done.stderr:
        pytest.skip('unshare -m: not permitted here')
    said = f'{done.returncode}\n{done.stdout}{done.stderr}'
    assert done.returncode in (0, 1, 2), said
    left = [file.name for file in out.iterdir()]
    if left == ['r.json']:
        record = json.loads((out / 'r.json').read_text())
        assert record['exit_status'] == done.returncode or 'membw: the output' in done.stderr, said
    else:
        assert (
            (place != 'nothing special' or not flags) and not left and 'membw: ' in done.stderr
        ), said
    return said
