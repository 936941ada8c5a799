"""Which nodes of a whole-cluster run are slow, by the rule of `membw rank`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from reframe.core.exceptions import SanityError

from membw.errors import MembwError

if TYPE_CHECKING:
    from membw.rank.ranking import Node, Ranking


def judge(records: str, nodes: Sequence[str], node_check: str) -> 'tuple[Ranking, str]':
    """(the Ranking of the file, how many nodes are what), with a line for each of the nodes in
    the node-check file."""
    # numpy and scipy take half a second to load: not for every session that lists the checks
    from membw.rank.ranking import rank_files
    from membw.results.hostlist import write_node_check

    try:
        ranking = rank_files([records], nodes)
        write_node_check(node_check, ranking.nodes)
    except MembwError as err:
        raise SanityError(f'not judged: {err}') from err
    return ranking, ranking.counts()


def of_verdict(nodes: 'Iterable[Node]', *words: str) -> list[str]:
    """'n4 FAIL copy 171 GB/s, ...' of each node with one of these verdicts."""
    chosen = (node for node in nodes if node.verdict in words)
    return [f'{node.name} {node.verdict} {node.reason}'.rstrip() for node in chosen]
