"""A fall and its return are one event: "-8 % from 3 May, back since 18 May".

What begins in a night in which the software or a fact changed stays a change of its own, with its
reason; so does what came back only in part.
"""

import dataclasses

SHORT = 14  # days: a gain that lasted no longer was not yet how the row usually is


def join(pairs, days, margin):
    """Changes of one row of which those that were taken back know since when.

    `pairs`: (move, change) in order of time; `days`: of the row's values.
    """
    kept, is_open = [], []
    for move, change in pairs:
        ended = [i for i in is_open if _ends(kept[i], move, change, days, margin)]
        for i in ended:
            since = {'back': change.night, 'back_sure': change.sure}
            kept[i] = kept[i][0], dataclasses.replace(kept[i][1], **since)
        is_open = [i for i in is_open if i not in ended]
        if not ended:
            is_open.append(len(kept))
            kept.append((move, change))
    return _with_later_falls([change for _, change in kept])


def _ends(earlier, move, change, days, margin):
    """Whether a move brings the row back to where it was before the earlier one."""
    first, of_it = earlier
    if change.field or of_it.field or first.delta * move.delta > 0:
        return False
    is_gain_that_lasted = first.delta > 0 and days[move.first] - days[first.first] > SHORT
    return abs(move.to - first.came_from) < margin and not is_gain_that_lasted


def _with_later_falls(changes):
    """A fall that was over is no alarm for being low again: the later fall is."""
    falls_since, told = False, []
    for change in reversed(changes):
        if change.back and falls_since:
            change = dataclasses.replace(change, recovered=True)
        falls_since |= change.direction == 'slower' and not (change.back or change.recovered)
        told.append(change)
    return told[::-1]
