"""What a command says while it works: lines that stay, and one that is written over."""

import re
import sys
import time

# of ReFrame's '[       OK ] (12/37) stream ...': the number of the case, and of how many
NUMBERED = re.compile(r'^\[ +[A-Z]+ \] \( *(\d+)/(\d+)\)')
BEGUN = re.compile(r'^\[ +RUN +\] (.*?)(?: /\w+)? @(\S+)')
CLEAR = '\r\033[K'


def say(text, passing=False, stream=None):
    """A passing line is written over where there is a terminal, else left out."""
    stream = stream or sys.stderr
    terminal = sys.stderr.isatty()
    if passing and terminal:
        print(f'{CLEAR}{text} ...', end='', file=sys.stderr, flush=True)
    elif not passing:
        if terminal:
            print(CLEAR, end='', file=sys.stderr, flush=True)
        print(text, file=stream, flush=True)


class Cases:
    """Which case of a session of ReFrame is under way, how long it may take yet: by its lines."""

    def __init__(self, clock=time.monotonic):
        self.clock, self.begun = clock, clock()
        self.number, self.total, self.ends = 0, 0, []

    def take(self, line):
        """Counts a case that ended; what is to be said of one that begins, or None."""
        ended = NUMBERED.match(line)
        if ended:
            self.number, self.total = map(int, ended.groups())
            self.ends.append(self.clock())
        started = BEGUN.match(line)
        return f'{self.place()}{started[1]} @{started[2]}' if started else None

    def place(self):
        """'13 of 37, about 4 min left: '; nothing before the first case has ended."""
        if not self.ends:
            return ''
        return f'{min(self.number + 1, self.total)} of {self.total}{self.left()}: '

    def left(self):
        """By the mean of the last cases: the first ones are builds, which take longer."""
        begins = [self.begun, *self.ends]
        last = min(len(self.ends), 10)
        seconds = (begins[-1] - begins[-1 - last]) / last * (self.total - self.number)
        return f', about {duration(seconds)} left' if self.number < self.total else ''


def duration(seconds):
    """'40 s', '4 min', '2.5 h'."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min' if seconds < 5400 else f'{seconds / 3600:.1f} h'
