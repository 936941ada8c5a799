"""`membw reproduce`: the same binary to the bit, run as it was run; never from other sources."""

import json
import shutil
import subprocess
import sys

import made_up_nodes
import pytest
from checkout_copy import copy_checkout
from clang_here import CLANG, skip_without
from places import ROOT

from membw import presets
from membw.errors import MembwError
from membw.presets.sources import checksum, find_sources
from membw.reproduce import command

STREAM = ROOT / 'src/stream'
ALLOW = 'array-too-small,too-short,disturbed,unstable'
TINY = ('-S', 'stream.array_size=1000000', '-S', 'stream.ntimes=5', '-S', f'stream.allow={ALLOW}')
FAR = ('--margin', '99')  # a tiny run on a busy machine: the figures are noise


@pytest.fixture(scope='module')
def by_make(call, tmp_path_factory):
    """(the folder of all that one tiny run through ReFrame writes, the name of its record)."""
    folder = tmp_path_factory.mktemp('results')
    where = ('--prefix', folder, '--perflogdir', folder / 'perflogs')
    words = ('-n', 'stream%pinning=omp', '-p', 'gcc-o2', '--report-file', folder / 'report.json')
    check = ROOT / 'reframe-checks/stream.py'
    done = call('reframe', '--nocolor', '-c', check, '-r', '--system', 'local', *words,
                *where, *TINY, MEMBW_BUILD='make', RFM_ENABLE_RESULTS_STORAGE='0',
                OMP_WAIT_POLICY='passive')  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = (folder / 'records').glob('*.json')
    return folder, record.name


def same_run(done):
    """The rows of fields that differ, by name; the build and the validity are the same."""
    found = json.loads(done.stdout)
    assert 'binary: the same, bit for bit' in found['notes'], found
    fields = {row['field']: row for table in found['tables'][1:] for row in table['rows']}
    assert not {'case.source_sha256', 'case.code_sha256', 'validation.ok'} & set(fields), fields
    return fields


@pytest.fixture
def copied(by_make, tmp_path):
    """(its results, copied: what is stored may be changed, the record's name)."""
    folder = tmp_path / 'results'
    shutil.copytree(by_make[0], folder, ignore=shutil.ignore_patterns('stage', 'output'))
    return folder, by_make[1]


def build_of(folder, **changes):
    """Of the one stored build, which is changed."""
    (path,) = (folder / 'builds').glob('*/build.json')
    build = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(build))
    return build


def test_what_a_run_keeps(by_make):
    folder, name = by_make
    build = build_of(folder)
    (run,) = json.loads((folder / 'report.json').read_text())['runs']
    (case,) = (c for c in run['testcases'] if c['name'].startswith('stream %'))
    source = presets.source_sha256(STREAM)
    assert (build['source_sha256'], build['make'][1]) == (source, 'PRESET=gcc-o2')
    assert build['binary_sha256'] == case['build']['binary_sha256']
    assert checksum((folder / 'sources' / build['sources']).read_bytes(), 'stream') == source
    text = (folder / 'jobs' / name.removesuffix('.json') / 'environment.txt').read_text()
    found = set(text.split())
    assert found == set(case['run_environment'].split())
    assert {'OMP_PLACES=cores', 'OMP_PROC_BIND=close', 'OMP_WAIT_POLICY=passive'} <= found


def test_an_environment_of_the_sites_own_is_built_by_its_compiler_and_flags(copied, membw):
    """It has no line of make; that was a traceback. Other sources are never taken."""
    folder, name = copied
    build_of(folder, make=None, preset='builtin')
    status, out, _ = membw('reproduce', name, '--results', folder)
    line = '&& gcc -O2 -fopenmp -mcmodel=medium stream.c -o "$binary")\n'
    assert status == 0 and f'(cd "$here/sources/src/stream" {line}' in out
    build_of(folder, source_sha256='f' * 64)
    status, out, err = membw('reproduce', name, '--results', folder)
    fact = f"membw: the sources with checksum '{'f' * 64}' are not in"
    assert (status, out) == (2, '') and err.startswith(fact)
    with pytest.raises(MembwError, match='are not in'):
        find_sources({'source_sha256': 'a', 'sources': 'gone.tar.gz'}, folder)


def test_what_spack_installed_is_run_by_its_name_there(copied, membw):
    """The script ran bin/stream, which is bin/membw-stream since 1.1.0: no record of Spack's could
    be made again."""
    folder, record = copied
    build_of(folder, dag_hash='abc', spec='membw', make=None)
    (build,) = (folder / 'builds').glob('*/')
    (build / 'spack.lock').write_text('{}')
    (path,) = (folder / 'jobs').glob('*/job.json')
    job = json.loads(path.read_text()) | {'binary': '/store/membw-1.1.0-abc/bin/membw-stream'}
    path.write_text(json.dumps(job))
    _, script, _ = membw('reproduce', record, '--results', folder)
    assert 'location -i /abc)/bin/membw-stream\n' in script


def test_make_gives_the_same_binary_and_the_run_is_the_same(call, by_make, tmp_path, one_run):
    """By the script that is printed without --run: whoever runs that gets the same."""
    folder, name = by_make
    done = call('membw', 'reproduce', name, '--results', folder, '--run', '--json', *FAR,
                '--folder', tmp_path / 'again', OMP_DYNAMIC='true')  # fmt: skip
    assert done.stdout, done.stderr
    fields = same_run(done)
    assert not {'array_size', 'ntimes', 'threads', 'case.compile_line'} & set(fields), fields
    # the variables that the login shell had then, and none that it has now
    kept = folder / 'jobs' / name.removesuffix('.json') / 'environment.txt'
    assert (tmp_path / 'again/run/environment.txt').read_text() == kept.read_text()
    assert 'OMP_WAIT_POLICY=passive' in kept.read_text()
    log = (tmp_path / 'again/reproduce.log').read_text()
    assert 'reproduce: the binary is the same, bit for bit' in log
    assert json.loads((tmp_path / 'again/run/record.json').read_text())['array_size'] == 1000000
    printed = call('membw', 'reproduce', folder / 'records' / name)
    assert printed.returncode == 0, printed.stderr
    assert commands(printed.stdout) == commands((tmp_path / 'again/reproduce.sh').read_text())


def commands(script):
    return [line for line in script.splitlines() if not line.startswith('#')]


def test_a_changed_build_is_named_and_one_that_fails_says_where_the_log_is(call, copied, one_run):
    folder, name = copied
    make = build_of(folder)['make']
    build_of(folder, make=[*make, 'EXTRA=-O0'])
    done = call('membw', 'reproduce', name, '--results', folder, '--run', *FAR)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith('binary: DIFFERS') and 'DIFFERENT: the code' in done.stdout
    build_of(folder, make=[*make, 'CC=gone-99'])
    done = call('membw', 'reproduce', name, '--results', folder, '--run')
    assert done.returncode == 1 and 'reproduce.log' in done.stderr
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize('days', [(0,), (0, 1)])  # once; again in the same job
def test_the_record_of_a_battery_is_refused_with_the_way_out(days, stored, membw):
    file = stored([made_up_nodes.node('n4', day) for day in days])
    status, _, err = membw('reproduce', f'{file}#n4')
    assert status == 2 and f"the build of '{file}#n4' is not stored" in err and 'membw run' in err


def test_a_bare_record_is_refused_with_the_way_out(by_make, tmp_path, membw):
    record = shutil.copy(by_make[0] / 'records' / by_make[1], tmp_path / 'alone.json')
    status, out, err = membw('reproduce', record)
    assert (status, out) == (2, '') and "alone.json' is not stored" in err


def test_clang_gives_the_same_bytes_in_another_folder(tmp_path, need):
    """gcc's are compared by the runs above, Spack's in tests/checks/test_second_program.py."""
    skip_without(CLANG)
    sums = set()
    for folder in ('a', 'another/much/longer/folder'):
        copy = copy_checkout(tmp_path / folder, ('src', 'configs'))
        words = ['PRESET=clang-o2', f'CC={CLANG}', f'PYTHON={sys.executable}']
        line = ['make', '-C', copy / 'src/pingpong', *words]
        done = subprocess.run(line, capture_output=True)
        assert done.returncode == 0, done.stderr
        sums.add(presets.sha256(copy / 'build/clang-o2/pingpong'))
    assert len(sums) == 1


def test_a_build_of_minutes_is_not_silent(tmp_path):
    log = tmp_path / 'reproduce.log'
    log.write_text('')
    assert command.so_far(log, 3) == 'reproduce: 3 s so far: begins'
    log.write_text('==> Fetching\n==> Installing membw\n\n')
    assert command.so_far(log, 125) == 'reproduce: 2 min so far: ==> Installing membw'
