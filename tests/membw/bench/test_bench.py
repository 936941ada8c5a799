"""`membw bench`: outputs are read right, ratios are paired, noise is told and not hidden."""

import json
import os
import pathlib
import subprocess

import pytest
from places import ROOT

from membw.bench import build as bench_build
from membw.bench import dgemm as bench_dgemm
from membw.bench import interference as bench_weather
from membw.bench import parse as bench_parse
from membw.bench import rounds as bench_rounds
from membw.bench import stats as bench_stats
from membw.bench import table as bench_table
from membw.bench.programs import Program
from membw.errors import MembwError
from membw.tables import as_text

DATA = ROOT / 'tests/data'
STREAM = """
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           46217.5     0.048195     0.047190     0.049211
Scale:          25102.6     0.087909     0.086884     0.089311
Add:            28310.0     0.116512     0.115561     0.118309
Triad:          27911.2     0.118122     0.117212     0.119872
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""


# --- parsing -----------------------------------------------------------------------------------


def test_the_table_of_stream_gives_best_and_mean():
    found = bench_parse.stream(STREAM, 'stream.c')
    assert list(found) == ['copy', 'scale', 'add', 'triad']
    assert found['copy']['best_mbs'] == 46217.5
    # the same bytes in the average time
    assert found['copy']['mean_mbs'] == pytest.approx(46217.5 * 0.047190 / 0.048195)


def test_results_that_do_not_validate_are_refused():
    with pytest.raises(MembwError, match='do not validate'):
        bench_parse.stream(STREAM.replace('Validates', 'Fails'), 'stream.c')


def test_a_table_without_a_row_is_refused():
    with pytest.raises(MembwError, match='no row of triad'):
        bench_parse.stream(STREAM.replace('Triad', 'Dot'), 'stream.c')


def test_likwid_bench_tells_a_mean():
    text = (DATA / 'likwid-bench-copy_avx.txt').read_text()
    assert bench_parse.likwid(text, 'copy_avx') == {'copy': {'mean_mbs': 23252.03}}
    assert list(bench_parse.likwid(text, 'stream_avx')) == ['triad']
    with pytest.raises(MembwError, match='no rate'):
        bench_parse.likwid('ERROR', 'copy')


def test_the_kernels_of_likwid_bench_are_those_that_the_cpu_has():
    listing = (DATA / 'likwid-bench-list.txt').read_text()
    plain = bench_parse.likwid_tests(listing, {'sse2'})
    assert plain == [
        ('copy', False), ('copy_mem', True), ('copy_mem_sse', True), ('copy_sse', False),
        ('stream', False), ('stream_mem', True), ('stream_mem_sse', True), ('stream_sse', False),
    ]  # fmt: skip
    wide = bench_parse.likwid_tests(listing, {'sse2', 'avx', 'avx512f', 'fma'})
    assert ('copy_mem_avx512', True) in wide and ('stream_mem_avx_fma', True) in wide
    # single precision and the Schoenauer triad are other kernels
    assert not [test for test, _ in wide if '_sp' in test or test.startswith('triad')]


# --- statistics --------------------------------------------------------------------------------


def one(disturbed=(), **rates):
    programs = {
        name: {'copy': {'best_mbs': rate, 'mean_mbs': rate}} for name, rate in rates.items()
    }
    return {'programs': programs, 'disturbed': list(disturbed), 'failed': {}}


# the machine halves its speed in every other round: paired, nothing of that is left
SWINGING = [one(a=100, b=110), one(a=50, b=55.5), one(a=100, b=109), one(a=50, b=55)]


def test_a_ratio_is_paired_within_the_round():
    found = bench_stats.ratio(SWINGING, 'b', 'a', 'copy')
    assert found.median == pytest.approx(1.10) and found.rounds == 4
    assert found.mad == pytest.approx(0.005)


def test_a_program_that_tells_its_mean_alone_is_held_to_the_mean():
    rounds = [one(a=100)]
    rounds[0]['programs']['a']['copy'] = {'best_mbs': 100, 'mean_mbs': 80}
    rounds[0]['programs']['l'] = {'copy': {'mean_mbs': 120}}
    assert bench_stats.ratio(rounds, 'l', 'a', 'copy').median == 1.5


def test_a_round_without_one_of_the_two_does_not_count():
    assert bench_stats.ratio([one(a=1), *SWINGING], 'b', 'a', 'copy').rounds == 4
    assert bench_stats.ratio(SWINGING, 'b', 'c', 'copy') is None


def test_disturbed_rounds_are_left_out_where_enough_others_are_there():
    spoilt = one(['a (40%)'], a=100, b=10)
    used, remark = bench_stats.usable([*SWINGING, spoilt])
    assert len(used) == 4 and remark == '1 disturbed rounds left out'
    used, remark = bench_stats.usable([SWINGING[0], spoilt, spoilt, spoilt])
    assert len(used) == 4 and remark.startswith('3 of 4 rounds were disturbed')
    assert bench_stats.usable(SWINGING) == (SWINGING, '')


def test_the_best_variant_is_that_of_the_highest_median():
    rounds = [one(x=10, y=11), one(x=10, y=1), one(x=10, y=11)]
    assert bench_stats.best_of(rounds, ['x', 'y'], 'copy') == 'y'
    assert bench_stats.best_of(rounds, ['z'], 'copy') is None


def test_a_table_shows_median_and_spread_and_what_is_below_parity():
    line = str(bench_build.LINES[0])
    ours, theirs = f'membw, {line}', f'stream.c, {line}'
    programs = [Program(name, 'standard', [], None) for name in (theirs, ours)]
    rounds = [one(**{theirs: 100, ours: 94}), one(**{theirs: 50, ours: 48})]
    shown = as_text([bench_table.table('', 'program', bench_table.rows(rounds, programs, theirs))])
    assert f'{ours} 0.95 ±0.01' in ' '.join(shown.split())
    table = bench_table.parity(rounds, programs)
    assert bench_table.missed(table) == [f'{line}: copy 0.950']


# --- rounds ------------------------------------------------------------------------------------


def silent(*_, **__):
    pass


def program(name, text=STREAM, line='', status=0):
    words = ['sh', '-c', f'cat; printf %s "$1"; exit {status}', 'sh', text]
    return Program(name, 'standard', words, lambda t: bench_parse.stream(t, name), {}, line)


def test_the_order_changes_from_round_to_round_but_not_from_run_to_run():
    programs = [program(name, line=name[0]) for name in ('a1', 'a2', 'b1', 'b2', 'c1')]
    orders = [[p.name for p in bench_rounds.ordered(programs, n)] for n in range(8)]
    assert len(set(map(tuple, orders))) > 3
    assert orders == [[p.name for p in bench_rounds.ordered(programs, n)] for n in range(8)]
    for order in orders:  # those of one line stay side by side
        assert abs(order.index('a1') - order.index('a2')) == 1


def test_a_program_that_fails_is_told_and_left_out(monkeypatch):
    monkeypatch.setattr(bench_weather, 'share_of_others', lambda *_: 0)
    bad = [program('crash', status=3), program('wrong', STREAM.replace('Validates', 'x'))]
    rounds = bench_rounds.measure([program('good'), *bad], [0], 2, None, silent)
    assert [list(r['programs']) for r in rounds] == [['good'], ['good']]
    assert rounds[0]['failed']['crash'].startswith("'crash' ended with exit status 3")
    assert 'do not validate' in rounds[0]['failed']['wrong']
    assert not rounds[1]['failed']


def test_a_disturbed_run_is_repeated_and_then_its_round(monkeypatch):
    shares = iter([0.5, 0.0, 0.5, 0.4, 0.0])
    monkeypatch.setattr(bench_weather, 'share_of_others', lambda *_: next(shares))
    rounds = bench_rounds.measure([program('p')], [0], 2, None, silent)
    # round 1: the second try was undisturbed; round 2: neither; round 3 takes its place
    assert [r['disturbed'] for r in rounds] == [[], ['p (40%)'], []]


def test_rounds_end_when_the_machine_is_never_quiet(monkeypatch):
    monkeypatch.setattr(bench_weather, 'share_of_others', lambda *_: 0.5)
    assert len(bench_rounds.measure([program('p')], [0], 3, None, silent)) == 6


def test_slow_variants_are_not_run_for_ever(monkeypatch):
    monkeypatch.setattr(bench_weather, 'share_of_others', lambda *_: 0)

    def variant(name, rate, nontemporal=False):
        text = f'MByte/s:\t\t{rate}\n'
        words = ['printf', '%s', text]
        return Program(name, 'likwid', words, lambda t: bench_parse.likwid(t, 'copy'),
                       nontemporal=nontemporal)  # fmt: skip

    family = [variant('fast', 100), variant('near', 90), variant('slow', 50)]
    rounds = bench_rounds.measure([*family, variant('nt', 20, True)], [0], 3, None, silent)
    assert sorted(rounds[1]['programs']) == ['fast', 'near', 'nt', 'slow']
    assert sorted(rounds[2]['programs']) == ['fast', 'near', 'nt']


def test_the_share_of_others_is_what_was_not_ours(tmp_path):
    stat = tmp_path / 'stat'

    def reading(busy, stolen, wall, own):
        stat.write_text(
            f'cpu 0\ncpu0 {busy} 0 0 500 0 0 0 {stolen} 0 0\ncpu1 9999 0 0 0 0 0 0 0\n'
        )
        found = bench_weather.read([0], stat)
        return bench_weather.Reading(wall, found.busy, found.stolen, own)

    before = reading(100, 0, 0.0, 0.0)
    # 10 s, of which ours 8, others 1, stolen 0.5
    assert bench_weather.share_of_others(
        before, reading(1000, 50, 10.0, 8.0), [0]
    ) == pytest.approx(0.15)
    assert bench_weather.share_of_others(before, reading(908, 0, 10.0, 8.0), [0]) == 0
    assert bench_weather.is_disturbed(0.06) and not bench_weather.is_disturbed(0.04)


# --- building ----------------------------------------------------------------------------------


def test_ours_and_theirs_are_built_by_the_same_line(tmp_path, need):
    need('gcc')
    line = bench_build.Line('gcc', ('-O2',))
    mine, theirs = (
        bench_build.command(line, [source], 'out', 200000000, 10) for source in ('a.c', 'b.c')
    )
    assert [w for w in mine if w != 'a.c'] == [w for w in theirs if w != 'b.c']
    assert '-DSTREAM_ARRAY_SIZE=200000000' in mine and '-DNTIMES=10' in mine
    assert '-mcmodel=medium' in mine  # 4.8 GB of static arrays do not link without
    assert '-mcmodel=medium' not in bench_build.command(line, ['a.c'], 'out', 80000000, 10)


@pytest.mark.parametrize(
    'paths', [('all.c', 'taken.c'), ('src/stream/stream.c', 'src/harness/machine/x.c')]
)
def test_an_edit_of_what_a_source_takes_in_builds_anew(tmp_path, need, monkeypatch, paths):
    need('gcc')
    monkeypatch.setattr(bench_build, 'root', lambda: tmp_path)
    source, taken = (tmp_path / path for path in paths)
    for path in (source, taken):
        path.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f'#include "{os.path.relpath(taken, source.parent)}"\n')
    built = set()
    for status in (3, 3, 4):
        taken.write_text(f'int main(void) {{ return {status}; }}\n')
        out, why = bench_build.build(bench_build.LINES[0], [source], 'x')
        assert not why and subprocess.run([out]).returncode == status
        built.add(out)
    assert len(built) == 2


def test_a_compiler_that_is_not_there_is_a_reason():
    line = bench_build.Line('cc-of-1999', ('-O2',))
    assert bench_build.build(line, ['a.c'], 'x', 1, 1) == (None, "no 'cc-of-1999' on PATH")


def test_where_stream_c_is_not_to_be_had_the_reason_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv('PATH', str(tmp_path))
    found, why = bench_build.find_stream_c('')
    assert found is None and '--stream-c' in why
    with pytest.raises(MembwError, match='no file'):
        bench_build.find_stream_c(str(tmp_path / 'stream.c'))


@pytest.mark.spack
def test_spack_fetches_stream_c_by_its_own_package(need, monkeypatch, tmp_path, environment):
    """From its git address, which leads to a repository of ours here."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    need('spack')
    origin, folder = tmp_path / 'STREAM', tmp_path / 'staged'
    origin.mkdir()
    (origin / 'stream.c').write_text('int main(void) { return 7; }\n')
    for words in (
        ('init', '--quiet', '--initial-branch=master'),
        ('add', 'stream.c'),
        ('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'stream.c'),
    ):
        subprocess.run(['git', *words], cwd=origin, check=True)
    monkeypatch.setenv('GIT_CONFIG_COUNT', '1')
    monkeypatch.setenv('GIT_CONFIG_KEY_0', f'url.file://{origin}.insteadOf')
    monkeypatch.setenv('GIT_CONFIG_VALUE_0', 'https://github.com/jeffhammond/STREAM.git')
    why = bench_build.stage(folder)
    (fetched,) = folder.rglob('stream.c')
    assert fetched.read_text() == (origin / 'stream.c').read_text(), why
    head = subprocess.check_output(['git', '-C', origin, 'rev-parse', 'HEAD'], text=True)
    assert head.startswith(bench_build.commit_of(fetched.parent))


# --- the whole of it, of our own programs alone --------------------------------------------------


def test_a_whole_run_prints_the_table_and_keeps_it(call, need, tmp_path, one_run):
    need('gcc')
    bare = {'STREAM_C': '', 'PATH': f'{pathlib.Path(need("gcc")).parent}:/usr/bin:/bin'}
    done = call(
        pathlib.Path(need('membw')), 'bench', '--only', 'standard', '--rounds', '2', '--size',
        '100000', '--ntimes', '3', '--out', tmp_path, '--format', 'json', **bare,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'left out: rows of stream.c' in done.stderr
    printed = json.loads(done.stdout)
    assert printed['tables'][0]['title'].startswith('ratios to membw, gcc -O2, ')
    names = [row['program'] for row in printed['tables'][0]['rows']]
    assert 'membw, gcc -O2 -ffreestanding' in names
    (kept,) = tmp_path.glob('*.json')
    found = json.loads(kept.read_text())
    assert f'kept as {kept}' in printed['notes']
    assert found['schema'] == 'membw-bench-1' and found['reference'] == 'membw, gcc -O2'
    first = found['table'][0]
    assert first['program'] == 'membw, gcc -O2' and first['triad']['median'] == 1
    made = found['programs']['membw, gcc -O2 -ffreestanding']['codegen']
    assert made['copy']['stores'] == 'ordinary'


def test_two_measurements_at_a_time_are_refused(call, root, need, one_run):
    need('flock', 'gcc')
    (root / 'results').mkdir(exist_ok=True)
    with subprocess.Popen(
        ['flock', root / 'results/run.lock', 'sh', '-c', 'echo locked; cat'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout.readline() == 'locked\n'
        done = call('membw', 'bench', '--rounds', '1', '--size', '1000')
        holder.stdin.close()
    assert done.returncode == 2 and 'another run is under way' in done.stderr


@pytest.mark.parametrize(
    'words, said',
    [
        (['--rounds', '0'], 'not a whole number above 0'),
        (['--only', 'standard,everything'], "'everything' is not one of"),
        (['--stream-c', '/nowhere/stream.c', '--size', '1000'], "no file '/nowhere/stream.c'"),
    ],
)
def test_wrong_questions_are_one_clear_error(call, words, said, one_run):
    done = call('membw', 'bench', *words)
    assert done.returncode == 2 and said in done.stderr and 'Traceback' not in done.stderr


def test_the_figures_of_the_peers_of_dgemm_are_read():
    said = 'DGEMM_N=576\nStarDGEMM_Gflops=14.1812\nSingleDGEMM_Gflops=16.7903\n'
    assert bench_dgemm.of_hpcc(said)['figures'] == {'StarDGEMM': 14.1812, 'SingleDGEMM': 16.7903}
    rate = bench_dgemm.of_peakflops('Time:\t\t\t1.7e+01 sec\nMFlops/s:\t\t7049.91\n')
    assert rate['figures'] == {'peakflops': 7.04991}
    for read in (bench_dgemm.of_hpcc, bench_dgemm.of_peakflops):
        with pytest.raises(MembwError, match='printed no'):
            read('')


def test_what_each_says_of_one_core_stands_beside_its_figure():
    """The peer prints a figure and no word; ours says INVALID."""
    ours = {'figures': {'square': 27.0, 'square_share': 6.0}, 'says': 'INVALID, threads-idle'}
    peer = {'figures': {'SingleDGEMM': 27.0}, 'says': ''}
    rounds = [{'membw dgemm, one thread': ours, 'hpcc, one thread': peer}] * 2
    found = {'size': 4000, 'blas': 'openblas-openmp', 'rounds': rounds}
    table = as_text(bench_dgemm.blocks(found))
    lines = {line.strip().split('  ')[0]: line for line in table.splitlines()[2:]}
    assert lines['membw dgemm, one thread'].rstrip().endswith('INVALID, threads-idle')
    assert lines['hpcc, one thread'].rstrip().endswith('nothing')
