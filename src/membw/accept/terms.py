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
    dies = f'more than {deaths} starts of the program end' if deaths else 'the program is ended'
    yield (
        f'{count}{names}{of} are measured from {content["period"]["from"]} to {until}, both '
        f'days included (UTC). Measured with membw: {conditions(runs)}.'
    )
    yield (
        'A run counts if the program that measures finds nothing wrong with it (VALID). Any other '
        'run counts neither for nor against the node; either party may repeat it, without limit, '
        f'to the end of {until}.'
    )
    yield 'Of a run that other processes disturbed only a lower bound is known: it does not count.'
    yield (
        f'A node is PASS if for each figure of the contract by itself the {what} of its earliest '
        f'{plural(runs["repetitions"], "run")} that count, by the times in their records, reaches '
        'it; else it is BELOW. With fewer runs it is MISSING.'
    )
    if retest:
        yield (
            f'A node that is BELOW is measured until {plural(retest, "more run")} of it count, to '
            f'the end of {until}; for each figure the {what} of these runs alone decides, and is '
            'final. Until then the node has not failed.'
        )
    else:
        yield 'There is no retest: a node that is BELOW has failed.'
    yield (
        'No party may replace a run that counts. More runs of a node that passed may be made: '
        'where they miss the contract, it is UNDECIDED until they reach it.'
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
    failed = 'is DIED, or BELOW after its retest' if retest else 'is DIED or BELOW'
    yield (
        f'A node has failed if it {failed}. REFUSED: more than {protocol.allowed} of {count} have '
        f'failed. ACCEPTED: at most {protocol.allowed} have failed, all others are PASS, and all '
        'parties signed the protocol (this rule and the contract). INCOMPLETE: anything else.'
    )
