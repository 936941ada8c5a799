"""The slowest links between nodes, of records of `pingpong --nodes`: shown, and not judged."""

import statistics
from collections import defaultdict
from collections.abc import Iterable

from membw.printable import in_bytes


def slowest_links(records: Iterable[dict], most: int = 5) -> list[str]:
    """'n1 - n4: 4 MiB in 512 us, 1.4 times the median of 15 links' of each message size's
    slowest links; `records` are the JSON objects of one job."""
    times: dict[int, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for link in record.get('links') or ():
            if link.get('reason') is None:
                names = tuple(sorted((record['host'], link['node'])))
                for message in link['messages']:
                    times[message['bytes']][names].append(message['median_us'])
    lines = []
    for size, of_links in sorted(times.items()):
        every = {names: statistics.fmean(us) for names, us in of_links.items()}
        median = statistics.median(every.values())
        for one, other in sorted(every, key=every.__getitem__, reverse=True)[:most]:
            us = every[one, other]
            lines.append(
                f'{one} - {other}: {in_bytes(size)} in {us:.3g} us, {us / median:.2f} times the '
                f'median of {len(every)} links'
            )
    return lines
