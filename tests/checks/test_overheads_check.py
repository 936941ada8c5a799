"""The check of OpenMP's overheads, run here through ReFrame."""

import json

import pytest
from places import ROOT

CHECK = ROOT / 'reframe-checks/overheads.py'


def test_the_check_has_a_row_per_runtime_and_asked_wait_policy_of_several_launches(call, tmp_path):
    report = tmp_path / 'report.json'
    words = ['-S', 'overheads.constructs=barrier', '-S', 'overheads.pairs_of_construct=6',
             '-S', 'overheads.wait_policies=active,passive', '-S', 'overheads.launches=2',
             '-S', 'overheads.seconds_apart=0',
             '-S', 'overheads.allow=disturbed,unstable']  # fmt: skip
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


@pytest.mark.beside
def test_what_cannot_measure_is_launched_once_and_says_why(call, tmp_path):
    """A usage error, a missing library: sixteen launches would all end alike."""
    done = call('reframe', '--nocolor', '-c', ROOT / 'reframe-checks', '-r', '-n', '^overheads',
                '-p', '^gcc-', '-S', 'overheads.constructs=nothing', f'--prefix={tmp_path}',
                MEMBW_BUILD='make')  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert 'not measured, no record: membw: ' in done.stdout and "'nothing'" in done.stdout
    (said,) = tmp_path.glob('stage/*/*/*/overheads_*/rfm_job.err')
    assert said.read_text().count('membw: ') == 1


@pytest.mark.beside
@pytest.mark.parametrize('system, threads', [('hydra', '20'), ('helios', '240')])
def test_the_systems_of_the_sources_are_there(call, tmp_path, system, threads):
    """Recorded only: plots alone were published.  On the card all its hardware threads.  Of the
    wait policies only the runtime's own, unless others are asked for."""
    done = call('reframe', '--nocolor', '-c', CHECK, '--system', system,
                '--dry-run', '-n', '^overheads', f'--prefix={tmp_path}')  # fmt: skip
    assert done.returncode == 0, done.stdout
    scripts = [p.read_text() for p in tmp_path.glob(f'stage/{system}/*/*/overheads_*/rfm_job.sh')]
    assert scripts and not any('OMP_WAIT_POLICY=' in text for text in scripts)
    loop = "sh -c 'valid=0; for record in record.json launch-2.json launch-3.json launch-4.json "
    counted = ('--pairs 15 --json $record && valid=$((valid + 1)); wait; '
               '[ -e $record ] && [ $valid -lt 8 ] && ')  # fmt: skip
    assert all(loop in text and 'launch-16.json; do sleep 1 & ' in text for text in scripts)
    assert all(counted in text for text in scripts)
    asked = [line for text in scripts for line in text.splitlines() if 'OMP_NUM_THREADS=' in line]
    assert any(line.endswith(f'={threads}') for line in asked), asked
