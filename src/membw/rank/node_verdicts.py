"""The nodes of a whole-cluster run in its summary: how many passed, and all that did not."""

MOST = 40


def lines_of(case):
    """Text lines of a test case that left a node-check file; none of others."""
    try:
        with open(case.get('node_check') or '') as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    told = [line for line in lines if line.split(maxsplit=2)[1] != 'PASS']
    more = [f'and {len(told) - MOST} more in {case["node_check"]}'] if len(told) > MOST else []
    return [f'{case["environ"]}: {case.get("nodes")}', *told[:MOST], *more]
