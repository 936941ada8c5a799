"""The stream program: what it builds with, what it prints, what it refuses."""

import json
import os
import re
import shutil
import subprocess
from functools import partial

import pytest
from changed_source import flipped_bit
from places import ROOT
from record_schema import check

WARNINGS = ['-Wall', '-Wextra', '-Werror']
CLANG = shutil.which('clang-19') or shutil.which('clang')
# each is built once, with all that is asked of it: without OpenMP, with the checked libc calls of
# some distributions; plain; with all that the CPU has; of another element, in another order
LINES = {
    'checked': ('-O2', '-D_FORTIFY_SOURCE=2', *WARNINGS),
    'plain': ('-O2', '-fopenmp', *WARNINGS),
    'native': ('-O3', '-march=native', '-fopenmp', *WARNINGS),
    'float': (
        '-Ofast',
        '-march=native',
        '-fopenmp',
        '-DSTREAM_TYPE=float',
        *WARNINGS,
        '-Wno-unknown-warning-option',
        '-Wno-deprecated-ofast',
    ),
}
OF_GCC = ('checked', 'plain', 'float')
QUICK = ['-n', '1000000', '-t', '3']
ROW = r'(\d+\.\d) +(\d+\.\d{6}) +(\d+\.\d{6}) +(\d+\.\d{6})$'
DEFECTS = 'array-too-small,too-short,wrong-pinning,oversubscribed'


CAPTURED = {'capture_output': True, 'text': True, 'timeout': 300}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], **CAPTURED, **options)


@pytest.fixture(scope='session')
def build(build_program):
    """build('-O2', ...): the program by that line, with no flag besides."""
    return partial(build_program, 'stream', usual=())


def without_its_own(warnings_of, line):
    """The line without the warnings that a compiler has for the line itself: clang 19 warns of
    its own -march=native on CPUs with AVX10."""
    words = [warnings_of, *line, '-Wno-error', '-x', 'c', '-c', '-o', os.devnull, '-']
    empty = subprocess.run(words, input='typedef int an_empty_file;\n', **CAPTURED)
    assert empty.returncode == 0, empty.stderr
    return (*line, *(f'-Wno-{name}' for name in re.findall(r'\[-W([a-z0-9-]+)\]', empty.stderr)))


@pytest.fixture
def stream(build):
    return build(*LINES['plain'])


def record_of(program, tmp_path, *options, **more):
    done = run(program, '--json', tmp_path / 'record.json', *options, **more)
    text = (tmp_path / 'record.json').read_text()
    assert text.count('\n') == 1
    record = json.loads(text)
    check(record)
    return done, record


@pytest.fixture
def sources_here(tmp_path):
    """A copy of src/stream with what it stands on, for lines that leave a program."""
    for folder in ('harness', 'stream'):
        shutil.copytree(ROOT / 'src' / folder, tmp_path / 'src' / folder)
    return tmp_path / 'src/stream'


THIN_GCC = (
    'gcc -O2 -fopenmp -DSTREAM_ARRAY_SIZE=800000000 -DNTIMES=20 -mcmodel=medium stream.c '
    '-o stream_c.exe'
)


def test_the_published_line_of_gcc_builds_it_as_printed(sources_here):
    done = run('sh', '-c', THIN_GCC, cwd=sources_here)
    assert done.returncode == 0 and done.stderr == ''
    done = run('./stream_c.exe', '-n', '1e6', '-t', '2', cwd=sources_here)
    assert 'hold the expected bits' in done.stdout


@pytest.mark.parametrize('line, cc', [('plain', 'gcc'), ('native', CLANG)])
def test_the_compiler_does_not_see_how_the_kernels_are_called(build, line, cc):
    """None of them is called by name, or was put into what calls it: only by its address."""
    if not cc:
        pytest.skip("'clang' is not on the PATH")
    program = build(*without_its_own(cc, LINES[line]), cc=cc)
    code = run('objdump', '-d', '--no-show-raw-insn', program).stdout
    for name in ('copy', 'scale', 'add', 'triad'):
        assert f'<kernel_{name}>:' in code
        assert not re.search(
            rf'(call|jmp|bl?)q? .*<kernel_{name}(\.(constprop|isra)\S*)?>$', code, re.M
        )


def test_no_pragma_makes_the_recorded_line_untrue_of_some_code():
    told = re.compile(r'#\s*pragma (?!omp |once\b|weak |GCC diagnostic )')
    files = sorted((ROOT / 'src').rglob('*.[ch]'))
    assert [file.name for file in files if told.search(file.read_text())] == []


@pytest.mark.parametrize('line, cc', [*((line, 'gcc') for line in OF_GCC), ('native', CLANG)])
def test_it_builds_without_a_warning_and_a_clean_run_validates(build, tmp_path, cc, line):
    """However often it repeats: the values begin anew every few times."""
    if not cc:
        pytest.skip("'clang' is not on the PATH")
    program = build(*without_its_own(cc, LINES[line]), cc=cc)
    for options in (QUICK, *(['-n', '5000', '-t', n] for n in ('2', '5', '18'))):
        done, record = record_of(program, tmp_path, *options)
        assert 'hold the expected bits' in done.stdout
        assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}
        assert 'not-validated' not in [reason['reason'] for reason in record['reasons']]


def test_the_table_is_streams(stream):
    done = run(stream, '--allow', DEFECTS, *QUICK)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    head = 'Function    Best Rate MB/s  Avg time     Min time     Max time'
    at = lines.index(head)
    for label, words, line in zip(
        ['Copy:', 'Scale:', 'Add:', 'Triad:'], [2, 2, 3, 3], lines[at + 1 :]
    ):
        rate, average, best, worst = map(float, re.match(f'{label} +{ROW}', line).groups())
        assert best <= average <= worst
        assert rate == pytest.approx(words * 8 * 1e6 / best / 1e6, rel=0.01)
    assert lines[-1] == 'Verdict: VALID'


BAD_INPUT = [
    ('-n 0', "invalid value for '-n': '0'"),
    ('-n 12.5', "invalid value for '-n': '12.5'"),
    ('-n 1e13', 'memory available'),
    ('-n 99999999999999999999', "invalid value for '-n': '99999999999999999999'"),
    ('-n', "'-n' needs a value"),
    ('-t 1', "invalid value for '-t': '1'"),
    *(
        (f'-n {size}', f"invalid value for '-n': '{size}'")
        for size in ('10Q', '10MM', 'M', '1.5M')
    ),
    ('-m G', "invalid value for '-m': 'G'"),
    ('-t 2kk', "invalid value for '-t': '2kk'"),
    ('--ntimes=many', "invalid value for '-t': 'many'"),
    ('--json /no/such/folder/x.json', "cannot write '/no/such/folder/x.json'"),
    ('--allow everything', "invalid value for '--allow': 'everything'"),
    ('--allow array-too', "invalid value for '--allow': 'array-too'"),
    ('--allow=', "invalid value for '--allow': '', which names nothing"),
    ('--peak x', "invalid value for '--peak': 'x'"),
    ('--peak nan', "invalid value for '--peak': 'nan'"),
    ('--peak inf', "invalid value for '--peak': 'inf'"),
    ('--peak 1e999', "invalid value for '--peak': '1e999'"),
    ('--at-least triad=nan', "invalid value for '--at-least': 'nan'"),
    ('--at-least triad=-nan', "invalid value for '--at-least': '-nan'"),
    ('--max-seconds nan', "invalid value for '--max-seconds': 'nan'"),
    ('--seconds NAN', "invalid value for '--seconds': 'NAN'"),
    ('--frobnicate', "unknown option '--frobnicate'"),
    ('stray', "unexpected argument 'stray'"),
]


@pytest.mark.parametrize('line', ['gcc -O1', 'gcc -Ofast', f'{CLANG} -O1 -ffast-math'])
def test_bad_input_gets_one_line_and_the_way_out(build, line):
    """With fast-math a compiler drops a guard that only NaN could reach: a floor of NaN passed."""
    cc, *flags = line.split()
    if cc == 'None':
        pytest.skip("'clang' is not on the PATH")
    program = build(*flags, cc=cc, usual=('-w',))
    for options, text in BAD_INPUT:
        done = run(program, *options.split())
        assert done.returncode == 2, options
        fact, hint = done.stderr.splitlines()
        assert fact.startswith('membw: ') and text in fact
        assert hint.startswith('hint: ')
        assert 'Copy:' not in done.stdout


def test_no_guard_against_nan_is_a_comparison():
    """What NaN may reach asks is_number() or is_positive(); elsewhere !(x > 0) is x <= 0."""
    guard = re.compile(r'!\((?:[^()&|?]|\([^()]*\))+ [<>]=? [^<>]*?\)')
    files = sorted((ROOT / 'src').rglob('*.[ch]'))
    assert [
        m
        for f in files
        for m in guard.findall(re.sub(r'/\*.*?\*/', '', f.read_text(), flags=re.S))
    ] == []


@pytest.mark.parametrize(
    'variables, text',
    [
        ({'OMP_NUM_THREADS': '100000'}, 'OMP_NUM_THREADS is 100000, more than 65536'),
        (
            {'OMP_STACKSIZE': '100000G'},
            'the OpenMP runtime could not start its threads\nhint: lower OMP_STACKSIZE',
        ),
    ],
)
def test_more_threads_than_possible_are_refused(stream, variables, text):
    """libgomp crashes, or ends by status 1, which means measured and not to be believed."""
    done = run(stream, *QUICK, env={**os.environ, 'OMP_NUM_THREADS': '4', **variables})
    assert done.returncode == 2 and f'membw: {text}' in done.stderr and 'hint: ' in done.stderr


def test_a_stack_that_is_too_small_is_refused(stream):
    done = run('bash', '-c', 'ulimit -s 64; exec "$@"', '-', stream, *QUICK)
    assert done.returncode == 2
    assert done.stderr == "membw: a stack of '64' KiB is too small\nhint: 'ulimit -s 8192'\n"


def test_long_double_is_refused_in_one_line_of_the_compiler(sources_here):
    line = ['gcc', '-DSTREAM_TYPE=long double', '-fopenmp', 'stream.c', '-o', 'stream']
    done = run(*line, cwd=sources_here)
    said = [text for text in done.stderr.splitlines() if 'error' in text]
    assert done.returncode and 'STREAM_TYPE is neither float nor double: compile' in said[0]


def test_an_integer_stream_type_is_refused(build):
    done = run(build('-O0', '-DSTREAM_TYPE=int'), *QUICK)
    assert done.returncode == 2 and 'STREAM_TYPE' in done.stderr


def test_a_full_disk_is_not_a_success(stream):
    done = run(stream, '--allow', DEFECTS, '--json', '/dev/full', *QUICK)
    assert done.returncode == 1 and "'/dev/full' is not complete" in done.stderr
    words = [stream, '--allow', DEFECTS, '-n', '1e6', '-t', '4']
    with open('/dev/full', 'w') as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 1 and 'the output is not complete' in done.stderr


def test_macros_set_the_defaults_and_options_override_them(build, tmp_path):
    program = build('-O0', '-DSTREAM_ARRAY_SIZE=1200000', '-DNTIMES=4', '-DOFFSET=16')
    _, record = record_of(program, tmp_path)
    sizes = ('array_size', 'array_size_from', 'ntimes', 'offset')
    assert [record[k] for k in sizes] == [1200000, 'macro', 4, 16]
    _, record = record_of(program, tmp_path, '-n', '1e6', '-t', '3', '-o', '0')
    assert [record[k] for k in sizes] == [1000000, 'option', 3, 0]


SIZES = {'-m 16384': 44739242 // 64, '-n 1M': 1000000, '-n 900k': 900000, '-m 24M': 1048576,
         '-m 24576K': 1048576}  # fmt: skip


@pytest.mark.parametrize('words, elements', SIZES.items())
def test_a_size_may_have_a_unit_and_memory_is_in_kib(stream, tmp_path, words, elements):
    """1048576 KiB make 44739242 elements [cea]; here a 64th of both."""
    _, record = record_of(stream, tmp_path, *words.split(), '-t', '2')
    assert record['array_size'] == elements


def test_float_counts_its_own_bytes_and_validates(build, tmp_path):
    options = ['-n', '1e6', '-t', '50', '--allow', DEFECTS]
    done, record = record_of(build(*LINES['float']), tmp_path, *options)
    assert 'Solution Validates: avg error less than 1.000000e-06 on all three' in done.stdout
    assert record['element_bytes'] == 4 and record['kernels']['triad']['bytes_per_element'] == 12
    assert record['validation']['ok']


def test_without_openmp_it_is_one_thread(build, tmp_path):
    _, record = record_of(build(*LINES['checked']), tmp_path, *QUICK)
    assert record['threads'] == 1 and record['build']['openmp'] is None


def test_the_record_holds_what_was_printed(stream, tmp_path):
    done, record = record_of(stream, tmp_path, '--allow', DEFECTS, *QUICK)
    printed = float(re.search(r'^Triad: +(\S+)', done.stdout, re.M).group(1))
    triad = record['kernels']['triad']
    assert triad['best_mbs'] == pytest.approx(printed, abs=0.06)
    assert len(triad['times_s']) == 3
    assert triad['min_s'] >= min(triad['times_s'][1:])  # more where a thread's lag is taken off
    assert record['verdict'] == 'VALID'
    for name, kernel in record['kernels'].items():
        metric = record['metrics'][name]
        assert (metric['unit'], metric['better']) == ('GB/s', 'higher')
        assert metric['value'] == pytest.approx(kernel['best_mbs'] / 1000)
    assert record['metrics'].keys() == {'read', 'write', *record['kernels']}


@pytest.mark.parametrize('array, index, bit', [(0, 0, 0), (2, 999999, 63)])
def test_a_planted_wrong_value_fails_validation(build, tmp_path, array, index, bit):
    program = build(changes=flipped_bit(array, index, bit))
    done, record = record_of(program, tmp_path, '--allow', DEFECTS, *QUICK)
    assert done.returncode == 1 and 'Solution Validates' not in done.stdout
    assert done.stdout.splitlines()[-1] == 'Verdict: INVALID (not-validated)'
    wrong = record['validation']['first'][0]
    assert (wrong['array'], wrong['index']) == ('abc'[array], index)
    assert int(wrong['expected_bits'], 16) ^ int(wrong['found_bits'], 16) == 1 << bit


def test_the_help_names_every_option(stream):
    done = run(stream, '--help')
    own = (ROOT / 'src/stream/options.c').read_text().split('#ifdef MEMBW_MPI')[0]
    common = (ROOT / 'src/harness/options.c').read_text()
    rows = re.findall(r"\{ (?:0|'\w'), \"([a-z-]+)\",", own + common)
    assert done.returncode == 0 and len(rows) >= 12
    assert [name for name in rows if f'--{name}' not in done.stdout] == []
    assert '2 usage error' in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 100
