"""What the tests of the machine share: the program's own reader, led to another /sys."""

import json
import subprocess

import pytest
import topologies
from changed_source import copy_source, other_machine


@pytest.fixture(scope='session')
def probe(tmp_path_factory):
    """probe(root, CPUs, domains): what the program's own code makes of that machine."""
    folder = tmp_path_factory.mktemp('probe')
    root, program = folder / 'root', folder / 'topology'
    source = copy_source(folder, *other_machine(root))
    line = ['gcc', '-O1', f'-I{source}', folder / 'tests/probes/topology.c', '-o', program]
    subprocess.run(line, check=True)

    def run(tree, cpus, *domains):
        root.unlink(missing_ok=True)
        root.symlink_to(tree)
        words = [program, topologies.listed(cpus), *map(topologies.listed, domains)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
