"""Several launches of a program as one record."""

from membw.results.launches import combine


def record(value, verdict='VALID', reason='disturbed', ns=None):
    reasons = [] if verdict == 'VALID' else [{'reason': reason, 'detail': '', 'allowed': False}]
    metric = {'value': value, 'unit': 'us', 'better': 'lower'}
    cores = {'core_pair': {'ns': ns}, 'core_pair_after': {'ns': ns * 1.02}} if ns else {}
    return {'verdict': verdict, 'reasons': reasons, 'metrics': {'mpi_0_1_0': metric}, **cores}


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


def test_a_figure_that_most_launches_have_counts_though_the_first_has_it_not():
    """src/overheads leaves out what it is not sure of."""
    records = [record(v) for v in (0.3, 0.2, 0.9)]
    del records[0]['metrics']['mpi_0_1_0']
    row = combine(records)['metrics']['mpi_0_1_0']
    assert (row['low'], row['high'], row['unit']) == (0.2, 0.9, 'us')
    del records[1]['metrics']['mpi_0_1_0']
    assert combine(records)['metrics'] == {}


def test_launches_in_which_the_host_had_moved_the_cores_do_not_count():
    """A barrier of 0.17 us with its cores 25 ns apart, of 0.21 and 0.45 us with 32 and 70."""
    usual = [record(v, ns=25) for v in (0.17, 0.168, 0.169, 0.171)]
    made = combine([record(0.45, ns=70), *usual, record(0.21, ns=32)])
    row = made['metrics']['mpi_0_1_0']
    assert made['verdict'] == 'VALID' and (row['low'], row['high']) == (0.168, 0.171)
    assert made['core_pair']['ns'] == 25
    assert [one['counts'] for one in made['launches']] == [False, *[True] * 4, False]
    made = combine([*usual[:2], record(0.45, ns=70), record(0.21, ns=32)])
    assert made['verdict'] == 'INVALID' and made['reasons'][0] == {
        'reason': 'unstable',
        'detail': 'the nearest cores were moved between the launches: 25 ns, 32 ns, 71 ns apart',
        'allowed': False,
    }
    made = combine([*usual[:2], record(0.45, ns=70), record(0.21, ns=32)], allow=['unstable'])
    assert made['verdict'] == 'VALID' and made['reasons'][0]['allowed']
    made = combine([record(0.3, 'INVALID', 'too-short', ns=25), record(0.3, ns=25)])
    assert [r['reason'] for r in made['reasons']] == ['too-short']
