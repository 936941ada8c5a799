"""One test case: what it was to measure, what arrived, its record, its references, its verdict."""

import json
import os
import pathlib
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import reframe as rfm

from lib import batch_job, references
from lib.binaries import results
from membw.errors import did_you_mean
from membw.moments import utc
from membw.presets import sha256
from membw.presets.code_checksum import code_sha256
from membw.presets.sources import commit
from membw.results import archive, ledger, verdict
from membw.results.ledger import Missing
from membw.results.table import read_table

# of the build, in log lines, reports and the `case` of a record
BUILD = (
    'compile_line', 'compiler', 'source_sha256', 'code_sha256', 'binary_sha256', 'spack_hash',
    'built_with', 'commit',
)  # fmt: skip
# Which run of ReFrame a record is of: `membw run` names it, else it is this process
SESSION = os.environ.get('MEMBW_SESSION') or time.strftime(f'%Y%m%dT%H%M%S-{os.getpid()}')

ORDER = 'measurement', 'submitted'


class Case:
    """A check has one from its setup on. In the order of its life:

    expected    {file: what} of the records to come; the check changes it before the run
    open()      writes the ledger
    gather()    reads what arrived; `missing` is the rest
    keep()      writes the record into results/records
    judge()     the word and its reason
    """

    def __init__(self, check: rfm.RegressionTest) -> None:
        self.check = check
        self.expected = {'record.json': ''}
        self.arrived: dict[str, dict] = {}
        self.missing: list[Missing] = []
        self.ledger = ledger.Ledger()
        self.path: pathlib.Path | None = None  # of the record
        self.build: dict[str, str] = dict.fromkeys(BUILD, '')
        self.further: dict[str, Any] = {}  # what is known beyond the record, and kept with it
        self.judges_records = True  # else medians of many records are compared
        self.unclear: list[str] = []  # why a check of many nodes cannot say PASS

    # --- the ledger --------------------------------------------------------------------------

    def open(self) -> None:
        ledger.write(self.check.stagedir, self.expected)

    def gather(self) -> None:
        """Reads the records that were written, and why the others were not."""
        self.ledger = ledger.read(self.check.stagedir)
        for file in self.ledger.ended:  # whatever was launched counts
            if file.endswith('.json'):
                self.expected.setdefault(file, file.removesuffix('.json'))
        for file, what in self.expected.items():
            record = read_record(pathlib.Path(self.check.stagedir, file))
            if record is not None:
                self.arrived[file] = record
            end = self._end(file, record)
            if end:
                self.missing.append(Missing(what, *end, self.node(record)))

    def _end(self, file: str, record: dict | None) -> ledger.End | None:
        """How a launch ended that left no record, or should have ended otherwise; None: it did."""
        job, known, name = self.check.job, self.ledger, self.ledger.name(file)
        status, stopped = known.ended.get(name), (record or {}).get('ended_by')
        printed = self.errors(file if status is not None else '')
        verdict = None if record is None else record['verdict']
        if status is not None and not stopped:
            started = file in known.started
            other = self.is_of_another_cpu(known.cpus[name])
            return ledger.judge(status, verdict, printed, job.state, started, other)
        if not batch_job.is_begun(self.check.stagedir, job):
            return ledger.End(batch_job.never_begun(job), False)
        if stopped:
            of_job = ledger.how_job(job.state, printed)
            return ledger.End(', '.join(filter(None, [f'ended by {stopped}', of_job])), True)
        if known.ended and record is None:
            return ledger.End('not begun', False)
        return ledger.judge(None, verdict, printed, job.state)

    def is_of_another_cpu(self, cpu: str) -> bool:
        """Whether the code is for a CPU (-march=native) and that is not the one of the node."""
        binary = getattr(self.check, 'binary', None)
        built_on = getattr(binary, 'cpu', '')
        return bool(built_on and cpu and built_on != cpu)

    def node(self, record: dict | None = None) -> str:
        nodes = self.check.job.nodelist or [''] if self.check.job else ['']
        return (record or {}).get('host') or self.ledger.node or nodes[0]

    def errors(self, file: str = '') -> str:
        """What the launch of this file wrote to stderr, else the job."""
        own = pathlib.Path(self.check.stagedir, f'{file}.err')
        if own.is_file():
            return own.read_text(errors='replace')
        return batch_job.errors(self.check.stagedir, self.check.job)

    # --- the record --------------------------------------------------------------------------

    def note_build(self, facts: dict, binary: str) -> None:
        """`facts`: BINARY.json of the program."""
        self.build |= {
            'compile_line': ' '.join(facts['compile_line']),
            'compiler': facts['compiler'],
            'source_sha256': facts['source_sha256'],
            'binary_sha256': facts.get('binary_sha256') or sha256(binary),
            'code_sha256': code_sha256(binary),
            'spack_hash': facts.get('dag_hash') or '',
            'built_with': facts.get('built_with') or 'spack',
            'commit': commit(),
        }

    def keep(self, records: Iterable[dict], label: str, job: dict[str, str] | None) -> None:
        """Writes records into results/records, which the next run does not empty, and into
        results/jobs the job that wrote them. A case that left no record gets one of its own."""
        check = self.check
        where = check.current_partition.fullname, check.current_environ.name
        self.path = archive.record_path(results(), type(check).__name__, *where, label)
        if self.path.exists():  # tiny runs, repeated, may end in the same second
            self.path = self.path.with_name(f'{self.path.stem}-{check.short_name}.json')
        self.rewrite(records)
        if job is not None:
            archive.keep_job(results(), self.path.stem, check.stagedir, job)

    def rewrite(self, records: Iterable[dict]) -> None:
        assert self.path
        missing = [one._asdict() for one in self.missing]
        more = {**self.further, **({'missing': missing} if missing else {})}
        text = ''.join(json.dumps({**record, **more}) + '\n' for record in records)
        part = self.path.with_name(f'.{self.path.name}.part')
        part.write_text(text)
        part.rename(self.path)

    def records(self) -> list[dict]:
        lines = self.path.read_text().splitlines() if self.path else []
        return [json.loads(line) for line in lines]

    def note_verdict(self, of_record: Callable[[dict], tuple[str, list[str]]]) -> None:
        """Writes `case` into each record of the file.

        Args:
            of_record: a function of a record's JSON object that gives its (verdict, reasons) as
                the check found them: ('VALID' or 'INVALID', ['reason (detail)', ...]).
        """
        records = self.records()
        for record in records:
            word, reasons = of_record(record)
            known = record.get('case') or {}
            order = {name: known[name] for name in ORDER if name in known} or self.order()
            record['case'] = {**self.facts(), **order, 'verdict': word, 'reasons': reasons}
        if records:
            self.rewrite(records)

    def order(self, measurement: int | None = None) -> dict:
        """Which measurement of its session a record is of, the first is 0, and when it was
        submitted: by this host's clock, as the nodes' may differ."""
        job, number = self.check.job, getattr(self.check, 'round', 1) - 1
        begin = time.time() if measurement else job.submit_time or time.time()
        return {'measurement': measurement or number, 'submitted': utc(begin)}

    def facts(self) -> dict:
        """Which test case this is, its references and what it was built with; the same for
        all records of its file."""
        check = self.check
        return {
            'test': type(check).__name__,
            'system': check.current_system.name,
            'partition': check.current_partition.name,
            'environ': check.current_environ.name,
            'pinning': getattr(check, 'pinning', ''),
            'parameters': self.parameters(),
            'references': references.tuples(check),
            'reference_expired': references.last_day(check),
            'known_issues': references.known_issues(check),
            **self.build,
            'modules': [module['name'] for module in check.current_environ.modules_detailed],
            'run_environment': archive.environment(check.stagedir),
            'session': SESSION,
            'peak_source': check.current_partition.extras.get('peak_source', ''),
        }

    def parameters(self) -> str:
        """'%affinity=close ...': what tells the cases of a test apart, but the pinning."""
        words = re.split(r'\s(?=%)', self.check.display_name)[1:]
        apart = (
            word for word in words if not word.startswith(('%pinning=', '%round=', '%.', '%$'))
        )
        return ' '.join(apart)

    # --- the verdict -------------------------------------------------------------------------

    def judge(self, problems: list[str]) -> tuple[str, str]:
        """(word, reason): what is missing goes before what is wrong; a figure outside its
        reference is left to ReFrame, which shows it."""
        lost = [one.text for one in self.missing]
        if lost:
            died = any(one.died for one in self.missing)
            return (verdict.DIED if died else verdict.MISSING), '; '.join([*lost, *problems])
        if problems:
            return verdict.INVALID, '; '.join(problems)
        undecided = [*self.unclear, *self._unapplied(), *self._undecided()]
        return (verdict.UNDECIDED, '; '.join(undecided)) if undecided else (verdict.PASS, '')

    def _unapplied(self) -> list[str]:
        """References of metrics that were not measured: a misspelt name would mean that nothing
        is compared."""
        measured = list(self.check.perf_variables)
        return [
            f"no figure for the reference of '{name}': {did_you_mean(name, measured)}"
            for name in references.rows(self.check)
            if name not in measured
        ]

    def _undecided(self) -> list[str]:
        """Figures outside their reference that may be within, or why all are: by the record as it
        is kept, so that ReFrame does not compare a bound as an estimate."""
        is_judged = self.path and self.judges_records
        figures = read_table([str(self.path)]).figures if is_judged else []
        if is_judged and not figures:  # of a busy node, in its time
            return ['no figure in its record']
        words = ((f, verdict.of_figure(f)) for f in figures if not f.known_issue)
        # what --allow set aside was asked for, and stays in the record
        undecided = (f for f, word in words if word == verdict.UNDECIDED and not f.allowed)
        texts = map(verdict.missed, undecided)
        return list(dict.fromkeys(texts))


def read_record(path: pathlib.Path) -> dict | None:
    """The record of a file, None: there is none, or it was cut off. What another program printed
    is no record: it is only there."""
    try:
        text = path.read_text(errors='replace')
        if path.suffix != '.json':
            return {'verdict': 'VALID'} if text else None
        return json.loads(text)
    except (OSError, ValueError):
        return None
