"""A program on a host that is reached by ssh and has none of our files: it is copied there."""

import os
from typing import Any

import reframe as rfm
from reframe.core.builtins import run_after

from lib import card


class copied_program(rfm.RegressionTestPlugin):
    """For a check that starts one program of `binary` by `program_there()`."""

    @run_after('setup')
    def need_libraries(self) -> None:
        if card.is_card(self.current_partition) and not self.is_dry_run():
            reason = card.lacking_library(self.current_partition, self.current_environ)
            self.skip_if(reason, reason)

    def program_there(self) -> Any:
        """The program by the path that the node knows; what it needs goes to a card with it."""
        if not card.is_card(self.current_partition):
            return self.binary.path
        paths = card.libraries(self.current_partition, self.current_environ)
        if not self.is_dry_run():
            card.stage(self.stagedir, self.binary.path, paths)
        self.env_vars.update(card.VARIABLES)
        self.postrun_cmds += [card.BRING_BACK]
        return f'./{os.path.basename(self.binary.path)}'
