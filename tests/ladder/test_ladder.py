"""src/ladder by hand: its points, what it prints, and a wrong value that it must see."""

import pytest
from changed_source import OTHER_MACHINE
from quick_runs import quick

KIB = 1024


@pytest.fixture(scope='module')
def quick_run():
    """(output, record) of a quick run with two threads."""
    return quick('ladder', metric='l1_latency')[1:]


@pytest.mark.alone
def test_the_record_has_each_size_in_each_round_and_levels_their_figures(quick_run):
    output, record = quick_run
    sizes, points, metrics = record['sizes'], record['points'], record['metrics']
    assert sizes[0] == 4 * KIB and sizes == sorted(sizes) and len(sizes) > 20
    for kind in ('latency_2m_ns', 'read_one_gbs', 'triad_one_gbs'):
        assert 1 <= len(points[kind]) <= 6  # on a busy node the time is over sooner
        assert all(len(row) == len(sizes) for row in points[kind])
        assert all(value is None or value > 0 for row in points[kind] for value in row)
    assert (metrics['l1_latency']['unit'], metrics['l1_latency']['better']) == ('ns', 'lower')
    # a quick ladder may end in a cache that no other machine shares
    last = record['levels'][-1]['name'].lower()
    assert record['headline'] == f'{last}_latency'
    assert metrics['l1_latency']['value'] < metrics[f'{last}_latency']['value']
    if f'{last}_read_one' in metrics:
        assert metrics['l1_read_one']['value'] > metrics[f'{last}_read_one']['value']
    else:  # a busy node left no time for it
        assert record['verdict'] == 'UNDECIDED'
    assert record['levels'][0]['name'] == 'L1'
    assert 'level  declared  measured' in output


@pytest.mark.alone
def test_the_staircase_fits_a_terminal_and_says_where_it_ends(quick_run):
    output, record = quick_run
    staircase = record['printed']
    assert [line for line in output.splitlines() if line][: len(staircase)] == staircase
    assert max(map(len, staircase)) <= 80
    assert any(line.startswith('   4 KiB') for line in staircase)
    assert any('#' in line for line in staircase)  # on a busy node not each size is measured
    assert 'fewer and smaller sizes: --quick' in output and 'memory begins' in output


SOON, LATE = (
    ('ladder/main.c', 'QUICK_SECONDS = 4.3', f'QUICK_SECONDS = {seconds}') for seconds in (2, 60)
)
# sizes to 1 MiB, on a machine that declares no cache
SHORT = ('ladder/rungs.c', 'MOST_AT_LEAST = (size_t)256 * MIB', 'MOST_AT_LEAST = (size_t)2 * MIB')


# a cycle that leads elsewhere; a read that leaves out the last line; a Triad that adds four times,
# and one that adds as it should
CHASE, WIDE = 'harness/memory/chase.c', 'harness/memory/wide_of.h'
KERNELS = [
    (CHASE, '\t*line = chase->at;', '\t*line = chase_address_of(chase, 1);', True),
    (WIDE, 'v < end; v += step', 'v + step < end; v += step', True),
    (WIDE, 'b[i] + 3.0 * c[i]', 'b[i] + 4.0 * c[i]', True),
    (WIDE, 'b[i] + 3.0 * c[i]', '3.0 * c[i] + b[i]', False),
]


@pytest.mark.parametrize('file, before, after, is_wrong', KERNELS)
def test_a_kernel_that_does_less_or_else_is_not_validated(
    build_program, run_program, tmp_path, file, before, after, is_wrong
):
    changes = (LATE, SHORT, *OTHER_MACHINE, (file, before, after))
    words = [build_program('ladder', changes=changes), '--quick', '--allow', 'disturbed,unstable']
    status, said, _ = run_program(*words, OMP_NUM_THREADS=1, MACHINE=tmp_path)
    assert ('invalid: not-validated' in said) == is_wrong, said
    assert status == 1 or not is_wrong


# the time is over; other processes left no undisturbed pass of the larger sizes
SMALLER = {
    'none': ('i < count && clock_now() < until', 'i < 0'),
    'lower half': ('\tm->visits++', '\tseconds *= 2 * rung < m->ladder->count;\n\tm->visits++'),
}


@pytest.mark.parametrize('before, after', SMALLER.values(), ids=SMALLER)
def test_memory_that_was_not_reached_is_undecided(build_program, run_program, before, after):
    """The largest size that was measured may lie in a cache: it was shown as memory's."""
    program = build_program('ladder', changes=(SOON, ('ladder/measure.c', before, after)))
    status, said, record = run_program(program, '--quick', OMP_NUM_THREADS=1)
    assert record['verdict'] == 'UNDECIDED' and status == 1, said
    assert 'not-proven: memory is not shown for certain' in said
    assert not any(name.startswith('memory') for name in record['metrics']), record['metrics']


def test_a_figure_that_a_larger_cache_may_hold_is_a_bound(build_program, run_program):
    changes = (SOON, ('harness/residency/triads.c', 'found->known == RESIDENCY_PROVEN ||', '0 &&'))
    program = build_program('ladder', changes=changes)
    record = run_program(program, '--quick', OMP_NUM_THREADS=1)[2]
    assert record['verdict'] == 'UNDECIDED'
    bounds = {n: row.get('bound') for n, row in record['metrics'].items() if 'memory' in n}
    wanted = {name: 'lower' if 'latency' in name else 'upper' for name in bounds}
    assert bounds in (wanted, dict.fromkeys(bounds, 'unknown'))  # the latter on a busy node
