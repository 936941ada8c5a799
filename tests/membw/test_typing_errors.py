"""What is mistyped is named, with what was meant; nothing is left behind."""

import sys

import pytest
from places import ROOT

from membw import cli
from membw.errors import did_you_mean

LISTED = "'membw run --help' lists the options, 'reframe --help' its own"
SYSTEMS = 'known here: cea helios hydra local phi robin thin ulysses'
ERRORS = [
    ('', 'the following arguments are required: COMMAND', "'membw --help' lists the options"),
    ('runn', "unknown command 'runn'", "did you mean 'run'?"),
    ('ladder', "'ladder' is a test", 'membw run -n ladder'),
    ('help runn', "unknown command 'runn'", "did you mean 'run'?"),
    ('--versoin', "unknown option '--versoin'", "did you mean '--version'?"),
    ('-v', "unknown option '-v'", 'known here: --help --version -h'),
    ('run --ful', "unknown option '--ful'", "did you mean '--full'?"),
    ('run full', "unknown argument 'full'", "did you mean '--full'?"),
    ('run stream', "'stream' is a test", 'membw run -n stream'),
    ('run -n strem', "no test 'strem'", "did you mean 'stream'?"),
    ('run -S stream.max_second=1', "check 'stream' has no variable 'max_second'",
     "did you mean 'max_seconds'?"),
    ('run --system ulysses',
     "nothing was measured: ulysses:regular needs Slurm: no controller answers 'sinfo'",
     "run it on ulysses; '--system local' measures this machine, '-l' in place of '-r' "
     'lists the checks'),
    ('run --system local:defalt', "no partition 'defalt' of 'local'", "did you mean 'default'?"),
    ('run -n', 'argument -n/--name: expected one argument', LISTED),
    ('summary --jsn', "unknown argument '--jsn'", "did you mean '--json'?"),
    ('rank nosuch --limit 2 nosuch2', "cannot read 'nosuch': No such file or directory",
     'give files or folders that exist'),
    ('why n1 --system nope nosuch', "no system 'nope' in systems/", SYSTEMS),
    ('run --system nope', "no system 'nope' in systems/", SYSTEMS),
    ('calibrate --system nope', "no system 'nope' in systems/", SYSTEMS),
    ('node --system thn', "no system 'thn' in systems/", "did you mean 'thin'?"),
    ('nightly --system thn', "no system 'thn' in systems/", "did you mean 'thin'?"),
    ('node --second 30', "unknown argument '--second'", "did you mean '--seconds'?"),
    ('rank --marg 3 x', "unknown argument '--marg'", "did you mean '--margin'?"),
    ('history --sinc 3d', "unknown argument '--sinc'", "did you mean '--since'?"),
    ('env x', "unknown argument 'x'", "'membw env --help' lists the options"),
    ('presets lst', "argument WHAT: invalid choice: 'lst'", "did you mean 'list'?"),
    ('summary nosuch', "cannot read 'nosuch': No such file or directory",
     'give a file that exists'),
    ('nightly --night tomorrow', "argument --night: 'tomorrow' is no date as 2026-11-21",
     "'membw nightly --help' lists the options"),
    ('run --seconds 5', "unknown option '--seconds'", "'membw run --help' lists the options"),
    ('calibrate nosuch', "cannot read 'nosuch': No such file or directory",
     'give files or folders that exist'),
]  # fmt: skip


@pytest.mark.parametrize('words, fact, hint', ERRORS, ids=[e[0] for e in ERRORS])
def test_a_typing_error_is_answered(
    words, fact, hint, call, environment, tmp_path, request, monkeypatch, capsys
):
    if words[:4] == 'run ':  # some are known by ReFrame alone, which one run at a time has
        request.getfixturevalue('one_run')
        for tool in ('sbatch', 'sinfo'):  # of a Slurm that is down, whatever this machine has
            (tmp_path / tool).write_text('#!/bin/sh\nexit 1\n')
            (tmp_path / tool).chmod(0o755)
        before = {*(ROOT / 'results/reports').glob('*')}
        done = call('membw', *words.split(), PATH=f'{tmp_path}:{environment["PATH"]}')
        status, err = done.returncode, done.stderr
        assert {*(ROOT / 'results/reports').glob('*')} == before
    else:
        monkeypatch.setenv('MEMBW_ROOT', str(ROOT))
        with pytest.raises(SystemExit) as end:
            sys.exit(cli.main(words.split()))
        status, err = end.value.code, capsys.readouterr().err
    assert (status, err) == (2, f'membw: {fact}\nhint: {hint}\n')


def test_a_hint_does_not_name_a_whole_fleet():
    assert did_you_mean('x', ['a', 'b']) == 'known here: a b'
    assert did_you_mean('x', [f'n{i:04}' for i in range(2000)]).endswith('n0048 n0049 ...')


def test_help_of_a_command(capsys):
    said = set()
    for words in ['help', 'run'], ['run', '--help']:
        with pytest.raises(SystemExit):
            cli.main(words)
        said.add(capsys.readouterr().out)
    assert len(said) == 1 and said.pop().startswith('usage: membw run')
