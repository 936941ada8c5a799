"""What a machine cannot build is told, with the reason."""

from membw.run.refusals import by_reason
from membw.run.session import partitions_of


def test_a_reason_is_given_once_for_all_partitions():
    partitions = [
        {'extras': {'left_out': {'icc-o2': "no 'icc'", 'icc-avx2': "no 'icc'"}}},
        {'extras': {'left_out': {'icc-o2': "no 'icc'", 'gcc-avx2': 'needs avx2'}}},
        {'extras': {}},
    ]
    assert by_reason(partitions) == {
        "no 'icc'": ['icc-o2', 'icc-avx2'],
        'needs avx2': ['gcc-avx2'],
    }


def test_ulysses_leaves_out_what_needs_avx2():
    reasons = by_reason(partitions_of('ulysses'))
    assert 'gcc-avx2' in reasons['needs avx2, which the CPU does not have']


def test_a_run_names_what_is_left_out_of_the_presets_it_was_given(call, one_run):
    done = call('membw', 'run', '--system', 'ulysses', '-n', 'stream', '-p', 'gcc-(o2|avx2)')
    assert 'left out here is gcc-avx2: needs avx2, which the CPU does not have\n' in done.stderr
    assert 'icc-avx2' not in done.stdout + done.stderr
