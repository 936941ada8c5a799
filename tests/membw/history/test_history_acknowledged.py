"""What somebody knows of is shown and no alarm, until anything gets worse than it was then."""

import json

import history_generator as gen
import pytest
import results_store

from membw.cli import main
from membw.history.series import as_date

FALL = 40  # night


def stored(path, *further, nights=60):
    """Records of 12 nodes; n3 loses 7 % in FALL, and node, night and share of `further`."""
    series = gen.healthy(12, nights, 4, noise=0.004)
    for node, night, share in ((3, FALL, 0.07), *further):
        gen.step(series, node, night, share)
    with open(path, 'w') as file:
        for cases in results_store.sessions_of(series):
            file.writelines(_record(case) + '\n' for case in cases)
    return series.nodes[3], as_date(series.nights[FALL])


def _record(case):
    kernels = {key.rsplit(':', 1)[-1]: {'best_mbs': 1000 * row[0]}
               for key, row in case['perfvalues'].items()}  # fmt: skip
    return json.dumps({'schema': 'membw-record-1', 'program': 'stream', 'host': case['node'],
                       'time': case['job_completion_time'], 'verdict': 'VALID',
                       'kernels': kernels})  # fmt: skip


@pytest.fixture
def judged(tmp_path, capsys):
    def run(*words):
        names = [str(tmp_path / name) for name in ('r.jsonl', 'known.jsonl')]
        code = main(['history', names[0], '--acknowledged', names[1], *words])
        return code, *capsys.readouterr()

    return run


def test_a_known_fall_is_shown_and_no_alarm_until_it_gets_worse(tmp_path, judged):
    file = tmp_path / 'r.jsonl'
    node, night = stored(file)
    assert judged()[0] == 1
    code, out, err = judged('--acknowledge', node, night, 'DIMM ordered')
    assert code == 0, out + err
    assert 'acknowledged: DIMM ordered (' in out
    assert out.endswith('Verdict: nothing got worse; 1 acknowledged\n')
    code, _, err = judged('--acknowledge', node, night, 'me too')  # "did not get worse" it was
    assert code == 2 and f"'{node}' {night} is acknowledged already: DIMM ordered (" in err
    stored(file, nights=90)
    code, out, _ = judged('--since', '14d')
    assert code == 0 and node in out and 'acknowledged' in out
    for further, red in (((3, 70, 0.04), '2 node changes'),
                         ((5, 70, 0.07), '1 node change; 1 acknowledged')):  # fmt: skip
        stored(file, further, nights=90)
        code, out, _ = judged('--since', '3d')
        assert code == 1 and out.endswith(f'slower and not recovered: {red}\n')
    stored(file, (3, 70, 0.04), nights=90)
    assert judged('--acknowledge', node, as_date(gen.FIRST + 70), 'and another')[0] == 0
    stored(file, (3, 60, -0.075), (3, 75, 0.07), nights=90)
    code, out, _ = judged()
    assert code == 1, out  # back, and down again


@pytest.mark.parametrize('words, fact', [
    (('n9', '2026-01-01', 'x'), "'n9' did not get worse in the night 2026-01-01"),
    (('n9', 'soon', 'x'), "'soon' is no night"),
    (('n9', '2026-01-01', ' '), 'no reason given'),
])  # fmt: skip
def test_nothing_is_acknowledged_that_did_not_happen(tmp_path, judged, words, fact):
    node, night = stored(tmp_path / 'r.jsonl')
    code, _, err = judged('--acknowledge', *words)
    assert code == 2 and fact in err and 'hint: ' in err
    assert not (tmp_path / 'known.jsonl').exists()


def test_a_torn_line_is_named_and_the_others_hold(tmp_path, judged):
    node, night = stored(tmp_path / 'r.jsonl')
    judged('--acknowledge', node, night, 'known')
    with open(tmp_path / 'known.jsonl', 'a') as file:
        file.write('{"schema": "membw-ack\n[]\n')
    code, out, err = judged()
    assert code == 1 and 'known.jsonl:5: no acknowledgement' in err and '1 acknowledged' in out


def test_nothing_is_written_behind_a_line_that_a_full_disk_cut(tmp_path, judged):
    node, night = stored(tmp_path / 'r.jsonl')
    (tmp_path / 'known.jsonl').write_text('{"schema": "membw-ack')
    code, out, err = judged('--acknowledge', node, night, 'known')
    assert code == 1 and 'known.jsonl:1: no acknowledgement' in err and '1 acknowledged' in out
