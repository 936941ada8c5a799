"""When a size lies in memory: the rule at its borders, where it must not clear a cache."""

import subprocess

# MiB declared, threads, the size in question, GB/s at 64 MiB, 128, 256 ...
TO_1024, TO_2048 = '90 40 40 40 40', '90 40 40 40 40 40'
ROWS = [
    # a plateau must reach twice what the caches can be: 512 MiB at least
    ('0 2 256', TO_1024, 'proven'),
    ('0 2 256', '90 40 40 40', 'not proven'),
    # 96 MiB for each thread: six have 576
    ('0 5 256', TO_1024, 'proven'),
    ('0 6 256', TO_1024, 'not proven'),
    ('0 10 256', TO_2048, 'proven'),
    ('0 11 256', TO_2048, 'not proven'),
    # 2,304 MiB at most
    ('0 999 256', f'{TO_2048} 40', 'not proven'),
    ('0 999 256', f'{TO_2048} 40 40', 'proven'),
    # what is declared, where that is more
    ('513 2 256', TO_1024, 'not proven'),
    ('513 2 256', TO_2048, 'proven'),
    ('512 11 256', TO_2048, 'not proven'),
    # a rate within a tenth is of the plateau, which has two doublings; its first size is not clear
    ('0 2 256', '90 44 42 41 40', 'proven'),
    ('0 2 256', '90 60 44 41 40', 'unknown'),
    ('0 2 512', '90 60 44 41 40', 'proven'),
    ('0 2 256', '90 50 45 41 40', 'unknown'),
    ('0 2 512', '90 50 45 41 40', 'unknown'),
    ('0 2 1024', '90 80 60 41 40', 'unknown'),
    ('0 2 512', '56 52 48 45 40', 'unknown'),
    ('0 2 512', '30 31 35 35 40', 'unknown'),
    # two larger sizes that are slower by a quarter are a cache; one is other processes
    ('0 2 128', '90 90 80 60 60', 'contradicted'),
    ('0 2 128', '90 80 80 61 40', 'unknown'),
    ('0 2 128', '90 90 80 60 85', 'unknown'),
    ('0 2 256', '90 80 80 80 50', 'unknown'),
    ('0 2 512', '90 80 80 80 50', 'unknown'),
    ('0 2 1024', '90 80 80 80 50', 'unknown'),
    ('0 2 8192', '90 80 80 80 50', 'unknown'),
]


def test_no_curve_clears_a_size_that_a_cache_can_hold(build_program):
    text = ''.join(f'{what} {rates}\n' for what, rates, _ in ROWS)
    probe = build_program('tests/probes/residency.c')
    done = subprocess.run([probe], input=text, capture_output=True, text=True, check=True)
    for row, word in zip(ROWS, done.stdout.splitlines(), strict=True):
        assert row[-1] == word, row
