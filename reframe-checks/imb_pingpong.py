"""The founding program of the ping-pong, IMB-MPI1, between two cores or endpoints of a system."""

import pathlib
import re
import shlex
from typing import Any

import reframe as rfm
import reframe.core.runtime as runtime
from lib import imb_table
from lib.imb_table import INTER, class_of_pair
from lib.measurement import measurement
from lib.variables import refuse
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_after, run_before, sanity_function, variable
from reframe.core.systems import SystemPartition

from membw.results import archive, ledger
from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology

OUTPUT = 'imb.txt'
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
    partitions = runtime.runtime().system.partitions
    return list(dict.fromkeys(pair for part in partitions for pair in pairs_of(part)))


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

    # by -S: 'each' rank to its core, or as the 'source' prints it; the program, where it is
    # neither on the PATH nor Spack's; the source's repetitions
    binding = variable(str, value='each', loggable=True)
    imb = variable(str, value='')
    iterations = variable(int, value=100000)

    # what lies between the two endpoints
    pair_class = variable(str, value='', loggable=True)

    @run_after('init')
    def refuse_nonsense(self) -> None:
        if self.binding not in ('each', 'source'):
            refuse(self, f"binding={self.binding}: 'each' or 'source'")
        if self.iterations < 1:
            refuse(self, f'iterations={self.iterations}: 1 or more')

    @run_after('init')
    def count_nodes(self) -> None:
        self.between_nodes = self.pair.startswith(INTER)
        if self.between_nodes:
            self.tags = self.tags - {'1_node'}

    @run_after('setup')
    def refuse_what_is_not_there(self) -> None:
        self.skip_if(
            self.pair not in pairs_of(self.current_partition),
            f"'{self.pair}' is a pair of another partition",
        )
        self.skip_if(
            (self.current_partition.processor.num_cores or 2) < 2, 'one core, but a pair needs two'
        )
        self.skip_if(
            self.binding == 'source' and not re.fullmatch(r'\d+-\d+', self.pair),
            'the line of the source names two cores of one node',
        )
        self.pair_class = class_of_pair(self.pair, self.endpoints())
        self.need_tool('mpirun')
        self.need_tool('hwloc-bind')

    @run_after('setup')
    def start_mpirun_ourselves(self) -> None:
        self.job.launcher = getlauncher('local')()

    @run_before('run')
    def take_nodes(self) -> None:
        self.num_tasks, self.num_tasks_per_node = (2, 1) if self.between_nodes else (1, 1)
        self.num_cpus_per_task = self.current_partition.processor.num_cores or 2

    @run_before('run')
    def write_command(self) -> None:
        self.case.expected = {OUTPUT: ''}
        extras = self.current_partition.extras
        self.env_vars = {**extras.get('imb_environment', {})}
        lines = ' '.join(shlex.quote(line) for line in RANK_LINES)
        self.prerun_cmds += [
            f'rm -f rank.*; printf "%s\\n" {lines} >{RANK}',
            *self.find_program(),
            *self.find_nodes(),
            NOTE_ENVIRONMENT,
        ]
        self.executable = 'mpirun'
        self.executable_opts = [*self.ranks(), f'>{OUTPUT}']

    def find_program(self) -> list[str]:
        """$imb: by -S, else of the partition's file, else of the PATH, else Spack's."""
        spack = '$(spack location -i intel-mpi-benchmarks 2>/dev/null)/bin/IMB-MPI1'
        of_site = self.current_partition.extras.get('imb', 'IMB-MPI1')
        program = shlex.quote(self.imb or of_site)
        return [
            f'imb=$(command -v {program}) || imb={spack}',
            f'test -x "$imb" || {{ echo "lacks IMB-MPI1" >>{ledger.NAME}; exit 0; }}',
        ]

    def find_nodes(self) -> list[str]:
        """$here, $there: the nodes of the two ranks."""
        there = '$(scontrol show hostnames | sed -n 2p)' if self.between_nodes else '$here'
        return ['here=$(hostname)', f'there={there}']

    def ranks(self) -> list[str]:
        """What follows mpirun: the source's own line, or each rank with its place."""
        test = ['PingPong', '-iter', str(self.iterations)]
        if self.binding == 'source':
            one, other = self.pair.split('-')
            cores = [f'core:{one}', f'core:{other}']
            return ['-np', '2', 'hwloc-bind', *cores, 'sh', RANK, '"$imb"', *test]
        one, other = self.pair.removeprefix(INTER).split('-')
        # two ranks of one socket or card: its first core and its second
        second = int(one == other and not self.between_nodes)
        return [
            *self.rank(one, '$here', 0),
            *('sh', RANK, self.program(one), *test, ':'),
            *self.rank(other, '$there', second),
            *('sh', RANK, self.program(other), *test),
        ]

    def endpoints(self) -> dict[str, dict]:
        return self.current_partition.extras.get('endpoints', {})

    def endpoint(self, name: str) -> dict[str, Any]:
        """{'cores': [8, 9]}, or {'socket': 1, 'cores': [0, 1]} by their numbers within it;
        {'host': '{node}-mic0', 'cpus': [1, 5]} of a card."""
        known = self.endpoints()
        return known[name] if name in known else {'cores': [int(name)]}

    def program(self, name: str) -> str:
        return self.endpoint(name).get('program', '"$imb"')

    def rank(self, name: str, node: str, which: int) -> list[str]:
        place = self.endpoint(name)
        host = place.get('host', '{node}').replace('{node}', f'${{{node[1:]}}}')
        where = ['-host', f'"{host}"'] if self.endpoints() else []
        socket = f'socket:{place["socket"]}.' if 'socket' in place else ''
        core = f'{socket}core:{place["cores"][which]}' if 'cores' in place else ''
        bind = ['hwloc-bind', core] if core else []
        pin = ['taskset', '-c', str(place['cpus'][which])] if 'cpus' in place else []
        return ['-n', '1', *where, *bind, *pin]

    def on_one_host(self) -> bool:
        one, other = self.pair.removeprefix(INTER).split('-')
        return not self.between_nodes and (one == other or not self.endpoints())

    # --- after the run -------------------------------------------------------------------

    @run_before('sanity')
    def read_table(self) -> None:
        if self.is_dry_run():
            return
        path = pathlib.Path(self.stagedir, OUTPUT)
        self.text = path.read_text(errors='replace') if path.is_file() else ''
        self.table = imb_table.rows(self.text)
        is_whole = self.table and all(row.time_us > 0 for row in self.table)
        if is_whole:  # IMB writes a table, no record
            self.case.missing = [one for one in self.case.missing if one.died]
        self.keep(self.record_of_table() if is_whole else None, self.pair)

    def note_provenance(self, record: dict) -> None:
        self.run_environment = archive.environment(self.stagedir)

    def record_of_table(self) -> dict[str, Any]:
        """As our own programs write it, of IMB's table."""
        times = {f't_{row.bytes}': row.time_us for row in self.table}
        rows = {name: {'value': us, 'unit': 'us', 'better': 'lower'} for name, us in times.items()}
        rate = imb_table.bandwidth(self.table)
        rows['bandwidth'] = {'value': rate, 'unit': 'MB/s', 'better': 'higher'}
        empty = archive.empty_record('IMB-MPI1', self.case.node())
        return {**empty, 'metrics': rows, 'verdict': 'VALID'}

    def masks(self) -> list[str]:
        """CPUs that each rank could run on."""
        paths = sorted(pathlib.Path(self.stagedir).glob('rank.*'))
        return [path.read_text().strip() for path in paths]

    @sanity_function
    def is_valid(self) -> bool:
        """A whole table, and two ranks that were each bound to a core of its own."""
        if not self.text:
            return self.conclude([])
        reasons = [f'not-validated ({text})' for text in imb_table.problems(self.text)]
        reasons += [f'unstable ({text})' for text in imb_table.restless(self.table)]
        per_core = self.current_partition.processor.num_cpus_per_core or 1
        places = misplaced(self.masks(), per_core)
        places += shared(self.masks()) if self.on_one_host() else []
        return self.conclude(reasons + [f'wrong-pinning ({text})' for text in places])


def misplaced(masks: list[str], per_core: int) -> list[str]:
    """Ranks that were not each bound to one core, as text."""
    if len(masks) != 2:
        return [f'{len(masks)} of 2 ranks reported their CPUs']
    return [
        f'a rank may run on CPUs {mask}, more than one core'
        for mask in dict.fromkeys(masks)
        if len(topology.expand(mask)) > per_core
    ]


def shared(masks: list[str]) -> list[str]:
    """Ranks of one host that may run on the same CPU, as text."""
    if len(masks) != 2 or not set(topology.expand(masks[0])) & set(topology.expand(masks[1])):
        return []
    if masks[0] != masks[1]:
        return [f'the ranks may run on CPUs {masks[0]} and {masks[1]}, which overlap']
    return [
        f'both ranks are bound to both cores, CPUs {masks[0]}: neither is pinned; '
        'mpirun -n 1 hwloc-bind core:A ... : -n 1 hwloc-bind core:B ... binds each'
    ]
