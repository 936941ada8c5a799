"""A launch that dies is DIED everywhere: terminal, exit status, JUnit, page, export, report.

tests/probes/killer.c, preloaded, ends chosen starts of our programs for real.
"""

import csv
import io
import json
import os
import re
from xml.etree import ElementTree

import pytest

from membw.results.rows import rows_of_records
from membw.results.table import read_table

TINY = 'array_size=1000000 ntimes=5 allow=array-too-small,too-short,incomplete'.split()
LAUNCHES = [
    f'{check}.{setting}'
    for check in ('overheads', 'pingpong')
    for setting in ('launches=3', 'seconds_apart=0')
] + ['overheads.constructs=barrier', 'overheads.teams=2', 'pingpong.sizes=0,8']
MPI_AS_ROOT = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
# program -> which of its starts, by which signal (+: after its record); STREAM's rounds are its
# first starts, numa_scan's points the next ones; a launch of pingpong is two ranks
KILLED = 'stream=2:7 stream=3:11+ stream=4:9 overheads=2:11 pingpong=3:7'
# what the row of each test says
DIED = {
    'numa_scan': r'local memory, 1 thread: ended by SIGSEGV \(signal 11\) after its record on .*; '
    r'local memory, 2 threads: ended by SIGKILL \(signal 9\)',
    'stream': r'ended by SIGBUS \(signal 7\)',
    'overheads': r'launch 2 of 3: ended by SIGSEGV \(signal 11\)',
    'pingpong': r'launch 2 of 3: ended by SIGBUS \(signal 7\)',
}


@pytest.fixture(scope='module')
def killer(build_killer, tmp_path_factory):
    """killer(spec): the variables that let these starts die."""

    def variables(spec):
        folder = tmp_path_factory.mktemp('starts')
        return {'LD_PRELOAD': build_killer, 'KILL': spec, 'KILL_COUNT': folder}

    return variables


@pytest.fixture(scope='module')
def build_killer(tmp_path_factory, call):
    path = tmp_path_factory.mktemp('killer') / 'killer.so'
    words = f'cc -Wall -Wextra -Werror -shared -fPIC tests/probes/killer.c -o {path}'.split()
    done = call(*words)
    assert done.returncode == 0, done.stderr
    return path


class Ended:
    """A run of `membw run` and all that it leaves."""

    def __init__(self, done, folder):
        self.text, self.status = done.stdout, done.returncode
        (name,) = re.findall(r'^report (\S+)\.json', self.text, re.M)
        self.base = folder / name
        report = json.loads(self.base.with_suffix('.json').read_text())
        self.cases = [c for c in report['runs'][0]['testcases'] if not c['fixture']]
        self.records = [c['record'] for c in self.cases if c.get('record')]


@pytest.fixture
def run(call, own_checkout, quick_gcc):
    def measure(tests, variables, *words, settings=()):
        names = (
            '^stream%.*pinning=omp' if test == 'stream' else f'^{test}(%|$)' for test in tests
        )
        words = [*words, *(word for name in names for word in ('-n', name))]
        words += [word for one in (*TINY, *settings) for word in ('-S', one)]
        done = call(
            'membw', 'run', '--full', '-p', '^gcc-o2$', *words, cwd=own_checkout[0],
            MEMBW_BUILD='make', PATH=quick_gcc, **MPI_AS_ROOT, **variables, **own_checkout[1],
        )  # fmt: skip
        assert 'Verdict: ' in done.stdout, done.stdout + done.stderr
        return Ended(done, own_checkout[0])

    return measure


@pytest.fixture(scope='module')
def two_cores():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip('one CPU: no second point of a scan, no pair of ranks')


def surfaces(ended, call, tmp_path):
    """{surface: {test: word}} of all that shows a run."""
    suite = ElementTree.parse(ended.base.with_suffix('.xml')).getroot()
    words = {'JUnit': {}, 'page': {}, 'export': {}, 'report of ReFrame': {}, 'records': {}}
    for case in suite.iter('testcase'):
        (error,) = case.findall('error') or [None]
        if error is not None:
            words['JUnit'][case.get('classname').rpartition('.')[2]] = error.get('type')
    page = tmp_path / 'page.html'
    assert call('membw', 'report', ended.base.with_suffix('.json'), '-o', page).returncode == 0
    for test in re.findall(r'DIED\W.*?(\w+) gcc-o2', page.read_text(), re.S):
        words['page'][test] = 'DIED'
    text = call('membw', 'export', '--format', 'csv', *ended.records).stdout
    for row in csv.DictReader(io.StringIO(text)):
        if row['verdict'] == 'DIED':
            words['export'][row['test']] = row['verdict']
    for case in ended.cases:
        if case['result'] == 'fail':
            words['report of ReFrame'][case['name'].split()[0]] = case['word']
    table = read_table(ended.records)
    for row in rows_of_records(table.figures, table.lost):
        words['records'][row.test] = row.word
    return words


def test_a_launch_that_dies_makes_its_row_died_on_every_surface(
    run, killer, need, two_cores, call, tmp_path
):
    need('mpicc', 'mpirun')
    ended = run(DIED, killer(KILLED), '--rounds', '2', settings=LAUNCHES)
    assert ended.status == 1 and f'Verdict: DIED: {len(DIED)} DIED' in ended.text, ended.text
    report = ' '.join(c['reasons'] for c in ended.cases)
    for test, reason in DIED.items():
        assert re.search(reason, report), (test, report)
    assert '1 of 2 rounds: ended by SIGBUS' in ended.text
    for surface, words in surfaces(ended, call, tmp_path).items():
        assert words == dict.fromkeys(DIED, 'DIED'), surface
    assert re.search(r'gcc-o2 .*omp .*DIED', ended.text)  # with the figures of round 1
    (scan,) = (c for c in ended.cases if c['name'].startswith('numa_scan'))
    metrics = json.loads(open(scan['record']).read())['metrics']
    assert list(metrics) == ['triad_local_1']
    assert metrics['triad_local_1']['at'] == {'threads': 1}


def test_the_quick_run_says_so_too(call, killer, own_checkout, quick_gcc):
    folder, variables = own_checkout
    done = call('membw', 'run', cwd=folder, PATH=quick_gcc, **killer('stream=1:7'), **variables)
    assert done.returncode == 1, done.stdout + done.stderr
    assert 'DIED' in done.stdout and 'ended by SIGBUS (signal 7)' in done.stdout
