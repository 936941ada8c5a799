"""What is mistyped is named, with what was meant; nothing is left behind."""

import re
import subprocess
import sys

import pytest
from places import ROOT

from membw.cli import COMMANDS, main
from membw.errors import OF_SYSTEM, MembwError, did_you_mean
from membw.results import reframe

LISTED = "'membw run --help' lists the options"
SYSTEMS = 'known here: cea helios hydra local phi robin thin ulysses'
NO_SYSTEM = "no system 'nope' in systems/", SYSTEMS
NO_FILE = "cannot read 'nosuch': No such file or directory"
ERRORS = {
    'runn': ("unknown command 'runn'", "did you mean 'run'?"),
    'ladder': ("'ladder' is a test", 'membw run -n ladder'),
    'help runn': ("unknown command 'runn'", "did you mean 'run'?"),
    '--versoin': ("unknown option '--versoin'", "did you mean '--version'?"),
    '-v': ("unknown option '-v'", 'known here: --help --version -h'),
    'run --ful': ("unknown option '--ful'", "did you mean '--full'?"),
    'run full': ("unknown argument 'full'", "did you mean '--full'?"),
    'run stream': ("'stream' is a test", 'membw run -n stream'),
    'run -n strem': ("no test 'strem'", "did you mean 'stream'?"),
    'run -S stream.max_second=1': (
        "no test that was chosen has the variable 'stream.max_second'",
        "did you mean 'max_seconds'?",
    ),
    'run --system ulysses': (
        "nothing was measured: ulysses:regular needs Slurm: no controller answers 'sinfo'",
        "run it on ulysses; 'membw run -l' lists its tests, '--system local' measures this "
        'machine'),
    'run --system local:defalt': ("no partition 'defalt' of 'local'", "did you mean 'default'?"),
    'run --syst thin': ("unknown option '--syst'", "did you mean '--system'?"),
    'run --dry-ru': ("unknown option '--dry-ru'", "did you mean '--dry-run'?"),
    'run -S ntimes': ("'-Sntimes' sets nothing", 'as in -S stream.ntimes=3'),
    'rank x --json --drain': ('argument --drain: not allowed with argument --json',
                              "'membw rank --help' lists the options"),
    'rank x --lower a --higher a': ("'a': --lower and --higher", 'give one of them'),
    'node --line --json': ('argument --json: not allowed with argument --line',
                           "'membw node --help' lists the options"),
    'node --peers nosuch': ("'nosuch': No such file or directory", OF_SYSTEM),
    'node --records README': ("'README': File exists", OF_SYSTEM),
    'accept --template x': ("cannot read 'x': No such file or directory",
                            'give files or folders that exist'),
    'run -n': ('argument -n/--name: expected one argument',
               f"{LISTED}, 'reframe --help' its own"),
    'run --seconds 5': ("unknown option '--seconds'", LISTED),
    'why --jsn': ("unknown argument '--jsn'", "did you mean '--json'?"),
    'system add -x': ("unknown argument '-x'", "'membw system add --help' lists the options"),
    'why': ('the following arguments are required: NODE', "'membw why --help' lists the options"),
    'summary --jsn': ("unknown argument '--jsn'", "did you mean '--json'?"),
    'rank nosuch --limit 2 nosuch2': (NO_FILE, 'give files or folders that exist'),
    'why n1 --system nope nosuch': (NO_FILE, 'give files or folders that exist'),
    'run --system nope': NO_SYSTEM,
    'calibrate --system nope': NO_SYSTEM,
    'node --system thn': ("no system 'thn' in systems/", "did you mean 'thin'?"),
    'nightly --system thn': ("no system 'thn' in systems/", "did you mean 'thin'?"),
    'node --second 30': ("unknown argument '--second'", "did you mean '--seconds'?"),
    'rank --limt 3 x': ("unknown argument '--limt'", "did you mean '--limit'?"),
    'history --sinc 3d': ("unknown argument '--sinc'", "did you mean '--since'?"),
    'env x': ("unknown argument 'x'", "'membw env --help' lists the options"),
    'presets lst': ("argument list: invalid choice: 'lst'", "did you mean 'list'?"),
    'summary nosuch': (NO_FILE, 'give the .json file of a run'),
    'nightly --night tomorrow': ("argument --night: 'tomorrow' is no date as 2026-11-21",
                                 "'membw nightly --help' lists the options"),
    'calibrate nosuch': (NO_FILE, 'give files or folders that exist'),
}  # fmt: skip


@pytest.mark.parametrize('words', ERRORS)
def test_a_typing_error_is_answered(words, own_place, capfd, monkeypatch):
    fact, hint = ERRORS[words]
    (own_place / 'README').touch()
    monkeypatch.chdir(own_place)
    assert main(words.split()) == 2
    assert capfd.readouterr().err == f'membw: {fact}\nhint: {hint}\n'
    assert not [*own_place.glob('results/reports/*')]


@pytest.mark.parametrize('words', [['-l'], ['-L', '-n', 'stream'], ['--system', 'thin', '-l']])
def test_run_lists_as_reframe_does_and_measures_nothing(words, own_place, capfd):
    assert main(['run', *words]) == 0
    assert re.search(r'- stream .*\n(.*\n)*Found \d+ check', capfd.readouterr().out)
    assert not [*own_place.glob('results/reports/*')]


def test_a_dry_run_is_reframes_own(own_place, capfd):
    """ReFrame takes -r or --dry-run: it ended with "not allowed with argument -r/--run"."""
    words = ['--dry-run', '--system', 'thin', '-n', '^stream%.*omp', '-p', 'gcc-o2']
    assert main(['run', *words]) == 0 and '(0 failure(s)' in capfd.readouterr().out
    with pytest.raises(MembwError, match='no report'):
        reframe.newest()


def test_a_hint_does_not_name_a_whole_fleet():
    assert did_you_mean('x', ['a', 'b']) == 'known here: a b'
    assert did_you_mean('x', [f'n{i:04}' for i in range(2000)]).endswith('n0048 n0049 ...')


def test_help_of_a_command(capsys):
    said = set()
    for words in ['help', 'run'], ['run', '--help']:
        with pytest.raises(SystemExit):
            main(words)
        said.add(capsys.readouterr().out)
    assert len(said) == 1 and said.pop().startswith('usage: membw run')


def test_the_beginnings_that_are_refused_are_of_the_options_that_reframe_has():
    code = """if True:
        import argparse, sys
        from reframe.frontend import cli
        names, add = set(), argparse._ActionsContainer.add_argument
        def note(self, *words, **options):
            names.update(word for word in words if word.startswith('--'))
            return add(self, *words, **options)
        argparse._ActionsContainer.add_argument, sys.argv = note, ['reframe', '--version']
        try:
            cli.main()
        finally:
            print(*names)"""
    said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout
    listed = (ROOT / 'configs/reframe-options').read_text().split()
    assert {*said.splitlines()[-1].split()} == {*listed}


MEASURES = 'run', 'node', 'nightly'  # without an argument
CALLS = [
    [], ['help'], ['--version'],
    *([name] for name in COMMANDS if name not in MEASURES),
    *([name, '--help'] for name in COMMANDS),
    *(['help', name] for name in COMMANDS),
    *([name, '--nosuch'] for name in COMMANDS),
    *([name, 'nosuch', '--nosuch=1'] for name in COMMANDS),
]  # fmt: skip


@pytest.mark.parametrize('words', CALLS, ids=' '.join)
def test_each_call_ends_well_and_in_lines_that_a_terminal_holds(
    words, own_place, capfd, monkeypatch
):
    monkeypatch.chdir(own_place)
    monkeypatch.setenv('COLUMNS', '80')
    try:
        status = main(words)
    except SystemExit as end:  # of --help
        status = end.code or 0
    out, err = capfd.readouterr()
    assert 'a bug of membw' not in err and 'Traceback' not in err and (out or err)
    wants_help = not words or {*words} & {'help', '--help'}
    assert status == 0 if wants_help else status in (0, 1, 2)
    assert '--nosuch' not in words or status == 2 and err.startswith('membw: ')
    assert all(len(line) <= 100 for line in f'{out}\n{err}'.splitlines() if '/' not in line)
