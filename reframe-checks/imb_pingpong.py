"""The founding program of the ping-pong, IMB-MPI1, between two cores or endpoints of a system."""

import pathlib
import re
import shlex
from collections.abc import Iterator
from typing import Any

import reframe as rfm
from lib import imb_table
from lib.batch_job import refuse
from lib.cards import PARTITIONS
from lib.logged import logged_text
from lib.measurement import measurement
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_after, run_before, variable
from reframe.core.systems import SystemPartition

from membw.files import text_if_any
from membw.results import archive, ledger
from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology

OUTPUT = 'imb.txt'
INTER = 'inter:'  # of a pair of two nodes
# what each rank does before it becomes IMB: notes the CPUs that it may run on
RANK = 'on_cpus.sh'
RANK_LINES = [
    'sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status >rank.$(hostname).$$',
    'exec "$@"',
]


def pairs_of(partition: SystemPartition) -> list[str]:
    """Pairs of this partition's ping-pongs: '0-13', 'mic0-cpu1', 'inter:cpu0-cpu1'."""
    return partition.extras.get('imb_pairs', ['0-1'])


def pairs_here() -> list[str]:
    return list(dict.fromkeys(pair for part in PARTITIONS for pair in pairs_of(part)))


@rfm.simple_test
class imb_pingpong(measurement):
    """Time one way of messages of 0 B to 4 MiB, by Intel's MPI benchmarks.

    `-S binding=source`: the line of the source as printed, which binds both ranks to both cores.
    """

    descr = 'IMB-MPI1 PingPong between two cores, cards or nodes'
    valid_prog_environs = ['+scan']
    keep_files = [OUTPUT]
    # Intel's mpirun waits for ever for a rank that died; IMB takes at most 10 s per size
    time_limit = '20m'

    pair = parameter(pairs_here(), loggable=True)

    # by -S: 'each' rank to its core, or as the 'source' prints it; the source's repetitions
    binding = logged_text(value='each')
    iterations = variable(int, value=100000)

    @run_after('init')
    def choose_place(self) -> None:
        if self.binding not in ('each', 'source'):
            refuse(self, f"binding={self.binding}: 'each' or 'source'")
        self.between_nodes = self.pair.startswith(INTER)
        self.ends = self.pair.removeprefix(INTER).split('-')
        if self.between_nodes:
            self.tags = self.tags - {'1_node'}

    @run_after('setup')
    def refuse_what_is_not_there(self) -> None:
        part = self.current_partition
        is_elsewhere = self.pair not in pairs_of(part)
        self.skip_if(is_elsewhere, f"'{self.pair}' is a pair of another partition")
        self.skip_if((part.processor.num_cores or 2) < 2, 'one core, but a pair needs two')
        is_other = self.binding == 'source' and not re.fullmatch(r'\d+-\d+', self.pair)
        self.skip_if(is_other, 'the line of the source names two cores of one node')
        self.need_tool('mpirun')
        self.need_tool('hwloc-bind')
        self.job.launcher = getlauncher('local')()  # mpirun is ours

    @run_before('run')
    def set_command(self) -> None:
        self.num_tasks, self.num_tasks_per_node = (2, 1) if self.between_nodes else (1, 1)
        self.num_cpus_per_task = self.current_partition.processor.num_cores or 2
        self.expected = {OUTPUT: ''}
        extras = self.current_partition.extras
        self.env_vars = {**extras.get('imb_environment', {})}
        lines = shlex.join(RANK_LINES)
        # $imb: of the partition's file, else of the PATH, else Spack's
        program = shlex.quote(extras.get('imb', 'IMB-MPI1'))
        # alone in its line: what a wrapper prints is no name
        names = 'scontrol show hostnames | grep -x "[[:alnum:]_.-]*"'
        spack = '$(spack location -i intel-mpi-benchmarks 2>/dev/null)/bin/IMB-MPI1'
        there = f'$({names} | sed -n 2p)' if self.between_nodes else '$here'
        self.prerun_cmds += [
            f'rm -f rank.*; printf "%s\\n" {lines} >{RANK}',
            f'imb=$(command -v {program}) || imb={spack}',
            f'test -x "$imb" || {{ echo "lacks IMB-MPI1" >>{ledger.NAME}; exit 0; }}',
            f'here={ledger.NODE}; there={there}',
            NOTE_ENVIRONMENT,
        ]
        self.executable = 'mpirun'
        self.executable_opts = [*self.ranks(), f'>{OUTPUT}']

    def ranks(self) -> list[str]:
        """What follows mpirun: the source's own line, or each rank with its place."""
        test = ['PingPong', '-iter', str(self.iterations)]
        if self.binding == 'source':
            cores = [f'core:{end}' for end in self.ends]
            return ['-np', '2', 'hwloc-bind', *cores, 'sh', RANK, '"$imb"', *test]
        one, other = self.ends
        # two ranks of one socket or card: its first core and its second
        second = int(one == other and not self.between_nodes)
        first = self.rank(one, '$here', 0, test)
        return [*first, ':', *self.rank(other, '$there', second, test)]

    def endpoints(self) -> dict[str, dict]:
        return self.current_partition.extras.get('endpoints', {})

    def rank(self, name: str, node: str, which: int, test: list[str]) -> list[str]:
        """An endpoint is {'cores': [8, 9]}, or {'socket': 1, 'cores': [0, 1]} by their numbers
        within it; {'host': '{node}-mic0', 'cpus': [1, 5]} of a card; else a core's number."""
        place: dict[str, Any] = self.endpoints().get(name) or {'cores': [name]}
        host = place.get('host', '{node}').replace('{node}', f'${{{node[1:]}}}')
        where = ['-host', f'"{host}"'] if self.endpoints() else []
        socket = f'socket:{place["socket"]}.' if 'socket' in place else ''
        core = f'{socket}core:{place["cores"][which]}' if 'cores' in place else ''
        bind = ['hwloc-bind', core] if core else []
        pin = ['taskset', '-c', str(place['cpus'][which])] if 'cpus' in place else []
        program = place.get('program', '"$imb"')
        return ['-n', '1', *where, *bind, *pin, 'sh', RANK, program, *test]

    # --- after the run -------------------------------------------------------------------

    def read_run(self) -> None:
        self.text = text_if_any(pathlib.Path(self.stagedir, OUTPUT))
        self.table = imb_table.rows(self.text)
        is_whole = self.table and all(row.time_us > 0 for row in self.table)
        if is_whole:  # IMB writes a table, no record
            self.missing = [one for one in self.missing if one.died]
        self.keep(self.record_of_table() if is_whole else None, self.pair)

    def record_of_table(self) -> dict[str, Any]:
        """As our own programs write it, of IMB's table."""
        rows = {
            f't_{row.bytes}': {'value': row.time_us, 'unit': 'us', 'better': 'lower',
                               'series': 't', 'at': {'bytes': row.bytes}}
            for row in self.table
        }  # fmt: skip
        rate = max(row.bytes / row.time_us for row in self.table)
        rows['bandwidth'] = {'value': rate, 'unit': 'MB/s', 'better': 'higher'}
        empty = archive.empty_record('IMB-MPI1', self.node_of())
        return {**empty, 'metrics': rows, 'verdict': 'VALID'}

    def problems(self) -> Iterator[str]:
        """No whole table, ranks that were not each bound to a core of its own."""
        if not self.text:
            return
        yield from (f'not-validated ({text})' for text in imb_table.problems(self.text))
        yield from (f'unstable ({text})' for text in imb_table.restless(self.table))
        # CPUs that each rank could run on
        paths = sorted(pathlib.Path(self.stagedir).glob('rank.*'))
        masks = [path.read_text().strip() for path in paths]
        of_one_host = not self.between_nodes and (len({*self.ends}) == 1 or not self.endpoints())
        per_core = self.current_partition.processor.num_cpus_per_core or 1
        places = misplaced(masks, per_core, of_one_host)
        yield from (f'wrong-pinning ({text})' for text in places)


def misplaced(masks: list[str], per_core: int, of_one_host: bool) -> Iterator[str]:
    """Ranks that were not each bound to a core of its own, as text."""
    if len(masks) != 2:
        yield f'{len(masks)} of 2 ranks reported their CPUs'
        return
    one, other = cpus = [set(topology.expand(mask)) for mask in masks]
    if of_one_host and one == other:
        yield (
            f'both ranks are bound to both cores, CPUs {masks[0]}: neither is pinned; '
            'mpirun -n 1 hwloc-bind core:A ... : -n 1 hwloc-bind core:B ... binds each'
        )
    elif of_one_host and one & other:
        yield f'the ranks may run on CPUs {masks[0]} and {masks[1]}, which overlap'
    wide = (m for m, own in zip(masks, cpus, strict=True) if len(own) > per_core)
    for mask in dict.fromkeys(wide):
        yield f'a rank may run on CPUs {mask}, more than one core'
