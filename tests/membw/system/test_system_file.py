"""What `membw system add` makes of the words of Slurm, of modules and of nodes."""

import json
import os
import pathlib
import tempfile
import types

import pytest
import topologies
import yaml

from membw import presets
from membw.errors import MembwError
from membw.site import systems, topology
from membw.system import compiler_modules, file, node, slurm


def test_a_limit_of_slurm_in_minutes():
    """As sinfo(1) prints limits."""
    texts = 'infinite n/a 0:30 30:00 2:00:00 1-02:00:00'.split()
    assert [*map(slurm.minutes, texts)] == [0, 0, 1, 30, 120, 1560]


# of real sites
TRIED = """gcc/12.2.0 GCCcore/13.1 gcc-native/13.2 compiler/intel/2024.1 llvm PrgEnv-cray/8.5.0
PrgEnv-gnu/8.5.0 PrgEnv-nvidia/8.5.0 PrgEnv-aocc/8.5.0 PrgEnv-intel/8.5.0 cce/17.0.1 nvhpc/24.5
NVHPC/24.9-CUDA-12.6.0 nvidia-hpc-sdk/24.1 acfl/24.04 arm22/22.1 arm/forge/23 AOCC/4.2.0
intel-oneapi-compilers/2024.1 tools/oneapi/2024 lang/tcsds-1.2.39 fujitsu/4.10 FJSVxtclanga/1.1"""
OLDER = ['gcc/9.4.0', 'compiler/intel/2023.2']
NONE = ['hdf5/1.14', 'python/3.11', 'cray-mpich/8.1.28', 'Erlang/26']


def test_of_each_module_that_may_hold_a_compiler_of_a_family_the_newest_is_tried():
    every = [*TRIED.split(), *OLDER, *NONE]
    names = compiler_modules.may_hold_compiler(every, presets.load())
    found = compiler_modules.newest(names)
    assert set(found) == {*TRIED.split()} and {*names} - {*found} == {*OLDER}


@pytest.mark.parametrize('said, name', [
    ("echo 'Vendor ID:  ARM'; echo '  Model name:   Neoverse-V2'", 'Neoverse-V2'),
    ("echo 'Model name:    Some  CPU @ 3 GHz'", 'Some CPU @ 3 GHz'),
    ("echo 'Architecture: riscv64'", os.uname().machine),
])  # fmt: skip
def test_the_cpu_has_the_name_that_lscpu_gives_it(tmp_path, monkeypatch, said, name):
    (tmp_path / 'lscpu').write_text(f'#!/bin/sh\n{said}\n')
    (tmp_path / 'lscpu').chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=os.pathsep)
    assert node.model() == name
    (tmp_path / 'lscpu').unlink()
    monkeypatch.setenv('PATH', str(tmp_path))
    assert node.model() == os.uname().machine


def node_of(machine):
    """Facts of a node as membw.system.node has them, of a recorded machine."""

    def masks(sets):
        return [hex(sum(1 << cpu for cpu in cpus)) for cpus in sets]

    processor = {
        'num_cpus': len(machine.online), 'num_cpus_per_core': len(machine.cores[0]),
        'num_cpus_per_socket': len(machine.online) // len(machine.sockets),
        'num_sockets': len(machine.sockets),
        'topology': {'cores': masks(machine.cores), 'sockets': masks(machine.sockets),
                     'numa_nodes': masks(d['cpus'] for d in machine.domains.values())},
    }  # fmt: skip
    toolchains = {
        'gcc': {'cc': 'gcc', 'version': '12.2.0', 'modules': [], 'mpicc': 'mpicc'},
        'icx24': {'family': 'icx', 'cc': 'icx', 'version': '24.1', 'modules': ['intel/24']},
    }
    return {
        'host': 'c001', 'model': 'A CPU: of 2 GHz', 'features': ['avx2', 'x86_64'],
        'processor': processor, 'numa': numa_of(machine), 'left_out': ['gcc/9.4', 'gcc/11.3'],
        'toolchains': toolchains,
    }  # fmt: skip


def numa_of(machine):
    """As the node itself reads it, off the recorded tree."""
    with tempfile.TemporaryDirectory() as folder:
        machine.write(pathlib.Path(folder))
        return topology.numa(pathlib.Path(folder, 'sys/devices/system/node'))


def loaded(tmp_path, name, minutes=0):
    """The file of that machine, written and read as every other."""
    facts = ('cpu', node_of(topologies.Machine(name)), minutes, 'slurm', ['-A me'])
    text = file.text('lyra', 'lyra-login2', '2026-11-22', [facts])
    path = tmp_path / 'lyra.yaml'
    path.write_text(text)
    data, problems = systems.load_file(path, presets.load())
    assert problems == []
    assert data == yaml.safe_load(text)
    return data['partitions'][0], text


def test_a_node_that_counts_its_cpus_as_most_do_needs_no_masks(tmp_path):
    partition, text = loaded(tmp_path, 'epyc-7763-nps4', minutes=20)
    assert set(partition['processor']) == set(file.COUNTS)
    assert partition['extras']['numa_domains'] == 8 and partition['time_limit'] == '20m'
    assert partition['access'] == ['-p cpu', '-A me']
    assert 'memory' not in partition['extras'] and '# memory: {channels' in text
    assert partition['toolchains']['icx24']['modules'] == ['intel/24']
    assert r'hostnames: [lyra-login\d+]' in text
    older = 'not tried, as a newer version is there, or it did not load'
    assert f'# {older}: gcc/9.4, gcc/11.3' in text


@pytest.mark.parametrize('name', ['power9-gpu-domains', 'haswell-offline-cpu0'])
def test_one_that_counts_otherwise_has_its_masks_numbers_distances_and_memory(tmp_path, name):
    """A scheduler's numa_scan counted from 0: POWER9 has 0 and 8, and GPUs from 250 on."""
    partition, _ = loaded(tmp_path, name)
    assert partition['processor']['topology']['cores']
    if name == 'power9-gpu-domains':
        numa = partition['extras']['numa']
        assert [domain['domain'] for domain in numa] == [0, 8, *range(250, 256)]
        distances = [40, 10, 80, 80, 80, 80, 80, 80]
        assert [*numa[1].values()] == [8, '88-103', 127.7, distances]
        assert numa[2]['cpus'] == '' and numa[2]['memory_gib'] == 15


def test_what_a_prolog_prints_before_the_facts_is_passed_over(monkeypatch):
    def said(stdout, stderr=''):
        done = types.SimpleNamespace(stdout=stdout, stderr=stderr, returncode=0)
        monkeypatch.setattr('subprocess.run', lambda *_, **__: done)
        return slurm.node_facts('cpu', [])

    facts = {'host': 'n1', 'toolchains': {}}
    assert said(f'Loading stack 2024a...\n{json.dumps(facts)}\n{{"epilog": 1}}\n') == facts
    with pytest.raises(MembwError, match='printed no facts: Loading stack 2024a'):
        said('Loading stack 2024a...\n')
    with pytest.raises(MembwError, match='printed no facts: srun: error: no account'):
        said('Loading stack\n', 'srun: error: no account')


def test_the_idle_nodes_of_a_partition_are_sinfos_own_count(monkeypatch):
    rows = 'cpu|0/4/0/4|1:00:00', 'cpu|2/2/0/4|1:00:00', 'gpu|0/9/0/9|1:00:00'
    said = '\n'.join(['CLUSTER: doduo', *(f'membw|{row}' for row in rows)])
    monkeypatch.setattr('membw.site.slurm.query', lambda *_, **__: said)
    assert slurm.partition('cpu', []) == {'nodes': 8, 'idle': 6, 'minutes': 60}


def tree(folder, online, domains):
    """A node whose kernel says this of itself, and ReFrame's facts of eight folders of CPUs."""
    (folder / 'cpu').mkdir()
    (folder / 'cpu/online').write_text(f'{online}\n')
    for number, cpus in domains.items():
        (folder / f'node/node{number}').mkdir(parents=True)
        (folder / f'node/node{number}/cpulist').write_text(cpus)
    masks = [hex(sum(1 << c for c in topology.expand(cpus))) for cpus in domains.values()]
    processor = {
        'num_cpus': 8, 'num_cpus_per_core': 1, 'num_cpus_per_socket': 8, 'num_sockets': 1,
        'topology': {'numa_nodes': masks, 'sockets': ['0xff'],
                     'cores': [hex(1 << cpu) for cpu in range(8)]},
    }  # fmt: skip
    return {
        'host': 'c1', 'model': 'x', 'features': ['x86_64'], 'left_out': [], 'toolchains': {},
        'processor': topology.online(processor, folder / 'cpu'),
        'numa': topology.numa(folder / 'node'),
    }  # fmt: skip


# online CPUs, domains: CPUs of a run, domains with CPUs of their own, numbers that are written
NODES = {
    'the last two offline': ('0-5', {0: '0-5'}, 6, 1, None),
    'the only domain is 1': ('0-7', {1: '0-7'}, 8, 1, [1]),
    'no NUMA in the kernel': ('0-7', {}, 8, None, None),
    'lists that end in a NUL': ('0-7', {0: '0-3\0', 1: '4-7\n\0'}, 8, 2, [0, 1]),
    'numa=fake=2': ('0-7', {0: '0-7', 1: '0-7'}, 8, 1, [0, 1]),
}


@pytest.mark.parametrize('online, domains, cpus, count, numbers', NODES.values(), ids=NODES)
def test_an_unusual_node_has_a_file(tmp_path, online, domains, cpus, count, numbers):
    node = tree(tmp_path, online, domains)
    path = tmp_path / 'lyra.yaml'
    facts = ('64c512g.q', node, 0, 'slurm', file.options('-A me --qos=x -C a'.split()))
    path.write_text(file.text('lyra', 'lyra1', '2026-11-22', [facts]))
    data, problems = systems.load_file(path, presets.load())
    assert problems == [] or problems[0][0].endswith('toolchains'), problems
    (part,) = data['partitions']
    assert (part['name'], part['access'][0]) == ('p64c512g_q', '-p 64c512g.q')
    assert part['access'][1:] == ['-A me', '--qos=x', '-C a']
    assert part['processor']['num_cpus'] == cpus
    extras = part.get('extras') or {}
    assert extras.get('numa_domains') == count
    written = extras.get('numa')
    assert (written and [one['domain'] for one in written]) == numbers


def test_each_domain_that_lists_a_cpu_is_local_to_it(tmp_path):
    """numa=fake: the farthest with CPUs was remote, and each figure of it INVALID."""
    tree(tmp_path, '0-7', {0: '0-7', 1: '0-7'})
    numa = topology.numa(tmp_path / 'node')
    numa = [{**one, 'memory_gib': 1, 'distances': [10, 10]} for one in numa]
    assert topology.memories_of(0, numa) == {'local': 0}
    assert topology.local_domains(range(8), tmp_path / 'node', tmp_path) == {0: [*range(8)]}
