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
from reframe.core.builtins import run_before, sanity_function

from membw.printable import plural
from membw.results import ledger
from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology
from membw.site.topology import expand

SATURATED = 0.95  # of the best point; a convention of this project


def saturation(points: list[tuple[int, float]]) -> tuple[int, float]:
    """The fewest threads that reach 95 % of the best: [(threads, GB/s)] -> (threads, GB/s)."""
    best = max(gbs for _, gbs in points)
    return min((threads, gbs) for threads, gbs in points if gbs >= SATURATED * best)


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
        size = len(cores)
        self.points = [(name, count) for name in self.memories for count in range(1, size + 1)]
        self.take_cores(topology.cores(self.current_partition))
        if 'remote' not in self.memories and not self.is_dry_run():
            self.say('no remote memory is known: one NUMA domain, or a system file without `numa`')
        if self.memories['local'] != self.home:
            self.say(f'domain {self.home} has no memory: local is {self.memories["local"]}')
        program = self.program_there()
        # one script under one launcher: every point runs in the same way
        lines = [pinnings.unset_other_variables({}), NOTE_ENVIRONMENT]
        lines += [self.line(program, *point) for point in self.points]
        self.case.expected = {self.file(*point): self.what(*point) for point in self.points}
        pathlib.Path(self.stagedir, 'scan.sh').write_text('\n'.join(lines) + '\n')
        self.executable, self.executable_opts = 'bash', ['scan.sh']

    def line(self, program: str, memory: str, count: int) -> str:
        words = [
            'numactl',
            '--cpunodebind',
            str(self.home),
            '--membind',
            str(self.memories[memory]),
            program,
            *self.program_options(self.file(memory, count)),
        ]
        file = self.file(memory, count)
        line = f'OMP_NUM_THREADS={count} {shlex.join(words)} 2>{file}.err'
        return f'{line}\n{ledger.ended(file)}; cat {file}.err >&2'

    @staticmethod
    def file(memory: str, count: int) -> str:
        return f'scan-{memory}-{count}.json'

    @staticmethod
    def what(memory: str, count: int) -> str:
        return f'{memory} memory, {plural(count, "thread")}'

    @run_before('sanity')
    def read_scan(self) -> None:
        if self.is_dry_run():
            return
        arrived = ((point, self.case.arrived.get(self.file(*point))) for point in self.points)
        self.measured = {point: record for point, record in arrived if record}
        self.keep(self.one_record() if self.measured else None)
        if self.measured:
            self.report_curves()

    def one_record(self) -> dict[str, Any]:
        """The last point's, with the Triad of every point as a metric of its own."""
        record = dict(list(self.measured.values())[-1])
        record.pop('kernels', None)
        record['metrics'] = {
            f'triad_{name}_{count}': point['metrics']['triad']
            for (name, count), point in self.measured.items()
            if 'triad' in point['metrics']
        }
        bad = [point for point in self.measured.values() if point['verdict'] != 'VALID']
        bad.sort(key=lambda point: point['verdict'] != 'INVALID')
        if bad:
            record |= {key: bad[0][key] for key in ('verdict', 'reasons')}
        return record

    @sanity_function
    def is_valid(self) -> bool:
        """Every point measured, valid, on the CPUs of the domain, and below the peak."""
        problems = []
        for point, record in self.measured.items():
            where = self.what(*point)
            # the reason stays in front, by which a case of mere noise is known
            problems += [
                text.replace('(', f'({where}: ', 1) for text in self.problems(point[1], record)
            ]
        return self.conclude(problems)

    def problems(self, count: int, record: dict) -> Iterator[str]:
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

    def curves(self) -> dict[str, list[tuple[int, float]]]:
        """{'local': [(threads, GB/s)], 'remote': ...}"""
        curves = {name: [] for name in self.memories}
        for (name, count), record in self.measured.items():
            curves[name].append((count, round(record['metrics']['triad']['value'], 3)))
        return curves

    def of_memory(self, memory: str) -> list[dict]:
        return [record for (name, _), record in self.measured.items() if name == memory]

    def report_curves(self) -> None:
        """Where each memory saturates: not known where points are missing, or bounds."""
        for name, points in self.curves().items():
            if len(points) < sum(memory == name for memory, _ in self.points):
                continue
            if any(of['metrics']['triad'].get('bound') for of in self.of_memory(name)):
                continue
            threads, gbs = saturation(points)
            self.note_figure(f'saturation_{name}', threads, 'threads')
            self.say(f'memory {name} saturates at {threads} thread(s), {gbs} GB/s')
