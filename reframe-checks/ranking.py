"""Which nodes of a whole-cluster run are slow: `membw rank` says it, of the kept records."""

import json
import subprocess
import sys

from reframe.core.exceptions import SanityError


def judge(records, nodes, node_check):
    """The JSON of `membw rank`, with a line for each of the nodes in the node-check file."""
    words = [sys.executable, '-m', 'membw', 'rank', records, '--json', '--node-check', node_check]
    done = subprocess.run([*words, '--nodes', ','.join(nodes)], capture_output=True, text=True)
    if done.returncode == 2:
        raise SanityError(f'not judged: {(done.stderr.splitlines() or ["no reason given"])[0]}')
    return json.loads(done.stdout)


def lines(found, word=None):
    """'n4 FAIL copy -8.7%, ...' of each node with that verdict, or of all."""
    return [
        f'{node["node"]} {node["verdict"]} {node["reason"]}'.rstrip()
        for node in found['nodes']
        if word in (None, node['verdict'])
    ]


def counts(found):
    """'5 nodes: 3 PASS, 1 FAIL, 0 INVALID, 1 MISSING'."""
    verdicts = [node['verdict'] for node in found['nodes']]
    each = ', '.join(f'{verdicts.count(w)} {w}' for w in ('PASS', 'FAIL', 'INVALID', 'MISSING'))
    suspect = verdicts.count('SUSPECT')
    return f'{len(verdicts)} nodes: {each}' + (f', {suspect} SUSPECT' if suspect else '')
