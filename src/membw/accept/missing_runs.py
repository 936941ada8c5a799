"""What must still be measured for an acceptance: the exact commands, and running them."""

import contextlib
import shlex
import socket
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace

from membw.accept import pairs
from membw.accept.agreed import known_systems
from membw.accept.environs import environs, partitions
from membw.moments import MINUTES, utc
from membw.results.hostlist import fold
from membw.run import newest, rows, summary
from membw.run.judge import measures
from membw.run.reframe_run import measure
from membw.site.references import DGEMM
from membw.statistics.nights import nights_of

FOLDED = 5  # nodes that owe the same: so many are one line
NODE = 'NODE'


@dataclass(frozen=True)
class Order:
    """Runs that one node still owes; node '' is any further one."""

    node: str
    runs: int
    what_for: str
    not_before: float = 0.0  # seconds since 1970
    more: int = 0  # runs of later nights


def orders(decision):
    """What every node owes, in the protocol's order; nothing once the machine is refused."""
    if decision.verdict != 'INCOMPLETE':
        return []
    protocol = decision.protocol
    missing = [
        Order(n.name, n.at_once, n.what_for, n.not_before, n.needs - n.at_once)
        for n in decision.nodes
        if n.needs
    ]
    further = protocol['nodes']['count'] - len(decision.nodes)
    count = protocol['runs']['repetitions']
    at_once = -(-count // nights_of(protocol, count))
    first = Order('', at_once, 'first', 0.0, count - at_once)
    if pairs.are_held(protocol['runs']):
        return list(_of_jobs(missing)) or [first] * (further > 0)
    return missing + [first for _ in range(further)]


def _of_jobs(missing):
    """One order of all nodes whose pairs owe the same: a job measures every pair of its nodes."""
    alike = defaultdict(list)
    for order in missing:
        alike[order.what_for, order.not_before].append(order)
    for (what_for, not_before), owed in alike.items():
        nodes = fold(sorted({end for order in owed for end in pairs.ends(order.node)}))
        most = max(order.runs for order in owed)
        yield Order(nodes, most, what_for, not_before, max(order.more for order in owed))


def is_local(protocol):
    """Whether the system is the machine at hand, without a scheduler."""
    return all(p.get('scheduler') == 'local' for p in partitions(protocol['runs']['system']))


def options(protocol, order, local):
    """ReFrame's, of `membw run` for one order, as a list of words."""
    runs = protocol['runs']
    test = runs.get('test', 'stream')
    command = ['-n', f'{test}%pinning={runs["pinning"]}']
    if test in DGEMM:
        # ReFrame compares names without their blanks
        command = ['-n', f'^{test}%', '-S', f'{test}.libraries={runs["pinning"]}']
    if pairs.are_held(runs):
        command = ['-n', f'^{test}$']
    command += ['-p', environs(runs)[0], f'--repeat={order.runs}']
    if runs['array_size'] != 'auto':
        command += ['-S', f'{test}.array_size={runs["array_size"]}']
    if runs.get('allow'):
        command += ['-S', f'{test}.allow={",".join(runs["allow"])}']
    if order.node and not local:
        command += ['-J', f'nodelist={order.node}']
    return command


def lines(protocol, missing):
    """The commands as text, each with the node that it is for; of many nodes that owe the same
    one line, which a shell runs over all of them."""
    # a report is made anywhere: where the system is not known, a node has to be named
    local = protocol['runs']['system'] in known_systems() and is_local(protocol)
    for alike in _alike(missing):
        if local or not alike[0].node or len(alike) < FOLDED:
            yield from (_line(protocol, order, order.node, local) for order in alike)
        else:
            nodes = fold(order.node for order in alike)
            line = _line(protocol, replace(alike[0], node=NODE), f'each of {nodes}', local)
            line = line.replace(f'nodelist={NODE}', 'nodelist=$node; done')
            yield f'for node in $(scontrol show hostnames {shlex.quote(nodes)}); do {line}'


def _alike(missing):
    """Orders that differ in their node alone, as lists, in the order of the first of each."""
    groups = {}
    for order in missing:
        groups.setdefault(replace(order, node=order.node and NODE), []).append(order)
    return groups.values()


def _line(protocol, order, where, local):
    kind = 'run' + 's' * (order.runs > 1)
    kind += '' if order.what_for == 'first' else f' of {order.what_for}'
    when = f', from {utc(order.not_before, MINUTES)} on' if order.not_before else ''
    later = f', {order.more} more on further nights' if order.more else ''
    command = _command(protocol, options(protocol, order, local))
    return f'{command}   # {where or "a further node"}: {order.runs} {kind}{when}{later}'


def _command(protocol, words):
    return shlex.join(['membw', 'run', '--system', protocol['runs']['system'], *words])


def carry_out(protocol, missing, rest):
    """Run what can be run from here; how many commands were run."""
    local, here, done = is_local(protocol), socket.gethostname(), 0
    for order in missing:
        if order.not_before > time.time():
            when = utc(order.not_before, MINUTES)
            print(f"membw: '{order.node}' has its runs of this night: next from {when} on",
                  file=sys.stderr)  # fmt: skip
            continue
        if local and order.node and order.node.split('.')[0] != here.split('.')[0]:
            print(f"membw: '{order.node}' is not this node: not run", file=sys.stderr)
            continue
        if local and not order.node and done:
            continue  # this node is one node, however often it is measured
        words = [*options(protocol, order, local), *rest]
        print(f'accept: {_command(protocol, words)}', file=sys.stderr, flush=True)
        with contextlib.redirect_stdout(sys.stderr):
            measure(protocol['runs']['system'], words)
        if not any(map(measures, rows.of_report(summary.load(newest.reports()[0])))):
            print('membw: nothing was measured, for the reasons above: no further run is tried',
                  file=sys.stderr)  # fmt: skip
            break
        done += 1
    return done
