"""Three nights of a made-up cluster: a slow node is found, repaired, drained. docs/nightly.md has
the first mail. `membw nightly` and `membw rank` are real; the records and sinfo are made up."""

import json
import re
import sys

import made_up_records as made
import pytest
from places import ROOT

from membw.cli import build_parser
from membw.nightly import command as nightly

# the night's steps: `run` leaves a report, `rank` is the real one
MEMBW = f"""#!/bin/sh
case $1 in
run) cp "$MEMBW_ROOT/made.json" "$MEMBW_ROOT/results/reports/run-$$.json"
     . "$MEMBW_ROOT/run.does" ;;
history) echo 'Verdict: UNDECIDED: 3 nights, 14 are needed'; exit 2 ;;
rank) PYTHONPATH={ROOT}/src exec {sys.executable} -m membw "$@" ;;
esac
"""
CASE = {'test': 'cluster_stream', 'partition': 'thin'}  # of systems/thin.yaml: -p THIN
OF_ALL = [f'n{i:03d}' for i in range(1, 9)]
DIMM = '0/0/1/1|drained|2026-05-30T09:12:00|DIMM A3'


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    for name in ('reframe-checks', 'bin', 'results/reports', 'results/records'):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / 'systems').symlink_to(ROOT / 'systems')
    for name, script in (('membw', MEMBW), ('sinfo', f'#!/bin/sh\ncat {tmp_path}/slurm\n')):
        (tmp_path / 'bin' / name).write_text(script)
        (tmp_path / 'bin' / name).chmod(0o755)
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    monkeypatch.setenv('PATH', f'{tmp_path}/bin:/usr/bin:/bin')
    return tmp_path


def one_night(place, number, rows, states=None, word='PASS'):
    """(status, mail without what differs from run to run)."""
    status = int(word == 'FAIL')
    (place / 'run.does').write_text(f"echo 'Verdict: {word}: 1 {word}'; exit {status}")
    record = made.write(place / 'results/records' / f'{number}.json', rows)
    where = {'system': 'thin', 'partition': 'thin', 'environ': 'gcc-o2', 'result': 'pass'}
    case = {**where, 'name': 'cluster_stream', 'node_check': 'x.nodecheck', 'record': str(record)}
    report = {'session_info': {}, 'runs': [{'testcases': [case]}]}
    (place / 'made.json').write_text(json.dumps(report))
    slurm = {node: '0/1/0/1|idle|Unknown|none' for node in OF_ALL} | (states or {})
    lines = [f'THIN*|{node}|{state}' for node, state in slurm.items() if state]
    (place / 'slurm').write_text(
        '\n'.join([*lines, 'GPU|g001|0/0/1/1|down*|2026-05-01T00:00:00|off'])
    )
    parser = build_parser('nightly')
    date = f'2026-05-{27 + number}'
    args = parser.parse_args(['nightly', '--system', 'thin', '--night', date])
    status = nightly.run(args)
    mail = (place / 'results/nights/thin' / date / 'summary.txt').read_text()
    mail = re.sub(r'\d+\.\d s', '1.0 s', mail)
    return status, mail.replace(str(place), '/home/hpc/membw')


def measured(number, nodes=OF_ALL, slow=(), again=()):
    """Records of a night: once of each node; `again`: nodes measured three times more."""
    rows = made.fleet(8, (number - 1,), slow=slow, seed=number, case=CASE)
    rows = [row for row in rows if row['host'] in nodes]
    for i in (1, 2, 3):
        more = made.fleet(8, (number - 1 + i / 300,), slow=slow, seed=9 * number + i, case=CASE)
        rows += [row for row in more if row['host'] in again]
    return rows


def test_a_slow_node_is_found_repaired_and_drained_in_three_mails(cluster):
    beside = ['n003', 'n001', 'n005', 'n007']
    status, first = one_night(cluster, 1, measured(1, slow={3: 0.88}, again=beside), word='FAIL')
    assert status == 1 and 'look at run, rank' in first
    assert re.search(r'^n003 FAIL .* with n\[001,005,007\]: ', first, re.M), first
    status, second = one_night(cluster, 2, measured(2))
    assert status == 0 and 'all is well' in second and 'n003' not in second
    up = [node for node in OF_ALL if node not in ('n003', 'n006')]
    down = {'n003': DIMM, 'n006': '1/0/0/1|allocated|Unknown|none'}
    for number in (3, 4):  # every night, as long as it lasts
        status, mail = one_night(cluster, number, measured(number, nodes=up), down)
        assert status == 1 and 'look at rank' in mail
        line = 'MISSING drained since 2026-05-30T09:12:00: DIMM A3; last measured in the night 20'
        assert f'n003 {line}26-05-29' in mail, mail
        assert 'not measured, in use or not in the job: n006\n' in mail
        assert 'g001' not in mail  # of another partition
    check = (cluster / 'results/nights/thin/2026-05-31/nodecheck.txt').read_text()
    assert f'n003 {line}26-05-29\n' in check and 'n006' not in check
    page = (ROOT / 'docs/nightly.md').read_text()
    assert first.strip() in page, first


def test_after_14_nights_a_missing_node_is_one_line_and_no_alarm(cluster):
    one_night(cluster, 0, measured(0))
    up = [node for node in OF_ALL if node not in ('n003', 'n004')]
    states = {'n003': DIMM, 'n004': DIMM}
    for day in range(14):  # as those nights left it
        folder = cluster / f'results/nights/thin/2026-05-27T{day:02}'
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f'{node} PASS' for node in up] + ['n003 MISSING x', 'n004 MISSING x'][: 2 * day]
        (folder / 'nodecheck.txt').write_text('\n'.join(lines))
    status, mail = one_night(cluster, 1, measured(1, up), states)
    assert status == 1 and 'n003 MISSING drained since' in mail  # 13 nights, and this one
    status, mail = one_night(cluster, 2, measured(2, up), states)
    assert status == 0 and 'all is well' in mail
    assert 'MISSING for 14 nights and more: n[003-004]\n' in mail
    check = (cluster / 'results/nights/thin/2026-05-29/nodecheck.txt').read_text()
    assert 'n003 MISSING known to be missing for 14 nights; drained since 2026-05-30' in check
    status, mail = one_night(cluster, 3, measured(3), {})  # it is back
    assert status == 0 and 'MISSING for' not in mail
    assert 'n003 MISSING drained' in one_night(cluster, 4, measured(4, up), states)[1]


@pytest.mark.parametrize(
    'state, said',
    [
        (None, 'n003 MISSING Slurm does not know it; last measured in the night 2026-05-28'),
        (
            '0/1/0/1|idle*|Unknown|Not responding',
            'n003 MISSING idle*: Not responding; last measured',
        ),
        ('0/0/1/1|down|Unknown|none', 'n003 MISSING down; last measured'),  # by slurm.conf
        ('0/1/0/1|idle|Unknown|none', 'not measured, in use or not in the job: n003'),
    ],
)
def test_a_node_that_was_measured_before_is_named_whatever_slurm_says(cluster, state, said):
    one_night(cluster, 1, measured(1))
    up = [node for node in OF_ALL if node != 'n003']
    assert said in one_night(cluster, 2, measured(2, up), {'n003': state})[1]
