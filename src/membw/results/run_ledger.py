"""The ledger of a run: what ReFrame is to run, written before it begins, and how each case goes.

A line of JSON per event, beside ReFrame's report and named as it is. The report is written at the
end, or never; the reason of a skip is not in it. ReFrame tells its listeners of each event.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from membw.errors import did_you_mean
from membw.results.case_order import in_order

SUFFIX = '.ledger'
GIVEN = 'MEMBW_GIVEN'  # of the environment: the variables that the user sets by `-S`
EXPECTED, STOPPED = 'expected', 'stopped'  # the latter of no case, before all had ended
# event of ReFrame -> `result` of its report
RESULTS = {'success': 'pass', 'failure': 'fail', 'skip': 'skip', 'abort': 'abort'}
RESULTS |= {'xfailure': 'xfail', 'xsuccess': 'xpass'}
# what the check knows when it has ended
KNOWN_AT_END = ('record', 'word', 'reasons', 'node_check')

Key = tuple[str, str, str]  # unique name, system:partition, environment


def path_of(report: str | Path) -> Path:
    return Path(report).with_suffix(SUFFIX)


# --- in ReFrame's process ------------------------------------------------------------------------


def note_cases() -> None:
    """For the session that is to begin: ReFrame hands a runner its cases, and has no other door.
    From there on its warnings are warnings (`--warn-as-error` is for what does not load)."""
    from reframe.core import logging, runtime
    from reframe.frontend.executors import Runner
    from reframe.frontend.loader import RegressionCheckLoader

    run_all = Runner.runall
    if GIVEN in os.environ:  # it warns of each test without the variable, and of no unknown test
        RegressionCheckLoader.unset_vars = lambda *_: ()

    def noted(runner: Runner, cases: list, *rest: Any) -> None:
        report = os.path.expandvars(runtime.runtime().get_option('general/0/report_file'))
        logging.getlogger().warn_as_error = False
        refuse_unset(os.environ.get(GIVEN, ''), {type(case.check) for case in cases})
        if '{' in report:  # it is named when the session ends
            return run_all(runner, cases, *rest)
        if 'MEMBW_SESSION' in os.environ and '--exec-order' not in ' '.join(sys.argv):
            cases = in_order(cases)
        listener = Listener(path_of(report), cases)
        runner.policy.task_listeners.append(listener)
        try:
            run_all(runner, cases, *rest)
        except BaseException as err:
            listener.write(('',) * 3, STOPPED, why=why(err) or type(err).__name__)
            raise

    if run_all.__name__ != noted.__name__:
        Runner.runall = noted


def refuse_unset(given: str, tests: set[Any]) -> None:
    """Ends the session where no test that was chosen has a variable that is set."""
    for text in given.split() if tests else ():
        name, _, variable = text.rpartition('.')
        known = {one for t in tests if name in ('', t.__name__) for one in t.var_space}
        if variable in known:
            continue
        hint = did_you_mean(name, {test.__name__ for test in tests})
        if known:
            hint = did_you_mean(variable, known, "'membw run --describe -n TEST' lists them")
        fact = f"no test that was chosen has the variable '{text}'"
        print(f'membw: {fact}\nhint: {hint}', file=sys.stderr)
        raise SystemExit(2)


class Listener:
    """Writes each event, whatever ReFrame calls it (`on_task_EVENT`)."""

    def __init__(self, path: Path, cases: list) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        for case in cases:
            check, needs = case.check, [names_of(needed) for needed in case.deps]
            own = {'name': check.name, 'display_name': check.display_name}
            own |= {'fixture': check.is_fixture(), 'round': getattr(check, 'round', 1)}
            self.write(names_of(case), EXPECTED, **own, dependencies_actual=needs)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith('on_task_'):
            raise AttributeError(name)
        return lambda task: self.note(task, name.removeprefix('on_task_'))

    def note(self, task: Any, event: str) -> None:
        more: dict[str, Any] = {}
        job = task.check.build_job if event == 'compile' else task.check.job
        if job and job.jobid:
            more |= {'job': str(job.jobid), 'state': job.state or ''}
        if event not in RESULTS:
            scheduler = (job or task.testcase.partition).scheduler.registered_name
            more |= {'stage': task.check.stagedir, 'scheduler': scheduler}
        else:
            more |= {name: str(getattr(task.check, name, None) or '') for name in KNOWN_AT_END}
        error = task.exc_info[1]
        if error is not None:
            more |= {'phase': task.failed_stage, 'why': why(error)}
        self.write(names_of(task.testcase), event, **more)

    def write(self, names: Key, event: str, **more: Any) -> None:
        of_case = dict(zip(('unique_name', 'where', 'environ'), names, strict=True))
        line = {'event': event, 'time': time.time(), **of_case, **more}
        with contextlib.suppress(OSError), open(self.path, 'a') as file:  # a full disk is named
            file.write(json.dumps(line) + '\n')


def names_of(case: Any) -> Key:
    return case.check.unique_name, case.partition.fullname, case.environ.name


def why(error: Any) -> str:
    """In a line; a command that was refused, and what it said."""
    if hasattr(error, 'exitcode') and hasattr(error, 'stderr'):
        said = ' '.join(f'{error.stdout or ""} {error.stderr or ""}'.split())
        return f"'{error.command}' failed: {said}"
    return ' '.join(str(error).split())
