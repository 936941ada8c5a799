"""Several launches of a program as one record."""

from membw.results.launches import combine


def record(value, verdict='VALID', reason='disturbed'):
    reasons = [] if verdict == 'VALID' else [{'reason': reason, 'detail': '', 'allowed': False}]
    metrics = {'mpi_0_1_0': {'value': value, 'unit': 'us', 'better': 'lower'}}
    return {'verdict': verdict, 'reasons': reasons, 'warnings': [], 'metrics': metrics}


def test_the_median_of_the_launches_counts_and_their_spread_is_kept():
    made = combine([record(v) for v in (0.3, 0.2, 0.9)])
    row = made['metrics']['mpi_0_1_0']
    assert (row['low'], row['value'], row['high']) == (0.2, 0.3, 0.9)
    assert (row['unit'], made['verdict']) == ('us', 'VALID')
    assert [launch['metrics']['mpi_0_1_0'] for launch in made['launches']] == [0.3, 0.2, 0.9]


def test_an_invalid_launch_does_not_count_while_most_are_valid():
    made = combine([record(9, 'INVALID'), record(0.2), record(0.4)])
    assert made['verdict'] == 'VALID' and made['metrics']['mpi_0_1_0']['high'] == 0.4
    made = combine([record(9, 'INVALID'), record(0.2)])
    assert made['verdict'] == 'INVALID' and made['reasons'][0]['reason'] == 'disturbed'
    bad = [record(9, 'INVALID') for _ in range(4)]  # two of three were wanted, and five had to be
    assert combine([*bad, record(0.2), record(0.4)], requested=3)['verdict'] == 'VALID'
    assert combine([*bad, record(9, 'INVALID'), record(0.4)], requested=3)['verdict'] == 'INVALID'


def test_one_launch_that_is_wrong_for_good_makes_the_record_invalid():
    made = combine([record(0.2), record(9, 'INVALID', 'not-validated'), record(0.3), record(0.2)])
    assert made['verdict'] == 'INVALID' and made['reasons'][0]['reason'] == 'not-validated'


def test_a_figure_that_most_launches_have_counts_although_the_first_lacks_it():
    """src/overheads leaves out what it is not sure of."""
    records = [record(v) for v in (0.3, 0.2, 0.9)]
    del records[0]['metrics']['mpi_0_1_0']
    row = combine(records)['metrics']['mpi_0_1_0']
    assert (row['low'], row['high'], row['unit']) == (0.2, 0.9, 'us')
    del records[1]['metrics']['mpi_0_1_0']
    assert combine(records)['metrics'] == {}
