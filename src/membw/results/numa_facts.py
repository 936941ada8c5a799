"""Where a rank ran: NUMA domains and sockets, from the facts of its record."""

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
    return next((int(n) for n, d in domains if _holds(d.get('cpus') or '', cpu)), 0)


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


def _holds(cpu_list, cpu):
    """Whether '0-3,8-11' holds the CPU."""
    spans = (span.partition('-') for span in cpu_list.split(',') if span)
    return any(int(low) <= cpu <= int(high or low) for low, _, high in spans)
