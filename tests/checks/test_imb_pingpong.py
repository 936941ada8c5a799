"""The founding ping-pong: the sources' tables pass, slower ones fail, torn ones are INVALID."""

import os
import re
import shutil

import mpi_job
import other_mpi
import posed
import pytest
import yaml
from checkout_copy import copy_checkout
from lib import imb_table
from places import ROOT

PAIRS = ('0-1', '0-13')
TABLES = {pair: (ROOT / f'tests/data/ulysses-imb-{pair}.txt').read_text() for pair in PAIRS}
# no MPI: notes a mask per rank, as the check's own wrapper would, and prints the table of the pair
STAND_IN_MPIRUN = """#!/bin/sh
case "$*" in
*core:13*) other=13;;
*) other=1;;
esac
echo 0 >rank.posed.1
echo $other >rank.posed.2
cat "$TABLES/0-$other"
"""


def references(name):
    return yaml.safe_load((ROOT / f'systems/references/{name}.yaml').read_text())['imb_pingpong']


@pytest.mark.parametrize('pair', PAIRS)
def test_the_references_of_ulysses_are_the_published_table(pair):
    rows = imb_table.rows(TABLES[pair])
    figures = references('ulysses')['ulysses:regular'][pair]
    assert {f't_{row.bytes}': row.time_us for row in rows} == {k: v[0] for k, v in figures.items()}
    assert [row.bytes for row in rows] == imb_table.SIZES and len(figures) == 24
    assert all(unit == 'us' and low < 0 < high < 0.3 for _, low, high, unit in figures.values())


@pytest.mark.parametrize(
    'name, part, latencies, bandwidths, near, far',
    [
        ('robin', 'robin:node', 11, 5, 'mic1-cpu1', 'mic0-cpu1'),
        ('helios', 'helios:sandy-bridge', 15, 14, 'mic0-cpu1', 'mic1-cpu1'),
    ],
)
def test_the_tables_of_cards_are_references_of_pairs_that_the_system_has(
    name, part, latencies, bandwidths, near, far
):
    """A card moves more to its neighbour's socket than to the other one."""
    pairs = references(name)[part]
    figures = [figure for row in pairs.values() for figure in row]
    assert (figures.count('t_0'), figures.count('bandwidth')) == (latencies, bandwidths)
    system = yaml.safe_load((ROOT / f'systems/{name}.yaml').read_text())
    (extras,) = [p['extras'] for p in system['partitions'] if f'{name}:{p["name"]}' == part]
    assert extras['imb_pairs'] == list(pairs)
    ends = {end for pair in pairs for end in pair.removeprefix('inter:').split('-')}
    assert ends <= set(extras['endpoints'])
    assert pairs[near]['bandwidth'][0] > 3 * pairs[far]['bandwidth'][0]


@pytest.mark.parametrize('pair', PAIRS)
def test_a_truncated_table_is_refused(pair):
    whole = TABLES[pair]
    assert [*imb_table.problems(whole)] == []
    end = whole.index(imb_table.END) + len(imb_table.END)
    assert all([*imb_table.problems(whole[:cut])] for cut in range(end))
    lines = whole.splitlines(keepends=True)
    for i in range(5, 29):
        assert [*imb_table.problems(''.join(lines[:i] + lines[i + 1 :]))]


# --- through ReFrame ---------------------------------------------------------------------------


@pytest.fixture(scope='module')
def house(tmp_path_factory):
    """A checkout whose one system stands for Ulysses: its references, its pairs."""
    root = copy_checkout(tmp_path_factory.mktemp('house'))
    table = references('ulysses')
    table['posed:here'] = table.pop('ulysses:regular')
    gcc = {'gcc': {'cc': 'gcc', 'presets': ['gcc-o2']}}
    partition = {'features': 'auto', 'toolchains': gcc, 'extras': {'imb_pairs': list(PAIRS)}}
    posed.write(root, partition, references={'imb_pingpong': table})
    for name in ('mpirun', 'hwloc-bind', 'IMB-MPI1'):
        (root / 'bin').mkdir(exist_ok=True)
        (root / 'bin' / name).write_text(STAND_IN_MPIRUN)
        (root / 'bin' / name).chmod(0o755)
    return root


@pytest.fixture
def run(house, reframe, tmp_path):
    """run(change of the table's text, of the second one's, ...): (session, {pair: case}); the MPI
    is a stand-in."""

    def session(*changes, name='imb_pingpong', path=True, given=(), **more):
        for (pair, text), change in zip(TABLES.items(), changes * 2):
            (tmp_path / pair).write_text(change(text))
        env = {**mpi_job.LAUNCHER, 'TABLES': str(tmp_path), **more}
        if path:
            env['PATH'] = f'{house}/bin:{os.environ["PATH"]}'
        words = ('--system=posed', '-r', '-n', name)
        done = reframe('imb_pingpong.py', *words, root=house, given=given, **env)
        return done, {case['pair']: case for case in done.ran}

    return session


def slower(text):
    """Every time 30 % longer, its rate 30 % lower."""

    def row(m):
        size, count, time, rate = m[0].split()
        return f'{size} {count} {1.3 * float(time):.2f} {int(size) / float(time) / 1.3 / 1.048576}'

    return re.sub(r'^ *\d+ +\d+ +[\d.]+ +[\d.]+$', row, text, flags=re.M)


def test_the_sources_own_tables_pass_slower_ones_fail_torn_ones_are_invalid(run):
    done, cases = run(slower, str)
    assert done.code == 1 and cases['0-13']['result'] == 'pass', done.text
    value, reference, *_ = cases['0-13']['perfvalues']['posed:here:t_65536']
    assert value == reference == 11.59
    metrics = done.one('imb_pingpong', pair='0-13')[1]['metrics']
    assert (metrics['t_64']['series'], metrics['t_64']['at']) == ('t', {'bytes': 64})
    slow = cases['0-1']
    assert (slow['fail_phase'], slow['verdict']) == ('performance', 'VALID'), done.text
    done, cases = run(lambda text: text[: text.index('65536')], str)
    assert done.code == 1 and cases['0-13']['result'] == 'pass', done.text
    assert cases['0-1']['verdict'] == 'INVALID', done.text
    assert 'the table lacks 7 of 24 sizes, first 65536' in cases['0-1']['reasons']


@pytest.mark.skipif(
    not (shutil.which('mpirun') and shutil.which('hwloc-bind')), reason='no mpirun or hwloc-bind'
)
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='one CPU')
def test_the_sources_own_line_is_invalid_because_both_ranks_are_bound_to_both_cores(run, tmp_path):
    """A real mpirun and hwloc-bind; IMB alone is a stand-in, which prints the table."""
    stand_in = tmp_path / 'bin/IMB-MPI1'
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-0}" != 0 ] || cat "$TABLES/0-1"\n')
    stand_in.chmod(0o755)
    path = f'{stand_in.parent}:{os.environ["PATH"]}'
    options = {'name': 'imb_pingpong%pair=0-1', 'path': False, 'PATH': path}
    done, cases = run(str, **options)
    assert cases['0-1']['verdict'] == 'VALID', done.text
    done, cases = run(str, given={'binding': 'source'}, **options)
    case = cases['0-1']
    assert case['verdict'] == 'INVALID', done.text
    assert 'both ranks are bound to both cores' in case['reasons']


@pytest.mark.skipif(
    not (other_mpi.is_there('impi') and shutil.which('hwloc-bind')),
    reason='no impi of PyPI, or no hwloc-bind',
)
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='one CPU')
def test_the_program_of_the_sources_itself_is_run_and_read(run):
    """IMB-MPI1 of Intel's own MPI, by the line of the check."""
    own = {k: v for k, v in other_mpi.environment('impi').items() if os.environ.get(k) != v}
    given = {'iterations': 100}
    done, cases = run(str, given=given, name='imb_pingpong%pair=0-1$', path=False, **own)
    (output,) = done.folder.glob('stage/**/imb.txt')
    assert [*imb_table.problems(output.read_text())] == [], done.text
    reasons = cases['0-1']['reasons']
    # a busy machine may make it unstable
    assert 'wrong-pinning' not in reasons and 'not-validated' not in reasons, reasons
    assert (cases['0-1']['verdict'] == 'VALID') == (not reasons)


def lines(reframe, system, pairs, **given):
    """The lines of mpirun in the jobs of these pairs."""
    words = ('--dry-run', f'--system={system}', '-n', f'imb_pingpong%pair=({pairs})$')
    folder = reframe('imb_pingpong.py', *words, given=given).folder
    texts = [path.read_text() for path in folder.rglob('rfm_job.sh')]
    return [ln for text in texts for ln in text.splitlines() if ln.startswith('mpirun')], texts


def test_ulysses_gets_the_printed_line(reframe):
    (line,), _ = lines(reframe, 'ulysses', '0-13', binding='source')
    own = line.replace('sh on_cpus.sh "$imb"', 'IMB-MPI1').partition(' >')[0]
    assert own == 'mpirun -np 2 hwloc-bind core:0 core:13 IMB-MPI1 PingPong -iter 100000'


ENDPOINTS = {
    'mic0-cpu1': '-n 1 -host "${here}-mic0" taskset -c 1 sh on_cpus.sh IMB-MPI1.mic PingPong '
    '-iter 100000 : -n 1 -host "${there}" hwloc-bind core:8 sh on_cpus.sh "$imb" ',
    'mic1-mic1': ' taskset -c 5 ',
    'inter:cpu1-cpu0': ': -n 1 -host "${there}" hwloc-bind core:0 ',
}


def test_helios_starts_each_rank_at_its_endpoint(reframe):
    found, texts = lines(reframe, 'helios', '|'.join(ENDPOINTS))
    assert len(found) == len(ENDPOINTS), texts
    for pair, part in ENDPOINTS.items():
        assert len([line for line in found if part in line]) == 1, pair
    assert all('I_MPI_DAPL_PROVIDER_LIST=ofa-v2-mlx4_0-1u,ofa-v2-mcm-1' in t for t in texts)
