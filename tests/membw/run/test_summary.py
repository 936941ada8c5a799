"""`membw summary` on reports made by hand: the table, the reasons, the verdict."""

import json
import xml.etree.ElementTree as ET

import fleet_generator as gen
import pytest
import reframe_case
from record_schema import check

from membw.checkout import root
from membw.results.case import STREAM
from membw.run import junit, reframe_run, rows, summary


def case(pinning='omp', result='pass', values=(10.0, 9.5, 11.0, 11.5), reference=0, **more):
    figures = {
        f'local:default:{k}': [v, reference, -0.1, 0.1, 'GB/s', None]
        for k, v in zip(STREAM, values)
    }
    return reframe_case.case(
        f'stream %pinning={pinning}', pinning=pinning, result=result, perfvalues=figures,
        hashcode=f'hash{pinning}',
        dependencies_actual=[['stream_binary', 'local:default', 'gcc-o2']],
    ) | more  # fmt: skip


def whole_record(**changes):
    (found,) = gen.records(gen.healthy(1, seed=7))
    return check(found | changes)


def binary(result='pass'):
    name = 'stream_binary ~local:default+gcc-o2'
    return reframe_case.case(name, fixture=True, result=result, unique_name='stream_binary',
                             hashcode='b1')  # fmt: skip


@pytest.fixture
def show(tmp_path, capsys):
    """Write the cases as a report, show it: (exit status, its lines)."""

    def run(*cases, log=''):
        report = {'session_info': {'num_cases': len(cases)}, 'runs': [{'testcases': cases}]}
        (tmp_path / 'run.json').write_text(json.dumps(report))
        (tmp_path / 'run.log').write_text(log)
        status = summary.show(str(tmp_path / 'run.json'))
        return status, capsys.readouterr().out.splitlines()

    return run


def test_a_reason_that_rows_have_alike_is_told_in_full_once(show, tmp_path, capsys):
    """Forty rows of 300 letters hid that one stranger had spoilt them all."""
    text = 'disturbed ({}: {} of 9 repetitions were clean, fewer than 3, busiest meanwhile: {})'
    reasons = [text.format('copy', 2, 'gcc (71) 0.1 s'), text.format('add', 0, 'gcc (8) 2.5 s'),
               text.format('add', 0, 'cp (8) 2.5 s')]  # fmt: skip
    cases = [case(pinning, result='fail', fail_phase='sanity', fail_reason=f'INVALID: {why}')
             for pinning, why in zip('abc', reasons, strict=True)]  # fmt: skip
    lines = [ln.partition('INVALID  ')[2] for ln in show(*cases)[1] if 'gcc-o2  ' in ln]
    assert lines == [reasons[0], 'disturbed (as above)', reasons[2]]
    summary.show(tmp_path / 'run.json', form='json')
    (found,) = json.loads(capsys.readouterr().out)['tables']
    assert [row['reason'] for row in found['rows']] == reasons


def test_a_pass_shows_four_figures_and_that_there_is_no_reference(show):
    status, lines = show(binary(), case())
    line = next(ln for ln in lines if 'gcc-o2' in ln)
    assert line.split()[:6] == ['gcc-o2', 'omp', '10.0', '9.5', '11.0', '11.5']
    assert 'no reference: recorded only' in line and line.endswith('PASS')
    assert (status, lines[-1]) == (0, 'Verdict: PASS: 1 passed, 0 failed, 0 invalid, 0 skipped')


def test_a_row_says_what_the_compiler_made_of_the_kernels(show):
    _, lines = show(case(stores='memcpy/64'), case('none', stores='512'), case('likwid'))
    assert [ln.split()[10] for ln in lines if 'gcc-o2' in ln] == ['?', '512', 'memcpy/64']


def test_the_title_says_the_unit_and_the_head_what_each_column_holds(show):
    _, lines = show(binary(), case())
    title = next(number for number, line in enumerate(lines) if 'stream on' in line)
    assert lines[title] == 'stream on local:default, GB/s'
    head, row = lines[title + 1], lines[title + 2]
    assert (
        head.split()
        == 'preset pinning Copy Scale Add Triad reference stores threads verdict'.split()
    )
    assert row.index('no reference') == head.index('reference')


def test_more_figures_than_a_line_holds_have_a_line_each_and_a_column_per_case(show):
    names = [f'overhead_{n}' for n in range(rows.WIDE + 1)]
    cases = [
        case(values=()) | {
            'name': f'overheads %wait_policy={policy}',
            'display_name': f'overheads %pinning=omp %wait_policy={policy}',
            'unique_name': policy,
            'perfvalues': {f'local:default:{n}': [0.25, 0, None, None, 'us', None] for n in names},
            'metrics': json.dumps({n: {'unit': 'us', 'better': 'lower'} for n in names}),
        }
        for policy in ('active', 'passive')
    ]  # fmt: skip
    status, lines = show(*cases)
    assert status == 0
    (head,) = [line for line in lines if line.split()[:1] == ['figure']]
    assert head.split() == ['figure', 'gcc-o2', 'active', 'gcc-o2', 'passive']
    shown = [line.split() for line in lines if line.strip().startswith('overhead_')]
    assert shown == [[name, '0.25', '0.25'] for name in names]
    assert '  gcc-o2 active: PASS' in lines and '  gcc-o2 passive: PASS' in lines


def test_a_reference_is_shown_as_a_ratio(show):
    _, lines = show(case(reference=10))
    assert any('of reference: copy 100%, scale 95%, add 110%, triad 115%' in ln for ln in lines)


def test_an_invalid_figure_is_not_shown(show):
    why = 'sanity error: INVALID: array-too-small (8 MB)'
    status, lines = show(case(result='fail', fail_phase='sanity', fail_reason=why))
    line = next(ln for ln in lines if 'gcc-o2' in ln)
    assert line.split()[2:6] == ['-'] * 4
    assert line.endswith('INVALID  array-too-small (8 MB)')
    assert (status, lines[-1].split(':')[1]) == (1, ' INVALID')


def test_a_failed_build_is_told_and_red(show):
    failed = binary('fail') | {'fail_phase': 'compile', 'fail_reason': 'build error: no icc'}
    status, lines = show(failed, case())
    assert any('stream_binary @local:default+gcc-o2: build error: no icc' in ln for ln in lines)
    assert status == 1 and '1 builds failed' in lines[-1]


def test_a_dry_run_is_no_pass(show):
    """ReFrame passes it; the check has said no verdict."""
    status, lines = show(case(verdict='', values=(None, None, None, None)))
    assert lines[-1].startswith('Verdict: NOTHING MEASURED: a dry run of 1 cases')
    assert status == 0


@pytest.mark.parametrize('why', [
    {'result': 'fail', 'fail_phase': 'compile_wait',
     'fail_reason': 'aborted due to KeyboardInterrupt'},
    {'result': 'fail', 'fail_phase': 'run_wait', 'fail_reason': 'KeyboardInterrupt'},
    {'result': 'fail', 'fail_phase': 'setup', 'fail_reason': 'type error: \x1b[2Jx'},
    {'result': 'fail', 'fail_phase': 'sanity',
     'fail_reason': "sanity error: not measured, no record: membw: invalid value for '-n': '-5'"},
])  # fmt: skip
def test_what_was_interrupted_or_never_ran_is_not_measured_and_no_fail(show, why):
    """FAIL says that a figure can be believed and is outside its reference."""
    status, lines = show(case(), case('none', values=(None,) * 4, **why))
    assert lines[-1].startswith('Verdict: NOT MEASURED: 1 passed, 0 failed, 0 invalid, ')
    assert lines[-1].endswith(', 1 not measured')
    assert status == 1
    assert not any(' FAIL ' in line or '\x1b' in line for line in lines)


REFUSED = """spawned process error: command 'sbatch rfm_job.sh' failed with exit code 1:
--- stdout ---
--- stdout ---
--- stderr ---
sbatch: error: Batch job submission failed: Invalid partition name specified

--- stderr ---"""


def test_a_job_that_the_scheduler_refuses_is_not_measured(show):
    why = {'result': 'fail', 'fail_phase': 'run', 'fail_reason': REFUSED}
    status, lines = show(case('none', values=(None,) * 4, **why))
    assert lines[-1].startswith('Verdict: NOT MEASURED: ') and status == 1
    (row,) = [line for line in lines if 'sbatch' in line]
    assert row.endswith("'sbatch rfm_job.sh' failed: sbatch: error: Batch job submission failed: "
                        'Invalid partition name specified')  # fmt: skip


def test_a_build_that_was_interrupted_has_not_failed(show):
    ended = {'fail_phase': 'run', 'fail_reason': 'aborted due to KeyboardInterrupt'}
    status, lines = show(binary('abort') | ended)
    assert lines[-1].startswith('Verdict: NOT MEASURED: ') and 'builds failed' not in lines[-1]
    assert status == 1


def test_another_session_is_no_failed_build_nor_is_what_waits_for_it(show):
    """A membw that was killed by SIGKILL leaves its ReFrame measuring."""
    other = "reframe error: another session of 'local' is under way in '/stage': wait for it"
    ended = {'fail_phase': 'setup', 'fail_reason': other, 'unique_name': 'spack_stream'}
    status, lines = show(binary('fail') | ended,
                         binary('fail_deps'), case(result='skip'))  # fmt: skip
    assert lines[-1].startswith('Verdict: NOT MEASURED: ') and 'builds failed' not in lines[-1]
    assert status == 1


def test_an_aborted_case_is_red(show):
    assert show(case(), case('none', 'abort'))[0] == 1


def test_skips_are_grouped_by_the_reason_of_what_they_depend_on(show):
    log = (
        '[     SKIP ] ( 1/13) stream_binary ~local:default+gcc-o2 /b1 @local:default+gcc-o2 '
        "[compiler 'icc' not found]\n"
        '[     SKIP ] ( 2/13) stream %pinning=omp /hashomp @local:default+gcc-o2 '
        '[skipped due to skipped dependencies]\n'
        '[     SKIP ] (13/13) stream %pinning=none /hashnone @local:default+gcc-o2 '
        '[skipped due to skipped dependencies]\n'
    )
    status, lines = show(binary('skip'), case(result='skip'), case('none', 'skip'), log=log)
    assert "  compiler 'icc' not found: 2 of stream (gcc-o2)" in lines
    assert lines[-1].startswith('Verdict: NOTHING MEASURED: all 2 cases were skipped')
    assert status == 0


def test_a_skip_without_a_known_reason_says_so(show):
    _, lines = show(case(), case('likwid', 'skip'))
    assert any('reason not in the report' in ln for ln in lines)


def test_array_size_threads_and_node_come_from_the_records(show, tmp_path):
    path = tmp_path / 'record.json'
    path.write_text(json.dumps(whole_record(array_size=1000, threads=2, host='node7')))
    _, lines = show(case(record=str(path)))
    assert 'stream on local:default, GB/s: 1000 elements per array, 2 threads, node node7' in lines


@pytest.mark.parametrize(
    'masks, shown',
    (
        (['0', '1', '2', '5'], 'one per CPU: 0-2,5'),
        (['0-1', '0-1'], 'free on 0-1'),
        (['0', '0', '1'], '3 crowded on 0-1'),
        ([], ''),
    ),
)
def test_the_real_affinity_is_shown(masks, shown):
    assert summary.placed({'threads_on': [{'affinity': m} for m in masks]}) == shown


def test_what_was_allowed_is_shown(show, tmp_path):
    path = tmp_path / 'record.json'
    reason = {'reason': 'array-too-small', 'detail': '1 MB', 'allowed': True}
    path.write_text(json.dumps(whole_record(reasons=[reason])))
    _, lines = show(case(record=str(path)))
    assert any(ln.endswith('PASS     allowed: array-too-small') for ln in lines)


@pytest.fixture
def record(tmp_path):
    """A record of a run on a node whose peak is 23 GB/s, or is not known."""

    def write(peak=23.0):
        found = whole_record(peak_gbs=peak, peak_note='as given by --peak', host='n1')
        (tmp_path / f'{peak}.json').write_text(json.dumps(found))
        return str(tmp_path / f'{peak}.json')

    return write


def test_a_known_peak_has_its_column(show, record):
    _, lines = show(case(record=record()), case('none', record=record(), reference=10))
    head, *rows = [ln for ln in lines if 'preset' in ln or 'gcc-o2' in ln]
    at = head.index('% of peak')
    assert [row[at:].split()[0] for row in rows] == ['50.0%', '50.0%']
    title = next(ln for ln in lines if ln.startswith('stream on local:default, GB/s: '))
    assert title.endswith(', peak 23 GB/s (as given by --peak), node n1')


def test_no_column_where_no_peak_is_known(show, record):
    _, lines = show(case(record=record(None)))
    assert not any('% of peak' in line for line in lines)


def test_an_invalid_run_has_no_share_of_the_peak(show, record):
    why = 'sanity error: INVALID: too-good (triad reads 24 GB/s)'
    _, lines = show(case(record=record(), result='fail', fail_phase='sanity', fail_reason=why))
    assert not any('50.0%' in line for line in lines)


def test_the_best_of_a_scan_is_held_to_the_peak(show, record):
    scan = case(record=record()) | {'name': 'numa_scan', 'display_name': 'numa_scan'}
    scan['perfvalues'] = {
        'local:default:triad_local_1': [4.6, 0, None, None, 'GB/s', None],
        'local:default:saturation_local': [20, 0, None, None, 'threads', None],
    }
    _, lines = show(scan)
    assert any('best 20.0% of peak' in line for line in lines)


@pytest.mark.parametrize('text', ('', '[]', '{"runs": []}', 'null', '[' * 100_000))
def test_what_is_not_a_report_is_refused(tmp_path, text):
    (tmp_path / 'x.json').write_text(text)
    with pytest.raises(summary.MembwError):
        summary.show(str(tmp_path / 'x.json'))


def test_a_report_that_a_full_disk_left_empty_is_told_as_that(tmp_path):
    (tmp_path / 'x.json').touch()
    with pytest.raises(summary.MembwError, match='is empty') as caught:
        summary.show(str(tmp_path / 'x.json'))
    assert 'disk' in caught.value.hint


def test_a_report_without_cases_is_refused(tmp_path):
    (tmp_path / 'x.json').write_text('{"session_info": {}, "runs": []}')
    with pytest.raises(summary.MembwError):
        summary.show(str(tmp_path / 'x.json'))


# --- expected failures -------------------------------------------------------------------------


def expected(outcome='xfail', **more):
    """A case whose Triad is marked '$xfail', as ReFrame 4.10 reports it."""
    missed = {'fail_phase': 'performance', 'fail_reason': 'reference(s) met unexpectedly'}
    more |= missed if outcome == 'xpass' else {}
    result = {'xpass': 'fail'}.get(outcome, outcome)
    found = case(result=result, reference=9000, known_issues='{"triad": "ticket 123"}', **more)
    for key, row in found['perfvalues'].items():
        row[-1] = outcome if key.endswith('triad') else 'pass'
    return found


def test_an_expected_failure_is_known_with_its_message_and_no_pass(show):
    status, lines = show(expected(), case('none'))
    line = next(ln for ln in lines if 'triad 0%' in ln)
    assert line.endswith('KNOWN    triad: ticket 123') and 'PASS' not in line
    assert lines[-1] == 'Verdict: KNOWN: 1 passed, 0 failed, 0 invalid, 1 KNOWN, 0 skipped'
    assert status == 0


def test_an_unexpected_pass_says_what_to_take_out_and_fails(show):
    status, lines = show(expected('xpass'), case('none'))
    line = next(ln for ln in lines if 'ticket 123' in ln)
    assert "XPASS    triad: ticket 123 (met what '$xfail' says it misses: take" in line
    assert (status, lines[-1].split(':')[1]) == (1, ' XPASS')


def test_a_failure_beside_a_known_one_is_a_failure(show):
    failed = case('none', result='fail', fail_phase='performance', fail_reason='triad=1 GB/s')
    status, lines = show(expected(), failed)
    assert (status, lines[-1].split(':')[1]) == (1, ' FAIL')


# ReFrame calls an unexpected pass a failure itself
JUNIT = """<testsuites><testsuite failures="2" tests="4">
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><failure message="performance"/></testcase>
<testcase name="d"><failure message="run"/></testcase></testsuite></testsuites>"""


def test_junit_skips_what_is_known_and_fails_what_passed_unexpectedly(tmp_path):
    cases = [case(), expected(), expected('xpass'), case(result='fail')]
    report = {'session_info': {}, 'runs': [{'testcases': cases}]}
    (tmp_path / 'run.json').write_text(json.dumps(report))
    (tmp_path / 'run.xml').write_text(JUNIT)
    junit.tell_verdicts(tmp_path / 'run.json', tmp_path / 'run.xml')
    suite = ET.parse(tmp_path / 'run.xml').getroot()[0]
    assert (suite.get('failures'), suite.get('skipped'), suite.get('tests')) == ('2', '1', '4')
    assert [[child.tag for child in node] for node in suite] == [
        [], ['skipped'], ['failure'], ['failure'],
    ]  # fmt: skip
    assert suite[1][0].get('message') == 'KNOWN: triad: ticket 123'
    assert suite[2][0].get('message').startswith('XPASS: triad: ticket 123')


def test_junit_of_a_checkout_with_other_letters_in_its_path_is_read(tmp_path):
    """ReFrame declares 'utf8', which expat takes for no encoding: ASCII alone was read."""
    report = {'session_info': {}, 'runs': [{'testcases': [expected()]}]}
    (tmp_path / 'run.json').write_text(json.dumps(report))
    text = """<?xml version='1.0' encoding='utf8'?>
<testsuites><testsuite><testcase classname="/mémoire" name="漢"/></testsuite></testsuites>"""
    (tmp_path / 'run.xml').write_text(text, encoding='utf-8')
    junit.tell_verdicts(tmp_path / 'run.json', tmp_path / 'run.xml')
    (node,) = ET.parse(tmp_path / 'run.xml').getroot().iter('testcase')
    assert (node.get('classname'), node.get('name'), node[0].tag) == ('/mémoire', '漢', 'skipped')


def test_junit_has_the_verdicts_of_all_rounds(tmp_path):
    """Disturbed in the first round, then had; had first, then wrong; a build; as ever."""
    lost = {'result': 'fail', 'fail_phase': 'sanity', 'fail_reason': 'INVALID: disturbed (x)'}
    wrong = lost | {'fail_reason': 'INVALID: not-validated (x)'}
    first = [case('omp', **lost), case('none'), binary(), case('likwid')]
    again = [case('omp'), case('none', **wrong), case('likwid')]
    report = {'session_info': {}, 'runs': [{'testcases': first}, {'testcases': again}]}
    (tmp_path / 'run.json').write_text(json.dumps(report))
    (tmp_path / 'run.xml').write_text(
        '<testsuites><testsuite failures="1" tests="4"><testcase name="a"><failure message="x">'
        'text</failure></testcase><testcase name="b"/><testcase name="c"/><testcase name="d"/>'
        '</testsuite></testsuites>'
    )
    junit.tell_verdicts(tmp_path / 'run.json', tmp_path / 'run.xml')
    suite = ET.parse(tmp_path / 'run.xml').getroot()[0]
    assert [[(c.tag, c.get('message')) for c in node] for node in suite] == [
        [], [('failure', 'INVALID: not-validated (x)')], [], []]  # fmt: skip
    assert suite.get('failures') == '1'


@pytest.mark.parametrize('word', ['XFAIL', 'XPASS'])
def test_the_progress_shows_expected_failures_and_unexpected_passes(word):
    assert reframe_run.SHOWN.search(f'[    {word} ] (1/2) stream /1 @a:b+c [ticket 123]')


def test_the_progress_says_invalid_where_the_table_will():
    """The check says why just before ReFrame, which has one word for all that it does not pass."""
    said = 'stream %pinning=omp @a:b+c: INVALID: disturbed (others took 7 %); too-short (x)'
    why = reframe_run.SAID_INVALID.search(said)[1]
    line = '[     FAIL ] (1/2) stream %pinning=omp /1b89 @a:b+c'
    assert reframe_run.as_invalid(line, why) == (
        '[  INVALID ] (1/2) stream %pinning=omp /1b89 @a:b+c (disturbed, too-short)')  # fmt: skip
    assert reframe_run.as_invalid(line, '') == line


def test_a_folder_that_was_removed_costs_no_table(tmp_path, monkeypatch, capsys):
    """All was measured, and then nobody knew where the shell stands."""
    folder = tmp_path / 'gone'
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert list(summary.place_lines(f'{root()}/results/reports/x.json'))[1].startswith('report /')
