"""Recorded machines (tests/data/topologies): sizes, pin lists and domains come out right there."""

import itertools
import math
import platform
import re
import types

import pytest
import topologies
from changed_source import write_files
from lib import pinnings
from reframe.utility import cpuinfo

from membw import presets
from membw.site import systems, topology
from membw.system import file

MIB, GIB = 1 << 20, topologies.GIB
machines = pytest.mark.parametrize('machine', topologies.NAMES, indirect=True)
with_domains = pytest.mark.parametrize(
    'machine', [n for n in topologies.NAMES if topologies.load(n).get('domains')], indirect=True
)


@pytest.fixture(scope='session')
def trees(tmp_path_factory):
    """Each machine's tree, written once: {name: folder}."""
    folder, found = tmp_path_factory.mktemp('topologies'), {}

    def of(machine):
        if machine.name not in found:
            found[machine.name] = machine.write(folder / machine.name)
        return found[machine.name]

    return of


@pytest.fixture
def machine(request):
    return topologies.Machine(request.param)


@pytest.fixture
def tree(trees, machine):
    return trees(machine)


def system(tree, folder):
    return tree / 'sys/devices/system' / folder


# --- the program -------------------------------------------------------------------------------


@machines
def test_caches_cores_sockets_and_the_size_of_arrays_of_the_whole_node(machine, tree, probe):
    """Four times the last level."""
    expect, found = machine.facts['expect'], probe(tree, machine.online)
    assert found['llc_bytes'] == expect['llc_mib'] * MIB
    assert found['memory_side_bytes'] == expect.get('side_mib', 0) * MIB
    assert (found['cores'], found['sockets']) == (expect['cores'], expect['sockets'])
    if expect.get('capped'):
        memory = sum(d['gib'] for d in machine.domains.values()) * GIB
        assert found['array_size'] == pytest.approx(memory * 0.8 / 3 / 8, rel=1e-6)
        assert 'as many as fit into the memory available' in found['note']
    elif expect.get('assumed'):
        starts = (
            'the sizes of the caches are unknown',
            'array size limited by the available memory',
        )
        assert found['note'].startswith(starts)
        assert found['array_size'] > 1_000_000, 'too few for the caches that most machines have'
    else:
        assert found['array_size'] == expect['array_size'] and not found['note']


@with_domains
def test_one_domain_takes_its_own_share_of_the_caches(machine, tree, probe):
    """A domain of two L3s asks for arrays for two, not for those of the node."""
    level = max(cache['level'] for cache in machine.caches)
    last = [c for c in machine.caches if c['level'] == level and c.get('type') != 'Instruction']
    for domain in machine.with_cpus().values():
        touched = [s for c in last for s in c['shared'] if set(s) & set(domain['cpus'])]
        found = probe(tree, domain['cpus'])
        assert found['llc_bytes'] == (level > 1) * len(touched) * last[0]['kib'] * 1024
        assert found['memory_side_bytes'] == domain.get('side_cache_bytes', 0) or (
            machine.name == 'knl-7210-cache'
        )


def test_memory_without_cpus_and_one_socket_of_two(trees, probe):
    """A policy names it; a socket counts its own HBM as a cache."""
    flat, side = (topologies.Machine(f'xeon-max-{mode}') for mode in ('flat', 'cache'))
    assert probe(trees(flat), flat.domains[0]['cpus'])['local_domains'] == '0'
    found = probe(trees(flat), flat.domains[0]['cpus'], [2])
    assert found['memory_on_domains'] == 64 * GIB
    found = probe(trees(side), side.domains[0]['cpus'])
    assert found['memory_side_bytes'] == 64 * GIB
    assert found['array_size'] == 4 * 64 * GIB // 8


# (machine, {domain: GiB}, what the job may use, domain of the CPUs) -> the domains of local memory
LOCAL = {
    'own': ('ulysses', {}, None, 1, '1'),
    'none: the other': ('ulysses', {1: 0}, None, 1, '0'),
    'not allowed': ('ulysses', {}, '0', 1, '0'),
    'none: the nearest': ('epyc-7763-nps4', {5: 0}, None, 5, '4,6-7'),
    'none, and nearest not allowed': ('epyc-7763-nps4', {5: 0}, '1-3,7', 5, '7'),
    'distance decides, not the number': ('power9-gpu-domains', {8: 0}, '0,253', 8, '0'),
}
# ... -> its memories
MEMORIES = {
    'a domain of 0 kB has none': ('grace-hopper', {1: 0}, (), 0, {'local': 0}),
    'none of its own': ('ulysses', {0: 0}, (), 0, {'local': 1}),
    'not allowed': ('ulysses', {}, (1,), 0, {'local': 1}),
    'the nearest, the farthest': ('epyc-7763-nps4', {5: 0}, (), 5, {'local': 4, 'remote': 0}),
    'of those allowed': ('epyc-7763-nps4', {}, (2, 4, 5), 5, {'local': 5, 'remote': 2}),
}


def resized(name, sizes, folder):
    """(machine, its tree) with other sizes of memory."""
    machine = topologies.Machine(name)
    for number, gib in sizes.items():
        machine.domains[number]['gib'] = gib
    return machine, machine.write(folder)


@pytest.mark.parametrize('name, sizes, allowed, home, local', LOCAL.values(), ids=LOCAL)
def test_local_memory_is_the_nearest_that_may_be_used(
    probe, tmp_path, name, sizes, allowed, home, local
):
    machine, tree = resized(name, sizes, tmp_path)
    if allowed:
        (tree / 'proc/self/status').write_text(f'Mems_allowed_list:\t{allowed}\n')
    assert probe(tree, machine.domains[home]['cpus'])['local_memory'] == local


@pytest.mark.parametrize('name, sizes, allowed, home, memories', MEMORIES.values(), ids=MEMORIES)
def test_the_memories_are_those_that_there_are_and_that_may_be_used(
    tmp_path, name, sizes, allowed, home, memories
):
    _, tree = resized(name, sizes, tmp_path)
    assert topology.memories_of(home, topology.numa(system(tree, 'node')), allowed) == memories


CGROUP = 'sys/fs/cgroup'
# what leaves 5 GiB of a machine of much more
FIVE_LEFT = {
    'v1': {
        'proc/self/cgroup': '9:memory:/job',
        f'{CGROUP}/memory/job/memory.limit_in_bytes': 6 * GIB,
        f'{CGROUP}/memory/job/memory.usage_in_bytes': GIB,
    },
    'v2': {
        'proc/self/cgroup': '0::/job/step',
        f'{CGROUP}/job/memory.max': 6 * GIB,
        f'{CGROUP}/job/memory.current': GIB,
        f'{CGROUP}/job/step/memory.max': 'max',
        f'{CGROUP}/job/step/memory.current': 0,
    },
    # what was read or written is dropped before anybody is killed
    'v2, files': {
        'proc/self/cgroup': '0::/job',
        f'{CGROUP}/job/memory.max': 6 * GIB,
        f'{CGROUP}/job/memory.current': 5 * GIB,
        f'{CGROUP}/job/memory.stat': f'anon {GIB}\nfile {4 * GIB}\ninactive_file {3 * GIB}\n'
        f'active_file {GIB}',
    },
    # it ended by "no address space", on a machine with memory enough
    **{f'overcommit_memory {mode}': {'proc/sys/vm/overcommit_memory': mode} for mode in range(3)},
}


@pytest.mark.parametrize('case', FIVE_LEFT)
def test_a_limit_of_memory_makes_the_arrays_smaller(probe, tmp_path, case):
    """Of a cgroup, of strict overcommit."""
    machine = topologies.Machine('epyc-9654-l3-as-numa')
    tree = write_files(machine.write(tmp_path), FIVE_LEFT[case])
    with open(tree / 'proc/meminfo', 'a') as file:
        committed = 3 * GIB - (64 << 20) >> 10
        file.write(f'CommitLimit: {8 * GIB >> 10} kB\nCommitted_AS: {committed} kB\n')
    found = probe(tree, machine.online)
    if case.endswith((' 0', ' 1')):
        assert found['array_size'] > 5 * GIB // 24
    else:
        assert found['array_size'] == 5 * GIB // 5 * 4 // 24
        assert 'as many as fit into the memory available' in found['note']


QUOTAS = {
    'none': ({'proc': '0::/job'}, math.inf),
    'v2, of the group above': ({'proc': '0::/job/step', 'job/cpu.max': '180000 100000'}, 1.8),
    'v2, no limit': ({'proc': '0::/job', 'job/cpu.max': 'max 100000'}, math.inf),
    'v1': ({'proc': '9:memory:/job\n4:cpu,cpuacct:/job', 'cpu/job/cpu.cfs_quota_us': '50000',
            'cpu/job/cpu.cfs_period_us': '100000'}, 0.5),
    'v1, no limit': ({'proc': '4:cpu:/', 'cpu/cpu.cfs_quota_us': '-1',
                      'cpu/cpu.cfs_period_us': '100000'}, math.inf),
}  # fmt: skip


@pytest.mark.parametrize('files, cpus', QUOTAS.values(), ids=QUOTAS)
def test_a_run_takes_as_many_cores_as_whole_cpus_of_the_quota(tmp_path, files, cpus):
    assert topology.quota(write_files(tmp_path, files), tmp_path / 'proc') == cpus


# --- pin lists ---------------------------------------------------------------------------------


def cores_of(tree, allowed):
    return topology.one_per_core(allowed, system(tree, 'cpu'))


@machines
def test_the_pin_lists_of_the_whole_node(machine, tree):
    cpus = cores_of(tree, machine.online)
    likwid, _ = pinnings.request('likwid', cpus)
    assert likwid == ['likwid-pin', '-q', '-c', f'N:0-{machine.facts["expect"]["cores"] - 1}']
    numactl, _ = pinnings.request('numactl', cpus)
    (listed,) = re.findall('--physcpubind=(.*)', ' '.join(numactl))
    assert topologies.expand(listed) == cpus
    assert pinnings.request('omp', cpus) == ([], {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'close'})


@machines
def test_a_sibling_used_twice_is_reported(machine, tree):
    """Both hardware threads of a core in place of two cores: likwid-pin's way to go wrong."""
    twins = next((c for c in machine.cores if len(c) > 1), None)
    if not twins:
        assert all(len(c) == 1 for c in machine.cores)
        return
    core_of = {cpu: min(c) for c in machine.cores for cpu in c}

    def on(cpus):
        return [
            {'thread': i, 'cpu': cpu, 'core': core_of[cpu], 'affinity': str(cpu)}
            for i, cpu in enumerate(cpus)
        ]

    first = machine.first_threads()
    assert [*pinnings.problems('likwid', on(first), first)] == []
    said = pinnings.problems('likwid', on(twins[:2]), twins[:2])
    assert [*said] == [f'threads 0 and 1 are on one core, cpus {topologies.listed(twins[:2])}']


def test_cpus_without_first_threads_or_without_domains(trees):
    """A machine that shows nothing is one domain of single CPUs; a mask that leaves out first
    threads takes their siblings."""
    bare, many = map(topologies.Machine, ('vm-nothing-readable', 'epyc-9654-l3-as-numa'))
    folders = (system(trees(bare), folder) for folder in ('node', 'cpu'))
    assert topology.local_domains(bare.online, *folders) == {0: [0, 1, 2, 3]}
    cpus = cores_of(trees(many), [cpu for cpu in many.online if cpu not in (0, 1, 2)])
    assert len(cpus) == 192 and {192, 193, 194} <= set(cpus) and not {0, 1, 2} & set(cpus)


@with_domains
def test_the_memories_of_a_scan(machine, tree):
    """Threads of the first domain; the far memory is a far one, HBM is found next to DDR."""
    home, expect = min(machine.with_cpus()), machine.facts['expect']
    wanted = {'local': home}
    wanted |= {name: expect[name] for name in ('remote', 'cpuless') if name in expect}
    assert topology.memories_of(home, topology.numa(system(tree, 'node'))) == wanted


# --- what other programs make of the same trees --------------------------------------------------


def views(tree, online, probe, monkeypatch):
    """{view: (cores, {domain: the first threads of its cores}, the memories of a scan)} of a tree:
    by the programs, by Python on the node, and by the file that `membw system add` writes of
    ReFrame's facts, read back."""
    cpus, nodes = system(tree, 'cpu'), system(tree, 'node')
    found = probe(tree, online)
    firsts = topology.one_per_core(online, cpus)
    listed = {int(n): {*topology.expand(text)} for n, text in found['domain_cpus'].items()}
    of_programs = topology.disjoint(listed)  # numa=fake
    here, numa = topology.local_domains(online, nodes, cpus), topology.numa(nodes)
    real, folder = cpuinfo.glob.glob, str(tree)
    with monkeypatch.context() as led:  # ReFrame's own detection, led to the tree
        led.setattr(cpuinfo.glob, 'glob', lambda p: real(folder + p.removeprefix(folder)))
        processor = topology.online(cpuinfo._sysfs_topo(), cpus)
    node = {
        'host': 'n1', 'model': 'x', 'features': [platform.machine()], 'left_out': [],
        'processor': processor, 'numa': numa, 'toolchains': {'gcc': {'cc': 'gcc', 'version': '1'}},
    }  # fmt: skip
    text = file.text('lyra', 'lyra1', '2026-11-22', [('cpu', node, 0, 'slurm', [])])
    (tree / 'lyra.yaml').write_text(text)
    data, problems = systems.load_file(tree / 'lyra.yaml', presets.load())
    assert problems == [], (problems, text)
    part = Partition(data['partitions'][0])
    memories = topology.memories_of(min(here), numa)
    return {
        'programs': (
            found['cores'], {n: sorted(c & {*firsts}) for n, c in of_programs.items()}, memories
        ),
        'Python': (len(firsts), here, memories),
        'file': (len(topology.cores(part)), topology.domains(part), topology.memories(part)),
    }  # fmt: skip


@with_domains
def test_programs_python_reframe_and_the_written_file_see_one_machine(
    machine, tree, probe, monkeypatch
):
    seen = views(tree, machine.online, probe, monkeypatch)
    domains = {n: machine.first_threads(d['cpus']) for n, d in machine.with_cpus().items()}
    assert len(domains[min(domains)]) == machine.facts['expect']['per_domain']
    # to the programs a CPU whose own domain is offline is of the lowest that there is
    elsewhere = {*machine.first_threads()} - {*itertools.chain(*domains.values())}
    of_programs = domains | {min(domains): sorted([*domains[min(domains)], *elsewhere])}
    for view, (count, found, memories) in seen.items():
        assert count == machine.facts['expect']['cores'], view
        assert found == (of_programs if view == 'programs' else domains), view
        assert memories == seen['Python'][2], view


class Partition:
    """A stand-in for ReFrame's partition on another host, with the facts of a system file."""

    def __init__(self, facts):
        counts = {'num_cpus_per_core': 1, 'topology': None, **facts['processor']}
        self.processor = types.SimpleNamespace(**counts)
        self.scheduler = types.SimpleNamespace(registered_name='slurm')
        self.extras = facts.get('extras') or {}


@pytest.mark.parametrize(
    'machine',
    ['ulysses', 'epyc-7763-nps4', 'epyc-9654-l3-as-numa', 'grace-superchip'],
    indirect=True,
)
def test_counts_alone_suffice_where_first_threads_come_first(machine):
    """The usual numbering: no system file needs masks for it."""
    part = Partition({
        'processor': {
            'num_cpus': len(machine.online), 'num_cpus_per_core': len(machine.cores[0]),
        },
        'extras': {'numa_domains': len(machine.with_cpus())},
    })  # fmt: skip
    assert topology.cores(part) == machine.first_threads()
    found = list(topology.domains(part).values())
    assert found == [machine.first_threads(d['cpus']) for d in machine.with_cpus().values()]
    assert topology.memories(part) == {'local': 0}, 'nothing says which memory is remote'
