"""Pinning methods: the command or variables that request it, and what the threads must show."""

from collections.abc import Iterator

from membw.printable import plural
from membw.site.topology import compress, expand

# every variable by which a runtime pins; all but the method's own are removed from the job
PINNING_VARIABLES = ('OMP_PROC_BIND', 'OMP_PLACES', 'GOMP_CPU_AFFINITY', 'KMP_AFFINITY')

# --- what is requested: (command in front of the program, environment) ---------------------------


def request_none(cpus: list[int]) -> tuple[list[str], dict]:
    return [], {}


def request_likwid(cpus: list[int]) -> tuple[list[str], dict]:
    """N:0-k = the first k+1 of the node, physical cores before their hardware threads."""
    return ['likwid-pin', '-q', '-c', f'N:0-{len(cpus) - 1}'], {}


def request_numactl(cpus: list[int]) -> tuple[list[str], dict]:
    return ['numactl', '--localalloc', f'--physcpubind={compress(cpus)}'], {}


def request_omp(cpus: list[int]) -> tuple[list[str], dict]:
    return [], {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'}


def request_kmp(cpus: list[int]) -> tuple[list[str], dict]:
    """As on Knights Corner: spread over the cores, one thread each."""
    return [], {'KMP_AFFINITY': 'scatter'}


# --- what is found: problems as text, from each thread's real affinity -----------------------


def judge_free(places: list[list[int]], cpus: list[int]) -> Iterator[str]:
    """Unpinned threads must be free to move: if each sits alone, something pinned them."""
    if len(cpus) > 1 and all(len(place) == 1 for place in places):
        yield 'no pinning was requested, but every thread is bound to one cpu'


def judge_alone(places: list[list[int]], cpus: list[int]) -> Iterator[str]:
    """Each thread on a core of its own: no CPU is shared by two threads."""
    seen = {}
    for thread, place in enumerate(places):
        for cpu in place:
            if cpu in seen:
                yield f'threads {seen[cpu]} and {thread} both may run on cpu {cpu}'
                return
            seen[cpu] = thread


def judge_one_cpu(places: list[list[int]], cpus: list[int]) -> Iterator[str]:
    """likwid-pin binds a thread to exactly one CPU."""
    for thread, place in enumerate(places):
        if len(place) != 1:
            yield f'thread {thread} may run on cpus {compress(place)}, requested was one cpu'
            return
    yield from judge_alone(places, cpus)


def judge_set(places: list[list[int]], cpus: list[int]) -> Iterator[str]:
    """numactl gives every thread the whole set, and nothing else."""
    for thread, place in enumerate(places):
        if set(place) != set(cpus):
            yield (
                f'thread {thread} may run on cpus {compress(place)}, '
                f'requested was {compress(cpus)}'
            )
            return


def judge_twins(threads_on: list[dict]) -> Iterator[str]:
    """Two hardware threads of one core are two CPUs, and half a core each."""
    seen = {}
    for thread in threads_on:
        if thread.get('core') in seen:
            first = seen[thread['core']]
            cpus = compress([first['cpu'], thread['cpu']])
            yield (
                f'threads {first["thread"]} and {thread["thread"]} are on one core, cpus {cpus}'
            )
            return
        if 'core' in thread:
            seen[thread['core']] = thread


# name -> (requests, judges, required tool)
METHODS = {
    'none': (request_none, judge_free, None),
    'likwid': (request_likwid, judge_one_cpu, 'likwid-pin'),
    'numactl': (request_numactl, judge_set, 'numactl'),
    'omp': (request_omp, judge_alone, None),
    'kmp': (request_kmp, judge_alone, None),
}

# the methods that bind each thread to a core of its own
ONE_A_CORE = ('likwid', 'omp', 'kmp')


def request(method: str, cpus: list[int]) -> tuple[list[str], dict]:
    return METHODS[method][0](cpus)


def tool(method: str) -> str | None:
    return METHODS[method][2]


def problems(
    method: str, threads_on: list[dict], cpus: list[int], one_a_core: bool = True
) -> list[str]:
    """Problems of a record's threads_on under a method that requested these CPUs; not one_a_core:
    hardware threads of a core were requested."""
    if len(threads_on) != len(cpus):
        return [f'{plural(len(threads_on), "thread")} ran, requested were {len(cpus)}']
    places = [expand(thread['affinity']) for thread in threads_on]
    room = set().union(*places)
    if len(room) < len(places):
        return [f'{len(places)} threads share cpus {compress(room)}']
    twins = judge_twins(threads_on) if one_a_core and method in ONE_A_CORE else ()
    return [*METHODS[method][1](places, cpus), *twins]


def unset_other_variables(env: dict[str, str]) -> str:
    """One pinning method at a time: what the login shell set must not pin as well."""
    return 'unset ' + ' '.join(v for v in PINNING_VARIABLES if v not in env)
