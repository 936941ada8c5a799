"""The loop that starts a program several times, and when it ends."""

import json
import shlex
import subprocess
import types

import pytest
from lib.several_launches import several_launches

from membw.results import launches, ledger


def record(*reasons, allowed=False):
    """As src/harness/verdict.c writes it."""
    rows = [{'reason': r, 'detail': 'of "both", \\ and {}', 'allowed': allowed} for r in reasons]
    word = 'VALID' if allowed or not reasons else 'INVALID'
    warned = [{'reason': 'oversubscribed', 'detail': 'nearly'}]
    return {'verdict': word, 'reasons': rows, 'warnings': warned, 'metrics': {}}


# what each launch leaves, the last one again and again; how many are made of three that are asked
LAUNCHES = [
    ([record()], 3),
    ([record(), record('too-short'), record()], 4),
    ([record('too-short'), record()], 4),
    ([record(), record('too-short')], 6),
    ([record('too-short')], 2),
    ([record('oversubscribed', allowed=True)], 3),
    ([None], 1),
    ([record(), record('not-validated'), record()], 4),
]


@pytest.mark.parametrize('left, made', LAUNCHES)
def test_launches_end_where_a_further_one_would_say_nothing_else(tmp_path, left, made):
    for number, one in enumerate([*left, *[left[-1]] * (6 - len(left))], 1):
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
        case=types.SimpleNamespace(expected={}),
    )
    several_launches.launch_again(check)
    words = shlex.split(shlex.join([check.executable]) + ' ' + ' '.join(check.executable_opts))
    subprocess.run(words, cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert (tmp_path / 'launched').read_text().count('\n') == made
    records = [json.loads(path.read_text()) for path in tmp_path.glob('*.json')]
    assert len(records) == (made if left[0] else 0)
    assert len(ledger.read(tmp_path).ended) == made
    assert list(check.case.expected.values())[2] == 'launch 3 of 3'
    if any(map(launches.is_wrong, left if left[0] else ())):
        assert launches.combine(records, 3)['verdict'] == 'INVALID'
