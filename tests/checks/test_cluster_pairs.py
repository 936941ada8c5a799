"""cluster_pairs under a real Slurm of six virtual nodes, one of them and one link made slow.

The nodes share this host's cores: only what planted faults make a hundred times slower is seen.
gcc is a stand-in that adds the fault to the line.
"""

import json
import re
import shlex
import shutil

import pytest
from places import ROOT

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

ALLOWED = 'oversubscribed,disturbed,unstable,too-short'
# us per round trip: 1000 of each end, so that what else runs here is little beside; rank 5 with
# all others; ranks 0 and 2
LINKS = [*(f'{{{rank},-1,1000}}' for rank in range(5)), '{5,-1,9000}', '{0,2,10000}']
PLANTED = f'-DSLOW_LINKS={",".join(LINKS)}', '-include', str(ROOT / 'tests/data/slow_links.h')
MPI = {
    'OMPI_ALLOW_RUN_AS_ROOT': 1,
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': 1,
    'OMPI_MCA_rmaps_base_oversubscribe': 1,
    'OMPI_MCA_mpi_yield_when_idle': 1,
    # not Open MPI 4's own TCP: of two ranks that connect to each other at once it may lose both
    'OMPI_MCA_pml': 'ucx',
    'OMPI_MCA_opal_common_ucx_tls': 'any',
    'OMPI_MCA_opal_common_ucx_devices': 'any',
    'UCX_TLS': 'tcp,self',
    'UCX_NET_DEVICES': 'lo',  # the nodes are all here
    'SLURM_MPI_TYPE': 'pmix',
    'MEMBW_SLURM_BACKEND': 'squeue',
    'MEMBW_BUILD': 'make',
}


@pytest.fixture(scope='module')
def slurm(slurm_emu, need, tmp_path_factory):
    need('mpicc', 'mpirun')
    with slurm_emu(tmp_path_factory.mktemp('emu'), 6, 2, 10) as place:
        yield {**place, **MPI}


@pytest.fixture
def run(root, environment, call, slurm, tmp_path, one_run):
    """run(flags, name=value): (what `membw run -n cluster_pairs` said, its test case)"""

    def session(flags, **asked):
        line = shlex.join([shutil.which('gcc'), *flags])
        (tmp_path / 'gcc').write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        (tmp_path / 'gcc').chmod(0o755)
        words = [word for k, v in asked.items() for word in ('-S', f'{k}={v}')]
        done = call(
            *('membw', 'run', '--system', 'ulysses', '-n', 'cluster_pairs'),
            *(f'--prefix={tmp_path}', *words),
            **{**slurm, 'PATH': f'{tmp_path}:{environment["PATH"]}'},
        )
        assert 'report ' in done.stdout, done.stdout + done.stderr
        report = root / re.search(r'^report (\S+\.json)', done.stdout, re.M)[1]
        cases = json.loads(report.read_text())['runs'][-1]['testcases']
        (case,) = [case for case in cases if not case['fixture']]
        return done, case

    return session


def test_a_slow_node_and_a_slow_link_are_named(run):
    done, case = run(PLANTED, allow=ALLOWED, sizes='0', seconds=0.01)
    assert done.returncode == 1, done.stdout
    assert case['result'] == 'fail' and case['word'] == 'UNDECIDED', done.stdout
    records = [json.loads(line) for line in open(case['record'])]
    host = {record['rank']: record['host'] for record in records}
    assert sorted(host.values()) == ['n1', 'n2', 'n3', 'n4', 'n5', 'n6']
    assert all(len(record['links']) == 5 for record in records)
    assert {link['round'] for record in records for link in record['links']} == set(range(5))
    verdicts = dict(line.split()[:2] for line in open(case['node_check']))
    # under MPI it is not measured again by itself
    assert verdicts[host[5]] == 'SUSPECT', done.stdout
    assert 'FAIL' not in verdicts.values(), done.stdout
    slow = ' - '.join(sorted((host[0], host[2])))
    assert f'{slow}: 0 B in ' in case['links']
