"""Endpoints of a pair, cores and cards of a system's file: what lies between the two."""

INTER = 'inter:'


def class_of_pair(pair: str, endpoints: dict[str, dict]) -> str:
    """The class of 'mic0-cpu1' or 'inter:cpu0-cpu1'; '' of two cores by their numbers.

    near, far: of a card and a socket that is its neighbour, or another one's.
    """
    if pair.startswith(INTER):
        return 'remote'
    one, other = pair.split('-')
    if not {one, other} <= set(endpoints):
        return ''
    cards = [name for name in (one, other) if 'host' in endpoints[name]]
    if not cards:
        return 'socket' if one == other else 'node'
    if len(cards) == 2:
        return 'card' if one == other else 'card-card'
    host = other if one in cards else one
    near = endpoints[cards[0]].get('neighbour') == host
    return f'host-card {"near" if near else "far"}'
