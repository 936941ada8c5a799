"""Triad against the number of threads, memory near and far: where a domain saturates."""

import pathlib
import shlex
from collections.abc import Iterator
from typing import Any

import reframe as rfm
from lib import pinnings
from lib.binaries import built
from lib.measurement import invalid_reasons, measurement
from lib.stream_options import stream_options
from reframe.core.builtins import run_before

from membw.printable import plural
from membw.results import ledger
from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology
from membw.site.topology import expand

SATURATED = 0.95  # of the best point; a convention of this project


@rfm.simple_test
class numa_scan(stream_options, measurement):
    """Triad with 1..cores threads of the first NUMA domain, memory bound to it, to the farthest
    domain, and to the nearest that has no CPUs (HBM in addition to DDR), if there are any."""

    descr = 'Triad of one NUMA domain, threads 1..cores, memory local, remote, without CPUs'
    valid_systems = ['-mic']
    binary = built('stream')
    # of each point: a scan of a large domain has dozens
    max_seconds = 5.0
    # one environment of the partition; all of them by -S numa_scan.valid_prog_environs=+preset
    valid_prog_environs = ['+scan']
    pinning = 'numactl'

    @run_before('run')
    def scan(self) -> None:
        """As in the published scans: OMP_NUM_THREADS=i numactl --cpunodebind 0 --membind 0|1."""
        self.need_tool('numactl')
        self.memories = topology.memories(self.current_partition)
        self.home, cores = next(iter(topology.domains(self.current_partition).items()))
        counts = range(1, len(cores) + 1)
        self.points = [(name, count) for name in self.memories for count in counts]
        self.take_cores(topology.cores(self.current_partition))
        if 'remote' not in self.memories and not self.is_dry_run():
            self.say('no remote memory is known: one NUMA domain, or a system file without `numa`')
        if self.memories['local'] != self.home:
            self.say(f'domain {self.home} has no memory: local is {self.memories["local"]}')
        program = self.program_there()
        # one script under one launcher: every point runs in the same way
        lines = [pinnings.unset_other_variables({}), NOTE_ENVIRONMENT]
        lines += [self.line(program, *point) for point in self.points]
        self.expected = {file(*point): what(*point) for point in self.points}
        pathlib.Path(self.stagedir, 'scan.sh').write_text('\n'.join(lines) + '\n')
        self.executable, self.executable_opts = 'bash', ['scan.sh']

    def line(self, program: str, memory: str, count: int) -> str:
        name = file(memory, count)
        where = f'--cpunodebind {self.home} --membind {self.memories[memory]}'
        command = shlex.join([program, *self.program_options(name)])
        line = f'OMP_NUM_THREADS={count} numactl {where} {command} 2>{name}.err'
        return f'{line}\n{ledger.ended(name)}; cat {name}.err >&2'

    def read_run(self) -> None:
        records = ((point, self.arrived.get(file(*point))) for point in self.points)
        self.measured = {point: record for point, record in records if record}
        self.keep(self.one_record() if self.measured else None)
        self.report_saturation()

    def one_record(self) -> dict[str, Any]:
        """The last point's, with the Triad of every point as a metric of its own."""
        record = dict(list(self.measured.values())[-1])
        record.pop('kernels', None)
        record['metrics'] = {
            f'triad_{name}_{count}': point['metrics']['triad']
            | {'series': f'triad_{name}', 'at': {'threads': count}}
            for (name, count), point in self.measured.items()
            if 'triad' in point['metrics']
        }
        bad = [point for point in self.measured.values() if point['verdict'] != 'VALID']
        bad.sort(key=lambda point: point['verdict'] != 'INVALID')
        if bad:
            record |= {key: bad[0][key] for key in ('verdict', 'reasons')}
        return record

    def problems(self) -> Iterator[str]:
        """Of each point, the reason in front, by which a case of mere noise is known."""
        for point, record in self.measured.items():
            for text in self.problems_of(point[1], record):
                yield text.replace('(', f'({what(*point)}: ', 1)

    def problems_of(self, count: int, record: dict) -> Iterator[str]:
        """Not valid, above the peak, threads not on the CPUs of the domain."""
        yield from invalid_reasons(record)
        threads = record['threads_on']
        if len(threads) != count:
            yield f'wrong-pinning ({len(threads)} threads ran, requested were {count})'
        if topology.is_local(self.current_partition):
            home = set(topology.domain_cpus(self.home))
            for thread in threads:
                if not set(expand(thread['affinity'])) <= home:
                    where = f'thread {thread["thread"]} outside domain {self.home}'
                    yield f'wrong-pinning ({where})'

    def report_saturation(self) -> None:
        """The fewest threads of each memory that reach 95 % of the best; not known where points
        are missing, or bounds."""
        for memory in self.memories:
            points = {
                count: self.measured.get((memory, count), {}).get('metrics', {}).get('triad')
                for name, count in self.points
                if name == memory
            }
            if not all(point and not point.get('bound') for point in points.values()):
                continue
            rates = {count: point['value'] for count, point in points.items()}
            enough = SATURATED * max(rates.values())
            threads = next(count for count, gbs in rates.items() if gbs >= enough)
            self.note_figure(f'saturation_{memory}', threads, 'threads')
            self.say(
                f'memory {memory} saturates at {threads} thread(s), {rates[threads]:.3f} GB/s'
            )


def file(memory: str, count: int) -> str:
    return f'scan-{memory}-{count}.json'


def what(memory: str, count: int) -> str:
    return f'{memory} memory, {plural(count, "thread")}'
