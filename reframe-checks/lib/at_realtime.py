"""Real-time priority for what a check measures, where requested."""

import reframe as rfm
from reframe.core.builtins import variable

from membw.site import realtime


class at_realtime(rfm.RegressionTestPlugin):
    # other processes wait for their CPUs; whoever starts the job has to be permitted to
    realtime = variable(bool, value=False)

    def at_priority(self, command: list[str]) -> list[str]:
        """The words of a command, with what gives it that priority before them."""
        if not self.realtime:
            return command
        self.need_tool(realtime.COMMAND[0])
        return [*realtime.COMMAND, *command]
