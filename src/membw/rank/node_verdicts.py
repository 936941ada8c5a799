"""The nodes of a whole-cluster run in its summary: how many passed, and all that did not."""

from membw.printable import printable
from membw.results.hostlist import read_node_check

MOST = 40


def lines_of(case):
    """Text lines of a test case that left a node-check file; none of others."""
    lines = read_node_check(case.get('node_check') or '.')
    if not lines:
        return []
    told = [printable(line) for _, verdict, line in lines if verdict != 'PASS']
    more = [f'and {len(told) - MOST} more in {case["node_check"]}'] if len(told) > MOST else []
    return [f'{case["environ"]}: {case.get("nodes")}', *told[:MOST], *more]
