"""The check `device`: one case per card of the system file, on pocl's devices."""

import json

import lying_opencl
import posed
import pytest
from checkout_copy import copy_checkout

CARDS = {'devices': [{'type': 'gpu', 'num_devices': 3}]}


@pytest.fixture(scope='module')
def measured(tmp_path_factory, reframe, quick_gcc):
    """The cases by card, and the session: of three cards of the system file the node shows two."""
    copy = copy_checkout(tmp_path_factory.mktemp('cards') / 'checkout')
    posed.write(copy, CARDS, {'name': 'without'})
    given = {'cpu': 'true', 'array_size': 100000, 'rounds': 10,
             'allow': 'array-too-small,too-short'}  # fmt: skip
    variables = lying_opencl.variables(tmp_path_factory.mktemp('opencl'))
    done = reframe('device.py', '-r', '--system', 'posed', root=copy, given=given, PATH=quick_gcc,
                   POCL_DEVICES='pthread pthread', **variables, LIE='named')  # fmt: skip
    return {case['display_name'].partition('%card=')[2][:1]: case for case in done.ran}, done


def test_each_card_is_a_case_where_the_system_has_one(measured):
    cases, done = measured
    assert sorted(cases) == ['0', '1', '2'], done.text
    assert {case['partition'] for case in done.ran} == {'here'}


def test_a_card_has_a_record_of_its_own(measured):
    cases, done = measured
    for card in '01':
        record = json.loads(open(cases[card]['record']).readline())
        assert cases[card]['verdict'] == 'VALID', done.text
        assert record['device']['index'] == int(card)
        assert record['case']['parameters'] == {'card': card}
        assert {name.rpartition(':')[2] for name in cases[card]['perfvalues']} == {
            *record['metrics']
        }


def test_a_card_that_is_gone_is_missing_by_name(measured):
    cases, _ = measured
    gone = cases['2']
    assert gone['result'] == 'fail' and gone['word'] == 'MISSING'
    assert 'no card 2: this node shows 2, the last is card 1' in gone['reasons']
