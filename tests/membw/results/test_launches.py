"""Several launches of a program as one record."""

from membw.results.launches import combine


def record(value, verdict='VALID', reason='disturbed'):
    reasons = [] if verdict == 'VALID' else [{'reason': reason, 'detail': '', 'allowed': False}]
    metric = {'value': value, 'unit': 'us', 'better': 'lower'}
    return {'verdict': verdict, 'reasons': reasons, 'metrics': {'mpi_0_1_0': metric}}


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
