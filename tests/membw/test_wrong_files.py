"""What a command is given in place of a file that it reads: no traceback, no long line."""

import pytest

from membw.cli import main

WRONG = {
    'nosuch': None,
    'folder': None,
    'empty': b'',
    'bytes': bytes(range(256)) * 4,
    'text': b'hello\nworld\n',
    'other.json': b'{"a": 1}\n',
    'list.json': b'[1]\n',
}
CALLS = (
    'summary {}', 'why n1 {}', 'rank {}', 'history {}', 'calibrate --system local --dry-run {}',
    'report {}', 'report --protocol {}', 'codegen {}', 'diff {} {}', 'reproduce {}', 'export {}',
    'accept {}', 'accept {} --plan', 'accept --template {}', 'expect --dimms {}',
    'published {}', 'published add {}', 'node --peers {} --programs nosuch --seconds 30',
    'system add {}', 'campaign --system {}', 'presets list {}', 'history --acknowledged {}',
    'rank nosuch2 --node {}', 'rank --as n1={} {}',
)  # fmt: skip


@pytest.mark.parametrize('call', CALLS)
def test_a_wrong_file_is_named_in_lines_that_a_terminal_holds(call, own_place, capfd, monkeypatch):
    monkeypatch.chdir(own_place)
    monkeypatch.setenv('COLUMNS', '80')
    for name, content in WRONG.items():
        if content is not None:
            (own_place / name).write_bytes(content)
    (own_place / 'folder').mkdir()
    for name in WRONG:
        try:
            status = main(call.format(name, name).split())
        except SystemExit as end:
            status = end.code
        out, err = capfd.readouterr()
        assert status in (1, 2), (name, out, err)
        assert err.startswith('membw: ') and 'hint: ' in err, (name, err)
        assert 'a bug of membw' not in err and 'Traceback' not in err, (name, err)
        wide = [line for line in err.splitlines() if len(line) > 100 and '/' not in line]
        assert not wide, (name, wide)
