"""The rule of a protocol in sentences, drawn from its keys: for who signs it."""

from collections.abc import Iterator
from typing import Any

from membw.accept.protocol import Protocol
from membw.printable import plural

# the median is a word already
STATISTIC = {'worst': 'worst run', 'best': 'best run'}


def conditions(runs: dict[str, Any]) -> str:
    """'test stream, system thin, preset gcc-o2, pinning likwid, threads 24'."""
    keys = [key for key in ('test', 'system', 'preset', 'pinning') if key in runs]
    stated = {key: runs[key] for key in keys} | runs.get('record', {})
    return ', '.join(f'{key} {value}' for key, value in stated.items())


def sentences(protocol: Protocol) -> Iterator[str]:
    """Which runs count, who may repeat what, by when, and what follows."""
    content, runs, until = protocol.content, protocol.runs, protocol.until
    nodes, retest = content['nodes'], content['retest']['repetitions']
    count, deaths = plural(protocol.count, 'node'), runs.get('deaths', 0)
    names = f' ({nodes["names"]})' if 'names' in nodes else ''
    of = f', a sample of the {nodes["of"]} of the machine,' if 'of' in nodes else ''
    what = STATISTIC.get(runs['statistic'], runs['statistic'])
    counts = 'counts as it reads' if runs.get('bounds') else 'does not count'
    dies = f'more than {deaths} starts of the program end' if deaths else 'the program is ended'
    yield (
        f'{count}{names}{of} are measured from {content["period"]["from"]} to {until}, both '
        f'days included (UTC). Measured with membw: {conditions(runs)}.'
    )
    yield (
        'A run counts if the program that measures finds nothing wrong with it (VALID). Any other '
        f'run counts neither for nor against the node; either party may repeat it until {until}.'
    )
    yield f'A run that other processes disturbed, so that its figure is a bound, {counts}.'
    yield (
        f'A node is PASS if the {what} of its earliest {plural(runs["repetitions"], "run")} '
        'that count reaches each line of the contract; else it is BELOW.'
    )
    if retest:
        yield (
            f'A node that is BELOW is measured {plural(retest, "time")} more, due by {until}; '
            f'the {what} of these runs alone decides, and is final.'
        )
    else:
        yield 'There is no retest: a node that is BELOW stays BELOW.'
    yield (
        'No party may repeat a run that counts. Where later runs miss the contract, a node that '
        'passed is UNDECIDED until it is measured again.'
    )
    yield f'A node on which {dies} by a signal, or by the failure of the node, is DIED: it failed.'
    yield (
        'A node that passed is UNDECIDED where it is set otherwise than the other nodes, changed '
        'meanwhile, is more than 10 % better than they are, lacks memory that its CPUs take, or '
        'where records of its session are missing. A node that is repaired or updated is entered '
        'in the protocol, and all parties sign again.'
    )
    for node, day in content.get('replaced', {}).items():
        yield f'{node} was repaired or updated: its runs before {day} do not count.'
    yield (
        f'The machine is ACCEPTED if at most {protocol.allowed} of {count} stay BELOW or DIED, '
        'none is MISSING or UNDECIDED, and all parties signed. It is REFUSED as soon as more '
        'have failed.'
    )
