"""The part pairs of `membw bench`: both programs of each figure in turn, and what they say."""

import argparse
import os
import subprocess

import mpi_job
import pytest

from membw.bench import pairs, rounds
from membw.errors import MembwError
from membw.results import imb_table
from membw.tables import as_text

# as core-to-core-latency 1.2.0 prints its matrix of two cores
CORE_TO_CORE = '#!/bin/sh\nprintf ",\\n%s,\\n" 26.5 >&1\n'
# no IMB: two ranks of the same MPI, and a table as it prints it
IMB = r"""
#include <mpi.h>
#include <stdio.h>
static const char table[] = "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n"
                            "%d 1000 %.2f %.2f\n";
int main(int argc, char **argv)
{
    FILE *lengths = fopen(argv[argc - 1], "r");
    int me, size;
    void *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Alloc_mem(100, MPI_INFO_NULL, &buffer);
    if (me == 0 && fscanf(lengths, "%d", &size) == 1)
        printf(table, size, (size_t)buffer % 4096 ? 1.0 : 0.5, size / 0.5);
    MPI_Free_mem(buffer);
    MPI_Finalize();
    return 0;
}
"""


def found(ours, theirs, verdict='VALID', mean=None):
    ours = {'time': ours, 'mean': mean or ours, 'verdict': verdict}
    return {'ours': ours, 'theirs': {'time': theirs}}


def test_ratios_are_of_rounds_in_which_ours_was_valid():
    done = [{'cas': {'quiet': found(ours, 100.0)}} for ours in (90, 98, 99, 101, 102, 103, 180)]
    done.append({'cas': {'quiet': found(5000, 100.0, 'INVALID')}})
    row = pairs.row('cas', 'quiet', done)
    assert (row['ours'], row['theirs'], row['ratio']) == (101, 100, 1.01)
    assert row['interval'] == (0.9, 1.8), 'seven ratios: the order statistics 1 and 7'
    assert (row['invalid'], row['rounds'], row['unit']) == (1, 8, 'ns')
    assert pairs.row('8 B', 'quiet', [{'8 B': {'quiet': found(1, 1, 'INVALID')}}])['ratio'] is None
    done.append({'cas': {'quiet': found(500, 100.0), 'moved': True}})
    row = pairs.row('cas', 'quiet', done)
    assert (row['ratio'], row['moved']) == (1.01, 1), 'of two machines there is no ratio'


def test_the_median_is_held_to_the_peer_and_the_mean_stands_beside_it():
    row = pairs.row('8 B', 'quiet', [{'8 B': {'quiet': found(0.9, 1.0, mean=0.99)}}])
    assert (row['ours'], row['ratio'], row['of_mean']) == (0.9, 0.9, 0.99)


def test_a_time_of_two_digits_is_held_to_what_it_may_have_been():
    row = imb_table.Row(8, 100000, 0.12, 64.94)
    time_us, off = imb_table.finer_us(row)
    assert time_us == pytest.approx(8 / 64.94) and off == pytest.approx(9.5e-6, rel=0.01)
    assert imb_table.finer_us(imb_table.Row(0, 100000, 0.12, 0.0)) == (0.12, 0.005)
    assert imb_table.finer_us(imb_table.Row(64, 1, 400.0, 0.16)) == (400.0, 0.005)
    of_no_byte = {'ours': {'time': 0.124}, 'theirs': {'time': 0.12, 'off': 0.005}}
    assert pairs.ratio_of(of_no_byte, 'time') == 1
    of_no_byte['ours']['time'] = 0.15
    assert pairs.ratio_of(of_no_byte, 'time') == pytest.approx(1.2)


@pytest.mark.parametrize('looks, runs, moved', [
    ([24, 26], 1, False),
    ([24, 120, 120, 110], 2, False),
    ([24, 120] * 3, 3, True),
])  # fmt: skip
def test_runs_between_which_the_cpus_were_moved_are_made_again(looks, runs, moved):
    runs_of_ours, looked = [], iter(looks)
    ours = {'time': 1.0, 'verdict': 'VALID'}
    measure = pairs.both(lambda place: runs_of_ours.append(place) or ours, lambda place: ours,
                         {pairs.QUIET: pairs.Place([0, 1])}, lambda: next(looked))  # fmt: skip
    assert measure()['moved'] == moved and len(runs_of_ours) == runs
    assert next(looked, None) is None


def test_under_load_each_is_held_to_itself_and_what_is_valid_and_wrong_is_counted():
    quiet = found(100, 100)
    busy = [found(104, 900), found(106, 800), found(900, 700, 'INVALID')]
    done = [{'8 B': {'quiet': quiet, 'busy': b, 'after': found(100, 100)}} for b in busy]
    row = pairs.row('8 B', 'busy', done)
    assert row['ratio'] == pytest.approx(1.05) and row['theirs_busy'] == 8
    assert (row['wrong'], row['invalid'], row['ours_after']) == (1, 1, 1)
    for of_round in done:
        of_round['8 B']['after'] = found(110, 100)
    row = pairs.row('8 B', 'busy', done)
    assert (row['ratio'], row['wrong']) == (1, 0), 'the machine did so by itself'
    assert row['wrong_quiet'] == 2, 'of those that are VALID in all three'


@pytest.mark.parametrize('times, near', [
    ([98, 99, 100, 101, 102, 102.9], 'yes'),
    ([98, 99, 100, 101, 102], 'not known'),  # five have no interval
    ([98, 99, 100, 101, 102, 103.1], 'not known'),
    ([104, 105, 106, 107, 108, 109], 'no'),
    ([90, 91, 92, 93, 94, 96.9], 'no'),
    ([100] * 6 + [None] * 7, 'INVALID'),
])  # fmt: skip
def test_how_near_a_ratio_is_to_1_is_told_by_its_interval(times, near):
    quiet = [
        {'cas': {'quiet': found(ns, 100) if ns else found(1, 100, 'INVALID')}} for ns in times
    ]
    assert pairs.row('cas', 'quiet', quiet, near=0.03)['near'] == near


def test_what_is_known_needs_no_further_round_and_nothing_begins_when_the_time_is_over():
    starts = {'one': lambda: 1, 'two': lambda: 2}
    known = {'is_known': lambda name, done: name == 'two' and len(done) == 3}
    done = rounds.in_turn('a part', starts, 5, lambda text, passing=False: None, **known)
    assert [list(of_round) for of_round in done] == [
        ['one', 'two'], ['two', 'one'], ['one', 'two'], ['one'], ['one', 'two']]  # fmt: skip
    known['is_known'] = lambda name, done: len(done) >= 2
    assert len(rounds.in_turn('a part', starts, 5, lambda *_, **__: None, **known)) == 2
    assert len(rounds.in_turn('a part', starts, 5, lambda *_, **__: None, seconds=1e-9)) == 2


def test_a_line_that_was_read_a_moment_ago_is_not_read_again(monkeypatch):
    now, read = [5.0], []
    monkeypatch.setattr(pairs.time, 'monotonic', lambda: now[0])
    look = pairs.Look(lambda: read.append(now[0]) or 10 * now[0])
    assert (look(), look()) == (50, 50)
    now[0] = 6.0
    assert look() == 60 and read == [5.0, 6.0]


def stand_ins(folder):
    """{'cas': path, 'mpi': path} of programs that print what the peers print."""
    core_to_core, imb = folder / 'core-to-core-latency', folder / 'IMB-MPI1'
    core_to_core.write_text(CORE_TO_CORE)
    core_to_core.chmod(0o755)
    (folder / 'imb.c').write_text(IMB)
    if not mpi_job.lacking():
        subprocess.run(['mpicc', folder / 'imb.c', '-o', imb], check=True)
    return {'cas': str(core_to_core), 'mpi': str(imb)}


def compared(peers, **options):
    return pairs.compare(lambda text, passing=False: None, 1, peers, **options)


@pytest.mark.beside
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='this machine has one CPU')
def test_both_are_measured_quiet_and_with_busy_loops(tmp_path):
    result = compared({**stand_ins(tmp_path), 'mpi': ''}, busy=True)
    assert [(r['name'], r['weather'], r['theirs'], r['rounds']) for r in result['rows']] == [
        ('cas', 'quiet', 26.5, 1), ('cas', 'busy', 26.5, 1)]  # fmt: skip
    for weather in ('quiet', 'busy'):
        ours = result['rounds'][0]['cas'][weather]['ours']
        assert ours['time'] > 0 and (ours['verdict'] == 'INVALID') == bool(ours['reasons'])
    table = as_text(pairs.blocks(result))
    assert 'with a busy loop on both CPUs' in table and 'VALID and wrong' in table
    assert 'within 3 %: yes 0, no 0, INVALID 0, not known 1, of 1' in table


@pytest.mark.beside
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='this machine has one CPU')
@pytest.mark.skipif(bool(mpi_job.lacking()), reason=f'no {mpi_job.lacking()}')
def test_two_ranks_of_each_program_are_measured_size_by_size(tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', f'{tmp_path}:{os.environ["PATH"]}')
    stand_ins(tmp_path)
    result = compared({'cas': '', 'mpi': ''}, only=pairs.figures('cas,0,64'))
    assert result['left_out'] == []
    assert [(r['name'], r['theirs']) for r in result['rows']] == [
        ('cas', 26.5), ('0 B', 0.5), ('64 B', 0.5)]  # fmt: skip
    assert result['rounds'][0]['64 B']['quiet']['ours']['time'] > 0


def test_what_is_not_there_is_left_out_or_refused(tmp_path, monkeypatch):
    empty = {'cas': '', 'mpi': ''}
    monkeypatch.setenv('PATH', str(tmp_path))
    assert pairs.collect(empty, tmp_path)[0] == {}
    with pytest.raises(MembwError, match="no 'core-to-core-latency' on PATH; .*no 'IMB-MPI1'"):
        compared(empty, cpus=[0, 1])
    with pytest.raises(MembwError, match="no program '/no/imb'"):
        pairs.collect({**empty, 'mpi': '/no/imb'}, tmp_path)
    imb = tmp_path / 'IMB-MPI1'
    imb.write_text('#!/bin/sh\n')
    imb.chmod(0o755)
    with pytest.raises(MembwError, match='no mpirun and mpicc for'):
        pairs.collect(empty, tmp_path)


def test_two_programs_of_two_mpi_libraries_are_not_compared(monkeypatch):
    monkeypatch.setattr(pairs, 'library_of', lambda program: f'/lib/{program}/libmpi.so')
    with pytest.raises(MembwError, match='IMB-MPI1 takes /lib/imb/libmpi.so, and our program'):
        pairs.refuse_two_libraries('imb', 'ours')


@pytest.mark.parametrize('text', ['3', '', '0,', 'lines'])
def test_sizes_are_those_of_imb(text):
    with pytest.raises(argparse.ArgumentTypeError, match='is not of cas, 0, 1, 2'):
        pairs.figures(text)


@pytest.mark.parametrize('text', ['0', '0-', '1-1', 'a-b', '0,1'])
def test_cpus_are_two(text):
    assert pairs.two_cpus('0-13') == [0, 13]
    with pytest.raises(argparse.ArgumentTypeError, match='is not two CPUs, as 0-1'):
        pairs.two_cpus(text)
