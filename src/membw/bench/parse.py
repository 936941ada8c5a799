"""Rates from the output of the programs that `membw bench` compares; in MB/s, 10^6 bytes/s."""

import re

from membw.errors import MembwError
from membw.results import stream_table
from membw.results.case import STREAM
from membw.results.stream_table import NUMBER

LIKWID_RATE = re.compile(rf'^MByte/s:\s+{NUMBER}\s*$', re.M)
LIKWID_TEST = re.compile(r'^(copy|stream)((?:_[a-z0-9]+)*) - (.*)$', re.M)
# likwid-bench's kernel -> ours; its "triad" reads three arrays and is another kernel
LIKWID_KERNELS = {'copy': 'copy', 'stream': 'triad'}


def stream(text, program):
    """{'copy': {'best_mbs': .., 'mean_mbs': ..}, ...} of STREAM's table, whoever printed it.

    Raises MembwError where the results do not validate or a row is missing.
    """
    if 'Solution Validates' not in text:
        raise MembwError(f"the results of '{program}' do not validate", 'do not use its figures')
    rows = {
        name: rates(row['best_mbs'], row['min_s'], row['avg_s'])
        for name, row in stream_table.rows(text).items()
        if 'min_s' in row
    }
    missing = [name for name in STREAM if name not in rows]
    if missing:
        raise MembwError(
            f"'{program}' printed no row of {missing[0]}", 'is it the program that you mean?'
        )
    return rows


def rates(best, least, average):
    """The best is of the shortest time; the same bytes in the average time give the mean."""
    best, least, average = float(best), float(least), float(average)
    return {'best_mbs': best, 'mean_mbs': best * least / average if average else best}


def likwid(text, test):
    """{'copy': {'mean_mbs': ..}}: likwid-bench tells the mean over its repetitions alone."""
    match = LIKWID_RATE.search(text)
    if not match:
        raise MembwError(f"likwid-bench printed no rate of '{test}'", 'run it by hand')
    return {LIKWID_KERNELS[test.split('_')[0]]: {'mean_mbs': float(match.group(1))}}


def likwid_tests(listing, flags):
    """Its double-precision copy and STREAM triad kernels that a CPU with these flags can run.

    Returns [(test, non-temporal?)], from what `likwid-bench -a` prints.
    """
    tests = []
    for kernel, suffix, _ in LIKWID_TEST.findall(listing):
        words = suffix.strip('_').split('_')
        if 'sp' not in words and all(flag in flags for flag in needs(words)):
            tests.append((kernel + suffix, 'mem' in words))
    return tests


def needs(words):
    """CPU flags, as in /proc/cpuinfo, that a kernel of such a name needs."""
    of_word = {'avx': ['avx'], 'avx512': ['avx512f'], 'fma': ['fma'], 'sse': ['sse2']}
    return [flag for word in words for flag in of_word.get(word, [])]
