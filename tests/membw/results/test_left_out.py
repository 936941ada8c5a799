"""What a machine cannot build is told, with the reason."""

from membw.results.left_out import by_reason, partitions_of


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


def test_the_run_prints_what_was_left_out(call, one_run):
    done = call('membw', 'run', '--system', 'ulysses', '-n', 'stream')
    assert 'needs avx2, which the CPU does not have: gcc-avx2' in done.stdout
