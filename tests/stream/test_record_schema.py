"""What checks the tests' own records can fail."""

import copy

import fleet_generator as gen
import jsonschema
import pytest
from record_schema import check_all

WRONG = {
    'a rate below nothing': lambda row: row['kernels']['triad'].update(best_mbs=-1.0),
    'a time in words': lambda row: row['kernels']['copy']['times_s'].append('soon'),
    'a rank before the first': lambda row: row.update(rank=-1),
    'no host': lambda row: row.pop('host'),
    'no kernel at all': lambda row: row['kernels'].clear(),
    'a reason without detail': lambda row: row.update(reasons=[{'reason': 'disturbed'}]),
    'a fact too few': lambda row: row['facts'].pop('numa'),
}


@pytest.mark.parametrize('spoil', WRONG.values(), ids=WRONG.keys())
def test_one_wrong_record_of_a_fleet_is_refused(spoil):
    rows = gen.records(gen.healthy(20, seed=7))
    rows[13] = copy.deepcopy(rows[13])
    spoil(rows[13])
    with pytest.raises(jsonschema.ValidationError):
        check_all(rows)
