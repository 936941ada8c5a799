"""The check of OpenMP's overheads, run here through ReFrame."""

import json

import pytest
from places import ROOT

pytestmark = pytest.mark.alone

CHECK = ROOT / 'reframe-checks/overheads.py'


def test_the_check_has_a_row_per_runtime_and_wait_policy_of_several_launches(call, tmp_path):
    report = tmp_path / 'report.json'
    words = ['-S', 'overheads.constructs=barrier', '-S', 'overheads.pairs_of_construct=6',
             '-S', 'overheads.wait_policies=active,passive', '-S', 'overheads.launches=2',
             '-S', 'overheads.seconds_apart=0',
             '-S', 'overheads.allow=incomplete']  # fmt: skip
    done = call('reframe', '--nocolor', '-c', CHECK, '-r', '-n', '^overheads',
                '-p', '^gcc-', *words, f'--prefix={tmp_path}', '--report-file', report,
                MEMBW_BUILD='make')  # fmt: skip
    assert done.returncode == 0, done.stdout
    (cases,) = [r['testcases'] for r in json.loads(report.read_text())['runs']]
    cases = [c for c in cases if c['name'].startswith('overheads ')]
    assert [c['verdict'] for c in cases] == ['VALID'] * 2
    for case in cases:
        record = json.loads(open(case['record']).read())
        assert f'wait_policy={record["runtime"]["wait_policy"]}' in case['name']
        assert [launch['verdict'] for launch in record['launches']] == ['VALID'] * 2
        assert {n.rpartition(':')[2] for n in case['perfvalues']} == set(record['metrics'])


@pytest.mark.shared
def test_what_cannot_measure_is_launched_once_and_says_why(call, tmp_path):
    """A usage error, a missing library: sixteen launches would all end alike."""
    done = call('reframe', '--nocolor', '-c', CHECK, '-r', '-n', '^overheads',
                '-p', '^gcc-', '-S', 'overheads.constructs=nothing', f'--prefix={tmp_path}',
                MEMBW_BUILD='make')  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert (
        'MISSING: launch 1 of 8: exit status 2: membw: ' in done.stdout
        and "'nothing'" in done.stdout
    )
    (said,) = tmp_path.glob('stage/*/*/*/overheads_*/rfm_job.err')
    assert said.read_text().count('membw: ') == 1
