"""What must still be measured for an acceptance: the exact commands, and running them."""

import shlex
import socket
import subprocess
import sys
from dataclasses import dataclass

from membw.accept.environs import environs, partitions
from membw.errors import MembwError


@dataclass
class Order:
    """Runs that one node still owes; node '' is any further one."""

    node: str
    runs: int
    what_for: str


def orders(decision):
    """What every node owes, in the protocol's order; nothing once the machine is refused."""
    if decision.verdict != 'INCOMPLETE':
        return []
    protocol = decision.protocol
    missing = [Order(n.name, n.needs, n.what_for) for n in decision.nodes if n.needs]
    further = protocol['nodes']['count'] - len(decision.nodes)
    first = Order('', protocol['runs']['repetitions'], 'first')
    return missing + [first for _ in range(further)]


def is_local(protocol):
    """Whether the system is the machine at hand, without a scheduler."""
    return all(p.get('scheduler') == 'local' for p in partitions(protocol['runs']['system']))


def words(protocol, order, local):
    """The command of one order, as a list of words."""
    runs = protocol['runs']
    test = runs.get('test', 'stream')
    command = [
        'membw',
        'run',
        '--system',
        runs['system'],
        '-n',
        f'{test}%pinning={runs["pinning"]}',
    ]
    command += ['-p', environs(runs)[0], f'--repeat={order.runs}']
    if runs['array_size'] != 'auto':
        command += ['-S', f'{test}.array_size={runs["array_size"]}']
    if runs.get('allow'):
        command += ['-S', f'{test}.allow={",".join(runs["allow"])}']
    if order.node and not local:
        command += ['-J', f'nodelist={order.node}']
    return command


def lines(protocol, missing):
    """The commands as text, each with the node that it is for."""
    local = is_local(protocol)
    for order in missing:
        where = order.node or 'a further node'
        kind = 'run' + 's' * (order.runs > 1)
        kind += '' if order.what_for == 'first' else f' of {order.what_for}'
        command = shlex.join(words(protocol, order, local))
        yield f'{command}   # {where}: {order.runs} {kind}'


def carry_out(protocol, missing, rest):
    """Run what can be run from here; how many commands were run."""
    local, here, done = is_local(protocol), socket.gethostname(), 0
    for order in missing:
        if local and order.node and order.node.split('.')[0] != here.split('.')[0]:
            print(f"membw: '{order.node}' is not this node: not run", file=sys.stderr)
            continue
        if local and not order.node and done:
            continue  # this node is one node, however often it is measured
        command = [*words(protocol, order, local), *rest]
        print(f'accept: {shlex.join(command)}', file=sys.stderr, flush=True)
        ran = subprocess.run([sys.executable, '-m', *command], stdout=sys.stderr)
        if ran.returncode == 2:
            raise MembwError('the run above could not be made', 'repair it, then try again')
        done += 1
    return done
