"""What the tests of the checks share: a Slurm of virtual nodes on this host."""

import contextlib

import pytest


@pytest.fixture(scope='session')
def slurm_emu(root, call, need, free_ports):
    """`with slurm_emu(folder, 4, 2, 10) as place`: ci/slurm-emu with nodes n1..n4 of 2 x 10 cores
    in partition regular1. `place` holds the variables that its commands need, `more` those that
    start it next to the usual ones; it is stopped whatever happens.
    """

    @contextlib.contextmanager
    def running(folder, nodes, sockets, cores, **more):
        need('munged', 'slurmctld', 'slurmd', 'sinfo', 'sbatch')
        place = {'SLURM_EMU_DIR': folder, 'SLURM_CONF': folder / 'slurm.conf'}
        place |= {'SLURM_EMU_PORT': free_ports(nodes + 1), **more}
        emu = root / 'ci' / 'slurm-emu'
        try:
            started = call(emu, 'start', nodes, sockets, cores, 'regular1', **place)
            assert started.returncode == 0, started.stdout + started.stderr
            yield place
        finally:
            call(emu, 'stop', **place)
            assert not list(folder.glob('*.pid'))

    return running
