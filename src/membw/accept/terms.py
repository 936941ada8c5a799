"""The rule of a protocol in sentences, drawn from its keys: for who signs it."""

from collections.abc import Iterator
from typing import Any

from membw.accept.protocol import Protocol
from membw.printable import plural

# the others are words already
STATISTIC = {'worst': 'worst run', 'best': 'best run'}


def conditions(content: dict[str, Any]) -> str:
    """'test stream of membw, system thin, preset gcc-o2, pinning likwid'."""
    runs = content['runs']
    words = [
        f'{key} {runs[key]}' for key in ('test', 'system', 'preset', 'pinning') if key in runs
    ]
    return ', '.join(
        [*words, *(f'{key} {value}' for key, value in runs.get('record', {}).items())]
    )


def sentences(protocol: Protocol) -> Iterator[str]:
    """Which runs count, who may repeat what, by when, and what follows."""
    content, runs, until = protocol.content, protocol.runs, protocol.until
    nodes, count, retest = content['nodes'], protocol.count, content['retest']['repetitions']
    names = f' ({nodes["names"]})' if 'names' in nodes else ''
    of = f', a sample of the {nodes["of"]} of the machine' if 'of' in nodes else ''
    yield (
        f'{plural(count, "node")}{names}{of}: each is measured from {content["period"]["from"]} '
        f'to {until}, both days included (UTC), by {conditions(content)}.'
    )
    yield (
        'A run counts if the program calls it VALID. Any other run counts neither for nor against '
        f'the node; either party may repeat it until {until}.'
    )
    if runs.get('bounds'):
        yield 'A run that other processes disturbed, whose figure is a bound, counts as it reads.'
    else:
        yield 'A run that other processes disturbed, whose figure is a bound, does not count.'
    what = STATISTIC.get(runs['statistic'], runs['statistic'])
    first = plural(runs['repetitions'], 'run')
    yield (
        f'A node is PASS if the {what} of its earliest {first} that count reaches each line of '
        'the contract; else it is BELOW.'
    )
    if retest:
        yield (
            f'A node that is BELOW is measured {plural(retest, "time")} more, due by {until}; the '
            f'{what} of these runs alone decides, and is final.'
        )
    else:
        yield 'There is no retest: a node that is BELOW stays BELOW.'
    yield (
        'No party may repeat a run that counts. Where later runs miss the contract, a node that '
        'passed is UNDECIDED until it is measured again.'
    )
    deaths = runs.get('deaths', 0)
    dies = f'more than {deaths} of the launches end' if deaths else 'a launch ends'
    yield f'A node of which {dies} by a signal, or with the node, is DIED: it failed.'
    yield (
        'All nodes are set alike, and none changes meanwhile: a node that differs is UNDECIDED. A '
        'node that is repaired or updated is entered in the protocol, which both parties sign '
        'again.'
    )
    for node, day in content.get('replaced', {}).items():
        yield f'{node} was repaired or updated: its runs before {day} do not count.'
    yield (
        f'The machine is ACCEPTED if at most {protocol.allowed} of {plural(count, "node")} stay '
        'BELOW or DIED, none is MISSING or UNDECIDED, and all parties signed. It is REFUSED as '
        'soon as more have failed.'
    )
