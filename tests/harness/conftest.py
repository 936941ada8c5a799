"""What the tests of the machine share: the program's own reader, led to another /sys."""

import json
import os
import subprocess

import pytest
import topologies
from changed_source import OTHER_MACHINE


@pytest.fixture(scope='session')
def probe(build_program):
    """probe(root, CPUs, domains): what the program's own code makes of that machine."""
    program = build_program('tests/probes/topology.c', changes=OTHER_MACHINE)

    def run(tree, *lists):
        words, env = [program, *map(topologies.listed, lists)], os.environ | {'MACHINE': str(tree)}
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
