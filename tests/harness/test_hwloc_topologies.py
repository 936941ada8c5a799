"""The program reads of hwloc's recorded Linux trees (2.9.0) what hwloc reads of them.

Known to differ, with larger arrays than need be: two cores of a Bulldozer module count as one, and
an L3 whose sharers the kernel leaves empty counts for each CPU.
"""

import pytest
import topologies


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
