"""Pinning methods: the command or variables that request it, and what the threads must show."""

from collections.abc import Callable, Iterator

from membw.printable import plural
from membw.site.topology import compress, expand

# every variable by which a runtime pins; all but the method's own are removed from the job
PINNING_VARIABLES = ('OMP_PROC_BIND', 'OMP_PLACES', 'GOMP_CPU_AFFINITY', 'KMP_AFFINITY')
# name -> variables that request it
VARIABLES = {
    'none': {},
    'likwid': {},
    'numactl': {},
    'omp': {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'},
    # as on Knights Corner: spread over the cores, one thread each
    'kmp': {'KMP_AFFINITY': 'scatter'},
}
TOOLS = {'likwid': 'likwid-pin', 'numactl': 'numactl'}


def request(method: str, cpus: list[int]) -> tuple[list[str], dict[str, str]]:
    """(command in front of the program, environment). Of likwid N:0-k are the first k+1 of the
    node, physical cores before their hardware threads."""
    commands = {
        'likwid': ['likwid-pin', '-q', '-c', f'N:0-{len(cpus) - 1}'],
        'numactl': ['numactl', '--localalloc', f'--physcpubind={compress(cpus)}'],
    }
    return commands.get(method, []), VARIABLES[method]


def unset_other_variables(env: dict[str, str]) -> str:
    """One pinning method at a time: what the login shell set must not pin as well."""
    return 'unset ' + ' '.join(v for v in PINNING_VARIABLES if v not in env)


# --- what is found: problems as text, from each thread's real affinity -----------------------


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
    if method == 'none':
        # unpinned threads must be free to move: if each sits alone, something pinned them
        is_bound = len(cpus) > 1 and all(len(place) == 1 for place in places)
        return ['no pinning was requested, but every thread is bound to one cpu'] * is_bound
    if method == 'numactl':  # every thread has the whole set, and nothing else
        return first_of(places, lambda place: set(place) == set(cpus), compress(cpus))
    found = []
    if method == 'likwid':
        found = first_of(places, lambda place: len(place) == 1, 'one cpu')
    twins = twins_of(threads_on) if one_a_core else ()
    return [*(found or shared(places)), *twins]


def first_of(
    places: list[list[int]], is_right: Callable[[list[int]], bool], requested: str
) -> list[str]:
    return [
        f'thread {thread} may run on cpus {compress(place)}, requested was {requested}'
        for thread, place in enumerate(places)
        if not is_right(place)
    ][:1]


def shared(places: list[list[int]]) -> Iterator[str]:
    """Each thread on a core of its own: no CPU is shared by two threads."""
    seen: dict[int, int] = {}
    for thread, place in enumerate(places):
        for cpu in place:
            if cpu in seen:
                yield f'threads {seen[cpu]} and {thread} both may run on cpu {cpu}'
                return
            seen[cpu] = thread


def twins_of(threads_on: list[dict]) -> Iterator[str]:
    """Two hardware threads of one core are two CPUs, and half a core each."""
    seen: dict[int, dict] = {}
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
