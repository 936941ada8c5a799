"""`membw run` and `membw summary`: the rows, the verdict and the exit status of a run."""

import itertools
import os
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from made_run import MadeRun, metric
from places import ROOT

from membw.results.reframe import OwnCase
from membw.summary import junit
from membw.summary.command import read, show
from membw.summary.full_table import node_lines


@pytest.fixture
def shown(capsys):
    """shown(made): (text, exit status) of the printed run."""

    def text_and_status(made):
        status = show(read(made.write()))
        return capsys.readouterr().out, status

    return text_and_status


def test_a_damaged_record_of_a_run_is_named(capsys, tmp_path):
    made = MadeRun(tmp_path).add({'triad': metric(40.0)})
    (record,) = (tmp_path / 'records').iterdir()
    record.write_text('x')
    show(read(made.write()))
    assert f'membw: {record}' in capsys.readouterr().err


def rows(made):
    return read(made.write()).rows


def stream(triad, **more):
    return {'copy': metric(40.0), 'triad': metric(triad, **more)}


REFERENCES = {'triad': [42.0, -0.05, 0.1]}
WHY = f'wrong-pinning (thread 3 ran on CPU 9{", and so on" * 20})'


@pytest.mark.parametrize('how, triad, has_reference, word, said', [
    ({'low': 42, 'high': 43}, 42.5, True, 'PASS', '42.5 ±0.5'),
    ({'low': 34.9, 'high': 35.1}, 35.0, True, 'FAIL', 'triad 35 GB/s, at least 39.9 wanted (-17'),
    ({'low': 36, 'high': 42}, 39.0, True, 'UNDECIDED', '39.0 ±3.0'),
    ({'bound': True}, 41.0, True, 'PASS', '≥ 41.0'),
    ({'bound': True}, 37.2, True, 'UNDECIDED', '≥ 37.2'),  # a bound never fails a reference
    ({'bound': True}, 37.2, False, 'VALID', '≥ 37.2'),
])  # fmt: skip
def test_a_figure_is_held_to_its_reference(made, shown, how, triad, has_reference, word, said):
    made.add(stream(triad, **how), references=REFERENCES if has_reference else {})
    text, status = shown(made)
    assert f'Verdict: {word}: 1 {word}' in text and said in text
    assert status == (word not in ('PASS', 'VALID'))


def test_an_invalid_row_shows_no_figure_and_its_reason_in_at_most_80_characters(made, shown):
    made.add(stream(44.4), reasons=[WHY]).add(stream(40.0), preset='gcc-o3')
    text, status = shown(made.add(stream(43.0), round=2))  # a good round changes nothing
    assert status == 1 and '44.4' not in text and 'thread 3 ran on CPU 9' in text
    assert max(map(len, text.splitlines()[:-3])) <= 100
    (row, _) = rows(made)
    assert (row.word, row.reason) == ('INVALID', WHY)


def test_a_failed_build_is_not_measured_by_name_and_keeps_the_rounds_of_other_rows(made, shown):
    made.build('gcc-o3', 'fail', 'compile error: gcc: broken').build('gcc-o2')
    for number in (1, 2):
        made.add(stream(40.0 + number), round=number).failed_with('gcc-o3', round=number)
    made.event('expected').event('skip', phase='startup', why='dependencies failed')
    text, status = shown(made.skip('no such tool', preset='icx', test='ladder'))
    assert status == 2 and 'fail_deps' not in text and 'dependencies failed' not in text
    assert 'its build failed (stream gcc-o3): compile error: gcc: broken' in text
    assert 'Verdict: MISSING: 1 VALID, 1 MISSING, 1 skipped, 1 build failed' in text
    assert '42.0' in text and 'no such tool: ladder (icx)' in text  # of round 2


def test_a_run_without_a_figure_never_passes(made, shown):
    assert shown(made.add(result='pass'))[1] == 2  # a dry run of plain ReFrame
    made.cases.clear()
    assert shown(made.add(result='skip', skip_reason='no tool'))[1] == 2
    junit.write(read(str(made.path)))
    assert 'errors="1"' in made.path.with_suffix('.xml').read_text()
    made.cases.clear()
    text, status = shown(made.add(stream(44.4), reasons=['not-validated (copy)']))
    assert status == 1 and 'PASS' not in text


def test_a_whole_cluster_is_compared_with_the_references_of_its_report(made, shown):
    values = {'local:default:slow_nodes': [4, 0, None, 0, 'nodes', 'fail']}
    case = {'result': 'fail', 'fail_phase': 'performance', 'fail_reason': 'performance error'}
    text, status = shown(made.add(test='cluster_stream', perfvalues=values, **case))
    assert status == 1 and 'slow_nodes 4 nodes, at most 0 wanted' in text


@pytest.mark.parametrize('value, word', [(3.0, 'KNOWN'), (9.0, 'XPASS')])
def test_a_known_issue_is_shown_with_its_text(made, shown, value, word):
    reference = {
        'references': {'triad': [9.0, -0.05, None]},
        'known_issues': {'triad': 'ticket 1'},
    }
    made.add({'triad': metric(value)}, result='xfail', **reference)
    text, _ = shown(made)
    assert word in text and 'triad: ticket 1' in text


@pytest.mark.parametrize('second, best', [
    ({'triad': 43.0, 'low': 42.8, 'high': 43.2}, (44.0, 43.0, 44.5, '')),
    ({'triad': 43.0, 'bound': True}, (44.0, 43.5, 44.5, '')),
    ({'triad': 44.2, 'bound': True}, (44.2, None, None, 'lower')),
])  # fmt: skip
def test_a_row_is_the_best_of_its_rounds(made, second, best):
    made.add(stream(44.0, low=43.5, high=44.5)).add(stream(**second), round=2)
    f = rows(made)[0].figures['triad']
    assert (f.value, f.low, f.high, f.bound) == best


@pytest.mark.parametrize(
    'unit, better, worst', [('ns', 'lower', 'b +30%'), ('GB/s', 'higher', 'a -30%')]
)
def test_the_metric_that_misses_most_is_named(made, shown, unit, better, worst):
    values = {'a': 70.0, 'b': 130.0, 'c': 100.0}
    figures = {n: metric(v, unit=unit, better=better) for n, v in values.items()}
    made.add(figures, references={name: [100.0, -0.5, 0.5] for name in values})
    assert f' {worst} ' in shown(made)[0]


def test_a_metric_more_changes_no_headline(made, shown):
    for number in (1, 2):
        for preset, rate in (('gcc-o2', 40.0), ('gcc-o3', 44.0)):
            figures = {**stream(rate), 'slowest_triad_s': metric(0.2, unit='s', better='lower')}
            made.add(figures, preset=preset, round=number, record={'headline': 'triad'})
    assert [row.headline.metric for row in rows(made)] == ['triad', 'triad']
    text, _ = shown(made.quick())
    assert 'GB/s by gcc-o3 (Copy 40.0)' in text and '0.2 GB/s' not in text


def test_there_is_one_row_per_preset_and_parameters_and_no_empty_column(made, shown):
    for number, pinning, affinity in itertools.product((1, 2), ('omp', 'none'), ('close', 'wide')):
        made.add(stream(40.0), pinning=pinning, round=number, parameters=f'%affinity={affinity}')
    text, _ = shown(made)
    assert sum(line.strip().startswith('gcc-o2') for line in text.splitlines()) == 4
    assert 'close' in text and 'wide' in text
    assert 'of peak' not in text and 'reference' not in text and 'stores' not in text
    text, _ = shown(made.add(stream(50.0), preset='icx', stores='256nt'))
    assert re.search(r'affinity +pinning +stores +Copy', text)
    assert re.search(r'icx .*256nt', text)


def test_a_scan_has_a_row_per_number_of_threads_local_and_remote_as_columns(made, shown):
    points = {
        f'triad_{where}_{n}': metric(rate * n, low=rate * n - 1, high=rate * n + 1)
        | {'series': f'triad_{where}', 'at': {'threads': n}}
        for where, rate in (('local', 10.0), ('remote', 5.0))
        for n in range(1, 6)
    }
    lines = shown(made.add(points, test='numa_scan', pinning='numactl'))[0].splitlines()
    (head,) = (n for n, line in enumerate(lines) if 'triad_local, GB/s' in line)
    assert lines[head].split() == ['triad_local,', 'GB/s', 'triad_remote,', 'GB/s']
    assert lines[head + 5].split() == ['5', '50.0', '±1.0', '25.0', '±1.0']


def test_many_figures_without_numbers_have_a_line_each(made, shown):
    names = [f'l{n}_{what}' for n in (1, 2, 3) for what in ('size', 'latency', 'read')]
    levels = {name: metric(10.0 * int(name[1]), unit='ns', better='lower') for name in names}
    text, _ = shown(made.add(levels, test='ladder'))
    assert '\n  l2_latency   20.0  ns\n' in text
    assert max(map(len, text.splitlines()[:-2])) <= 100


SCREENS = ROOT / 'tests/data/screens.txt'
ROME = {'vendor': 'AuthenticAMD', 'family': '23', 'model': '49', 'stepping': '0'}
MODULES = [{'size_mib': 16384, 'rated_mts': 3200, 'configured_mts': 3200}] * 16
SOCKETS = {
    'cpu_model': 'AMD EPYC 7H12 64-Core Processor', 'cpu_id': ROME, 'cores': 128, 'cpus': 256,
    'sockets': 2, 'dimms_source': 'dmi', 'dimms': MODULES, 'memory_channels': 16,
}  # fmt: skip
SLICE = {
    'cpu_model': 'AMD EPYC 7763', 'cores': 2, 'cpus': 2, 'sockets': 1,
    'cpu_id': {'vendor': 'AuthenticAMD', 'family': '25', 'model': '1', 'hypervisor': True},
}  # fmt: skip
LIMIT = {
    'ordinary': {'gbs': 220.0, 'is_bound': False}, 'half': {'gbs': 216.0, 'is_bound': False},
    'one': {'gbs': 11.0, 'is_bound': False}, 'half_threads': 64,
}  # fmt: skip
COMPILER = {'name': 'python', 'cpu_s': 0.7}
ORDINARY = {'triad': {'stores': 'ordinary', 'width_bits': 256}}


PROVEN = {'residency': {'known': 'proven'}, 'llc_mib': 512, 'array_size': 2**28}


def node(facts, threads, busy=(), **more):
    took = {'wall_s': 1.0, 'other_share': 0.0, 'stolen_share': 0.0, 'processes': [], **dict(busy)}
    return {'host': 'n1', 'facts': facts, 'threads': threads, 'busy': took, **PROVEN, **more}


def of_sockets(made, share=1.0, facts=(), threads=128, **more):
    looks = LIMIT if threads > 1 else {}
    busy = more.pop('busy', ())
    record = node({**SOCKETS, **dict(facts)}, threads, busy, looks=looks, codegen=ORDINARY)
    for preset, rate in (('gcc-native', 221.2 * share), ('clang-native', 215.0 * share)):
        made.add(rates(rate, **more), preset=preset, record=record)


def of_slice(made, busy, more=(), **how):
    record = node(SLICE, 2, busy, **dict(more))
    made.add(rates(25.9, **how), preset='gcc-native', record=record)
    made.add(rates(13.9, **how), preset='clang-native', record=record)


def rates(triad, low=None, high=None, **more):
    every = {'copy': 1.3 * triad, 'read': 1.3 * triad}
    ends = {'low': low * triad, 'high': high * triad} if low else {}
    values = {name: metric(value, **more) for name, value in every.items()}
    return values | {'triad': metric(triad, **ends, **more)}


def with_reference(made, rate):
    own = {'triad': [230.0, -0.05, 0.1]}
    record = node(SOCKETS, 128, codegen=ORDINARY)
    made.add(rates(rate, 0.99, 1.01), record=record, references=own)


def partly_wrong(made):
    of_slice(made, {})
    why = ['wrong-pinning (thread 1 ran on CPU 0, requested was CPU 1)']
    made.add(rates(97.0), preset='gcc-o3', record=node(SLICE, 2), reasons=why)


def too_good_perhaps(made, gbs, **of):
    text = 'arrays of 240.0 MiB are not proven to lie in memory beyond 720 MiB, where time ended'
    why = [{'reason': 'not-proven', 'detail': text, 'allowed': False}]
    record = node(verdict='UNDECIDED', reasons=why, **of)
    made.add({'triad': {**metric(gbs), 'bound': 'upper'}}, record=record)


def too_good_beside_another(made):
    too_good_perhaps(made, 31.0, facts=SLICE, threads=2)
    made.add(rates(24.0), preset='gcc-o3', record=node(SLICE, 2))


def all_at_once(made):
    of_slice(made, BUSY_HOST | BUSY_NODE, bound=True)
    for why in (f'wrong-pinning ({"thread 1 ran on CPU 0, " * 4})', f'clock ({"is slow, " * 9})'):
        busy = node(SLICE, 2, BUSY_HOST | BUSY_NODE)
        made.add(rates(97.0), preset=f'gcc-{why[:5]}', record=busy, reasons=[why])
    made.cases.pop(1)


def unbuilt(made):
    made.build('gcc-o3', 'fail', 'compile error: gcc: broken').failed_with('gcc-o3')


BUSY_HOST, BUSY_NODE = {'stolen_share': 0.07}, {'other_share': 0.35, 'processes': [COMPILER]}
QUOTA = {'warnings': [{'reason': 'disturbed', 'detail': 'the CPU quota of 1.5 CPUs took 0.4 s'}]}
MADE = {
    'a whole, quiet node': lambda made: of_sockets(made, low=0.99, high=1.01),
    'a channel of it is gone': lambda made: of_sockets(
        made, 0.92, {'dimms': MODULES[1:], 'memory_channels': 15}
    ),
    'it reads low': lambda made: of_sockets(made, 0.85),
    'another process beside it': lambda made: of_sockets(
        made, bound=True, busy={'other_share': 0.01, 'processes': [{**COMPILER, 'cpu_s': 2.6}]}
    ),
    'one thread on it': lambda made: of_sockets(made, 0.05, threads=1),
    'within its reference': lambda made: with_reference(made, 228.0),
    'below its reference': lambda made: with_reference(made, 180.0),
    'a quiet slice of a host': lambda made: of_slice(made, {}, low=0.9, high=1.1),
    'the host took time': lambda made: of_slice(made, BUSY_HOST, bound=True),
    'host and process took time': lambda made: of_slice(made, BUSY_HOST | BUSY_NODE, bound=True),
    'nobody can be seen': lambda made: of_slice(made, {'other_share': 0.35}, bound=True),
    'a quota': lambda made: of_slice(made, {}, QUOTA, bound=True),
    'one of three is wrong': partly_wrong,
    'what may be too good comes last': too_good_beside_another,
    'what may be too good is not as it should be': lambda made: too_good_perhaps(
        made, 221.2, facts=SOCKETS, threads=128, looks=LIMIT, codegen=ORDINARY
    ),
    'all at once': all_at_once,
    'nothing was built': unbuilt,
    'of an unknown CPU': lambda made: made.add(rates(40.0), record=node({'cpu_model': 'New'}, 4)),
}  # fmt: skip


def test_a_quick_run_is_one_screen_that_answers(tmp_path, shown, monkeypatch):
    """WRITE_SCREENS=1 writes the file: read what it says."""
    monkeypatch.setattr(os, 'geteuid', lambda: 1000)
    monkeypatch.chdir(ROOT)
    screens = []
    for name, make in MADE.items():
        (tmp_path / name).mkdir()
        make(made := MadeRun(tmp_path / name).quick())
        text, _ = shown(made)
        assert len(text.splitlines()) <= 12 and max(map(len, text.splitlines())) <= 80, text
        screens.append(f'== {name}\n{text}')
    if os.environ.get('WRITE_SCREENS'):
        SCREENS.write_text('\n'.join(screens))
    assert SCREENS.read_text() == '\n'.join(screens)


def test_a_quick_run_is_silent_on_rounds_that_its_time_did_not_allow(made, shown):
    late = 'the time of the quick run is over'
    for run in (made.add(stream(44.0)).skip(late, round=3), made.quick()):
        assert 'skipped' not in shown(run)[0]
        junit.write(read(run.write()))
        assert late not in made.path.with_suffix('.xml').read_text()


@pytest.mark.parametrize('user, no_colour', [(0, ''), (1000, '1')])
def test_hints_and_colours(made, shown, monkeypatch, user, no_colour):
    """One hint is not for root; colours are of terminals."""
    monkeypatch.setattr(os, 'geteuid', lambda: user)
    monkeypatch.setattr('sys.stdout.isatty', lambda: True, raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setenv('NO_COLOR', no_colour)
    text = shown(made.add(stream(37.2, bound=True)))[0]
    assert 'chrt --fifo 1' in text
    assert ('\x1b[36mVALID' in text) == (not no_colour)
    text = shown(made.quick())[0]
    assert 'Peak unknown' in text and ('as root it is read' in text) == (user > 0)


def test_junit_has_the_rows_and_verdicts_of_the_terminal(made, shown):
    made.build('gcc-o3', 'fail', 'compile error: gcc: broken').failed_with('gcc-o3')
    made.add(stream(40.0)).add(stream(41.0), round=2)
    made.add(stream(30.0), preset='icx', references=REFERENCES)
    made.add(stream(30.0, bound=True), preset='clang', references=REFERENCES)
    made.add(stream(90.0), preset='gcc-o1', reasons=['not-validated (copy)'])
    _, status = shown(made)
    junit.write(read(str(made.path)))
    suite = ElementTree.parse(made.path.with_suffix('.xml')).getroot()
    found = {c.get('name').split()[0]: [x for x in c if x.get('type')] for c in suite}
    words = {name: each[0].get('type') if each else 'PASS' for name, each in found.items()}
    assert status == 1 and words == {
        'gcc-o3': 'MISSING', 'gcc-o2': 'PASS', 'icx': 'FAIL', 'clang': 'UNDECIDED',
        'gcc-o1': 'INVALID', 'stream': 'MISSING',  # the build 'stream gcc-o3'
    }  # fmt: skip
    assert [suite.get(x) for x in ('tests', 'failures', 'errors')] == ['6', '3', '2']
    assert 'gcc: broken' in found['gcc-o3'][0].get('message')
    # GitLab shows the text alone
    assert found['icx'][0].text.startswith(found['icx'][0].get('message'))
    assert 'triad 30' in found['icx'][0].text


def test_nodes_with_the_same_reason_are_one_line(tmp_path):
    file = tmp_path / 'nodecheck'
    slow = 'FAIL a memory module or channel is gone'
    file.write_text(f'n1 PASS\nn2 {slow}\nn3 {slow}\nn4 DIED ended by SIGBUS (signal 7)\nn5\n')
    case = OwnCase('', '', '', '', '', node_check=str(file), nodes='5 nodes')
    row = SimpleNamespace(preset='gcc-o2', attempts=[SimpleNamespace(case=case)])
    lines = [line.strip() for line in node_lines(row)]
    died = 'n4 DIED ended by SIGBUS (signal 7)'
    assert lines == ['gcc-o2: 5 nodes', f'n[2-3] {slow}', died, 'n5']


def of_nodes(made, slow, words='%.part=default %.nid={}', **more):
    """A run of 20 nodes as --distribute names them."""
    for i in range(1, 21):
        share, name = (0.6 if i == slow else 1.0), f'n{i:03d}'
        figures = {k: metric(v * share) for k, v in (('copy', 160.0), ('triad', 180.0 + i / 10))}
        made.add(figures, parameters=words.format(name), record={'host': name}, **more)
    return made


def test_a_run_of_many_nodes_is_a_row_per_node_and_the_slow_one_is_named(made, shown):
    text, status = shown(of_nodes(made, slow=11))
    assert status == 1 and 'UNDECIDED: 19 PASS, 1 UNDECIDED' in text
    assert re.search(r'n011 .* UNDECIDED', text) and len(re.findall(r'n\d+ .* PASS', text)) == 19
    cases = junit.suite_of(read(made.write())).findall('testcase')
    assert len(cases) == 20 and len({case.get('name') for case in cases}) == 20
    failed = [case.get('name') for case in cases if case.find('failure') is not None]
    assert [name.split()[-1] for name in failed] == ['n011']


def test_rounds_that_a_scheduler_put_on_two_nodes_are_two_rows(made, shown):
    """The best of them would hide a slow node."""
    for round, (node, share) in enumerate([('n1', 1.0), ('n2', 0.6)], 1):
        figures = {name: metric(180.0 * share) for name in ('copy', 'triad')}
        made.add(figures, round=round, record={'host': node})
    text, status = shown(made)
    assert [(row.node, row.headline.value) for row in rows(made)] == [('n1', 180), ('n2', 108)]
    assert status == 1 and 'PASS: 2 PASS' not in text


def test_a_round_that_never_began_is_of_the_node_of_the_others(made):
    made.add({'triad': metric(180.0)}, record={'host': 'n1'})
    made.add(round=2, result='fail', fail_phase='run', fail_reason='refused')
    (row,) = rows(made)
    assert (row.node, row.word) == ('n1', 'MISSING') and '1 of 2 rounds' in row.reason
