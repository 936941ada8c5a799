"""Pinning methods: the command or variables that request it, and what the threads must show."""

from collections.abc import Iterator

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


def problems(method: str, threads_on: list[dict], cpus: list[int]) -> Iterator[str]:
    """Problems of a record's threads_on under a method that requested these CPUs."""
    if len(threads_on) != len(cpus):
        yield f'{plural(len(threads_on), "thread")} ran, requested were {len(cpus)}'
        return
    places = [expand(thread['affinity']) for thread in threads_on]
    room = set().union(*places)
    is_bound = len(cpus) > 1 and all(len(place) == 1 for place in places)
    if len(room) < len(places):
        yield f'{len(places)} threads share cpus {compress(room)}'
    elif method == 'none':
        # unpinned threads must be free to move: if each sits alone, something pinned them
        if is_bound:
            yield 'no pinning was requested, but every thread is bound to one cpu'
    elif method == 'numactl':  # every thread has the whole set, and nothing else
        yield from beyond(places, set(cpus), compress(cpus))
    else:
        yield from shared(places)
        # on a card several threads per core are requested
        yield from twins_of(threads_on) if method != 'kmp' else ()


def beyond(places: list[list[int]], cpus: set[int], requested: str) -> Iterator[str]:
    for thread, place in enumerate(places):
        if set(place) != cpus:
            yield f'thread {thread} may run on cpus {compress(place)}, requested was {requested}'
            return


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
        first = seen.setdefault(thread.get('core', -1 - thread['thread']), thread)
        if first is not thread:
            cpus = compress([first['cpu'], thread['cpu']])
            yield (
                f'threads {first["thread"]} and {thread["thread"]} are on one core, cpus {cpus}'
            )
            return
