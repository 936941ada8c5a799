"""Environments of a site's own ReFrame configuration, which knows nothing of membw.

One with `preset` in its extras is built by that preset's line, exactly. Any other is the site's
own: its compiler with its flags, recorded as every line.
"""

import reframe.core.runtime as runtime
from reframe.core.environments import Environment
from reframe.core.exceptions import ReframeFatalError

from lib import end
from lib.batch_job import forget_outer_job
from membw import presets

OWN = 'own'
# where an environment has no `cflags`: a program without OpenMP would use one core of a node
FLAGS = ['-O3', '-fopenmp']


def take_in() -> None:
    """Gives them the features by which checks choose environments."""
    try:
        system = runtime.runtime().system
        hashes = runtime.runtime().get_option('general/0/stagedir_hashes')  # of 4.11
    except ReframeFatalError:  # no session: a test reads a check
        return
    if hashes is False:
        end(
            "ReFrame's 'stagedir_hashes' is off: a fixture's stage folder has a blank in its name",
            'leave it on: ReFrame cannot run a command in such a folder',
        )
    forget_outer_job(system)
    for part in system.partitions:
        if part.scheduler.registered_name == 'local' and part.max_jobs != 1:
            part._max_jobs = 1  # two checks would measure each other
        foreign = [e for e in part.environs if 'preset' not in e.features]
        for environ in foreign:
            preset = environ.extras.get('preset')
            features = presets.row(preset)['features'] if preset else [OWN]
            environ.features.extend(['preset', *features])
        every = [e for e in part.environs if 'offload' not in e.features]
        for feature in ('scan', 'compute', 'runtime') if foreign else ():
            if every and not any(feature in e.features for e in every):
                every[0].features.append(feature)


def is_own(environ: Environment) -> bool:
    return OWN in environ.features


def flags(environ: Environment) -> list[str]:
    return [*environ.cppflags, *(environ.cflags or FLAGS)]
