"""What is only imprecise is a warning, in every program: the figure is shown."""

import pytest
from changed_source import OTHER_MACHINE, write_files

WRONG_HERE = 'array-too-small,too-short,oversubscribed,wrong-pinning'
NODE = 'sys/devices/system/node'
# a machine whose firmware declares 1 ns and 1000 GB/s
DECLARED = {
    'online': '0',
    'node0/cpulist': '0-1023',
    'node0/meminfo': 'Node 0 MemTotal: 8000000 kB\nNode 0 MemFree: 8000000 kB',
    'node0/distance': '10',
    'node0/access1/initiators/read_latency': '1',
    'node0/access1/initiators/read_bandwidth': '1000000',
    'node0/access1/initiators/node0/distance': '10',
}


def spread(name):
    return (f'{name}/figures.c', 'UNSTABLE_SPREAD = 0.10', 'UNSTABLE_SPREAD = -1')


UNSETTLED = ('stream/measure.c', 'if (!m->ntimes && m->ended != ENDED_SETTLED)', 'if (k)')
PLANTED = [
    ('stream', '-n 1e5 -t 5', UNSETTLED, 'unstable', 'triad'),
    ('pingpong', '--seconds 0.01', spread('pingpong'), 'unstable', ''),
    ('nbody', '--bodies 500 --rounds 6', spread('nbody'), 'unstable', ''),
    ('tiers', '--array-mib 8 --rounds 3', None, 'declared-differs', 'ns_0_0'),
]


@pytest.mark.parametrize('program, options, planted, reason, metric', PLANTED)
def test_a_figure_that_is_only_imprecise_is_shown(
    build_program, run_program, tmp_path, program, options, planted, reason, metric
):
    write_files(tmp_path / NODE, DECLARED)
    path = build_program(program, changes=[planted] if planted else OTHER_MACHINE)
    words = [path, *options.split(), '--allow', WRONG_HERE]
    status, said, data = run_program(*words, MACHINE=tmp_path)
    assert reason in [warning['reason'] for warning in data['warnings']], said
    assert reason not in [r['reason'] for r in data['reasons']]
    assert (data['verdict'], status) == ('VALID', 0), said
    shown = metric or next(iter(data['metrics']))
    if program == 'pingpong':  # what disturbs can only make a latency longer
        assert data['metrics'][shown]['bound'] == 'upper'
    assert data['metrics'][shown]['value'] > 0 and f'warning: {reason}: ' in said


# reasons that are found and set aside, of a run that is disturbed, and what its figure is then
SIDES = {
    'ARRAY_TOO_SMALL': ('unknown', '~'), 'CLOCK': ('unknown', '~'), 'NOT_PROVEN': ('unknown', '~'),
    'WRONG_PINNING': ('unknown', '~'), 'TRANSLATED': ('lower', '≥'),
    'OVERSUBSCRIBED': ('lower', '≥'), 'INCOMPLETE': ('lower', '≥'),
}  # fmt: skip
# nothing is found of the arrays, whatever the caches
UNSIZED = (
    'stream/array_size.c',
    '\tjudge_size(residency, &request, options->size);',
    '\t(void)judge_size;',
)
LOUD = ('harness/rate.c', 'is_positive(rate->high) ||', 'is_positive(rate->high) || 1 ||')


@pytest.mark.parametrize('reason', SIDES)
def test_an_allowed_reason_says_to_which_side_a_bound_errs(build_program, run_program, reason):
    """113 GB/s of a cache were "at least"."""
    judged = 'looks_judge(&run.looks);'
    planted = ('stream/main.c', judged, f'{judged} verdict_invalid({reason}, "planted");')
    program = build_program('stream', changes=(LOUD, planted, UNSIZED))
    name = reason.lower().replace('_', '-')
    name = reason.lower().replace('_', '-')
    words = [program, '-n', '2e6', '-t', '4', '--allow', f'{name},too-short,disturbed']
    _, said, record = run_program(*words, OMP_NUM_THREADS=1)
    assert {r['reason'] for r in record['reasons']} == {name}, said
    bound, sign = SIDES[reason]
    assert record['metrics']['triad']['bound'] == bound and f'triad {sign} ' in said


# what /proc/stat says of a node of so many CPUs, in CPUs kept busy, and what is made of it
LOOKS = [
    ('256', '12', '0', '0', '; other processes used 12.0 of 256 CPUs'),
    ('256', '0.8', '0', '0', '; other processes used 0.8 of 256 CPUs'),
    ('256', '0.3', '0', '0', None),  # a daemon of the system
    ('256', '0', '1.5', '0', None),  # ticks of 256 busy CPUs
    ('256', '20', '0', '0', '; other processes used 20.0 of 256 CPUs'),
    ('256', '0', '0', '20', '; a hypervisor stole 20.0 of 256 CPUs'),
    ('8', '0.3', '0', '0', None),
    ('8', '0.45', '0', '0', '; other processes used 6 % of the CPUs'),
    ('2', '0.2', '0', '0', '; other processes used 10 % of the CPUs'),
    ('2', '0.01', '0', '0.2', '; a hypervisor stole 10 % of the CPUs'),
    ('2', '1.2', '0', '0', '; other processes used 60 % of the CPUs: a weak bound'),
]


def is_close(said, expected):
    """The same words, and numbers within a sixth: the clocks are read one after the other."""
    pairs = [*zip(said.split(), expected.split(), strict=False)]
    return len(said.split()) == len(expected.split()) and all(
        a == b or b[:1].isdigit() and abs(float(a) / float(b) - 1) < 1 / 6 for a, b in pairs
    )


@pytest.mark.alone
def test_neighbours_are_counted_in_cpus(build_program, run_program):
    """5 % of 256 CPUs are 12 processes that read memory: a figure beside them was an estimate."""
    end = '\n}\n\nstatic long interference_major_faults'
    of = '{{ const double now = clock_now(); {} }}'.format(' '.join((
        'busy->cpus = atoi(getenv("CPUS"));',
        'busy->stolen = now * atof(getenv("STOLEN"));',
        'busy->served = now * atof(getenv("INTERRUPTS"));',
        'busy->node = clock_process() + now * atof(getenv("OTHERS"));',
        'busy->node += busy->stolen + busy->served; busy->steal = busy->stolen;',
    )))  # fmt: skip
    source = 'harness/evidence/interference.c'
    short = (source, 'INTERFERENCE_LEAST_SECONDS = 0.1,', 'INTERFERENCE_LEAST_SECONDS = 1e-3,')
    program = build_program('stream', changes=(short, (source, end, f'\n\t{of}{end}')))
    words = [program, '-n', '1e5', '-t', '100', '--allow', 'array-too-small,not-proven']
    for *values, text in LOOKS:
        node = dict(zip(('CPUS', 'OTHERS', 'INTERRUPTS', 'STOLEN'), values, strict=True))
        said = run_program(*words, OMP_NUM_THREADS=1, **node)[1]
        (line,) = [row for row in said.splitlines() if row.startswith('triad ')]
        assert is_close(line.partition(';')[2], (text or '')[1:]), (node, line)
