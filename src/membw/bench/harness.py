"""What membw itself costs: seconds beyond the measuring, beside what was promised."""

import glob
import json
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time

from membw.checkout import root
from membw.errors import MembwError
from membw.presets import spack_rows
from membw.presets.presets import find_compiler
from membw.tables import Cell, Column, Table

# a measurement here would be of the arrays' size; what costs is everything else
TINY = 1000000
ALLOW = 'array-too-small,too-short,disturbed,unstable'
REPEATS = 3
ROWS = 12
# what is told -> seconds promised (nothing fails by it)
PROMISED = {
    'reframe -l': 1,
    'a check beyond its program': 0.6,
    'make run again, beyond the measuring': 10,
    # twelve problems of their own, 4 to 5 s of CPU each, as many at a time as there are cores:
    # with `unify` a row was seen to get the binary of another (build/spack_rows.py)
    'matrix of 12: concretize from scratch': 40,
    'matrix of 12: concretize again': 2,
    'matrix of 12: build': 40,
}


def timings(say):
    """{'rows': [{'what', 'seconds', 'promised', 'of'}], 'left_out': [why a thing is not timed]}"""
    series, reasons = {}, []
    for part in (checks, matrix):
        try:
            part(series, say)
        except MembwError as err:
            reasons.append(f'timings of {part.__name__}: {err}')
    rows = [
        {
            'what': what,
            'seconds': round(statistics.median(values), 2),
            'promised': PROMISED[what],
            'of': len(values),
        }
        for what, values in series.items()
    ]
    return {'rows': rows, 'left_out': reasons, 'load_average': os.getloadavg()[2]}


COLUMNS = (
    Column('what', ''),
    Column('seconds', 'seconds', right=True),
    Column('promised', 'promised', right=True),
    Column('late', '', optional=True),
)


def blocks(result):
    """The table, and why a thing is not timed."""
    title = f'what membw itself costs (load average {result["load_average"]:.1f})'
    rows = [
        [
            row['what'],
            Cell(row['seconds'], f'{row["seconds"]:.2f}'),
            Cell(row['promised'], f'{row["promised"]:g}'),
            None if row['seconds'] <= row['promised'] else 'more than promised',
        ]
        for row in result['rows']
    ]
    return [Table(title, COLUMNS, rows), *result['left_out']]


def timed(words, **variables):
    """(seconds, output) of a command, which must go through; nothing is kept in the database."""
    env = {**os.environ, 'RFM_ENABLE_RESULTS_STORAGE': '0', **variables}
    begun = time.monotonic()
    done = subprocess.run(
        words, cwd=root(), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    took = time.monotonic() - begun
    if done.returncode:
        said = (done.stdout.strip() or 'nothing').splitlines()[-1]
        raise MembwError(f"'{' '.join(words[:4])} ...' fails: {said}")
    return took, done.stdout


# --- the checks ------------------------------------------------------------------------------


def checks(series, say):
    """What ReFrame and our checks add; all that they write goes to a folder that is removed."""
    say('timing: reframe -l', passing=True)
    listing = ['reframe', '-c', 'reframe-checks', '-l']
    series['reframe -l'] = [timed(listing)[0] for _ in range(REPEATS)]
    with tempfile.TemporaryDirectory() as folder:
        session(folder, 'none')  # builds
        series['a check beyond its program'] = []
        for number in range(REPEATS):
            say(f'timing: checks, {number + 1} of {REPEATS}', passing=True)
            series['a check beyond its program'].append(per_check(folder))
        say('timing: make run', passing=True)
        make_run(folder)
        series['make run again, beyond the measuring'] = [make_run(folder)]


def tiny(check):
    return ['-S', f'{check}.array_size={TINY}', '-S', f'{check}.allow={ALLOW}']


def per_check(folder):
    """Seconds that one more check adds, less those of its program: start-up cancels."""
    one, _ = session(folder, 'none')
    three, programs = session(folder, 'none|numactl|omp')
    return (three - one) / 2 - statistics.mean(programs)


def session(folder, pinnings):
    """(seconds, [seconds of each program]) of ReFrame over such checks of the first preset."""
    report = os.path.join(folder, 'report.json')
    words = ['reframe', '-c', 'reframe-checks', '-r', '-n', f'^stream%pinning=({pinnings})$']
    words += ['-p', 'gcc-o2', '--prefix', folder, '--perflogdir', folder, *tiny('stream')]
    took, _ = timed([*words, '--report-file', report])
    return took, program_seconds(report)


def make_run(folder):
    """Seconds of a whole `make run`, less those of its programs."""
    words = ['--rounds', '1', '--prefix', folder, '--perflogdir', folder]
    words += [*tiny('stream'), *tiny('numa_scan')]
    took, output = timed(['make', 'run', f'ARGS={shlex.join(words)}'])
    report = next(ln.split()[1].rstrip(',') for ln in output.splitlines() if ln[:7] == 'report ')
    base = os.path.join(root(), report.removesuffix('.json'))
    seconds = took - sum(program_seconds(f'{base}.json'))
    for left in glob.glob(f'{glob.escape(base)}.*'):
        os.remove(left)  # a run of tiny arrays is nobody's newest report
    return seconds


def program_seconds(report):
    """Seconds of each case's job alone: the same script once more, without ReFrame."""
    with open(report) as file:
        cases = json.load(file)['runs'][-1]['testcases']
    seconds = []
    for case in cases:
        if not case.get('fixture') and case['result'] == 'pass':
            begun = time.monotonic()
            subprocess.run(['bash', 'rfm_job.sh'], cwd=case['stagedir'], capture_output=True)
            seconds.append(time.monotonic() - begun)
    return seconds


# --- Spack -----------------------------------------------------------------------------------


def matrix(series, say):
    """Twelve rows that Spack has not seen yet; what it installs is removed again."""
    if not shutil.which('spack'):
        raise MembwError('no Spack here')
    with tempfile.TemporaryDirectory() as folder:
        concretize, install = write_rows(folder)
        try:
            for what, line in (
                ('matrix of 12: concretize from scratch', concretize),
                ('matrix of 12: concretize again', concretize),
                ('matrix of 12: build', install),
            ):
                say(f'timing: {what}', passing=True)
                series[what] = [timed(['sh', '-c', line])[0]]
        finally:
            where = ['spack', '-e', folder, 'uninstall', '--all', '--yes-to-all']
            subprocess.run(where, capture_output=True)


def write_rows(folder):
    """A row for each preset that this machine has a compiler for, and again with other sizes;
    the shell lines that concretize them, and that the checks build them by.
    """
    presets = []
    for name, family in (('gcc', 'gcc'), ('clang', 'clang')):
        compiler = find_compiler(name)
        if compiler:
            presets += [(f'{family}-{t}', compiler) for t in ('o2', 'o3', 'native', 'avx2')]
    if not presets:
        raise MembwError('neither gcc nor clang on PATH')
    unseen = time.time_ns() // 1000 % 10**9 + 10**9  # an array size: so the hash is new
    rows = []
    for number in range(ROWS):
        preset, compiler = presets[number % len(presets)]
        size = str(unseen + number // len(presets))
        rows.append({'environ': f'{preset}-{number}', 'preset': preset, 'cc': compiler,
                     'variants': {'array_size': size}})  # fmt: skip
    (install,) = spack_rows.commands(folder, spack_rows.write(folder, 'stream', rows))
    return f"spack -e '{folder}' concretize", install
