"""The loop that starts a program several times, and when it ends."""

import json
import shlex
import subprocess
import types

import pytest
from lib.several_launches import combine, several_launches

from membw.results import ledger


def record(*reasons, allowed=False):
    """As src/harness/verdict.c writes it."""
    rows = [{'reason': r, 'detail': 'of "both", \\ and {}', 'allowed': allowed} for r in reasons]
    word = 'VALID' if allowed or not reasons else 'INVALID'
    warned = [{'reason': 'oversubscribed', 'detail': 'nearly'}]
    return {'verdict': word, 'reasons': rows, 'warnings': warned, 'metrics': {}}


# what each of three launches leaves, the last one again and again, and how many are made
LAUNCHES = [
    ([record()], 3), ([record(), record('too-short')], 3), ([record('too-short')], 3),
    ([record('oversubscribed', allowed=True)], 3), ([None], 1), ([record(), None], 2),
]  # fmt: skip


@pytest.mark.parametrize('left, made', LAUNCHES)
def test_launches_end_where_a_further_one_would_say_nothing_else(tmp_path, left, made):
    for number, one in enumerate([*left, *[left[-1]] * (3 - len(left))], 1):
        if one:
            (tmp_path / f'is-{number}').write_text(json.dumps(one) + '\n')
    program = tmp_path / 'program'
    program.write_text(
        'echo >>launched; n=$(wc -l <launched); cp is-$n "$2" 2>/dev/null\n'
        'grep -q \'"verdict": "VALID"\' "$2"\n'
    )
    check = types.SimpleNamespace(
        launches=3,
        seconds_apart=0,
        executable='sh',
        executable_opts=[str(program), '--json', 'record.json'],
        expected={},
    )
    several_launches.launch_again(check)
    words = shlex.split(shlex.join([check.executable]) + ' ' + ' '.join(check.executable_opts))
    subprocess.run(words, cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert (tmp_path / 'launched').read_text().count('\n') == made
    records = [json.loads(path.read_text()) for path in tmp_path.glob('*.json')]
    assert len(records) == (made if left[-1] else made - 1)
    assert len(ledger.read(tmp_path).ended) == made
    assert list(check.expected.values())[2] == 'launch 3 of 3'


# --- the record of all -----------------------------------------------------------------------


def launch(value, verdict='VALID', reason='disturbed'):
    reasons = [] if verdict == 'VALID' else [{'reason': reason, 'detail': '', 'allowed': False}]
    metrics = {'mpi_0_1_0': {'value': value, 'unit': 'us', 'better': 'lower'}}
    return {'verdict': verdict, 'reasons': reasons, 'warnings': [], 'metrics': metrics}


def test_the_median_of_the_launches_counts_and_their_spread_is_kept():
    made = combine([launch(v) for v in (0.3, 0.2, 0.9)])
    row = made['metrics']['mpi_0_1_0']
    assert (row['low'], row['value'], row['high']) == (0.2, 0.3, 0.9)
    assert (row['unit'], made['verdict']) == ('us', 'VALID')
    assert [launch['metrics']['mpi_0_1_0'] for launch in made['launches']] == [0.3, 0.2, 0.9]


BAD, WRONG = launch(9, 'INVALID'), launch(9, 'INVALID', 'not-validated')
OF_ALL = [
    ([BAD, launch(0.2), launch(0.4)], ''),
    ([BAD, launch(0.2)], 'disturbed'),
    ([*[BAD] * 3, launch(0.2), launch(0.4)], 'disturbed'),
    # no other launch makes it good, whichever is the first
    ([launch(0.2), WRONG, launch(0.3), launch(0.2)], 'not-validated'),
    ([BAD, launch(0.2), WRONG, launch(0.3), launch(0.2)], 'not-validated'),
]


@pytest.mark.parametrize('launches, why', OF_ALL)
def test_most_launches_must_be_valid_and_none_computed_wrong(launches, why):
    made = combine(launches)
    assert made['verdict'] == ('INVALID' if why else 'VALID')
    assert [one['reason'] for one in made['reasons']][:1] == [why] * bool(why)
    assert why or made['metrics']['mpi_0_1_0']['high'] == 0.4


@pytest.mark.parametrize(
    'bounds, bound, value',
    [
        ((None, None, 'upper'), None, 0.25),
        ((None, 'upper', 'upper'), 'upper', 0.3),
        (('unknown', 'upper', 'upper'), 'unknown', 0.3),
    ],
)
def test_a_figure_that_is_a_bound_in_half_of_the_launches_is_one(bounds, bound, value):
    records = [launch(v) for v in (0.2, 0.3, 0.9)]
    for one, of in zip(records, bounds, strict=True):
        one['metrics']['mpi_0_1_0'] |= {'bound': of} if of else {}
    row = combine(records)['metrics']['mpi_0_1_0']
    assert (row.get('bound'), row['value'], 'low' in row) == (bound, value, not bound)


def test_a_figure_that_most_launches_have_counts_although_the_first_lacks_it():
    """src/overheads leaves out what it is not sure of."""
    records = [launch(v) for v in (0.3, 0.2, 0.9)]
    del records[0]['metrics']['mpi_0_1_0']
    row = combine(records)['metrics']['mpi_0_1_0']
    assert (row['low'], row['high'], row['unit']) == (0.2, 0.9, 'us')
    del records[1]['metrics']['mpi_0_1_0']
    assert combine(records)['metrics'] == {}
