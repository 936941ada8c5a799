"""The checks under ReFrame: they load, skip readably, write the right job, judge as promised."""

import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import sys

import posed
import pytest
import standin_gcc
import tiny_check
from checkout_copy import copy_checkout
from lib import pinnings
from places import ROOT
from record_schema import check
from reframe.core import fields
from reframe.core.warnings import suppress_deprecations

import stream
from membw.errors import MembwError
from membw.run import refusals
from membw.site import binder, topology

# the system of this machine is run below
SYSTEMS = sorted(path.stem for path in (ROOT / 'systems').glob('*.yaml') if path.stem != 'local')
# its source does not give the cores of the nodes: ReFrame's remote detection finds them
DETECTED = ('robin',)
KERNELS = ('copy', 'scale', 'add', 'triad')
# a test measures nothing: small arrays, on a machine that may be busy
ALLOW = 'array-too-small,too-short,disturbed,unstable'
TINY = {
    f'{check}.{name}': value
    for check in ('stream', 'numa_scan')
    for name, value in {'array_size': 200000, 'ntimes': 5, 'allow': ALLOW}.items()
}


@pytest.fixture(scope='module')
def dry(reframe):
    """Each system dry-run once: the scripts it would submit."""
    return functools.cache(
        lambda system: reframe('', '--dry-run', '--system', system, MEMBW_SLURM_BACKEND='')
    )


# --- loading and scripts -----------------------------------------------------------------------


@pytest.mark.parametrize('system', SYSTEMS)
def test_every_system_loads_and_dry_runs(dry, system):
    done = dry(system)
    assert done.code == 0 and 'skipping test file' not in done.text, done.text
    ran = re.search(r'Ran (\d+)/(\d+) test case', done.text)
    # a pair that the partition does not have is no case of it
    skipped = re.findall(r'SKIP.*\[(.*)\]', done.text)
    missing = [why for why in skipped if not why.endswith('is a pair of another partition')]
    if system in DETECTED:  # its nodes are out of reach from here
        assert missing and all("its file has no 'processor'" in why for why in missing)
    else:
        assert not missing and ran[1] != '0', done.text
    assert int(ran[1]) + len(skipped) == int(ran[2]), done.text
    assert '0 failure(s)' in done.text


def test_listing_the_checks_loads_no_numpy(call, environment):
    """It takes half a second of each session; ranking alone needs it."""
    reframe = shutil.which('reframe', path=environment['PATH'])
    words = (reframe, '-c', 'reframe-checks', '-l', '--system=cea')
    done = call('python', '-X', 'importtime', *words)
    assert done.returncode == 0 and ' reframe.core' in done.stderr
    assert 'numpy' not in done.stderr and 'scipy' not in done.stderr


# each was taken, or left the check out with exit status 0
NONSENSE = [
    (
        'stream',
        'array_size=abc',
        "'-S array_size=abc': invalid literal for int() with base 10: 'abc'",
    ),
    ('cluster_stream', 'limit_s=nan', 'limit_s=nan: 0 or more'),
]


@pytest.mark.parametrize('check, setting, why', NONSENSE)
def test_a_value_that_means_nothing_is_refused(call, check, setting, why):
    words = ('-c', f'reframe-checks/{check}.py', '-l', '--system=ulysses')
    done = call('reframe', '--nocolor', *words, f'-S{check}.{setting}')
    line = f'membw: {check}: {why}'
    assert done.returncode == 2 and done.stderr.splitlines() == [line], done.stdout
    with pytest.raises(MembwError, match=re.escape(why)):  # in `membw run`
        refusals.refuse_nothing('', None, [], [line], [])


@pytest.mark.parametrize('name, status', [('ntimes', 0), ('stream.ntimes', 0), ('ntimse', 2)])
def test_a_variable_is_one_that_some_chosen_test_has(call, tmp_path, name, status):
    """Of a fixture that lacks it ReFrame warns, and a warning ends a session of `membw run`."""
    words = ['reframe', '--warn-as-error', '-c', 'reframe-checks/stream.py', '--dry-run']
    words += ['--system=ulysses', '-n', '^stream%.*omp', '-p', 'gcc-o2', f'-S{name}=3']
    places = f'--prefix={tmp_path}', f'--report-file={tmp_path}/report.json'
    done = call(*words, *places, MEMBW_GIVEN=name)
    assert done.returncode == status, done.stdout + done.stderr
    assert status == 0 or f"has the variable '{name}'" in done.stderr


def test_tags_and_modes_choose(reframe):
    """A mode is its tag: one is typed."""
    text = reframe('', '--describe', '--system', 'ulysses').text
    tests, _ = json.JSONDecoder().raw_decode(text, text.index('[\n'))

    def tagged(tag):
        return {test['@class'] for test in tests if tag in test['tags']}

    every, clusters = tagged('production'), tagged('flexible')
    assert every > {'stream', 'cluster_stream', 'numa_scan', 'core_pairs', 'imb_pingpong'}
    assert clusters >= {'cluster_stream', 'cluster_pairs'}
    assert all(name.startswith('cluster_') for name in clusters)
    assert tagged('1_node') == every - clusters
    # n (n - 1) / 2 pairs are not for every night; of the nodes a night has a campaign
    assert tagged('nightly') == every - {'cluster_pairs', 'cluster_stream'}
    assert tagged('maintenance') == {'stream', *clusters}
    assert tagged('acceptance') & tagged('1_node') == {'stream'}
    assert {mode['name'] for mode in binder.modes()} == {'nightly', 'maintenance', 'acceptance'}
    assert all(mode['options'][2:] == [f'--tag={mode["name"]}'] for mode in binder.modes())


SLURM = [
    ('ulysses', 'regular/gcc-o2', 20),
    ('thin', 'thin/gcc-o2', 24),
    ('cea', 'node/gcc-o2', 128),
]


def run_line(script):
    """What is launched: the line before the one that notes how it ended."""
    return re.search(r'^(.*)\necho "ended - ', script, re.M)[1]


@pytest.mark.parametrize('system, where, cores', SLURM)
def test_the_run_line_of_each_pinning(dry, system, where, cores):
    """The command stands in front of the program; launcher options could vanish unseen."""
    done, place = dry(system), f'{system}/{where}'
    scripts = [s.read_text() for s in (done.folder / 'stage' / place).glob('stream_*/rfm_job.sh')]
    assert len(scripts) == 4
    (likwid,) = [s for s in scripts if 'likwid-pin -q' in s]
    (numactl,) = [s for s in scripts if 'numactl --' in s]
    (omp,) = [s for s in scripts if 'export OMP_PLACES=cores' in s]
    (none,) = [s for s in scripts if s not in (likwid, numactl, omp)]
    srun = f'srun --cpus-per-task={cores} '
    last = cores - 1
    program = r'\S*/(bin/)?stream( -n \d+)?( --peak 256)? --json record.json'
    pinned = [f'likwid-pin -q -c N:0-{last} ', f'numactl --localalloc --physcpubind=0-{last} ']
    for script, command in zip((likwid, numactl, omp, none), (*pinned, '', '')):
        assert re.fullmatch(re.escape(srun + command) + program, run_line(script))
        assert f'export OMP_NUM_THREADS={cores}\n' in script
        # by the check, whatever the system's file says
        assert script.count('#SBATCH --exclusive\n') == 1 == script.count('#SBATCH --time=1:0:0\n')
    for script in (likwid, numactl, none):
        assert 'unset OMP_PROC_BIND OMP_PLACES GOMP_CPU_AFFINITY KMP_AFFINITY\n' in script
        assert 'export OMP_PROC_BIND' not in script
    assert 'export OMP_PROC_BIND=close\n' in omp
    assert 'unset GOMP_CPU_AFFINITY KMP_AFFINITY\n' in omp


JOB, BUILD = 'stream_*/rfm_job.sh', 'stream_binary*/rfm_build.sh'
KMP = ['export KMP_AFFINITY=scatter\n', ' -n 64000000 ']
# system, files of its stage folder, their number, what each holds, what none holds
SCRIPTS = [
    ('thin', f'thin/gcc-o2/{JOB}', 4, [' -n 88000000 '], []),  # as published
    ('cea', f'one-core/gcc-o2/{JOB}', 4, ['OMP_NUM_THREADS=1\n', ' -n 44739242 '], []),  # 1 GiB
    # -march=native on the login host would be another machine's binary
    ('thin', f'thin/gcc-native/{BUILD}', 1, ['#SBATCH -p THIN', ' PRESET=gcc-native CC=gcc '], []),
    # compiled for the card on its host
    ('phi', f'knc-5110p/icc13-knc-huge/{BUILD}', 1,
     ['PRESET=icc13-knc-huge', 'LIBHUGETLBFS=/opt/libhugetlbfs'], ['#SBATCH']),
    *[(system, f'{part}/icc13-knc{huge}/{JOB}', 1,
       [*KMP, f'OMP_NUM_THREADS={threads}\n', *['--pages 2M'] * bool(huge)],
       ['likwid', 'numactl', *['--pages'] * (not huge)])
      for system, part, threads in [('phi', 'knc-5110p', 59), ('phi', 'knc-7110p', 60),
                                    ('helios', 'mic', 59)]
      for huge in ('', '-huge')],
    ('helios', 'mic/*/nbody_*/rfm_job.sh', 3, ['OMP_NUM_THREADS=236\n', 'KMP_AFFINITY='], []),
    # recorded only: plots alone were published; the runtime's own wait policy
    *[(system, f'{part}/*/overheads_*/rfm_job.sh', number,
       ['for record in record.json launch-2.json ', ' launch-8.json; do sleep 1 & ',
        '--pairs 15 --json $record; echo "ended $record $? ',
        'wait; [ -e $record ] || break; done', f'OMP_NUM_THREADS={threads}\n'],
       ['OMP_WAIT_POLICY='])
      for system, part, number, threads in [('hydra', '*', 2, 20), ('helios', 'mic', 1, 240)]],
]  # fmt: skip


@pytest.mark.parametrize('system, files, number, holds, lacks', SCRIPTS)
def test_a_job_has_what_its_system_asks_for(dry, system, files, number, holds, lacks):
    texts = [path.read_text() for path in dry(system).folder.glob(f'stage/{system}/{files}')]
    assert len(texts) == number
    for text in texts:
        assert [one for one in holds if one not in text] == []
        assert [one for one in lacks if one in text] == []


def test_nothing_but_a_card_runs_with_kmp_affinity(reframe, dry):
    listed = reframe('', '-l', '--system', 'local').text
    assert 'pinning=omp' in listed and 'pinning=kmp' not in listed
    for affinity in ('compact', 'scatter', 'balanced'):
        assert f'%pinning=kmp %affinity={affinity} ' in dry('helios').text


@pytest.mark.parametrize('system, cores', [('ulysses', 10), ('thin', 12)])
def test_the_scan_goes_through_a_domain_local_and_remote(dry, system, cores):
    """OMP_NUM_THREADS=i numactl --cpunodebind 0 --membind 0|1, i = 1..cores of a socket."""
    stage = dry(system).folder / 'stage' / system
    (script,) = stage.glob('*/gcc-o2/numa_scan/scan.sh')
    found = re.findall(
        r'^OMP_NUM_THREADS=(\d+) numactl --cpunodebind 0 --membind ([01]) .*--json (\S+) 2>\S+$',
        script.read_text(),
        re.M,
    )
    expected = [
        (str(i), str(m), f'scan-{name}-{i}.json')
        for m, name in enumerate(('local', 'remote'))
        for i in range(1, cores + 1)
    ]
    assert found == expected
    job = script.with_name('rfm_job.sh').read_text()
    assert run_line(job) == f'srun --cpus-per-task={2 * cores} bash scan.sh'


# --- skips --------------------------------------------------------------------------------------


def small_machine(folder):
    """A PATH with what one has: no Slurm, no Intel compiler, no likwid."""
    tools = (
        'bash sh env uname make as ld cat ls mkdir rm hostname test true git sed expr '
        'numactl chrt nproc lscpu getconf python3 grep dirname basename sort tr cut cksum '
        'sha256sum xargs find mktemp head tail date rsync cp mv touch pwd printf sleep'
    ).split()
    for tool in tools:
        if shutil.which(tool):
            (folder / tool).symlink_to(shutil.which(tool))
    return f'{pathlib.Path(sys.executable).parent}:{standin_gcc.put_up(folder)}'


ELSEWHERE = [
    (['-r', '--system', 'ulysses'], None, "ulysses:regular needs Slurm: no 'sbatch' on this host"),
    (['-vr', '--system=thin'], 1, "thin:thin needs Slurm: no controller answers 'sinfo'"),
]


@pytest.mark.parametrize('words, sinfo, reason', ELSEWHERE, ids=['no Slurm', 'Slurm is down'])
def test_a_run_on_another_machine_is_refused_in_two_lines(
    reframe, tool, tmp_path, words, sinfo, reason
):
    bare = small_machine(tmp_path)
    for name, code in (('sbatch', 0), ('sinfo', sinfo)):
        if sinfo is not None:
            tool(name, f'exit {code}')
    done = reframe('', *words, PATH=bare)
    assert done.code == 2 and done.text.count(reason) == 1, done.text
    assert f'membw: nothing was measured: {reason}\nhint: run it on ' in done.text
    assert not {'SKIP', 'PASSED'} & {*done.text.split()} and len(done.text.splitlines()) < 40
    if sinfo is None:
        assert 'stream' in reframe('stream.py', '-l', *words[1:], PATH=bare).text


def test_a_controller_that_is_away_does_not_end_the_tests_of_the_site(reframe, tool, tmp_path):
    """Named by a path that is relative, they were taken for ours."""
    (tmp_path / 'site.py').write_text(tiny_check.text(more='local = True'))
    for name in ('sinfo', 'sbatch', 'sacct'):
        tool(name, "echo 'Unable to contact slurm' >&2; exit 1")
    words = ['-r', '-c', os.path.relpath(tmp_path / 'site.py', ROOT), '--system', 'thin']
    done = reframe('cluster_stream.py', *words, '-p', 'gcc-o2', PATH=os.environ['PATH'])
    assert {case['name']: case['result'] for case in done.ran} == {
        'tiny': 'pass', 'cluster_stream': 'fail_deps',
    }, done.text  # fmt: skip


def test_a_missing_compiler_and_missing_modules_are_a_reason(reframe, tmp_path):
    root = copy_checkout(tmp_path)
    gone = {'cc': 'gcc-of-1999', 'presets': ['gcc-o3']}
    new = {'family': 'gcc', 'cc': 'gcc', 'modules': ['gcc/13.2'], 'presets': ['gcc-o3']}
    posed.write(root, {'toolchains': {'gcc': gone, 'new': new}})
    done = reframe('stream.py', '-r', '--system', 'posed', root=root, LMOD_CMD='')
    assert done.code == 0, done.text
    assert "[compiler 'gcc-of-1999' of gcc-o3 not found]" in done.text
    assert "[new-o3 needs module 'gcc/13.2': no modules system here]" in done.text


# --- runs ---------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def local(reframe, need):
    """Every pinning method of this machine, gcc-o2, tiny arrays; run once."""
    need('likwid-pin', 'numactl')
    done = reframe('', '-r', '-n', '^stream%|numa_scan', '-p', 'gcc-o2', given=TINY)
    assert done.code == 0, done.text
    return done


def test_each_pinning_method_places_the_threads(local):
    cores = topology.cores_here()

    def places(method):
        return local.case(f'stream %pinning={method}')['threads_on'].split()

    likwid, omp = places('likwid'), [{*topology.expand(place)} for place in places('omp')]
    assert len(likwid) == len({*likwid}) == len(cores) and all(map(str.isdigit, likwid))
    assert len(omp) == len(cores) and len(set.union(*omp)) == sum(map(len, omp))
    assert places('numactl') == [topology.compress(cores)] * len(cores)
    if len(cores) > 1:
        assert all(len(topology.expand(place)) > 1 for place in places('none'))


def test_no_reference_is_said(local):
    for method in ('none', 'likwid', 'numactl', 'omp'):
        said = f'stream %pinning={method} @local:default+gcc-o2: no reference: recorded only'
        assert said in local.text


def test_every_log_line_carries_the_provenance(local):
    log = local.folder / 'perflogs/local/default/stream.log'
    header, *lines = log.read_text().splitlines()
    assert len(lines) == 4
    columns = header.split('|')
    for line in lines:
        row = dict(zip(columns, line.split('|')))
        for name in 'node threads_on pinning array_size threads record'.split():
            assert row[name] not in ('', 'None', 'null'), name
        build = json.loads(row['build'])
        assert build['compile_line'].startswith('gcc -O2 -fopenmp -mcmodel=medium ')
        for name in ('source', 'binary', 'code'):
            assert re.fullmatch('[0-9a-f]{64}', build[f'{name}_sha256'])
        assert build['compiler'] and build['built_with'] == 'make'
        assert row['verdict'] == row['word'] == 'VALID'
        assert check(json.loads(pathlib.Path(row['record']).read_text()))['verdict'] == 'VALID'


def test_the_record_alone_says_which_case_it_is_of_and_what_it_was_built_with(local):
    of_report, record = local.one('stream', pinning='omp')
    case, made = record['case'], record['codegen']
    where = [case[name] for name in ('test', 'system', 'partition', 'environ', 'pinning')]
    assert where == ['stream', 'local', 'default', 'gcc-o2', 'omp']
    assert (case['verdict'], case['reasons'], case['parameters']) == ('VALID', [], {})
    assert case['references'] == {} and case['built_with'] == 'make' and case['session']
    assert case['compile_line'].startswith('gcc -O2 -fopenmp -mcmodel=medium ')
    # and what the compiler made of it
    assert of_report['stores'] == f'{made["copy"]["calls"][0]}/64'
    assert f'stores: {of_report["stores"]}' in local.text
    assert (made['triad']['stores'], made['triad']['width_bits']) == ('ordinary', 64)


def test_the_scan_has_a_figure_for_each_number_of_threads(local):
    case, record = local.one('numa_scan')
    metrics = record['metrics']
    figures = {name.rsplit(':', 1)[-1]: row[0] for name, row in case['perfvalues'].items()}
    points = {name: value for name, value in figures.items() if 'triad_local' in name}
    assert list(points) == [f'triad_local_{n}' for n in range(1, len(topology.cores_here()) + 1)]
    assert list(points) == [name for name in metrics if 'local' in name]
    assert {row['unit'] for row in metrics.values()} == {'GB/s'}
    places = [(metrics[name]['series'], metrics[name]['at']['threads']) for name in points]
    assert places == [('triad_local', n) for n in range(1, len(points) + 1)]
    if any(metrics[name].get('bound') for name in points):
        assert 'saturation_local' not in figures
    else:
        saturated = points[f'triad_local_{figures["saturation_local"]:.0f}']
        assert saturated >= 0.95 * max(points.values())


@pytest.fixture(scope='module')
def small(reframe, need, tmp_path_factory):
    """Arrays that fit in cache, and nothing is allowed; on a small machine; run once."""
    need('numactl')
    path = small_machine(tmp_path_factory.mktemp('tools'))
    what = '-r -n stream%pinning=(likwid|none)|numa_scan -p gcc-o2'.split()
    done = reframe('', *what, given={'array_size': 1000, 'ntimes': 5}, PATH=path)
    assert done.code == 1, done.text
    return done


def test_a_missing_tool_is_a_reason_and_the_rest_runs(small):
    assert small.case('stream %pinning=likwid')['result'] == 'skip'
    assert "'likwid-pin' not found on this host" in small.text
    assert small.case('stream %pinning=none')['verdict'] == 'INVALID'
    # by the reason alone membw run knows what is worth another attempt
    assert 'array-too-small (local memory, 1 thread: ' in small.case('numa_scan')['reasons']


def test_local_runs_do_not_overlap(local):
    times = sorted((c['job_submit_time'], c['job_completion_time_unix']) for c in local.ran)
    assert len(times) >= 5
    assert all(end <= start + 0.01 for (_, end), (start, _) in zip(times, times[1:]))


def test_half_the_threads_of_thin_are_measured(reframe):
    """The tutorial's exercise."""
    words = ('--dry-run', '-n', '^stream', '-p', 'gcc-o2', '--system', 'thin')
    done = reframe('stream.py', *words, given={'stream.threads': 12})
    scripts = [path.read_text() for path in done.folder.glob('stage/**/rfm_job.sh')]
    assert sum('export OMP_NUM_THREADS=12\n' in text for text in scripts) == 4
    assert any('likwid-pin -q -c N:0-11 ' in text for text in scripts)


def test_a_second_session_at_the_same_time_is_refused(reframe, tmp_path):
    (tmp_path / 'stage').mkdir()
    words = ('-n', 'stream%pinning=none', '-p', 'gcc-o2', '-r', '--system', 'local')
    with open(tmp_path / 'stage/local.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = reframe('stream.py', *words, folder=tmp_path)
    assert done.code == 1 and "another session of 'local' is under way" in done.text
    assert sorted(path.name for path in (tmp_path / 'stage').iterdir()) == ['local.lock']


def test_a_small_array_is_invalid(small):
    case = small.case('stream %pinning=none')
    assert case['result'] == 'fail' and case['verdict'] == 'INVALID'
    assert 'sanity error: INVALID: ' in case['fail_reason']
    assert 'array-too-small' in case['fail_reason']
    kept = json.loads(pathlib.Path(case['record']).read_text())['case']
    assert kept['verdict'] == 'INVALID' and 'array-too-small (' in kept['reasons'][0]
    # what `membw run` shows in place of ReFrame's one word for all that it does not pass
    said, failed = (
        next(i for i, line in enumerate(small.text.splitlines()) if pattern in line)
        for pattern in (': INVALID: array-too-small (', '[     FAIL ] ')
    )
    assert failed == said + 1


def test_a_figure_above_the_peak_is_invalid_and_the_peak_may_follow_from_the_memory(
    reframe, tmp_path, quick_gcc
):
    root = copy_checkout(tmp_path)
    low = {'peak_gbs': 0.001, 'peak_source': '[test]: nothing is that slow'}
    memory = {'channels': 16, 'mts': 3200, 'source': '[test] a data sheet'}
    parts = {'low': low, 'of_memory': {'memory': memory}}
    posed.write(root, *({'name': name, 'extras': more} for name, more in parts.items()))
    what = '-r -n stream%pinning=none --system posed'.split()
    done = reframe('stream.py', *what, given=TINY, root=root, PATH=quick_gcc)
    assert done.code == 1
    # built at the same time, in one folder, one of them had found the other's scratch files gone
    assert len([*done.folder.glob('binaries/*/stream')]) == len(parts)
    case = done.case('stream %pinning=none', 'low')
    reason = case['fail_reason']
    assert 'INVALID: too-good (copy reads ' in reason and 'the peak of 0.001 GB/s' in reason
    # the program itself judged, so that its record says it wherever it is read
    record = json.loads(pathlib.Path(case['record']).read_text())
    assert record['peak'] == {'value': 0.001, 'unit': 'GB/s'}
    assert record['case']['peak_source'] == '[test]: nothing is that slow'
    assert 'too-good' in {r['reason'] for r in record['reasons'] if not r['allowed']}
    # it is reported with its source
    case = done.case('stream %pinning=none', 'of_memory')
    assert case['result'] == 'pass', done.text
    record = json.loads(pathlib.Path(case['record']).read_text())
    assert record['peak']['value'] == 409.6
    assert record['case']['peak_source'] == '16 channels x 3200 MT/s x 8 B; [test] a data sheet'


REFERENCES = {
    'none': [1.0e6, -0.05, 0.10, 'GB/s'],
    'omp': [0.001, -0.05, 1.0e9, 'GB/s'],
    'numactl': ['$xfail', 'ticket 123', [1.0e6, -0.05, 1.0e9, 'GB/s']],
    'likwid': ['$xfail', 'ticket 123', [0.001, -0.05, 1.0e9, 'GB/s']],
}


def test_runs_are_compared_with_their_references(reframe, tmp_path, need, quick_gcc):
    """One session of four rows: below its reference, within it, and the same two, expected to
    fail."""
    need('likwid-pin', 'numactl')
    words = ('-r', '-n', '^stream', '--system', 'posed')
    root = copy_checkout(tmp_path)
    rows = {'gcc-o3': {pinning: {'triad': row} for pinning, row in REFERENCES.items()}}
    index = {'$index': ['$partition', '$environ', 'pinning'], 'posed:here': rows}
    posed.write(root, references={'stream': index})
    done = reframe('stream.py', *words, given=TINY, root=root, PATH=quick_gcc)
    assert done.code == 1 and 'no reference' not in done.text
    below, within, known, passed = (
        done.one('stream', pinning=method)[0] for method in ('none', 'omp', 'numactl', 'likwid')
    )
    assert below['verdict'] == 'VALID' and below['result'] == 'fail'
    assert re.search(r'triad=\S+ GB/s, expected 1000000|UNDECIDED: triad ≥ ', below['fail_reason'])
    assert within['result'] == 'pass'
    assert within['perfvalues']['posed:here:triad'][1] == 0.001
    kept = done.one('stream', pinning='numactl')[1]['case']
    assert kept['references'] == {'triad': [1e6, -0.05, 1e9]}
    assert kept['known_issues'] == {'triad': 'ticket 123'}
    # an expected failure is neither a pass nor forgotten; one that passes is told
    assert (known['result'], passed['fail_phase']) == ('xfail', 'performance')


def test_a_deprecation_is_said_where_reframe_shows_it(monkeypatch):
    with suppress_deprecations(), monkeypatch.context() as without:
        without.setattr('inspect.stack', lambda: pytest.fail('unwound'))
        fields.user_deprecation_warning('dropped')
    with pytest.warns(match='shown'):
        fields.user_deprecation_warning('shown')


def test_nothing_deprecated_is_read_for_each_line_of_the_log():
    """ReFrame unwinds the stack for `variables`: two thirds of what a session computed."""
    names = {name for name, _ in stream.stream.loggable_attrs()}
    assert 'variables' not in names and names >= {'env_vars', 'verdict', 'record'}


# --- the judgement of the affinity, without a run -----------------------------------------------


def on(*places):
    return [{'thread': i, 'affinity': place} for i, place in enumerate(places)]


WHERE = [
    ('none', on('0-3', '0-3'), ''),
    ('likwid', on('0', '1'), ''),
    ('numactl', on('0-1', '0-1'), ''),
    ('omp', on('0', '1'), ''),
    ('omp', on('0,2', '1,3'), ''),
    ('kmp', on('1-4', '5-8'), ''),
    ('none', on('0', '1'), 'no pinning was requested'),
    ('none', on('0', '0'), '2 threads share cpus 0'),
    ('likwid', on('0-1', '0-1'), 'threads 0 and 1 both may run on cpu 0'),
    ('likwid', on('0', '0-1'), 'threads 0 and 1 both may run on cpu 0'),
    ('likwid', on('0'), '1 thread ran, requested were 2'),
    ('numactl', on('0-3', '0-3'), 'thread 0 may run on cpus 0-3, requested was 0-1'),
    ('numactl', on('0', '1'), 'thread 0 may run on cpus 0, requested was 0-1'),
    ('omp', on('0-1', '0-1'), 'threads 0 and 1 both may run on cpu 0'),
    ('kmp', on('1-4', '4-7'), 'threads 0 and 1 both may run on cpu 4'),
    ('omp', [{'thread': i, 'cpu': i, 'affinity': str(i), 'core': 0} for i in range(2)],
     'threads 0 and 1 are on one core, cpus 0-1'),
]  # fmt: skip


@pytest.mark.parametrize('method, threads, said', WHERE)
def test_threads_that_are_not_on_the_requested_cpus_are_reported(method, threads, said):
    (found,) = [*pinnings.problems(method, threads, [0, 1])] or ['']
    assert found.startswith(said) and bool(said) == bool(found)
