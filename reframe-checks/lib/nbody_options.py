"""What both checks of src/nbody share: how much it computes, and in which precision."""

import reframe as rfm
from reframe.core.builtins import variable

from lib.variables import option_words


class nbody_options(rfm.RegressionTestPlugin):
    # by -S: 'float'; bodies and rounds, 0 leaves them to the program; '1,20'
    precision = variable(str, value='double', loggable=True)
    bodies = variable(int, value=0, loggable=True)
    rounds = variable(int, value=0)
    threads_requested = variable(str, value='', loggable=True)

    def program_options(self, record: str) -> list[str]:
        given = {
            '--precision': self.precision,
            '--bodies': self.bodies,
            '--rounds': self.rounds,
            '--threads': self.threads_requested,
        }
        return [*option_words(given), *super().program_options(record)]
