"""What `membw node` runs, in this order, how it shares out its time, and one launch of it."""

import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from membw.call import call
from membw.results.ledger import how, last_words
from membw.results.record import evidence
from membw.strict import Damaged

LEAST_S, USUAL_S, MOST_S = 30, 60, 180
CARD_S = 12  # of each card, on top of these
SETTLE_S = 0.5  # before each part: what the one before disturbed
LEAST_REPEATED_S, MOST_REPEATED_S = 0.5, 20  # more seconds make no better figure
PINNING = 'omp'  # as a check names it
PINNED = {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'}

# as in ci/entries/membw-health: whoever sends these wants it to end, and SIGILL is of code for
# another CPU; any other is a finding
NAMES = ('HUP', 'INT', 'TERM', 'USR1', 'USR2', 'XCPU', 'ILL')
NO_FINDING = {getattr(signal, f'SIG{name}') for name in NAMES}


class Part(NamedTuple):
    """One launch. `args`: '{s}' is the time of its repetitions: by `weight` of what is left."""

    name: str
    program: str
    args: str
    seconds: float  # in `plan` of all, before of all else
    weight: int = 0
    threads: int = 0  # 0: one per core
    domains: int = 1  # left out on a node of fewer NUMA domains
    cores: int = 1  # or of fewer cores


# a curve or a matrix that is not whole is compared as far as it is there
QUICK = '--quick --allow incomplete'
# of stream no --seconds: it would end without a figure on a busy node, and look at no domain
BATTERY = (
    Part('stream', 'stream', '--explain --max-seconds {s}', 4, 2),
    Part('one', 'stream', '--max-seconds {s}', 2, 1, threads=1),
    Part('ladder', 'ladder', '--quick', 6),
    Part('loaded', 'loaded', QUICK, 6, cores=2),
    Part('tiers', 'tiers', QUICK, 6, domains=2),
    Part('late', 'stream', '--max-seconds {s}', 2, 2),
)
ABOUT = {  # what it measures; a card's name says that itself
    'stream': 'Triad of all cores', 'one': 'Triad of one core', 'ladder': 'caches and latency',
    'loaded': 'reads under load', 'tiers': 'each memory from each domain',
    'late': 'Triad again: whether it fell',
}  # fmt: skip
CARDS = 'device'  # the program of cards (GPUs)


def plan(seconds: float, domains: int, cores: int) -> Iterator[Part]:
    """Each part with all of its seconds: the fixed ones, and of the rest by weight."""
    parts = [part for part in BATTERY if part.domains <= domains and part.cores <= cores]
    rest = seconds - sum(part.seconds + SETTLE_S for part in parts)
    weights = sum(part.weight for part in parts)
    for part in parts:
        share = min(rest * part.weight / weights, MOST_REPEATED_S)
        args = part.args.format(s=f'{max(share, LEAST_REPEATED_S):.1f}')
        yield part._replace(args=args, seconds=round(part.seconds + share, 1))


def of_cards(program: Path) -> list[Part]:
    """A part for each card that this node shows; none without a driver."""
    done = call([str(program), '--list'], CARD_S)
    cards = re.findall(r'^\d+(?= )', done.stdout, re.M) if done.returncode == 0 else []
    return [Part(f'card {n}', CARDS, f'-d {n} --no-transfers', CARD_S) for n in cards]


def launch(words: list[str], environment: Mapping[str, str], limit_s: float) -> dict[str, Any]:
    """A part of a record of a node, as results/record.py has it, without name and command."""
    with tempfile.TemporaryDirectory(prefix='membw-node-') as folder:
        file, said, begun = Path(folder, 'record.json'), Path(folder, 'said'), time.monotonic()
        is_late = False
        with open(said, 'wb') as output:
            process = subprocess.Popen(
                [*words, '--json', str(file)], env=dict(environment), stdout=output, stderr=output
            )
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                is_late = True
            finally:
                process.kill()  # what has ended is not
                status = process.wait()
        try:
            record, why = evidence(file.read_bytes().rstrip(b'\n')), ''
        except (OSError, Damaged):
            record, line_of = None, last_words(said.read_text(errors='replace'))
            why = line_of.removeprefix('membw: ')
            why = why if why != line_of else ': '.join(filter(None, (how(status), line_of)))
    if is_late or status < 0:
        why = f'not measured within {limit_s:.0f} s' if is_late else how(status)
        why += ': was it built for another CPU?' if status == -signal.SIGILL else ''
    return {
        'record': record,
        'why': why,
        'died': not is_late and status < 0 and -status not in NO_FINDING,
        'seconds': round(time.monotonic() - begun, 2),
    }
