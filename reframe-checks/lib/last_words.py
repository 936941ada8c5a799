"""The output of a job, and the message about one that left no record."""

import pathlib
import re
from typing import NoReturn

import reframe as rfm
from reframe.core.builtins import run_before
from reframe.core.exceptions import SanityError
from reframe.core.schedulers import Job

from lib.batch_job import never_begun

# the shell of the job, and slurmstepd
KILLED = re.compile(r': line \d+: +\d+ Killed\b|oom[-_]kill', re.I)
OUT_OF_MEMORY = (
    'the program was killed, perhaps as memory ran out: see dmesg, or the memory limit of the job'
)


class last_words(rfm.RegressionTestPlugin):
    @property
    def own_job(self) -> Job:
        """The run; of a build the build."""
        return self.job or self.build_job

    def output(self) -> str:
        """Hooks run outside the stage folder, so the whole path."""
        return pathlib.Path(self.stagedir, str(self.own_job.stdout)).read_text(errors='replace')

    @run_before('sanity')
    def skip_what_the_node_lacks(self) -> None:
        if self.is_dry_run():
            return
        if not pathlib.Path(self.stagedir, str(self.own_job.stdout)).exists():
            why = never_begun(self.own_job, self.current_partition.scheduler.registered_name)
            what = 'not measured, no record' if self.job else 'nothing was built'
            raise SanityError(f'{what}: {why}')
        lacks = re.search(r'^membw-missing (\S+)', self.output(), re.M)
        if lacks:
            name = self.current_partition.fullname
            self.skip(f"'{lacks[1]}' not found on the node of {name}")

    def last_words(self) -> str:
        """The program's own, where it wrote no record."""
        path = pathlib.Path(self.stagedir, str(self.own_job.stderr))
        lines = [ln.strip() for ln in path.read_text(errors='replace').splitlines()]
        lines = [ln for ln in lines if re.search(r'\w', ln)]  # Open MPI's begin with a rule
        # ours first, then a compiler's error; else what a tool said first: its usage and srun's
        # line come after
        ours = [ln for ln in lines if ln.startswith('membw:')]
        ours += [OUT_OF_MEMORY for ln in lines if KILLED.search(ln)]
        tools = [ln for ln in lines if not ln.startswith('srun:')]
        errors = [ln for ln in tools if re.search(r'\berror: ', ln)]
        return [*ours, *errors, *tools, *lines, 'it printed nothing'][0]

    def not_measured(self) -> NoReturn:
        raise SanityError(f'not measured, no record: {self.last_words()}')
