"""Where a rank ran: NUMA domains and sockets, from the facts of its record."""

from membw.site.cpulist import expand

# Firmware gives domains of one socket distances of 10 to 16, of two sockets 20 and more
# (ACPI SLIT; `numactl --hardware` prints them).
OTHER_SOCKET = 20


def first_domain(data):
    """The NUMA domain of the rank's first thread; 0 where nothing says so."""
    threads = data.get('threads_on') or []
    if not threads or 'cpu' not in threads[0]:
        return 0
    cpu = threads[0]['cpu']
    domains = _domains(data).items()
    return next((int(n) for n, d in domains if cpu in expand(d.get('cpus') or '')), 0)


def count_sockets(data):
    """Domains with CPUs that are near each other share a socket."""
    near = {
        tuple(int(d) < OTHER_SOCKET for d in domain['distances'].split())
        for domain in _domains(data).values()
        if domain.get('cpus') and domain.get('distances')
    }
    return len(near) or 1


def _domains(data):
    return (data.get('facts') or {}).get('numa') or {}
