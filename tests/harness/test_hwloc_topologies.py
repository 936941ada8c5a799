"""The reader of topologies on hwloc's recorded Linux trees, old and odd machines: what hwloc says
of each original is what the program says of it, and hwloc itself of the tree laid out again.

Of the 47 trees of hwloc 2.9.0 these are not here, as their facts are no machine's or are in
tests/data/topologies already (Kunpeng 920, CPU and domain 0 offline, POWER9 with memory of GPUs):
made-up ones (4fake, 64fake, fakehetero*, fakememinitiators, fakeKNL-*), cgroups that hide CPUs
(16amd64-4n4c-cgroup-distance-merge, 16amd64-8n2c-cpusets, 32amd64-4s2n4c-cgroup2), firmware that
contradicts itself and of which hwloc drops a part (8em64t-2s2ca2c-buggynuma, 2s390-2c,
40intel64-4n10c+pci-conflicts). Known to differ: two cores of a Bulldozer module count as one
(64amd64-4s2n4ca2co: the kernel calls them siblings), and an L3 whose sharers the kernel leaves
empty counts for each CPU (8ia64-2s2c2t): arrays are larger than need be.

Read by hand, those that are left out agree in cores, sockets and last-level caches too, but for
sockets of which a cgroup leaves memory and no CPU (hwloc counts them), the socket that hwloc drops
of 40intel64-4n10c+pci-conflicts, and 4fake and 64fake, which no kernel wrote.
"""

import pytest
import topologies
from record_topology import by_hwloc


@pytest.fixture(scope='module', params=topologies.OF_HWLOC)
def machine(request, tmp_path_factory):
    found = topologies.Machine(request.param)
    found.tree = found.write(tmp_path_factory.mktemp('tree'))
    return found


def test_the_program_reads_what_hwloc_read_of_the_machine(machine, probe):
    found, expect = probe(machine.tree, machine.online), machine.facts['expect']
    assert (found['cores'], found['sockets']) == (expect['cores'], expect['sockets'])
    assert found['llc_bytes'] == expect['llc_kib'] * 1024
    domains = {int(n): topologies.expand(text) for n, text in found['domain_cpus'].items()}
    expected = {n: domain['cpus'] for n, domain in machine.with_cpus().items()}
    assert domains == (expected or {0: machine.online})


def test_hwloc_reads_the_same_of_the_tree_laid_out_again(machine, need):
    """Else the facts would be other than the machine was."""
    need('lstopo-no-graphics')
    assert by_hwloc(machine.tree) == (machine.online, machine.facts['expect'])
