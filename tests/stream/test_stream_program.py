"""The stream program: what it builds with, what it prints, what it refuses."""

import os
import re
import shutil
import subprocess

import pytest
from clang_here import CLANG, skip_without
from places import ROOT

WARNINGS = '-Wall -Wextra -Werror -Wno-unknown-warning-option -Wno-deprecated-ofast'
THIN_GCC = (
    'gcc -O2 -fopenmp -DSTREAM_ARRAY_SIZE=800000000 -DNTIMES=20 -mcmodel=medium stream.c '
    '-o stream_c.exe'
)
# each is built once, with all that is asked of it: as published; without OpenMP, with the checked
# libc calls of some distributions; of another element, in another order; with all that the CPU has
LINES = {
    'published': THIN_GCC.split()[:-3],
    'checked': f'gcc -O2 -D_FORTIFY_SOURCE=2 {WARNINGS}'.split(),
    'float': f'gcc -Ofast -march=native -fopenmp -DSTREAM_TYPE=float {WARNINGS}'.split(),
    'clang': f'{CLANG} -O3 -march=native -ffast-math -fopenmp {WARNINGS}'.split(),
}
DEFECTS = 'array-too-small,too-short,wrong-pinning,oversubscribed'
QUICK = ['-n', '1000000', '-t', '3']
# a table is printed of whatever is only disturbed
ALLOWED = [*QUICK, '--allow', f'{DEFECTS},disturbed']
ROW = r'(\d+\.\d) +(\d+\.\d{6}) +(\d+\.\d{6}) +(\d+\.\d{6})$'


def run(*command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **options)


def without_its_own(warnings_of, line):
    """The line without the warnings that a compiler has for the line itself: clang 19 warns of
    its own -march=native on CPUs with AVX10."""
    words = [warnings_of, *line, '-Wno-error', '-x', 'c', '-c', '-o', os.devnull, '-']
    empty = run(*words, input='typedef int an_empty_file;\n')
    assert empty.returncode == 0, empty.stderr
    return (*line, *(f'-Wno-{name}' for name in re.findall(r'\[-W([a-z0-9-]+)\]', empty.stderr)))


@pytest.fixture
def build(build_program):
    """build(name of a line): the program by it, with no flag besides."""

    def of(name):
        cc, *flags = LINES[name]
        skip_without(cc, flags)
        return build_program('stream', *without_its_own(cc, flags), cc=cc, usual=())

    return of


@pytest.fixture
def stream(build_program):
    return build_program('stream')


def test_the_published_line_of_gcc_builds_it_as_printed(tmp_path):
    for folder in ('harness', 'stream'):
        shutil.copytree(ROOT / 'src' / folder, tmp_path / folder)
    line = THIN_GCC.replace('-O2', '-O0')  # that -O2 builds it, too, is shown below
    done = run('sh', '-c', line, cwd=tmp_path / 'stream')
    assert done.returncode == 0 and done.stderr == ''
    done = run('./stream_c.exe', '-n', '1e6', '-t', '2', cwd=tmp_path / 'stream')
    assert 'hold the expected bits' in done.stdout


@pytest.mark.parametrize('line', ['published', 'clang'])
def test_the_compiler_does_not_see_how_the_kernels_are_called(build, line):
    """None of them is called by name, or was put into what calls it: only by its address."""
    code = run('objdump', '-d', '--no-show-raw-insn', build(line)).stdout
    for name in ('copy', 'scale', 'add', 'triad'):
        assert f'<kernel_{name}>:' in code
        called = rf'(call|jmp|bl?)q? .*<kernel_{name}(\.(constprop|isra)\S*)?>$'
        assert not re.search(called, code, re.M)


# a pragma makes the recorded line untrue of some code (OpenCL's stand in a text); what NaN may
# reach asks is_number() or is_positive(), elsewhere !(x > 0) is x <= 0
UNWANTED = (
    r'(?<!")#\s*pragma (?!omp |once\b|weak |GCC diagnostic )',
    r'!\((?:[^()&|?]|\([^()]*\))+ [<>]=? [^<>]*?\)',
)


@pytest.mark.parametrize('pattern', UNWANTED)
def test_no_source_has_such_a_line(pattern):
    texts = {f: re.sub(r'/\*.*?\*/', '', f.read_text(), flags=re.S) for f in
             (ROOT / 'src').rglob('*.[ch]')}  # fmt: skip
    assert [(file.name, found) for file, text in texts.items()
            for found in re.findall(pattern, text)] == []  # fmt: skip


@pytest.mark.parametrize('line', LINES)
def test_it_builds_without_a_warning_and_a_clean_run_validates(build, run_program, line):
    """However often it repeats: the values begin anew every few times."""
    for options in (QUICK, *(['-n', '5000', '-t', n] for n in ('2', '5', '18'))):
        _, said, record = run_program(build(line), *options)
        assert 'hold the expected bits' in said
        assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}
        assert 'not-validated' not in [reason['reason'] for reason in record['reasons']]
        assert line != 'checked' or (record['threads'], record['build']['openmp']) == (1, None)


def test_the_table_is_streams_and_the_record_holds_what_was_printed(stream, run_program):
    status, said, record = run_program(stream, *ALLOWED)
    assert status == 0 and record['verdict'] == 'VALID', said
    lines = said.splitlines()
    at = lines.index('Function    Best Rate MB/s  Avg time     Min time     Max time')
    for name, words, line in zip(['copy', 'scale', 'add', 'triad'], [2, 2, 3, 3], lines[at + 1 :]):
        row = re.match(f'{name.capitalize()}: +{ROW}', line).groups()
        rate, average, best, worst = map(float, row)
        assert best <= average <= worst
        assert rate == pytest.approx(words * 8 * 1e6 / best / 1e6, rel=0.01)
        kernel, metric = record['kernels'][name], record['metrics'][name]
        assert kernel['best_mbs'] == pytest.approx(rate, abs=0.06) and len(kernel['times_s']) == 3
        # more where a thread's lag is taken off
        assert kernel['min_s'] >= min(kernel['times_s'][1:])
        assert (metric['unit'], metric['better']) == ('GB/s', 'higher')
        assert metric['value'] == pytest.approx(kernel['best_mbs'] / 1000)
    assert record['metrics'].keys() == {'read', 'write', *record['kernels']}
    assert lines[-1] == 'Verdict: VALID'


BAD_INPUT = [
    *((f'-n {size}', f"invalid value for '-n': '{size}'")
      for size in '0 12.5 99999999999999999999 10Q 10MM M 1.5M'.split()),
    ('-n 1e13', 'memory available'),
    ('-n', "'-n' needs a value"),
    ('-t 1', "invalid value for '-t': '1'"),
    *((f'-m {size}', f"invalid value for '-m': '{size}'") for size in 'G 64k 5MM 8GB'.split()),
    ('-n 1000 -m 1G', "'-n' and '-m' both say how large the arrays are"),
    ('--json=', "'--json' needs a value"),
    ('--max 3', "unknown option '--max'"), ('--expl', "unknown option '--expl'"),
    ('-t 2kk', "invalid value for '-t': '2kk'"),
    ('--ntimes=many', "invalid value for '-t': 'many'"),
    ('--json /no/such/folder/x.json', "cannot write '/no/such/folder/x.json'"),
    ('--allow everything', "invalid value for '--allow': 'everything'"),
    ('--allow array-too', "invalid value for '--allow': 'array-too'"),
    ('--allow=', "'--allow' needs a value, and '' is none"),
    *((f'--peak {peak}', f"invalid value for '--peak': '{peak}'")
      for peak in 'x nan inf 1e999 1e-9 0x10 1,5'.split()),
    ('--at-least triad=nan', "invalid value for '--at-least': 'nan'"),
    ('--at-least triad=-nan', "invalid value for '--at-least': '-nan'"),
    ('--max-seconds nan', "invalid value for '--max-seconds': 'nan'"),
    ('--seconds NAN', "invalid value for '--seconds': 'NAN'"),
    ('--frobnicate', "unknown option '--frobnicate'"),
    ('stray', "unexpected argument 'stray'"),
]  # fmt: skip


@pytest.mark.parametrize('line', ['published', 'float', 'clang'])
def test_bad_input_gets_one_line_and_the_way_out(build, line):
    """With fast-math a compiler drops a guard that only NaN could reach: a floor of NaN passed."""
    program = build(line)
    for options, text in BAD_INPUT:
        done = run(program, *options.split())
        fact, hint, *more = done.stderr.splitlines()
        assert all(line.startswith('  ') for line in more)
        assert (done.returncode, done.stdout) == (2, ''), options
        assert fact.startswith('membw: ') and text in fact and hint.startswith('hint: ')


def test_only_the_signs_that_are_there_are_explained(build):
    words = '-n', '20000', '-t', '2'
    cpu, env = min(os.sched_getaffinity(0)), os.environ | {'OMP_NUM_THREADS': '1'}
    said = run('taskset', '-c', cpu, build('published'), *words, env=env)
    assert f' 1 thread on CPU {cpu}, 2 repetitions' in said.stdout
    found = re.search(r'n GB/s \((~|>=|≥) ([a-z ]+)\): .*copy \1 ', said.stdout)
    # of an array that a cache holds, which was found
    assert found and found[2] == 'bound on neither side', said


@pytest.mark.parametrize('before, variables, text', [
    ('', {'OMP_NUM_THREADS': '100000'}, 'OMP_NUM_THREADS is 100000, more than 65536\nhint: '),
    # libgomp crashes, or ends by status 1, which means measured and not to be believed
    ('', {'OMP_NUM_THREADS': '4', 'OMP_STACKSIZE': '100000G'},
     'the OpenMP runtime could not start its threads\nhint: lower OMP_STACKSIZE'),
    ('ulimit -s 64; ', {}, "a stack of '64' KiB is too small\nhint: 'ulimit -s 8192'"),
])  # fmt: skip
def test_threads_that_cannot_be_started_are_refused(stream, before, variables, text):
    words = ['bash', '-c', f'{before}exec "$@"', '-', stream, *QUICK]
    done = run(*words, env=os.environ | variables)
    assert done.returncode == 2 and f'membw: {text}' in done.stderr


def test_neither_long_double_nor_an_integer_is_an_element(build_program):
    line = ['gcc', '-DSTREAM_TYPE=long double', '-fsyntax-only', ROOT / 'src/stream/stream.c']
    said = [text for text in run(*line).stderr.splitlines() if 'error' in text]
    assert 'STREAM_TYPE is neither float nor double: compile' in said[0]
    done = run(build_program('stream', '-DSTREAM_TYPE=int', usual=('-O0',)), *QUICK)
    assert done.returncode == 2 and 'STREAM_TYPE' in done.stderr


def test_a_full_disk_is_not_a_success(stream):
    done = run(stream, *ALLOWED, '--json', '/dev/full')
    assert done.returncode == 1 and "'/dev/full' is not complete" in done.stderr
    with open('/dev/full', 'w') as full:
        done = subprocess.run([stream, *ALLOWED], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and 'the output is not complete' in done.stderr


def test_macros_set_the_defaults_and_options_override_them(build_program, run_program):
    line = '-DSTREAM_ARRAY_SIZE=1200000 -DNTIMES=4 -DOFFSET=16'.split()
    program = build_program('stream', *line, usual=('-O0',))
    for options, wanted in (('', [1200000, 'macro', 4, 16]),
                            ('-n 1e6 -t 3 -o 0', [1000000, 'option', 3, 0])):  # fmt: skip
        record = run_program(program, *options.split())[2]
        keys = ('array_size', 'array_size_from', 'ntimes', 'offset')
        assert [record[key] for key in keys] == wanted


def test_a_size_may_have_a_unit_and_memory_is_in_kib(stream, run_program):
    """1048576 KiB make 44739242 elements [cea]; here a 64th of both."""
    sizes = {'-m 16384': 44739242 // 64, '-n 1M': 1000000, '-n 900k': 900000, '-m 24M': 1048576}
    for words, elements in (*sizes.items(), ('-m 24576K', 1048576)):
        assert run_program(stream, *words.split(), '-t', '2')[2]['array_size'] == elements


def test_float_counts_its_own_bytes_and_validates(build, run_program):
    _, said, record = run_program(
        build('float'), '-n', '1e6', '-t', '50', '--allow', f'{DEFECTS},disturbed'
    )
    assert 'Solution Validates: avg error less than 1.000000e-06 on all three' in said
    assert record['element_bytes'] == 4 and record['kernels']['triad']['bytes_per_element'] == 12
    assert record['validation']['ok']


def test_the_help_names_every_option(stream):
    done = run(stream, '--help')
    own = (ROOT / 'src/stream/options.c').read_text().split('#ifdef MEMBW_MPI')[0]
    common = (ROOT / 'src/harness/options.c').read_text()
    rows = re.findall(r"\{ (?:0|'\w'), \"([a-z-]+)\",", own + common)
    assert done.returncode == 0 and len(rows) >= 12
    assert [name for name in rows if f'--{name}' not in done.stdout] == []
    assert '2 usage error' in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 100
