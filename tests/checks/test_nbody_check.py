"""The checks of the N-body program, run here through ReFrame; its published references."""

import json

import pytest
import standin_gcc
import yaml
from places import ROOT

pytestmark = pytest.mark.alone

# [helios] "Simulation using MIC co-processor on Helios", 2016: execution times in s
SANDY_BRIDGE = {1: 55, 2: 28, 4: 14, 8: 7, 16: 3.5}
NATIVE = {
    1: 126.60,
    2: 62.69,
    4: 30.75,
    8: 15.86,
    16: 9.97,
    32: 4.72,
    64: 3.46,
    128: 1.59,
    236: 1.39,
}


@pytest.mark.shared
@pytest.mark.parametrize(
    'test, partition, times',
    [('nbody', 'helios:sandy-bridge', SANDY_BRIDGE), ('nbody', 'helios:mic', NATIVE)],
)
def test_the_references_are_the_speed_ups_of_the_printed_times(test, partition, times):
    table = yaml.safe_load((ROOT / 'systems/references/helios.yaml').read_text())
    rows = table[test][partition]
    assert {name: (row[0], row[3]) for name, row in rows.items()} == {
        f'speedup_{t}': (pytest.approx(times[1] / s, abs=0.006), 'x')
        for t, s in times.items()
        if t > 1
    }


@pytest.fixture
def reframe(call, tmp_path):
    def start(name, *words, **variables):
        report = tmp_path / 'report.json'
        check = ROOT / f'reframe-checks/{name.strip("^%")}.py'
        done = call(
            *('reframe', '--nocolor', '-c', check, '-n', name, *words, '-r'),
            *(f'--prefix={tmp_path}', '--report-file', report),
            MEMBW_BUILD='make',
            **variables,
        )
        cases = json.loads(report.read_text())['runs'][0]['testcases'] if report.exists() else []
        return done, [c for c in cases if c['name'].startswith(('nbody ', 'nbody_offload'))]

    return start


def test_the_check_measures_with_both_affinities(reframe, environment, tmp_path):
    words = ['-S', 'bodies=512', '-S', 'rounds=6', '-S', 'allow=disturbed,unstable', '-p', '^gcc-']
    path = f'{standin_gcc.put_up(tmp_path / "tools")}:{environment["PATH"]}'
    done, cases = reframe('^nbody%', *words, PATH=path)
    assert done.returncode == 0, done.stdout
    assert sorted(c['name'] for c in cases) == [
        'nbody %pinning=omp %affinity=close',
        'nbody %pinning=omp %affinity=spread',
    ]
    for case in cases:
        names = {name.rpartition(':')[2] for name in case['perfvalues']}
        assert case['verdict'] == 'VALID' and 'speedup_2' in names


def test_an_offload_is_invalid_or_skipped_where_there_is_no_device(reframe):
    """Without the plug-in the build says why and is skipped; with it the run says that it was
    done on the host."""
    words = ['-S', 'nbody_offload.valid_systems=*', '-S', 'bodies=512', '-S', 'rounds=6']
    done, cases = reframe('^nbody_offload', *words, '-p', '^gcc-offload')
    if not cases:
        assert 'cannot compile for a device' in done.stdout, done.stdout
        return
    (case,) = cases
    if case['result'] == 'skip':
        assert 'cannot compile for a device' in done.stdout
    elif case['result'] == 'fail':
        assert 'offload-not-done' in case['reasons']
