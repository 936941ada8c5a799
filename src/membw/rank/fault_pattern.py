"""What the shape of a slow node's figures suggests: a hint where to look, not a proof."""

import numpy as np

# DDR channels of a socket or node that are built
CHANNEL_COUNTS = (2, 3, 4, 6, 8, 12, 16, 24)
ALIKE = 0.01  # all kernels lost the same share, within 1 %


def describe(node, ratios, marks, unstable, noise):
    """One line; `ratios` and `marks` (flagged) are ranks x kernels, empty with one rank a node.

    `noise` is the usual spread between healthy nodes, as a fraction.
    """
    slow = _where_slow(node, ratios, marks, noise)
    return ' and '.join(filter(None, ['unstable' if unstable else '', slow]))


def _where_slow(node, ratios, marks, noise):
    ranks = np.flatnonzero(marks.any(axis=1)) if marks.size else np.array([], dtype=int)
    if 0 < len(ranks) < len(marks):
        lost = _bandwidth(node, ratios[ranks].mean(axis=0))
        return _part(node, ranks, len(marks), lost, noise)
    kernels = np.array(list(node.ratios.values()))
    if len(ranks) == 0 and kernels.min() > 1 - ALIKE:
        return ''
    per_node = (node.channels, node.channels // node.sockets) if node.channels else CHANNEL_COUNTS
    channel = _channel(_bandwidth(node, kernels), per_node, noise)
    return channel or _whole(kernels)


def _bandwidth(node, ratios):
    """What is left of the bandwidth, by all metrics that are one; 1 where none is."""
    of_bandwidths = [r for r, m in zip(ratios, node.metrics, strict=True) if m.is_bandwidth]
    return float(np.median(of_bandwidths)) if of_bandwidths else 1.0


def _whole(kernels):
    if np.ptp(kernels) <= ALIKE:
        return 'everything slow alike: clock, power limit or memory speed'
    return 'some kernels slower than others: compare the settings of the node'


def _part(node, ranks, count, ratio, noise):
    """Some ranks of a node are slow: which, when ranks are spread evenly over the sockets."""
    per_socket = max(1, count // node.sockets)
    sockets = sorted({int(r) // per_socket for r in ranks})
    if node.sockets > 1 and len(sockets) == 1 and len(ranks) == per_socket:
        name, parts = f'socket {sockets[0]} slow', node.sockets
    elif len(ranks) == 1:
        name, parts = f'domain {ranks[0]} slow', count
    else:
        return f'domains {",".join(map(str, ranks))} of {count} slow'
    known = (node.channels // parts,) if node.channels else CHANNEL_COUNTS
    return ', '.join(filter(None, [name, _channel(ratio, known, noise)]))


def _channel(ratio, counts, noise):
    """Bandwidth follows the number of channels: near (N-1)/N one of N is gone."""
    tolerance = max(0.005, 2 * noise)
    counts = [n for n in counts if n > 1]
    if not counts:
        return ''
    nearest = min(counts, key=lambda n: abs(ratio - (n - 1) / n))
    if abs(ratio - (nearest - 1) / nearest) > tolerance:
        return ''
    return f'as with one of {nearest} channels gone'
