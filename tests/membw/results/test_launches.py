"""Several launches of a program as one record."""

from membw.results import regimes
from membw.results.launches import combine


def record(value, verdict='VALID', reason='disturbed', ns=None, additions=None):
    reasons = [] if verdict == 'VALID' else [{'reason': reason, 'detail': '', 'allowed': False}]
    metric = {'value': value, 'unit': 'us', 'better': 'lower'}
    cores = {'core_pair': {'ns': ns}, 'core_pair_after': {'ns': ns * 1.02}} if ns else {}
    metrics = {'mpi_0_1_0': metric}
    cores['additions_per_cycle'] = additions
    return {'verdict': verdict, 'reasons': reasons, 'warnings': [], 'metrics': metrics, **cores}


def test_the_median_of_the_launches_counts_and_their_spread_is_kept():
    made = combine([record(v) for v in (0.3, 0.2, 0.9)])
    row = made['metrics']['mpi_0_1_0']
    assert (row['low'], row['value'], row['high']) == (0.2, 0.3, 0.9)
    assert (row['unit'], made['verdict']) == ('us', 'VALID')
    assert [launch['metrics']['mpi_0_1_0'] for launch in made['launches']] == [0.3, 0.2, 0.9]


def test_a_launch_that_may_not_be_believed_does_not_count_while_most_may():
    made = combine([record(9, 'INVALID'), record(0.2), record(0.4)])
    assert made['verdict'] == 'VALID' and made['metrics']['mpi_0_1_0']['high'] == 0.4
    made = combine([record(9, 'INVALID'), record(0.2)])
    assert made['verdict'] == 'INVALID' and made['reasons'][0]['reason'] == 'disturbed'
    bad = [record(9, 'INVALID') for _ in range(4)]  # two of three were wanted, and five had to be
    assert combine([*bad, record(0.2), record(0.4)], asked=3)['verdict'] == 'VALID'
    assert combine([*bad, record(9, 'INVALID'), record(0.4)], asked=3)['verdict'] == 'INVALID'


def test_a_launch_that_is_wrong_for_good_is_outvoted_by_none():
    made = combine([record(0.2), record(9, 'INVALID', 'not-validated'), record(0.3), record(0.2)])
    assert made['verdict'] == 'INVALID' and made['reasons'][0]['reason'] == 'not-validated'


def test_a_figure_that_most_launches_have_counts_though_the_first_has_it_not():
    """src/overheads leaves out what it is not sure of."""
    records = [record(v) for v in (0.3, 0.2, 0.9)]
    del records[0]['metrics']['mpi_0_1_0']
    row = combine(records)['metrics']['mpi_0_1_0']
    assert (row['low'], row['high'], row['unit']) == (0.2, 0.9, 'us')
    del records[1]['metrics']['mpi_0_1_0']
    assert combine(records)['metrics'] == {}


def test_launches_in_another_state_of_the_machine_do_not_count():
    """A barrier of 0.17 us with its cores 25 to 32 ns apart, of 0.45 with 70."""
    usual = [record(v, ns=ns) for v, ns in ((0.17, 25), (0.168, 25), (0.2, 32), (0.171, 29))]
    made = combine([record(0.45, ns=70), *usual, record(0.46, ns=71)])
    row = made['metrics']['mpi_0_1_0']
    assert made['verdict'] == 'VALID' and (row['low'], row['high']) == (0.168, 0.2)
    assert made['core_pair']['ns'] == 25 and not made['warnings']
    assert [one['counts'] for one in made['launches']] == [False, *[True] * 4, False]
    made = combine([record(0.3, 'INVALID', 'too-short', ns=25), record(0.3, ns=25)])
    assert [r['reason'] for r in made['reasons']] == ['too-short']


def test_launches_that_shared_their_cores_do_not_count_while_some_had_them_alone():
    """A parallel region of 0.471 us with 5.16 additions per cycle, of 0.553 with 4.2."""
    shared = [record(v, ns=28, additions=4.2) for v in (0.553, 0.55, 0.56, 0.54)]
    alone = [
        record(v, ns=28, additions=a) for v, a in ((0.471, 5.16), (0.475, 5.1), (0.469, 5.15))
    ]
    made = combine([*shared, *alone])
    row = made['metrics']['mpi_0_1_0']
    assert made['verdict'] == 'VALID' and (row['low'], row['high']) == (0.469, 0.475)
    assert [one['counts'] for one in made['launches']] == [False] * 4 + [True] * 3
    row = combine([*shared, *alone[:2]])['metrics']['mpi_0_1_0']  # too few: all of them
    assert (row['low'], row['high']) == (0.471, 0.56)


def test_where_no_state_has_most_launches_the_intervals_reach_over_all_of_them():
    """A figure that is honest is more to a newcomer than none."""
    one, other = ([record(v, ns=ns) for v in values] for values, ns in
                  (((0.17, 0.168, 0.169), 25), ((0.45, 0.44, 0.46), 70)))  # fmt: skip
    made = combine([*one, *other])
    row = made['metrics']['mpi_0_1_0']
    assert made['verdict'] == 'VALID' and (row['low'], row['high']) == (0.168, 0.46)
    assert all(launch['counts'] for launch in made['launches'])
    (warning,) = made['warnings']
    assert warning['reason'] == 'unstable' and '25 to 71 ns apart' in warning['detail']
    # so rows, diff and rank know that it is of no one state
    assert regimes.crossed(regimes.latencies(made))
