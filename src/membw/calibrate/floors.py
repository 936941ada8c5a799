"""The floors file that `stream --at-least` reads: what a health check drains a node for.

A reference's lower limit is left by up to one healthy run of twenty: right for a table that a
person reads, wrong for a check that is made every hour. A floor lies at the widest tolerance that
a reference may have, and the file says how many of the runs were below.
"""

import math
import time

from scipy.stats import beta

from membw.errors import MembwError
from membw.plural import plural
from membw.presets.presets import version
from membw.results.metrics import HIGHER


def of_one(proposals, widest, confidence):
    """The text of the file: for one binary, pinned in one way, on one kind of node."""
    if len(proposals) != 1:
        names = '; '.join(' '.join(proposal.samples.key) for proposal in proposals)
        raise MembwError(
            f'{len(proposals)} references for one file of floors'
            + (f': {names}' if names else ''),
            'name one by --partition, --environ and --pinning'
            if names
            else 'the reasons are above',
        )
    return as_text(proposals[0], widest, confidence)


def as_text(proposal, widest, confidence):
    """`widest`: how far below the median, a fraction; GB/s, rounded down to 0.1."""
    samples = proposal.samples
    metrics = [m for m in samples.metrics if m.is_bandwidth and m.better == HIGHER]
    if not metrics:
        raise MembwError(f"'{' '.join(samples.key)}' has no bandwidth to give a floor to",
                         "'--at-least' is an option of stream: --test stream")  # fmt: skip
    floors = {m.name: math.floor(10 * (1 - widest) * proposal.kernels[m.name].median) / 10
              for m in metrics}  # fmt: skip
    return '\n'.join(
        [
            f'# floors of {" ".join(samples.key)}, GB/s: stream --at-least THIS --seconds 25,',
            '# the same binary, threads and pinning, on an idle node',
            f'# {time.strftime("%Y-%m-%d")}, membw {version()}: {widest:.0%} below the medians of '
            f'{plural(len(samples.nodes), "run")} of {plural(len(set(samples.nodes)), "node")}',
            f'# {_false_alarms(samples, floors, proposal.effective, confidence)}',
            *(f'{name}={floor:g}' for name, floor in floors.items()),
            '',
        ]
    )


def _false_alarms(samples, floors, effective, confidence):
    """Clopper and Pearson's one-sided bound; runs that depend on each other count for fewer."""
    names = [metric.name for metric in samples.metrics]
    columns = [names.index(name) for name in floors]
    below = int((samples.rates[:, columns] < list(floors.values())).any(axis=1).sum())
    count = len(samples.rates)
    share = below / count
    most = beta.ppf(confidence, share * effective + 1, (1 - share) * effective)
    return (
        f'{below} of these runs are below a floor; of healthy runs at most {most:.1%} are, '
        f'with {confidence:.0%} confidence'
    )
