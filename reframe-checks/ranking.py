"""Which nodes of a whole-cluster run are slow, by the rule of `membw rank`."""

from reframe.core.exceptions import SanityError

from membw.errors import MembwError


def judge(records, nodes, node_check):
    """The JSON of `membw rank`, with a line for each of the nodes in the node-check file."""
    # numpy and scipy take half a second to load: not for every session that lists the checks
    from membw.rank.rank_results import rank_results
    from membw.rank.text import as_json
    from membw.results.hostlist import write_node_check

    try:
        fleet, problems = rank_results([records], nodes)
        write_node_check(node_check, fleet.nodes)
    except MembwError as err:
        raise SanityError(f'not judged: {err}') from err
    return as_json(fleet, problems)


def lines(ranking, word=None):
    """'n4 FAIL copy -8.7%, ...' of each node with that verdict, or of all."""
    return [
        f'{node["node"]} {node["verdict"]} {node["reason"]}'.rstrip()
        for node in ranking['nodes']
        if word in (None, node['verdict'])
    ]


def counts(ranking):
    """'5 nodes: 3 PASS, 1 FAIL, 0 INVALID, 1 MISSING'."""
    verdicts = [node['verdict'] for node in ranking['nodes']]
    each = ', '.join(f'{verdicts.count(w)} {w}' for w in ('PASS', 'FAIL', 'INVALID', 'MISSING'))
    suspect = verdicts.count('SUSPECT')
    return f'{len(verdicts)} nodes: {each}' + (f', {suspect} SUSPECT' if suspect else '')


def lines_of_links(ranking, words):
    """'n1 - n4 FAIL 0 B take ...' of each link with one of these verdicts, the surest first."""
    chosen = [link for link in ranking['links'] if link['verdict'] in words]
    return [
        f'{" - ".join(link["nodes"])} {link["verdict"]} {link["reason"]}'
        for link in sorted(chosen, key=lambda link: link['q'])
    ]


def counts_of_links(ranking):
    """'10 links: 9 PASS, 1 FAIL, 0 INVALID'."""
    verdicts = [link['verdict'] for link in ranking['links']]
    each = ', '.join(f'{verdicts.count(w)} {w}' for w in ('PASS', 'FAIL', 'INVALID'))
    return f'{len(verdicts)} links: {each}'
