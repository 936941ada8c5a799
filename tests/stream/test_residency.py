"""How it is known that arrays lie in memory, and what is done where they do not.

The machines are made up: a last-level cache as large as `cache`, of which the CPU declares
`declared`, with `memory` to take, in MiB. Triad reads 90 GB/s in the cache and 40 outside.
"""

import re
import subprocess
from typing import NamedTuple

import pytest

MIB = 2**20
TRIADS = 'harness/residency/triads.c'

# rates by a formula, nothing is touched; RANDOM: a replacement that keeps a part of larger arrays
MADE_UP = [
    (
        TRIADS,
        '/* The best of the windows of the upper half',
        """static double model_gbs(size_t bytes)
{
	const double cache = 1048576.0 * atof(getenv("CACHE"));
	const double hits = bytes <= cache ? 1 : getenv("RANDOM") ? cache / bytes : 0;
	return 1 / (hits / 90 + (1 - hits) / 40);
}

/* The best of the windows of the upper half""",
    ),
    (
        TRIADS,
        'const size_t bytes = triads.curve.bytes[at], mine = triads_part_of(bytes);',
        'const size_t bytes = triads.curve.bytes[at], mine = 0;\n'
        '\ttriads.curve.gbs[at] = model_gbs(bytes);\n'
        '\ttriads.windows[at] = getenv("NOISE") && bytes > 1048576 * atof(getenv("NOISE"))'
        ' ? 0 : 99;\n\treturn;',
    ),
    (
        TRIADS,
        '#pragma omp parallel private(k)\n\tfor (k = 0; k < TRIADS_ARRAYS; k++)\n\t\tmemset',
        '\tfor (k = 0; k < 0; k++)\n\t\tmemset',
    ),
    (
        'stream/array_size.c',
        'triads_find(residency, &request);',
        """request.declared = MIB * atof(getenv("DECLARED"));
	request.rule = 12 * (request.declared ? request.declared : (size_t)1 << 30);
	request.most = MIB * atof(getenv("MEMORY"));
	request.given = MIB * atof(getenv("GIVEN"));
	triads_find(residency, &request);
	printf("%s %zu\\n", residency_word(residency->known), residency->bytes >> 20);
	if (!getenv("GO_ON"))
		leave(0);""",
    ),
]


class Machine(NamedTuple):
    declared: int  # MiB, 0: not known
    cache: int
    memory: int
    given: int = 0  # MiB of the three arrays, 0: the program chooses
    settings: str = ''  # RANDOM=1; NOISE=N: no undisturbed window above N MiB


PROVEN, NOT_PROVEN, DECLARED = 'proven', 'not proven', 'declared'
CONTRADICTED, UNKNOWN = 'contradicted', 'unknown'
MACHINES = {
    'as declared: the size of the rule': (Machine(32, 32, 16000), PROVEN, 384, 384),
    'the same, with hits beyond the cache':
        (Machine(32, 32, 16000, 0, 'RANDOM=1'), PROVEN, 384, 768),
    'two cores of a socket that declares all of it': (Machine(480, 30, 16000), PROVEN, 96, 800),
    'a rule just above what a proof takes': (Machine(100, 30, 16000), PROVEN, 96, 800),
    '1 GiB declared for 96 cores, two of them here': (Machine(1024, 60, 16000), PROVEN, 96, 800),
    'no cache known': (Machine(0, 30, 16000), PROVEN, 96, 800),
    'the same with 1 GiB of memory': (Machine(480, 30, 800), NOT_PROVEN, 360, 800),
    'no cache known and 2 GiB of memory': (Machine(0, 30, 1600), PROVEN, 96, 1600),
    'no cache known and 1 GiB of memory': (Machine(0, 30, 800), NOT_PROVEN, 360, 800),
    'a cache as declared that memory does not exceed much':
        (Machine(480, 480, 800), NOT_PROVEN, 720, 800),
    'a cache as declared, and three times of it in memory':
        (Machine(480, 480, 1600), NOT_PROVEN, 1440, 1440),
    'V-Cache that the virtual machine does not declare':
        (Machine(32, 192, 16000), PROVEN, 1536, 3072),
    '1 GiB of cache not declared': (Machine(32, 1024, 16000), PROVEN, 4096, 8192),
    '1 GiB of cache not declared, 2 GiB of memory':
        (Machine(32, 1024, 1600), NOT_PROVEN, 1536, 1600),
    'all of a machine of 1 GiB is a cache': (Machine(32, 1024, 800), DECLARED, 384, 384),
    'a memory-side cache of 16 GiB, 12 of them free':
        (Machine(16384, 16384, 12000), NOT_PROVEN, 6000, 12000),
    'a memory-side cache of 1 GiB, 2 GiB of memory':
        (Machine(1024, 1024, 1600), NOT_PROVEN, 1536, 1600),
    'noise, the size of the rule is small':
        (Machine(32, 32, 16000, 0, 'NOISE=0'), DECLARED, 384, 384),
    'noise above 200 MiB': (Machine(32, 32, 16000, 0, 'NOISE=200'), DECLARED, 384, 384),
    'given: in a cache': (Machine(8, 200, 16000, 96), CONTRADICTED, 96, 96),
    'given: STREAM of one million elements': (Machine(32, 32, 16000, 24), UNKNOWN, 24, 24),
    'given: below the rule': (Machine(64, 20, 16000, 192), PROVEN, 192, 192),
    'given: a part of what a proof takes': (Machine(64, 20, 16000, 128), PROVEN, 128, 128),
    'given: where the memory begins': (Machine(24, 100, 16000, 192), UNKNOWN, 192, 192),
    'given: of the rule, in a cache of 1 GiB of 2 GiB':
        (Machine(32, 1024, 1600, 384), NOT_PROVEN, 384, 384),
    'given: larger than what a proof takes': (Machine(32, 32, 16000, 6000), PROVEN, 6000, 6000),
}  # fmt: skip


@pytest.fixture
def made_up(build_program):
    return build_program('stream', changes=MADE_UP)


def environment(machine, **more):
    names = ('DECLARED', 'CACHE', 'MEMORY', 'GIVEN')
    settings = dict(word.split('=') for word in machine.settings.split())
    found = {name: str(value) for name, value in zip(names, machine, strict=False)}
    return found | settings | {'OMP_NUM_THREADS': '2', **more}


@pytest.fixture
def found(made_up):
    """found(machine): the word and the size."""

    def of(machine, **more):
        env = environment(machine, **more)
        return subprocess.run([made_up], capture_output=True, text=True, env=env).stdout

    return of


def test_no_cache_is_taken_for_memory(found):
    for name, (machine, known, least, most) in MACHINES.items():
        word, size = found(machine).rsplit(maxsplit=1)
        assert word == known and least <= int(size) <= most, name
        if word in (PROVEN, NOT_PROVEN) and 'RANDOM' not in machine.settings:
            assert not (int(size) <= machine.cache and word == PROVEN), name


def test_a_figure_that_is_not_proven_is_an_upper_bound_and_undecided(made_up, run_program):
    """Unless it is allowed."""
    small = environment(Machine(480, 30, 200), GO_ON='1')
    status, said, record = run_program(made_up, '-t', '8', **small)
    assert (record['verdict'], record['residency']['known']) == ('UNDECIDED', 'not proven')
    assert [r['reason'] for r in record['reasons'] if not r['allowed']] == ['not-proven']
    assert record['metrics']['triad']['bound'] in ('upper', 'unknown')
    assert 'low' not in record['metrics']['triad']
    assert 'beyond 180 MiB' in said
    assert re.search('triad (≤|<=|~)', said)  # by the locale; ~ on a busy machine
    assert 'Verdict: UNDECIDED (not-proven)' in said and status == 1
    status, said, record = run_program(made_up, '-t', '4', '--allow', 'not-proven', **small)
    assert record['verdict'] == 'VALID' and status == 0
    assert record['reasons'][0]['allowed'] and 'allowed: not-proven' in said


def test_here_arrays_of_8_mib_are_untimed_and_the_automatic_ones_are_not_in_a_cache(
    build_program, run_program
):
    _, said, small = run_program(build_program('stream'), '-t', '2', '-n', MIB)
    assert (small['residency']['known'], small['residency']['largest_bytes']) == ('unknown', 0)
    assert 'undecided: not-proven: arrays of 8.0 MiB are not proven' in said
    large = run_program(build_program('stream'), '-t', '2')[2]
    assert large['residency']['known'] in ('proven', 'declared', 'not proven')


KEPT = Machine(480, 30, 16000)


def test_the_launches_of_a_session_find_it_once(found, tmp_path):
    known = {'MEMBW_RESIDENCY': str(tmp_path / 'residency')}
    for then, more, is_taken in (
        (KEPT, {}, True),
        (KEPT._replace(cache=400), {}, True),  # the same machine, as far as can be seen
        (KEPT._replace(declared=32), {}, False),
        (KEPT._replace(given=24), {}, False),
        (KEPT._replace(memory=90), {}, False),  # no room for it now
        (KEPT, {'OMP_NUM_THREADS': '1'}, False),
    ):
        (tmp_path / 'residency').unlink(missing_ok=True)
        first = found(KEPT, **known)
        assert first.startswith('proven')
        later, alone = (found(then, **more, **env) for env in (known, {}))
        assert later == (first if is_taken else alone), then


def test_only_what_is_known_is_kept(found, tmp_path):
    file = tmp_path / 'residency'
    found(Machine(480, 30, 800), MEMBW_RESIDENCY=str(file))
    assert not file.exists()
    found(KEPT, MEMBW_RESIDENCY=str(file))
    key, kept = file.read_text().splitlines()
    file.write_text(f'{key}\n2{kept[1:]}\n')  # contradicted
    assert found(KEPT, MEMBW_RESIDENCY=str(file)).startswith('proven')
