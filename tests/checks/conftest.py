"""What the tests of the checks share: sessions of ReFrame, a Slurm of virtual nodes."""

import contextlib
import json
import os

import pytest
import standin_gcc
from checkout_copy import variables
from places import ROOT


class Session:
    """One run of reframe: its exit status, output, cases (`cases`: with builds) and folder."""

    def __init__(self, done, folder):
        self.code, self.text, self.folder = done.returncode, done.stdout + done.stderr, folder
        report = folder / 'report.json'
        runs = json.loads(report.read_text())['runs'] if report.exists() else []
        self.cases = runs[-1]['testcases'] if runs else []
        self.ran = [case for case in self.cases if not case['fixture']]

    def case(self, name, partition=''):
        found = [
            c for c in self.ran if c['display_name'] == name and partition in ('', c['partition'])
        ]
        assert len(found) == 1, self.text
        return found[0]

    def one(self, test, **which):
        """(the case of a test, its record)."""
        (case,) = [
            c
            for c in self.ran
            if c['name'].split()[0] == test and all(c[key] == which[key] for key in which)
        ]
        return case, json.loads(open(case['record']).readline()) if case['record'] else None


@pytest.fixture(scope='session')
def reframe(call, tmp_path_factory):
    """reframe('stream.py', '-r', ..., given={'ntimes': 5}): a Session with a folder of its own, of
    the checks of a checkout (`root`); further names are variables."""

    def run(checks, *words, root=ROOT, given=(), folder=None, **more):
        folder = folder or tmp_path_factory.mktemp('reframe')
        places = ['--prefix', folder, '--perflogdir', folder / 'perflogs']
        places += ['--report-file', folder / 'report.json']
        words = [*words, *(f'-S{name}={given[name]}' for name in given), *places]
        settings = {**variables(root), 'RFM_ENABLE_RESULTS_STORAGE': 0, 'MEMBW_BUILD': 'make'}
        done = call('reframe', '--nocolor', '-c', root / 'reframe-checks' / checks, *words,
                    cwd=root, **settings | more)  # fmt: skip
        return Session(done, folder)

    return run


@pytest.fixture(scope='session')
def quick_gcc(environment, tmp_path_factory):
    """A PATH for what is built as a preset says, and run for its verdict alone."""
    return f'{standin_gcc.put_up(tmp_path_factory.mktemp("gcc"))}:{environment["PATH"]}'


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """tool(name, script): a command that is first on the PATH."""
    monkeypatch.setenv('PATH', str(tmp_path), prepend=os.pathsep)

    def put(name, script):
        (tmp_path / name).write_text(f'#!/bin/sh\n{script}\n')
        (tmp_path / name).chmod(0o755)

    return put


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
