"""`membw calibrate` as it is called: what it reads, refuses, writes; what ReFrame makes of it."""

import datetime
import difflib
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import fleet_generator
import history_generator as gen
import numpy as np
import pytest
import results_store
import yaml
from checkout_copy import copy_checkout, variables
from lib import references as reference_files
from with_intervals import with_intervals

from membw.calibrate import command
from membw.calibrate.reference_file import ReferenceFile, match
from membw.calibrate.samples import select
from membw.cli import main
from membw.errors import MembwError
from membw.results.record import parse_record
from membw.run import summary

KEY = 'thin:thin', 'gcc-o2', 'likwid'


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy whose references may be written."""
    copy_checkout(tmp_path)
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    return tmp_path


def nights(where='thin:thin', nodes=70, count=3, seed=1, **fields):
    series = gen.healthy(nodes, count, seed)
    for cases in results_store.sessions_of(series, where=where):
        yield [case | fields for case in cases]


@pytest.fixture(scope='module')
def stored(tmp_path_factory):
    """A database of a system's runs, made once for each kind."""
    made = {}

    def get(where='thin:thin', **fields):
        key = where, *sorted(fields.items())
        if key not in made:
            path = tmp_path_factory.mktemp('store') / 'results.db'
            made[key] = results_store.store(path, nights(where, **fields))
        return made[key]

    return get


def calibrate(capsys, *words):
    code = main(['calibrate', *map(str, words)])
    out = capsys.readouterr()
    return code, out.out, out.err


def references(checkout, system='thin'):
    return yaml.safe_load((checkout / f'systems/references/{system}.yaml').read_text())


def below(table, key=KEY):
    for part in key:
        table = table[part]
    return table


def test_floors_are_what_stream_reads_and_let_healthy_nodes_pass(
    checkout, stored, capsys, tmp_path, build_program
):
    file = tmp_path / 'floors'
    words = ('--system', 'thin', '--floors', file)
    assert calibrate(capsys, *words, stored())[0] == 0
    text = file.read_text()
    assert '# 0 of these runs are below a floor; of healthy runs at most' in text
    assert text.startswith('# floors of thin:thin gcc-o2 likwid, GB/s')
    triad = below(references(checkout)['calibration'])['measured']['triad']['median']
    floors = dict(line.split('=') for line in text.splitlines() if not line.startswith('#'))
    assert list(floors) == ['copy', 'scale', 'add', 'triad']
    assert 0.899 * triad < float(floors['triad']) <= 0.9 * triad
    # this machine is no node of that system: each kernel is judged, by the program's own reader
    allowed = 'array-too-small,too-short,disturbed,unstable,oversubscribed,cpu-not-where-asked'
    line = [build_program('stream'), '-n', '100000', '-t', '3', '--allow', allowed]
    high = tmp_path / 'high'
    high.write_text(''.join(f'{name}=1{value}\n' for name, value in floors.items()))
    done = subprocess.run([*line, '--at-least', high], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith('membw: FAIL copy '), done.stderr
    done = subprocess.run([*line, '--at-least', file], capture_output=True, text=True)
    assert done.returncode in (0, 1) and re.match('membw: (PASS|FAIL) ', done.stdout), done.stderr


def test_floors_of_two_kinds_of_node_are_no_file(checkout, stored, capsys, tmp_path):
    two = [stored(), stored(seed=2, pinning='omp')]
    words = ('--system', 'thin', '--floors', tmp_path / 'floors', *two)
    code, _, err = calibrate(capsys, *words)
    assert code == 2 and not (tmp_path / 'floors').exists()
    assert '2 references for one file of floors: thin:thin gcc-o2 likwid; thin:thin' in err
    assert calibrate(capsys, *words, '--pinning', 'omp', '--dry-run')[0] == 0


def test_published_figures_stay_and_the_measured_ones_stand_beside(checkout, stored, capsys):
    old = references(checkout)
    text = (checkout / 'systems/references/thin.yaml').read_text()
    code, out, _ = calibrate(capsys, '--system', 'thin', stored())
    assert code == 0 and 'stays in force' in out and '210 runs of 70 nodes' in out
    new = references(checkout)
    assert new['stream'] == old['stream']
    # every line of the hand-written file survives, in its order
    assert (checkout / 'systems/references/thin.yaml').read_text().startswith(text)
    entry = below(new['calibration'])
    assert entry['in_force'] == [] and entry['kept']['triad'] == [166.6391, -0.05, 0.10, 'GB/s']
    assert 310 < entry['measured']['triad']['median'] < 330
    assert entry['samples'] == 210 and entry['nodes'] == 70 and 59 <= entry['independent'] <= 210
    assert entry['software']['compiler'] == 'gcc 12.2.0'
    assert entry['hardware']['microcode'] == '0x2b000603'
    today = datetime.date.today()
    assert entry['date'] == str(today)
    assert entry['expires'] == str(today + datetime.timedelta(days=180))


def test_calibrations_at_once_lose_nothing_of_each_other(checkout, stored):
    """Each said "written", and only the last one's references were there."""
    environs = 'clang-o2', 'gcc-o3', 'gcc-ofast'
    several = [
        subprocess.Popen(
            [sys.executable, '-m', 'membw', 'calibrate', '--system', 'thin', stored(environ=e)],
            env={**os.environ, 'MEMBW_ROOT': str(checkout)}, stdout=subprocess.DEVNULL,
        )
        for e in environs
    ]  # fmt: skip
    assert [process.wait(timeout=300) for process in several] == [0, 0, 0]
    assert set(environs) <= set(references(checkout)['stream']['thin:thin'])


def test_what_a_person_writes_while_it_measures_is_kept(checkout, stored, capsys, monkeypatch):
    """--rounds takes an hour."""

    def gathered(args):
        file.write_text(file.read_text().replace('down to half', 'down to a half'))
        return gather(args)

    file, gather = checkout / 'systems/references/thin.yaml', command.gather
    monkeypatch.setattr(command, 'gather', gathered)
    assert calibrate(capsys, '--system', 'thin', stored(environ='gcc-o3'))[0] == 0
    assert 'down to a half' in file.read_text()
    assert 'gcc-o3' in references(checkout)['stream']['thin:thin']
    other = ReferenceFile('thin')
    other.is_touched = True
    other.table['x'] = 1
    file.write_text('stream: {}\n')
    with pytest.raises(MembwError, match='was changed meanwhile'):
        other.write()


def test_replace_puts_the_measured_figures_in_force_and_notes_the_old(checkout, stored, capsys):
    before = (checkout / 'systems/references/thin.yaml').read_text()
    code, _, _ = calibrate(capsys, '--system', 'thin', '--replace', '--expires', '30', stored())
    new = references(checkout)
    value, low, high, unit = below(new['stream'])['triad']
    assert code == 0 and 310 < value < 330 and -0.1 < low <= -0.02 and high >= 0.05
    assert unit == 'GB/s'
    assert below(new['stream'], ('thin:thin', 'gcc-o2', 'none'))['copy'][0] == 86.9721
    entry = below(new['calibration'])
    assert entry['replaced']['triad'] == [166.6391, -0.05, 0.10, 'GB/s']
    assert entry['in_force'] == ['copy', 'scale', 'add', 'triad']
    after = (checkout / 'systems/references/thin.yaml').read_text()
    gone = [line[2:].strip() for line in difflib.ndiff(before.splitlines(), after.splitlines())
            if line.startswith('- ')]  # fmt: skip
    assert [line.split(':')[0] for line in gone] == ['copy', 'scale', 'add', 'triad']


def test_a_dry_run_shows_the_diff_and_writes_nothing(checkout, stored, capsys):
    before = (checkout / 'systems/references/thin.yaml').read_text()
    code, out, _ = calibrate(capsys, '--system', 'thin', '--replace', '--dry-run', stored())
    assert code == 0
    assert '--- a/systems/references/thin.yaml' in out and '\n+calibration:' in out
    assert '\n-        triad: [166.6391' in out
    assert (checkout / 'systems/references/thin.yaml').read_text() == before


def test_coverage_confidence_and_upper_are_those_of_the_tolerances(checkout, stored, capsys):
    """Of 300 independent runs, normal: limits lie beyond what that share of all runs keeps, and
    not by more than so many runs leave open; the mean of four kernels."""
    db, of_all = stored(nodes=300, count=1), np.hypot(0.005, 0.005)

    def tolerances(*words):
        words = '--replace', '--margin', '0.1', *words
        assert calibrate(capsys, '--system', 'thin', *words, db)[0] == 0
        return np.array([row[1:3] for row in below(references(checkout)['stream']).values()])

    for coverage, distance, beyond in (('80', 0.84, 0.45), ('95', 1.64, 0.75), ('99', 2.33, 1.75)):
        low = tolerances('--coverage', coverage)[:, 0].mean() / of_all
        assert -distance - beyond < low <= -distance
    sure, usual = (tolerances('--coverage', '80', '--confidence', c) for c in ('99.99', '50'))
    assert (sure[:, 0] < usual[:, 0]).all() and (usual[:, 1] == 0.05).all()
    assert (tolerances('--upper', '7.5')[:, 1] == 0.075).all()
    for option, value, needed in (('--coverage', '99.5', 598), ('--confidence', '99.99999', 315)):
        code, out, _ = calibrate(capsys, '--system', 'thin', option, value, db)
        assert code == 1 and f'too few runs: 300, but {needed} are needed to say of' in out


def test_the_diff_of_a_first_calibration_names_both_files(checkout, stored, capsys):
    db = stored('local:default')
    facts = (checkout / 'systems/local.yaml').read_text()
    code, out, _ = calibrate(capsys, '--system', 'local', '--dry-run', db)
    assert code == 0 and '+references: references/local.yaml' in out and '--- /dev/null' in out
    calibrate(capsys, '--system', 'local', db)
    after = (checkout / 'systems/local.yaml').read_text()
    assert after.replace('references: references/local.yaml\n', '') == facts
    assert below(references(checkout, 'local')['stream'], ('local:default', *KEY[1:]))['copy']


def test_a_calibrated_figure_is_renewed_but_not_down_the_hill(checkout, stored, capsys):
    calibrate(capsys, '--system', 'local', stored('local:default'))
    code, out, _ = calibrate(capsys, '--system', 'local', stored('local:default', seed=2))
    assert code == 0 and 'replaced' in out
    slower = stored('local:default', seed=3, threads=12)
    key = ('local:default', *KEY[1:])
    path = checkout / 'systems/references/local.yaml'
    path.write_text(path.read_text().replace(
        f'triad: [{below(references(checkout, "local")["stream"], key)["triad"][0]}',
        'triad: [400.0'))  # fmt: skip
    code, out, _ = calibrate(capsys, '--system', 'local', slower)
    assert code == 1 and 'refused: triad is 3' in out and '--replace' in out
    assert below(references(checkout, 'local')['stream'], key)['triad'][0] == 400.0
    assert calibrate(capsys, '--system', 'local', '--replace', slower)[0] == 0


def fleet_at(share, path, seed=1, **fields):
    """A stored fleet of `local` whose bandwidth is `share` of the first one's."""
    sessions = list(nights('local:default', seed=seed))
    for case in (c for cases in sessions for c in cases):
        for figure in case['perfvalues'].values():
            figure[0] *= share
        case |= fields
    return results_store.store(path, sessions)


def test_a_reference_is_not_walked_down_step_by_step(checkout, tmp_path, capsys):
    """Five steps of -1.9 %, each within what the step before allowed."""
    key, codes = ('local:default', *KEY[1:]), []
    for step in range(4):  # what is refused is not followed
        db = fleet_at(0.981**step, tmp_path / f'{step}.db')
        code, out, _ = calibrate(capsys, '--system', 'local', db)
        codes.append(code)
    assert codes == [0, 0, 1, 1] and 'to the ' in out and '--replace' in out
    entry = below(references(checkout, 'local')['calibration'], key)
    assert entry['first']['triad'][0] == entry['best']['triad'][0]
    assert entry['first']['triad'][0] > entry['measured']['triad']['median'] * 1.015
    # a decline that was agreed to is the new beginning
    assert calibrate(capsys, '--system', 'local', '--replace', db)[0] == 0
    entry = below(references(checkout, 'local')['calibration'], key)
    assert entry['first']['triad'][0] == entry['measured']['triad']['median']


def test_the_best_is_kept_when_a_later_calibration_reads_less(checkout, tmp_path, capsys):
    for step, share in enumerate((1.0, 1.03, 1.015)):
        db = fleet_at(share, tmp_path / f'{step}.db')
        assert calibrate(capsys, '--system', 'local', db)[0] == 0
    entry = below(references(checkout, 'local')['calibration'], ('local:default', *KEY[1:]))
    first, best, now = (entry['first']['copy'][0], entry['best']['copy'][0],
                        entry['measured']['copy']['median'])  # fmt: skip
    assert first < now < best
    code, out, _ = calibrate(capsys, '--system', 'local', fleet_at(1.0, tmp_path / 'x.db'))
    assert code == 1 and 'to the best calibrated, of ' in out


def test_a_reference_in_another_unit_is_not_compared(checkout, tmp_path, capsys):
    assert calibrate(capsys, '--system', 'local', fleet_at(1.0, tmp_path / '1.db'))[0] == 0
    path = checkout / 'systems/references/local.yaml'
    path.write_text(path.read_text().replace('GB/s]', 'MB/s]'))
    code, _, err = calibrate(capsys, '--system', 'local', fleet_at(1.0, tmp_path / '2.db'))
    assert code == 2 and "is in 'MB/s', not in GB/s" in err


def test_tuned_records_and_records_of_the_future_are_no_reference(checkout, tmp_path, capsys):
    fleet = fleet_generator.healthy(80, 1)
    rows = fleet_generator.records(fleet)
    tuned = [row | {'kernels_set': 'tuned', 'host': f'x{i}'} for i, row in enumerate(rows)]
    late = [row | {'time': '2999-01-01T00:00:00Z'} for row in rows[:1]]
    late[0]['build'] = {'compiler': 'gcc 99', 'flags': '-O0', 'openmp': 1}
    file = fleet_generator.write(rows + tuned + late, tmp_path / 'all.jsonl')
    named = ('--partition', 'thin', '--environ', 'gcc-native', '--pinning', 'omp')
    code, out, _ = calibrate(capsys, '--system', 'thin', *named, '--dry-run', file)
    assert code == 0 and '80 runs of 80 nodes' in out
    assert 'left out: 80 runs: kernels_set tuned' in out
    assert 'left out: 1 run: dated in the future' in out
    only = fleet_generator.write(tuned, tmp_path / 'tuned.jsonl')
    code, out, _ = calibrate(capsys, '--system', 'thin', *named, '--dry-run', only)
    assert code == 1 and 'refused: no run that may be believed' in out


def test_a_parameter_of_the_check_has_references_of_its_own(checkout, tmp_path, capsys):
    """A passive team takes ten times as long as an active one."""
    sessions = []
    for policy, share in (('active', 1.0), ('passive', 0.1)):
        name = f'overheads %pinning=likwid %wait_policy={policy}'
        for cases in nights(seed=int(10 * share), name=name):
            for figure in (f for case in cases for f in case['perfvalues'].values()):
                figure[0] *= share
            sessions.append(cases)
    db = results_store.store(tmp_path / 'r.db', sessions)
    code, out, _ = calibrate(capsys, '--system', 'thin', '--test', 'overheads', db)
    assert code == 0 and out.count('210 runs of 70 nodes') == 2
    table = references(checkout, 'thin')
    assert table['overheads']['$index'] == ['$partition', '$environ', 'pinning', 'wait_policy']
    active, passive = (below(table['overheads'], (*KEY, policy))['triad'][0]
                       for policy in ('active', 'passive'))  # fmt: skip
    assert active == pytest.approx(10 * passive, rel=0.01)
    path = checkout / 'systems/references/thin.yaml'
    more = reference_files.more_of_index(path, 'overheads')
    assert more == ['wait_policy'] and reference_files.more_of_index(path, 'stream') == []
    late = str(datetime.date.today() + datetime.timedelta(days=999))
    assert reference_files.expired(path, 'overheads', (*KEY, 'passive'), late)
    # a file that is indexed otherwise is not written into
    path.write_text(path.read_text().replace(', wait_policy]', ']'))
    code, _, err = calibrate(capsys, '--system', 'thin', '--test', 'overheads', db)
    assert code == 2 and "'overheads' is indexed by $partition, $environ, pinning\n" in err


def test_what_a_pattern_gave_is_not_lost(checkout, stored, capsys):
    """cea holds every gcc to a published Triad: a measured Copy must not hide it."""
    db = stored('cea:node', pinning='none')
    code, out, _ = calibrate(capsys, '--system', 'cea', db)
    assert code == 0
    table = references(checkout, 'cea')['stream']
    assert below(table, ('cea:node', 'gcc-.*', 'none'))['triad'][0] == 336.851901133
    own = below(table, ('cea:node', 'gcc-o2', 'none'))
    assert own['triad'] == [336.851901133, -0.05, 0.10, 'GB/s']
    assert set(own) == {'copy', 'scale', 'add', 'triad'}


def test_the_key_is_found_as_reframe_finds_it():
    table = {'$index': [], 'gcc-.*': 1, 'gcc-o2': 2, 'gcc': 3}
    assert match(table, 'gcc-o2') == 'gcc-o2'
    assert match(table, 'gcc-o3') == 'gcc-.*'
    assert match(table, 'gccx') is None


def cluster_file(path, ranks):
    """Records of a whole-cluster job, by the program alone: no ReFrame names them."""
    fleet = fleet_generator.healthy(80, 1, ranks=ranks)
    rows = fleet_generator.records(fleet)
    return fleet_generator.write(rows, path), fleet.rates.sum(axis=1)[:, 3] / 1000


@pytest.mark.parametrize('ranks', [1, 4])
def test_records_of_a_whole_cluster_are_taken_node_by_node(checkout, tmp_path, capsys, ranks):
    file, triad = cluster_file(tmp_path / 'cluster.jsonl', ranks)
    named = ('--partition', 'thin', '--environ', 'gcc-native', '--pinning', 'omp')
    code, out, _ = calibrate(capsys, '--system', 'thin', file)
    assert code == 2
    code, out, _ = calibrate(capsys, '--system', 'thin', *named, file)
    assert code == 0 and '80 runs of 80 nodes' in out
    value = below(references(checkout)['stream'], ('thin:thin', 'gcc-native', 'omp'))['triad'][0]
    assert value == pytest.approx(np.median(triad), abs=0.001)


def other(**changes):
    """80 more nodes, whose records differ in this; `facts` in one of theirs."""

    def make(row):
        facts = row['facts'] | changes.get('facts', {})
        return row | changes | {'host': f'x{row["host"]}', 'facts': facts}

    return make


def in_gib(row):
    metrics = {name: {'value': kernel['best_mbs'] / 1073.7, 'unit': 'GiB/s', 'better': 'higher'}
               for name, kernel in row['kernels'].items()}  # fmt: skip
    return row | {'schema': 'membw-record-2', 'host': f'x{row["host"]}', 'metrics': metrics}


def of_half_the_speed(row):
    """Another cluster whose nodes have the same names."""
    kernels = {k: v | {'best_mbs': v['best_mbs'] / 2} for k, v in row['kernels'].items()}
    return row | {'kernels': kernels}


@pytest.mark.parametrize('make, fact', [
    (other(facts={'cpu_model': 'Other 9'}),
     'different cpu_model: Synthetic 9000 (80 runs), Other 9 (80 runs): give the results of one'),
    (other(element_bytes=4), 'different element_bytes: 8 (80 runs), 4 (80 runs): give'),
    (other(language='fortran'), 'different language: c (80 runs), fortran (80 runs): give'),
    (in_gib, 'different units of copy: GB/s (80 runs), GiB/s (80 runs): give'),
    (of_half_the_speed, 'two nodes of one name, or a change: give the results of one'),
])  # fmt: skip
def test_results_of_two_systems_at_once_are_no_reference(checkout, tmp_path, capsys, make, fact):
    """Two CPUs of like speed made one reference, and of two element sizes the newer was taken."""
    rows = fleet_generator.records(fleet_generator.healthy(80, 1))
    more = [make(row) for row in fleet_generator.records(fleet_generator.healthy(80, 2))]
    before = (checkout / 'systems/references/thin.yaml').read_text()
    named = ('--partition', 'thin', '--environ', 'gcc-native', '--pinning', 'omp')
    file = fleet_generator.write([*rows, *more], tmp_path / 'both.jsonl')
    code, out, err = calibrate(capsys, '--system', 'thin', *named, file)
    assert code == 1 and 'thin:thin gcc-native omp: refused: ' in out and fact in out
    assert out.count('\n') == 1 and not err
    assert (checkout / 'systems/references/thin.yaml').read_text() == before
    # a few of another kind are left out, and said
    if make is not of_half_the_speed:
        file = fleet_generator.write([*rows, *more[:3]], tmp_path / 'few.jsonl')
        code, out, _ = calibrate(capsys, '--system', 'thin', *named, '--dry-run', file)
        assert code == 0 and '80 runs of 80 nodes' in out
        assert re.search('left out: 3 runs: .*, not .* as most', out)


def test_runs_whose_records_are_gone_are_of_no_other_kind():
    """Their CPU is not known; a report stands in for it by the name of the partition."""
    rows = fleet_generator.records(fleet_generator.healthy(80, 1))
    named = dict(test='stream', partition='thin:thin', environ='gcc-o2', pinning='omp')
    records = [parse_record(row, 'made up') for row in rows]
    records = [replace(r, traits=r.traits | named) for r in records]
    gone = dict(cpu_model='thin:thin', program='stream', language=None)
    records[:40] = [replace(r, traits=r.traits | gone) for r in records[:40]]
    (found,), _ = select([(records, [])], 'thin', (None, None, None))
    assert len(found.nodes) == 80 and not found.mixed
    assert found.fingerprint['hardware']['cpu_model'] == 'Synthetic 9000'


def test_results_of_another_system_or_partition_are_not_mixed_in(checkout, tmp_path, capsys):
    sessions = [*nights('thin:thin'), *nights('thin:fat', seed=2), *nights('hydra:node', seed=3)]
    db = results_store.store(tmp_path / 'r.db', sessions)
    code, out, _ = calibrate(capsys, '--system', 'thin', '--dry-run', db)
    assert code == 0 and out.count('210 runs of 70 nodes, worth') == 2 and 'hydra' not in out
    assert 'thin:fat gcc-o2 likwid: 210 runs' in out


def test_since_takes_the_runs_from_that_day_on(checkout, stored, capsys):
    """After an upgrade the runs from before it are of another system."""
    days = sorted(case['job_completion_time'][:10] for (case, *_) in nights())
    words = ('--system', 'thin', '--dry-run', '--all-nodes')
    for since, runs in ((days[0], 210), (days[1], 140)):
        code, out, _ = calibrate(capsys, *words, '--since', since, stored())
        assert code == 0 and f'{runs} runs of 70 nodes' in out
    code, _, err = calibrate(capsys, *words, '--since', '14d', stored())
    assert code == 2 and "no run of 'stream' on 'thin'" in err
    code, _, err = calibrate(capsys, *words, '--since', 'yesterday', stored())
    assert code == 2 and "'yesterday' is neither 2026-11-21 nor 14d" in err


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize('fields, fact', [
    (dict(verdict='INVALID', result='fail', reasons='disturbed (others took 20 %)'),
     '210 of 210 runs are INVALID (210 disturbed)'),
    (dict(nodes=10), 'too few runs: 30'),
    (dict(nodes=10, count=12), '120 runs of 10 nodes are worth'),
])  # fmt: skip
def test_runs_that_give_no_reference_are_refused(checkout, stored, capsys, fields, fact):
    before = (checkout / 'systems/references/thin.yaml').read_text()
    code, out, _ = calibrate(capsys, '--system', 'thin', stored(**fields))
    assert code == 1 and f'thin:thin gcc-o2 likwid: refused: {fact}' in out
    assert (checkout / 'systems/references/thin.yaml').read_text() == before


def test_figures_of_another_build_do_not_enter(checkout, tmp_path, capsys):
    old = [[c | {'compiler': 'gcc 11.4.0', 'perfvalues': {
        k: [v[0] * 0.8, *v[1:]] for k, v in c['perfvalues'].items()}} for c in cases]
        for cases in nights(seed=2)]  # fmt: skip
    new = list(nights(seed=3))
    for case in (c for cases in old for c in cases):
        case['job_completion_time'] = case['job_completion_time'].replace('2024', '2023')
    db = results_store.store(tmp_path / 'both.db', [*old, *new])
    code, out, _ = calibrate(capsys, '--system', 'thin', db)
    assert code == 0 and 'left out: 210 runs: of another build' in out
    assert 'compiler gcc 11.4.0, not gcc 12.2.0' in out
    assert below(references(checkout)['calibration'])['measured']['triad']['median'] > 310


def test_a_system_without_any_reference_is_left_as_it_is_when_all_is_refused(
    checkout, stored, capsys
):
    db = stored('hydra:node', nodes=10)
    code, out, _ = calibrate(capsys, '--system', 'hydra', db)
    assert code == 1 and 'written' not in out
    assert not (checkout / 'systems/references/hydra.yaml').exists()
    assert 'references' not in (checkout / 'systems/hydra.yaml').read_text()


@pytest.mark.parametrize('words, fact', [
    (('--system', 'thim'), "no system 'thim'"),
    (('--system', 'thin', '--pinning', 'omp'), "no run of 'stream' on 'thin omp'"),
    (('--system', 'thin', '--expires', '99999999'), "'99999999' is more than 36500 days"),
    (('--system', 'thin', '--rounds', '2'), '--rounds and RESULTS exclude each other'),
])  # fmt: skip
def test_what_cannot_be_done_is_asked_wrongly(checkout, stored, capsys, words, fact):
    code, _, err = calibrate(capsys, *words, stored())
    assert code == 2 and fact in err and 'hint: ' in err


@pytest.mark.parametrize('make, fact', [
    (os.mkfifo, "thin.yaml' is no file"),
    (os.mkdir, "thin.yaml' is no file"),
    (lambda path: path.symlink_to('/dev/zero'), "thin.yaml' is no file"),  # 22 GB, and killed
    (lambda path: path.write_bytes(b'\xff\xfe'), "thin.yaml' is not UTF-8"),
])  # fmt: skip
def test_a_reference_file_without_an_end_is_not_read(checkout, stored, capsys, make, fact):
    path = checkout / 'systems/references/thin.yaml'
    path.unlink()
    make(path)
    code, _, err = calibrate(capsys, '--system', 'thin', stored())
    assert code == 2 and fact in err


def test_a_reference_file_that_is_none_is_named(checkout, stored, capsys):
    (checkout / 'systems/references/thin.yaml').write_text('stream: [\n')
    code, _, err = calibrate(capsys, '--system', 'thin', stored())
    assert code == 2 and 'thin.yaml' in err


# --- under ReFrame -------------------------------------------------------------------------------


@pytest.mark.parametrize('key, text, day', [
    (KEY, "{date: x, expires: '2026-05-01', in_force: [triad]}", '2026-05-01'),
    (KEY, "{date: x, expires: '2026-05-02', in_force: [triad]}", None),
    (KEY, "{date: x, expires: '2026-05-01', in_force: []}", None),
    (('thin:thin', 'gcc-o3', 'likwid'), "{expires: '2020-01-01', in_force: [triad]}", None),
])  # fmt: skip
def test_a_reference_expires_after_its_last_day(tmp_path, key, text, day):
    file = tmp_path / 'r.yaml'
    file.write_text(f"calibration: {{'thin:thin': {{gcc-o2: {{likwid: {text}}}}}}}\n")
    assert reference_files.expired(file, 'stream', key, '2026-05-02') == day
    assert reference_files.expired(tmp_path / 'none.yaml', 'stream', key) is None


@pytest.mark.parametrize('test', ['stream', 'pingpong'])
def test_a_calibrated_reference_of_any_check_has_a_last_day(tmp_path, test):
    key = ('thin:thin', 'gcc-o2', 'omp')
    entry = {'expires': '2026-01-31', 'in_force': ['latency']}
    for part in reversed(key if test == 'stream' else (test, *key)):
        entry = {part: entry}
    file = tmp_path / 'thin.yaml'
    file.write_text(yaml.safe_dump({'calibration': entry}))
    assert reference_files.expired(file, test, key, '2026-02-01') == '2026-01-31'
    assert reference_files.expired(file, test, key, '2026-01-31') is None
    assert reference_files.expired(file, 'dgemm', key, '2026-02-01') is None


POSED = """\
name: posed
descr: this machine
hostnames: ['posed']
sources: [a test]
partitions:
- {name: here, descr: all of it, scheduler: local, launcher: local, max_jobs: 1, features: auto,
   toolchains: {gcc: {cc: gcc, presets: [gcc-o2]}}}
"""
TINY = ('-Sstream.array_size=1000000', '-Sstream.ntimes=3',
        '-Sstream.allow=array-too-small,too-short,disturbed,unstable')  # fmt: skip


def test_reframe_holds_a_run_to_the_calibrated_figure_and_says_when_it_is_old(
    checkout, stored, capsys, call
):
    (checkout / 'systems/posed.yaml').write_text(POSED)
    table = checkout / 'configs/presets.yaml'  # each run builds, and what it reads is no matter
    text = table.read_text()
    assert "'-O2 {openmp} {defs} -m" in text
    table.write_text(text.replace("'-O2 {openmp} {defs} -m", "'-O0 {openmp} {defs} -m"))
    db = stored('posed:here', pinning='none')
    assert calibrate(capsys, '--system', 'posed', db)[0] == 0
    file = checkout / 'systems/references/posed.yaml'
    value, low, _, _ = below(references(checkout, 'posed')['stream'],
                             ('posed:here', 'gcc-o2', 'none'))['triad']  # fmt: skip

    def run():
        done = call(
            'reframe', '--nocolor', '-c', checkout / 'reframe-checks', '-r', '--system', 'posed',
            '-n', 'stream%pinning=none', *TINY, '--prefix', checkout / 'out', cwd=checkout,
            RFM_ENABLE_RESULTS_STORAGE='0', MEMBW_BUILD='make', **variables(checkout),
        )  # fmt: skip
        return done.stdout + done.stderr

    text = run()
    # arrays in cache or not: this machine does not read what a synthetic fleet reads
    assert f'expected {value} (l={value * (1 + low):.6g}'[:22] in text
    assert 'expired' not in text
    day = below(references(checkout, 'posed')['calibration'],
                ('posed:here', 'gcc-o2', 'none'))['expires']  # fmt: skip
    file.write_text(file.read_text().replace(day, '2026-01-31'))
    assert 'the reference expired on 2026-01-31: membw calibrate --system posed' in run()
    report = max((checkout / 'results/reports').glob('*.json'), key=os.path.getmtime)
    summary.show(report)
    assert '(it expired on 2026-01-31)' in capsys.readouterr().out


@pytest.mark.parametrize('clock', ['now', 'ten minutes before midnight'])
def test_rounds_are_run_and_calibrated_from(checkout, monkeypatch, capsys, clock):
    """The check itself is stood in for: rounds leave their results in results/results.db.

    A day that ends between two rounds (UTC) once made two nights of them, and no reference.
    """
    from membw.run import reframe_run

    commands, sessions = [], []
    (checkout / 'results' / 'reports').mkdir(parents=True)
    now = time.time()
    if clock != 'now':
        now = now // 86400 * 86400 - 600
        monkeypatch.setattr(time, 'time', lambda: now)

    def stand_in(system, rest):
        commands.append((system, rest))
        rates = gen.healthy(1, 1, len(commands)).rates[:, 0, 0]
        done = now + 50 * len(commands)
        sessions.append([results_store.case('n1', done, rates, where='thin:thin')])
        results_store.write_report(checkout / 'results/reports/run-1.json', sessions[-1])
        if len(commands) == 60:
            results_store.store(checkout / 'results/results.db', sessions)
        return 1

    monkeypatch.setattr(reframe_run, 'measure', stand_in)
    words = ('--system', 'thin', '--environ', 'gcc-o2', '--pinning', 'likwid', '--rounds', '60')
    code, out, err = calibrate(capsys, *words)
    assert code == 0, out + err
    assert 'round 60 of 60' in out and '60 runs of 1 node' in out
    assert commands[0] == ('thin', ['-n', '^stream%pinning=likwid$', '-p', '^gcc-o2$'])
    assert np.unique([str(a) for a in commands]).size == 1


def test_rounds_that_give_no_figure_are_not_gone_on_with(checkout, monkeypatch, capsys):
    from membw.run import reframe_run

    rounds = []
    (checkout / 'results' / 'reports').mkdir(parents=True)

    def stand_in(system, rest):
        rounds.append(rest)
        case = results_store.case('n1', 1.7e9, [1] * 4, result='fail', fail_phase='sanity',
                                  fail_reason='INVALID: disturbed')  # fmt: skip
        results_store.write_report(checkout / 'results/reports/run-1.json', [case])
        return 1

    monkeypatch.setattr(reframe_run, 'measure', stand_in)
    code, out, err = calibrate(capsys, '--system', 'thin', '--rounds', '60')
    assert code == 2 and len(rounds) == 5
    assert '5 rounds in turn gave no figure to be believed' in err


def test_a_run_that_might_read_further_off_than_the_widest_tolerance_sets_none():
    rows = fleet_generator.records(fleet_generator.healthy(6, seed=1))
    rows = [with_intervals(row, 0.2 if i == 2 else 0.05) for i, row in enumerate(rows)]
    records = [parse_record(row, 'made up') for row in rows]
    chosen = ('node', 'gcc-o2', 'likwid')
    (found,), _ = select([(records, [])], 'thin', chosen, widest=0.1)
    assert found.key == ('thin:node', 'gcc-o2', 'likwid') and len(found.nodes) == 5
    assert found.left == {'measured again, it might read more than 10% off': 1}
