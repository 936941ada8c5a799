"""One test case: what it was to measure, what arrived, its record, its references, its verdict."""

import json
import os
import pathlib
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import reframe as rfm

from lib import job_output, references
from lib.batch_job import never_begun
from lib.binaries import results
from membw.errors import did_you_mean
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
            why, died = self._why_missing(file, record)
            if why:
                self.missing.append(Missing(what, why, died, self.node(record)))

    def _why_missing(self, file: str, record: dict | None) -> tuple[str, bool]:
        """(why a launch did not end with its record, whether it died); ('', False): it did."""
        status, stopped = self.ledger.status(file), (record or {}).get('ended_by')
        after = ' after its record' if record is not None else ''
        if status is None or stopped:
            return self._why_stopped(stopped, after)
        if record is not None and not ledger.is_odd(status, record['verdict']):
            return '', False
        printed = self.errors(file)
        said = job_output.last_words(printed)
        of_job = ledger.how_job(self.check.job.state, printed)
        how = ', '.join(filter(None, [ledger.how(status), of_job]))
        if record is not None:
            return f'{how}{after}', True
        if status == 0 and of_job:  # srun ends so where its node fails
            return of_job, True
        if status == 0:
            return f'no record: {said or "it printed nothing"}', False
        refused = status == ledger.USAGE and said.startswith('membw:')
        return ': '.join(filter(None, [how, said])), not refused

    def _why_stopped(self, signal: str | None, after: str) -> tuple[str, bool]:
        """Of a launch that was told to end, or whose job ended before it did."""
        if not job_output.is_begun(self.check.stagedir, self.check.job):
            scheduler = self.check.current_partition.scheduler.registered_name
            return never_begun(self.check.job, scheduler), False
        printed = self.errors()
        why = ledger.how_job(self.check.job.state, printed)
        if signal:
            return ', '.join(filter(None, [f'ended by {signal}', why])), True
        if self.ledger.ended and not after:
            return 'not begun', False
        why = why or job_output.last_words(printed)
        return f'{why or "the job ended"}{after}', True

    def node(self, record: dict | None = None) -> str:
        nodes = self.check.job.nodelist or [''] if self.check.job else ['']
        return (record or {}).get('host') or self.ledger.node or nodes[0]

    def errors(self, file: str = '') -> str:
        """What the launch of this file wrote to stderr, else the job."""
        own = pathlib.Path(self.check.stagedir, f'{file}.err')
        if own.is_file():
            return own.read_text(errors='replace')
        return job_output.errors(self.check.stagedir, self.check.job)

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
            record['case'] = {**self.facts(), 'verdict': word, 'reasons': reasons}
        if records:
            self.rewrite(records)

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
