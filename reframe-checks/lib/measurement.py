"""What every run of the STREAM binary shares: its needs, its provenance, its verdict."""

import json
import pathlib
import re
import time

import reframe as rfm
from reframe.core.builtins import run_after, run_before, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from lib import prerequisites
from lib.binaries import built, results
from membw.build.presets import sha256
from membw.build.sources import commit
from membw.codegen import stored
from membw.results import archive


def invalid_reasons(record):
    """What the program itself found, as 'reason (detail)'."""
    if record['verdict'] == 'VALID':
        return []
    found = [r for r in record['reasons'] if not r['allowed']]
    return [f'{r["reason"]} ({r["detail"]})' for r in found] or ['the program gives no reason']


class measurement(rfm.RunOnlyRegressionTest):
    """STREAM on a node of its own: options in, JSON record out."""

    binary = built('stream')
    valid_systems = ['*']
    valid_prog_environs = ['+stream']

    # asked by -S or by the partition; 0 and '' leave it to the program. After the run: what was
    array_size = variable(int, value=0, loggable=True)
    ntimes = variable(int, value=0, loggable=True)
    allow = variable(str, value='', loggable=True)

    verdict = variable(str, value='', loggable=True)
    reasons = variable(str, value='', loggable=True)
    compile_line = variable(str, value='', loggable=True)
    compiler = variable(str, value='', loggable=True)
    source_sha256 = variable(str, value='', loggable=True)
    binary_sha256 = variable(str, value='', loggable=True)
    spack_hash = variable(str, value='', loggable=True)
    built_with = variable(str, value='', loggable=True)
    stores = variable(str, value='', loggable=True)
    commit = variable(str, value='', loggable=True)
    run_environment = variable(str, value='', loggable=True)
    node = variable(str, value='', loggable=True)
    kernel_release = variable(str, value='', loggable=True)
    thp = variable(str, value='', loggable=True)
    numa_balancing = variable(str, value='', loggable=True)
    threads = variable(int, value=0, loggable=True)
    threads_on = variable(str, value='', loggable=True)
    record = variable(str, value='', loggable=True)
    peak_gbs = variable(float, value=0.0, loggable=True)
    peak_source = variable(str, value='', loggable=True)

    # --- before the run ------------------------------------------------------------------

    @run_after('setup')
    def need_node(self):
        if not self.is_dry_run():
            reason = prerequisites.no_scheduler(self.current_partition)
            self.skip_if(reason, reason)

    def need_tool(self, tool):
        """Here the tool is looked for at once; on a node the job looks, and says so."""
        if not tool:
            return
        if not self.is_dry_run():
            reason = prerequisites.no_tool(self.current_partition, tool)
            self.skip_if(reason, reason)
        self.prerun_cmds += [
            f"command -v {tool} >/dev/null || {{ echo 'membw-missing {tool}'; exit 0; }}"
        ]

    def program_options(self, record):
        """Command-line options of one run of the program."""
        extras = self.current_partition.extras
        size = self.array_size or extras.get('array_size')
        times = self.ntimes or extras.get('ntimes')
        options = ['-n', str(size)] if size else []
        options += ['-t', str(times)] if times else []
        options += ['--allow', self.allow] if self.allow else []
        # a figure above the peak makes the program's own verdict INVALID
        options += ['--peak', str(extras['peak_gbs'])] if 'peak_gbs' in extras else []
        return [*options, '--json', record]

    def take_cores(self, cpus):
        """The whole node for one task, one thread a core."""
        self.num_tasks = self.num_tasks_per_node = 1
        self.num_cpus_per_task = len(cpus)
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = 'mic' in self.current_partition.features

    # --- after the run -------------------------------------------------------------------

    def output(self):
        """Hooks run outside the stage directory, so the whole path."""
        return pathlib.Path(self.stagedir, str(self.job.stdout)).read_text(errors='replace')

    @run_before('sanity')
    def skip_what_the_node_lacks(self):
        if self.is_dry_run():
            return
        lacks = re.search(r'^membw-missing (\S+)', self.output(), re.M)
        if lacks:
            name = self.current_partition.fullname
            self.skip(f"'{lacks[1]}' not found on the node of {name}")

    def read_records(self, names):
        """The records that were written; a program that did not measure writes none."""
        paths = [pathlib.Path(self.stagedir, name) for name in names]
        return [json.loads(p.read_text()) for p in paths if p.is_file()]

    def note_provenance(self, record):
        """Every log line, report and database row says what was measured, where, how."""
        build, facts = self.binary.facts(), record['facts']
        self.compile_line = ' '.join(build['compile_line'])
        self.compiler = build['compiler']
        self.source_sha256 = build['source_sha256']
        self.binary_sha256 = build.get('binary_sha256') or sha256(self.binary.path)
        self.spack_hash = build.get('dag_hash') or ''
        self.built_with = build.get('built_with') or 'spack'
        self.note_codegen()
        self.commit = commit()
        self.run_environment = archive.environment(self.stagedir)
        self.node = record['host']
        self.kernel_release = str(facts.get('kernel'))
        self.thp = str(facts.get('thp'))
        self.numa_balancing = str(facts.get('numa_balancing'))
        self.array_size, self.ntimes = record['array_size'], record['ntimes']
        self.threads = record['threads']
        self.note_peak(record)
        self.threads_on = ' '.join(t['affinity'] for t in record['threads_on'])

    def note_codegen(self):
        """Why two compilers differ: memcpy or a loop, how wide, past the caches or not."""
        self.codegen, why = stored.read(self.binary.path, results())
        self.stores = stored.brief(self.codegen) if self.codegen else ''
        self.say(f'stores: {self.stores or why}')

    def note_peak(self, record):
        """0 where no peak is known; the system file's source says more than `option`."""
        self.peak_gbs = float(record['peak_gbs'] or 0)
        self.peak_source = record['peak_note']
        if record['peak_source'] == 'option':
            self.peak_source = self.current_partition.extras['peak_source']

    def keep(self, name, label):
        """A record of the stage, which the next run empties, to results/records, with what the
        compiler made of the kernels; the job that wrote it to results/jobs.
        """
        folder = results() / 'records'
        folder.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime('%Y%m%dT%H%M%S', time.gmtime())
        part = self.current_partition.fullname.replace(':', '-')
        path = folder / f'{stamp}-{part}-{self.current_environ.name}-{label}.json'
        if path.exists():  # tiny runs, repeated, may end in the same second
            path = path.with_name(f'{path.stem}-{self.short_name}.json')
        lines = pathlib.Path(self.stagedir, name).read_text().splitlines()
        records = [{**json.loads(line), 'codegen': self.codegen} for line in lines]
        path.write_text(''.join(json.dumps(record) + '\n' for record in records))
        archive.keep_job(results(), path.stem, self.stagedir, self.job_facts(name))
        return str(path)

    def job_facts(self, record):
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

    def not_measured(self):
        """The program's own last words, where it wrote no record."""
        path = pathlib.Path(self.stagedir, str(self.job.stderr))
        lines = [ln.strip() for ln in path.read_text(errors='replace').splitlines() if ln.strip()]
        # ours first; else what a tool said first: its usage and srun's line come after
        ours = [ln for ln in lines if ln.startswith('membw:')]
        said = [*ours, *(ln for ln in lines if not ln.startswith('srun:')), *lines, 'nothing'][0]
        raise SanityError(f'not measured, no record: {said}')

    def conclude(self, problems):
        """VALID, or a failure that begins with INVALID: such a figure is never believed."""
        self.verdict = 'INVALID' if problems else 'VALID'
        self.reasons = '; '.join(problems)
        if problems:
            raise SanityError(f'INVALID: {self.reasons}')
        return True

    def say(self, text):
        getlogger().info(
            f'{self.display_name} @{self.current_partition.fullname}'
            f'+{self.current_environ.name}: {text}'
        )
