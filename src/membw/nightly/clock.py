"""A clock that was set back: tonight has the name of a night that is over, and would only be
reported again, as well as that one was."""

import time

from membw.files import write_whole
from membw.moments import utc
from membw.nightly.night import NOT_DONE

STEP = 'clock'
OFF_S = 300  # a clock that is set every now and then is off by less


def note_set_back(night):
    """A step that went wrong, where nothing ran and what ran before ended later than now."""
    night.state['steps'].pop(STEP, None)
    ended = ended_at(night)
    if night.has_run or ended <= utc(time.time() + OFF_S):
        return
    fact = f'this night was over at {ended}, which is later than now: was the clock set back?'
    write_whole(night.folder / f'{STEP}.log', f'membw: {fact}\nhint: --again measures it anew\n')
    night.note(STEP, status=NOT_DONE)


def ended_at(night):
    """UTC; '' where no step says when."""
    every = [step.get('ended', '') for step in night.state['steps'].values()]
    return max((ended for ended in every if ended.endswith('Z')), default='')
