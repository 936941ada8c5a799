"""Which nodes and links of a whole-cluster run are slow, by the rule of `membw rank`."""

from reframe.core.exceptions import SanityError

from membw.errors import MembwError


def judge(records, nodes, node_check):
    """(the Fleet of `membw rank`, how many nodes are what), with a line for each of the nodes in
    the node-check file."""
    # numpy and scipy take half a second to load: not for every session that lists the checks
    from membw.rank.rank_results import rank_results
    from membw.rank.text import counts
    from membw.results.hostlist import write_node_check

    try:
        fleet, _ = rank_results([records], nodes)
        write_node_check(node_check, fleet.nodes)
    except MembwError as err:
        raise SanityError(f'not judged: {err}') from err
    return fleet, counts(fleet)


def of_verdict(things, *words):
    """'n4 FAIL copy -8.7%, ...' of each node or link with one of these verdicts."""
    chosen = (thing for thing in things if thing.verdict in words)
    return [f'{thing.name} {thing.verdict} {thing.reason}'.rstrip() for thing in chosen]
