"""Which pairs src/tiers measures on recorded machines, and what firmware declares of them."""

import os
import subprocess

import pytest
import topologies
from changed_source import OTHER_MACHINE


@pytest.fixture
def printed(build_program):
    """printed(tree, CPUs, latencies) -> what the probe says of a machine"""
    program = build_program('tests/probes/tiers.c', changes=OTHER_MACHINE)

    def run(tree, cpus, *latencies):
        words, env = [program, topologies.listed(cpus), *latencies], {'MACHINE': str(tree)}
        return subprocess.check_output(words, env=os.environ | env, text=True)

    return run


@pytest.fixture
def pairs_of(printed):
    """pairs_of(tree, CPUs) -> {(cpus, memory): (ns, GB/s, distance)}"""

    def run(tree, cpus):
        rows = [[float(w) for w in row.split()] for row in printed(tree, cpus).splitlines()]
        return {(int(row[0]), int(row[1])): tuple(row[2:]) for row in rows}

    return run


def declare(tree, memory, initiator, nanoseconds, megabytes):
    """HMAT of a memory as Linux shows it: class 1, its best CPUs alone."""
    node = tree / f'sys/devices/system/node/node{memory}/access1/initiators'
    node.mkdir(parents=True)
    (node / 'read_latency').write_text(f'{nanoseconds}\n')
    (node / 'read_bandwidth').write_text(f'{megabytes}\n')
    (node / f'node{initiator}').symlink_to(f'../../../node{initiator}')


MET = {
    'xeon-max-flat': (2, 4),  # HBM in domains without CPUs
    'xeon-max-flat-snc4': (8, 16),
    'grace-hopper': (1, 2),  # the GPU's memory; seven domains have none
    'epyc-7763-nps4': (8, 8),
    'power9-gpu-domains': (2, 8),  # the GPUs' memory
    'grace-superchip': (2, 2),
}


@pytest.mark.parametrize('name', MET)
def test_each_domain_with_cpus_meets_each_with_memory(pairs_of, tmp_path, name):
    machine = topologies.Machine(name)
    pairs = pairs_of(machine.write(tmp_path), machine.online)
    met = len({cpus for cpus, _ in pairs}), len({memory for _, memory in pairs})
    assert met == MET[name] and len(pairs) == met[0] * met[1]
    assert all(values[:2] == (0, 0) for values in pairs.values()), 'nothing is declared'
    if name == 'power9-gpu-domains':
        assert [pairs[pair][2] for pair in ((0, 0), (0, 8), (8, 253))] == [10, 40, 80]


@pytest.mark.parametrize('remote, note', [
    (210, ''),  # twice the own memory's, 2.1 declared
    (330, ': distances (SLIT) differ by more than 20 % from the latencies of 1 pair; '
          'CPUs of 1, memory 0: 3.3 times local memory, declared 2.1\n'),
])  # fmt: skip
def test_a_distance_that_latency_contradicts_is_noted(printed, tmp_path, remote, note):
    machine = topologies.Machine('ulysses')
    tree = machine.write(tmp_path)
    text = printed(tree, machine.online, '0-0=100', '0-1=205', '1-1=100', f'1-0={remote}')
    assert text.partition('note')[2] == note


def test_hmat_is_read_for_its_best_initiator_alone(pairs_of, tmp_path):
    """A CXL expander or HBM: values are declared for one domain with CPUs, not for all."""
    machine = topologies.Machine('xeon-max-flat')
    tree = machine.write(tmp_path)
    declare(tree, 2, 0, 130, 700000)
    declare(tree, 3, 1, 250, 27200)
    pairs = pairs_of(tree, machine.online)
    assert pairs[0, 2][:2] == (130, 700)
    assert pairs[1, 3][:2] == (250, 27.2)
    assert pairs[1, 2][:2] == (0, 0)


def test_an_expander_on_cxl_is_measured_from_each_domain_and_an_empty_domain_from_none(
    pairs_of, tmp_path
):
    """A recorded machine to which a memory without CPUs was added, and a domain that has neither,
    as a GPU whose memory is not online."""
    machine = topologies.Machine('epyc-7763-nps4')
    machine.domains[8] = {'cpus': [], 'gib': 256}
    machine.domains[9] = {'cpus': [], 'gib': 0}
    tree = machine.write(tmp_path)
    declare(tree, 8, 4, 300, 28000)
    pairs = pairs_of(tree, machine.online)
    assert {memory for _, memory in pairs} == set(range(9))
    assert len(pairs) == 8 * 9
    assert pairs[4, 8][:2] == (300, 28) and pairs[0, 8][:2] == (0, 0)
