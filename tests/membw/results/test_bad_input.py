"""What is no record and no report is one line with its file and place, in each command that reads
results; the rest is judged."""

import json

import fleet_generator
import pytest
import results_store

from membw.cli import main

FORGES = '\x1b', '\x00', '\u2028', '\x85', '\ud800'


def record(**changes):
    (row,) = fleet_generator.records(fleet_generator.healthy(1, 1))
    return {**row, 'host': 'n99', **changes}


def text(**changes):
    return json.dumps(record(**changes), ensure_ascii=False)


def kernels(**row):
    return {name: {'best_mbs': 320000, **row} for name in fleet_generator.KERNELS}


NO_RECORD = {  # a line | what is said of it
    'no kernel': (text(kernels={}), "'kernels' is empty"),
    'huge integer': (
        text(threads=None).replace('null', '1' + '0' * 5000, 1), 'thousands of digits',
    ),
    'a NaN among times': (text(kernels=kernels(times_s=[float('nan'), 1, 1])), "'times_s' holds"),
    'a time that is none': (text(time=5), 'not as in the schema'),
    'a name that moves the cursor': (text(host='n\x1b[2J'), 'no name of a node'),
    'half a character': (json.dumps(record(host='\ud800')), 'no name of a node'),
    'nested deep': ('{"a":' * 50_000, 'nested too deep'),
    'nested in a record': (
        text(facts=None).replace('null', '[' * 3000 + ']' * 3000, 1), 'nested too deep',
    ),
    'torn': (text()[:300], 'not JSON'),
    'more CPUs than there are': (
        text(facts={'numa': {'0': {'cpus': '0-99999999999'}}},
             threads_on=[{'cpu': 0, 'affinity': '0'}]),
        'is no CPU',
    ),
    'latency that is none': (
        text(core_pair={'ns': 'x'}, core_pair_after={'ns': 1}), 'not as in the schema',
    ),
    'pairs of cores that are none': (text(pairs=['a']), 'not as in the schema'),
    'a message without its size': (
        text(messages=[{'class': 'llc', 'cpu_a': 0, 'cpu_b': 1, 'median_us': 1}]),
        "'bytes' is missing",
    ),
    'a pair that took no time': (
        text(pairs=[{'method': 'cas', 'class': 'llc', 'home': 'a', 'cpu_a': 0, 'cpu_b': 1,
                     'median_ns': 0}]),
        "'median_ns' of 'pairs' is 0",
    ),
    'unit that moves the cursor': (
        text(metrics={'triad': {'value': 1, 'unit': '\x1b[2J', 'better': 'higher'}}),
        'has the unit',
    ),
    'interval without an end': (
        text(metrics={'triad': {'value': 1, 'unit': 'GB/s', 'better': 'higher', 'low': 0,
                                'high': float('inf')}}),
        'has an interval without an end',
    ),
}  # fmt: skip


@pytest.fixture
def told(capsys):
    """A function: (exit status, stdout, stderr) of a command."""

    def call(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert code in (0, 1, 2) and 'bug of ours' not in err and 'Traceback' not in err
        assert not [char for char in FORGES if char in out + err]
        return code, out, err

    return call


@pytest.mark.parametrize('line, said', NO_RECORD.values(), ids=NO_RECORD)
def test_a_line_that_is_no_record_is_named_and_the_others_are_judged(tmp_path, told, line, said):
    fleet = fleet_generator.records(fleet_generator.healthy(8, 7))
    lines = [json.dumps(row) for row in fleet]
    file, alone = tmp_path / 'fleet.jsonl', tmp_path / 'alone.json'
    file.write_bytes('\n'.join([*lines[:5], line, *lines[5:]]).encode('utf-8', 'surrogatepass'))
    alone.write_bytes(line.encode('utf-8', 'surrogatepass'))
    for words, figures in ((['rank'], '8 nodes: 8 PASS'), (['history'], '8 nodes, 1 night ')):
        code, out, err = told(*words, file)
        assert code == 1 and figures in out
        assert f'{file}:6: ' in err and said in err and err.count('\n') == 1
    for words in (['export', '--format', 'csv'], ['report', '-o', tmp_path / 'x']):
        code, _, err = told(*words, file)
        assert code == 0 if words[0] == 'report' else code in (1, 2)
        assert f'{file}:6: ' in err and said in err
    code, _, err = told('diff', alone, f'{file}#{fleet[0]["host"]}')
    assert code == 2 and str(alone) in err and said in err


def report(**changes):
    """Of two cases, the second one changed; None: it is not there."""
    made = results_store.report(0, [results_store.case('n001', 1e9, [300] * 4) for _ in 'ab'])
    case = made['runs'][0]['testcases'][1]
    case |= changes
    return made


def figures(*row):
    return report(perfvalues={'thin:thin:triad': row})


def no_name():
    made = report()
    del made['runs'][0]['testcases'][1]['name']
    return made


NO_REPORT = {  # a report | what is said of it
    'torn': (json.dumps(report())[:900], 'not JSON'),
    'without runs': ('{"session_info": {}}', "'runs' is missing"),
    'runs of nothing': ('{"session_info": {}, "runs": null}', 'no session with runs'),
    'a case that is a number': (
        '{"session_info": {}, "runs": [{"testcases": [5]}]}',
        'not a report',
    ),
    'a case without a name': (no_name(), "'name' is missing"),
    'a name that is a number': (report(name=5), "'name' is 5"),
    'a figure that is text': (figures('x', None, None, None, 'GB/s', 'pass'), "'triad' is ('x',"),
    'a huge figure': (figures(10**400, 1, -0.1, 0.1, 'GB/s', 'pass'), "'triad' is (1000"),
    'a unit that is a number': (figures(1, None, None, None, 5, 'pass'), "'triad' is (1,"),
    'metrics that are none': (report(metrics='{{'), 'not a report'),
    'a record that is a number': (report(record=5), "'record' is 5"),
    'a time out of the calendar': (report(job_completion_time_unix=1e300), 'unix'),
    'nested deep': ('{"session_info": ' + '[' * 100_000, 'nested too deep'),
}


@pytest.mark.parametrize('content, said', NO_REPORT.values(), ids=NO_REPORT)
def test_what_is_no_report_is_named(tmp_path, told, content, said):
    file = tmp_path / 'run.json'
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    for words in (['rank', file], ['history', file], ['export', file], ['summary', file],
                  ['report', file, '-o', tmp_path / 'x'],
                  ['diff', f'{file}#0:0', f'{file}#0:1']):  # fmt: skip
        code, _, err = told(*words)
        assert code == 2 and f'{file}' in err and said in err


@pytest.mark.parametrize('command', ['rank', 'history', 'report', 'export', 'diff', 'summary'])
def test_a_file_whose_reading_fails_is_named(tmp_path, capsys, command):
    """A stale handle, a disk that fails: the system names the file where it is opened, not where
    it is read. The memory of a process has nothing at 0."""
    bad, good = tmp_path / 'f/bad.json', tmp_path / 'good.json'
    bad.parent.mkdir()
    bad.symlink_to('/proc/self/mem')
    good.write_text(text() + '\n')
    words = {'diff': [bad, good], 'summary': [bad], 'report': [bad.parent, '-o', tmp_path / 'r']}
    assert main([command, *map(str, words.get(command, [bad.parent]))]) == 2
    said = capsys.readouterr().err
    assert f"'{bad}'" in said and 'Input/output error' in said and said.count('\n') <= 2, said
