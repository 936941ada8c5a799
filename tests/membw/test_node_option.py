"""`--node` means the same in every command that reads records: these nodes only."""

import re

import made_up_records as made
import pytest
from made_run import MadeRun, metric

COMMANDS = [
    'rank --limit 0', 'history --since 2026-05-01', 'export --format csv',
    'calibrate --system thin --dry-run', 'report -o /dev/stdout',
]  # fmt: skip


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    rows = made.fleet(3, range(16), seed=2)
    return made.write(tmp_path_factory.mktemp('node') / 'all.jsonl', rows)


@pytest.mark.parametrize('command', COMMANDS)
def test_only_the_chosen_nodes_are_spoken_of_and_others_refused(file, command, membw):
    words = [*command.split(), file, '--node']
    status, said, _ = membw(*words, 'n[002-003]')
    assert status in (0, 1, 2) and said
    assert not re.search(r'^ *(n001|.*,n001,)', said, re.M)  # a line of a median may name it
    assert words[0] not in ('rank', 'export') or 'n002' in said and 'n003' in said
    assert words[0] != 'calibrate' or '2 nodes, 16 nights' in said
    status, _, err = membw(*words, 'n099')
    assert status == 2 and "no node 'n099' in the results" in err


def test_summary_prints_the_rows_of_these_nodes_only(tmp_path, membw):
    run = MadeRun(tmp_path).add({'triad': metric(40.0)})
    path = run.add({'triad': metric(41.0)}, preset='gcc-o3', record={'host': 'n2'}).write()
    status, said, _ = membw('summary', path, '--node', 'n2')
    assert status == 0 and 'gcc-o3' in said and 'gcc-o2' not in said and 'VALID: 1 VALID' in said
    status, _, err = membw('summary', path, '--node', 'n9')
    assert status == 2 and "no node 'n9' in the results" in err
