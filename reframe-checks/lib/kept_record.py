"""The record of a run in results/records: what the program wrote, and its test case."""

import json
import os
import pathlib
import re
import time
from collections.abc import Callable

import reframe as rfm
from reframe.core.builtins import variable

from lib.binaries import results
from membw.presets import sha256
from membw.presets.code_checksum import code_sha256
from membw.presets.sources import commit
from membw.results import archive

# of the build, in log lines, reports and the `case` of a record
BUILD = (
    'compile_line',
    'compiler',
    'source_sha256',
    'code_sha256',
    'binary_sha256',
    'spack_hash',
    'built_with',
    'commit',
)
# Which run of ReFrame a record is of: `membw run` names it, else it is this process
SESSION = os.environ.get('MEMBW_SESSION') or time.strftime(f'%Y%m%dT%H%M%S-{os.getpid()}')


class kept_record(rfm.RegressionTestPlugin):
    compile_line = variable(str, value='', loggable=True)
    compiler = variable(str, value='', loggable=True)
    source_sha256 = variable(str, value='', loggable=True)
    code_sha256 = variable(str, value='', loggable=True)
    binary_sha256 = variable(str, value='', loggable=True)
    spack_hash = variable(str, value='', loggable=True)
    built_with = variable(str, value='', loggable=True)
    commit = variable(str, value='', loggable=True)
    run_environment = variable(str, value='', loggable=True)
    node = variable(str, value='', loggable=True)
    threads = variable(int, value=0, loggable=True)
    threads_on = variable(str, value='', loggable=True)
    record = variable(str, value='', loggable=True)

    def read_records(self, names: list[str]) -> list[dict]:
        """The records that were written; a program that did not measure writes none."""
        paths = [pathlib.Path(self.stagedir, name) for name in names]
        return [json.loads(p.read_text()) for p in paths if p.is_file()]

    def note_provenance(self, record: dict) -> None:
        """Every log line and report says what was measured, where, how."""
        build = self.binary.facts()
        self.compile_line = ' '.join(build['compile_line'])
        self.compiler = build['compiler']
        self.source_sha256 = build['source_sha256']
        self.binary_sha256 = build.get('binary_sha256') or sha256(self.binary.path)
        self.code_sha256 = code_sha256(self.binary.path)
        self.spack_hash = build.get('dag_hash') or ''
        self.built_with = build.get('built_with') or 'spack'
        self.commit = commit()
        self.run_environment = archive.environment(self.stagedir)
        self.node = record['host']
        self.threads = record['threads']
        self.threads_on = ' '.join(t['affinity'] for t in record['threads_on'])

    def further_facts(self) -> dict:
        """What is known of the program beyond its record, and kept with it."""
        return {}

    def keep(self, name: str, label: str) -> str:
        """Copies a record of the stage, which the next run empties, to results/records, and the
        job that wrote it to results/jobs; the path of the copy."""
        where = self.current_partition.fullname, self.current_environ.name
        path = archive.record_path(results(), *where, label)
        if path.exists():  # tiny runs, repeated, may end in the same second
            path = path.with_name(f'{path.stem}-{self.short_name}.json')
        lines = pathlib.Path(self.stagedir, name).read_text().splitlines()
        self.record = str(path)
        self.rewrite([{**json.loads(line), **self.further_facts()} for line in lines])
        if hasattr(self, 'binary'):  # what is not ours to build cannot be made again
            archive.keep_job(results(), path.stem, self.stagedir, self.job_facts(name))
        return self.record

    def rewrite(self, records: list[dict]) -> None:
        text = ''.join(json.dumps(record) + '\n' for record in records)
        path = pathlib.Path(self.record)
        part = path.with_name(f'.{path.name}.part')
        part.write_text(text)
        part.rename(path)

    def job_facts(self, record: str) -> dict[str, str]:
        """What `membw reproduce` needs to run the job again."""
        partition = self.current_partition
        return {
            'test': self.display_name,
            'system': self.current_system.name,
            'partition': partition.name,
            'environ': self.current_environ.name,
            'scheduler': partition.scheduler.registered_name,
            'script': pathlib.Path(self.job.script_filename).name,
            'record_in_stage': record,
            'binary': self.binary.path,
            'binary_sha256': self.binary_sha256,
        }

    # --- the test case, in each record of the file -----------------------------------------

    def keep_case(self, of_record: Callable[[dict], tuple[str, list[str]]]) -> None:
        """Writes `case` into each record of the file that `keep` made.

        Args:
            of_record: a function of a record's JSON object that gives its (verdict, reasons) as
                the check found them: ('VALID' or 'INVALID', ['reason (detail)', ...]).
        """
        if not self.record:
            return
        lines = pathlib.Path(self.record).read_text().splitlines()
        records = [json.loads(line) for line in lines]
        for record in records:
            verdict, reasons = of_record(record)
            record['case'] = {**self.case(), 'verdict': verdict, 'reasons': reasons}
        self.rewrite(records)

    def case(self) -> dict:
        """Which test case this is, its references and what it was built with; the same for
        all records of its file."""
        environ = self.current_environ
        return {
            'test': type(self).__name__,
            'system': self.current_system.name,
            'partition': self.current_partition.name,
            'environ': environ.name,
            'pinning': getattr(self, 'pinning', ''),
            'parameters': self.parameters(),
            'references': self.references(),
            'reference_expired': self.last_day(),
            'known_issues': self.known_issues_of(),
            **{name: getattr(self, name) for name in BUILD},
            'modules': [module['name'] for module in environ.modules_detailed],
            'run_environment': self.run_environment,
            'session': SESSION,
            'peak_source': self.current_partition.extras.get('peak_source', ''),
        }

    def parameters(self) -> str:
        """'%affinity=close ...': what tells the cases of a test apart, but the pinning."""
        words = re.split(r'\s(?=%)', self.display_name)[1:]
        apart = (
            word for word in words if not word.startswith(('%pinning=', '%round=', '%.', '%$'))
        )
        return ' '.join(apart)
