"""What a job printed, and the line of it that says why it failed."""

import pathlib
import re

from reframe.core.schedulers import Job

# the shell of the job says so of a program that a signal ended, and of one that SIGKILL did
OF_SHELL = re.compile(r': line \d+: +\d+ [A-Z]')
KILLED = re.compile(r': line \d+: +\d+ Killed\b')
OUT_OF_MEMORY = 'perhaps as memory ran out: see dmesg, or the memory limit of the job'


def is_begun(stage: str, job: Job) -> bool:
    """Whether the job started: its output is there. Hooks run outside the stage folder."""
    return pathlib.Path(stage, str(job.stdout)).exists()


def errors(stage: str, job: Job) -> str:
    path = pathlib.Path(stage, str(job.stderr))
    return path.read_text(errors='replace') if path.is_file() else ''


def last_words(text: str) -> str:
    """The line of a stderr that says why: ours, else a compiler's error, else what a tool said
    first, as its usage and srun's line come after; '' where nothing was printed. The shell's own
    line on a signal says nothing more."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if re.search(r'\w', line)]  # Open MPI's begin with a rule
    ours = [line for line in lines if line.startswith('membw:')]
    ours += [OUT_OF_MEMORY for line in lines if KILLED.search(line)]
    lines = [line for line in lines if not OF_SHELL.search(line)]
    tools = [line for line in lines if not line.startswith('srun:')]
    of_compiler = [line for line in tools if re.search(r'\berror: ', line)]
    return [*ours, *of_compiler, *tools, *lines, ''][0]
