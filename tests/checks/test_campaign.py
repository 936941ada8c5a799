"""membw campaign under a real Slurm of seven virtual nodes: busy, drained, slow, deadly and other
ones. The program is a double that leaves made-up records: the nodes share this host's memory."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from xml.etree import ElementTree

import made_up_records as made
import pytest
import standin_gcc
import tiny_check
from checkout_copy import copy_checkout
from places import ROOT

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

# as the wrappers of a site, which
# print them; of n3 no job starts while there is a `hole`, which counts them; sinfo hangs once
# where there is a `hang`
WRAPPER = """#!/bin/sh
banner() {{
	echo 'Welcome to the Example3 Supercomputer, job 7; touch planted'
	echo '--> Verifying valid jobname...OK'
}}
case $0 in */sinfo) rm {hole}.hang 2>/dev/null && exec sleep 300 ;; esac
banner
case " $* " in *' --nodelist=n3 '*)
	[ ! -e {hole} ] || {{ echo >>{hole}; set -- --output=/nonexistent/out "$@"; }} ;;
esac
{real} "$@"
status=$?
banner
exit $status
"""
BANNERS = 'sbatch', 'squeue', 'sinfo', 'scontrol', 'scancel', 'srun'
WORDS = 'membw campaign --system emu -p gcc-o2 --at-most 3'.split()


class Place:
    """A checkout of a system 'emu' of its own, whose job wants the feature 'good'."""

    def __init__(self, folder, checkout, call, environment, slurm):
        (self.root, own), self.folder, self.call = checkout, folder, call
        self.results = self.root / 'results'
        self.put, path = standin_gcc.of_doubles(folder), environment['PATH']
        self.hole, self.path = folder / 'hole', path
        for name in BANNERS:
            text = WRAPPER.format(real=shutil.which(name, path=path), hole=self.hole)
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        system = (self.root / 'systems/ulysses.yaml').read_text()
        system = system.replace('name: ulysses', 'name: emu').replace("'ulysses', ", '')
        system = system.replace('references: references/ulysses.yaml\n', '')
        system = system.replace("'-p regular1'", "'-p regular1', '-C good'")
        (self.root / 'systems/emu.yaml').write_text(system)
        self.variables = {**slurm, **own, 'PATH': f'{folder}:{path}', 'MEMBW_BUILD': 'make'}
        self.variables |= {'MEMBW_SLURM_BACKEND': 'squeue'}
        self.environment = environment

    def plant(self, name, share=1.0):
        """The rates of a node, as a share of a healthy one's; None: its program dies."""
        rows = share and made.stream(share=share)
        record = rows and made.record(name, rows=rows, case=False, time='@')
        self.put(f'{name}-stream', record)

    def slurm(self, *words):
        done = self.call(*words, **self.variables | {'PATH': self.path})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def campaign(self, *words):
        """(exit status, lines)."""
        done = self.call(*WORDS, *words, cwd=self.root, **self.variables)
        return done.returncode, done.stdout.splitlines(), done.stderr

    def started(self, *words):
        variables = {k: str(v) for k, v in {**self.environment, **self.variables}.items()}
        return subprocess.Popen(
            [*WORDS, *words], cwd=self.root, env=variables, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True
        )  # fmt: skip

    def hosts(self):
        """Of all records, one for each time that a node was measured, or died."""
        lines = (f.read_text().splitlines() for f in (self.results / 'records').glob('*.json'))
        return sorted(json.loads(line)['host'] for file in lines for line in file)


@pytest.fixture(autouse=True)
def free(place):
    """What a test that failed left in the queue would hold up all others."""
    yield
    place.slurm('scancel', '-p', 'regular1')


@pytest.fixture(scope='module')
def place(own_checkout, call, environment, slurm_emu, tmp_path_factory):
    with slurm_emu(tmp_path_factory.mktemp('emu'), 7, 2, 10) as slurm:
        place = Place(tmp_path_factory.mktemp('place'), own_checkout, call, environment, slurm)
        place.slurm('scontrol', 'update', 'nodename=n[1-6]', 'AvailableFeatures=good')
        place.slurm('scontrol', 'update', 'nodename=n7', 'AvailableFeatures=other')
        yield place


def test_a_busy_a_drained_a_deadly_and_a_slow_node_and_a_stop_in_the_middle(place):
    for name, share in {'n1': 1.0, 'n2': 1.001, 'n4': 0.85, 'n5': 0.999, 'n6': 1.002}.items():
        place.plant(name, share)  # n3 dies of SIGBUS, n7 is another kind
    place.slurm('scontrol', 'update', 'nodename=n6', 'state=drain', 'reason=DIMM A3')
    busy = ['sbatch', '--parsable', '--exclusive', '-w', 'n5', '-D', place.folder]
    number = place.slurm(*busy, '--wrap=sleep 600').strip()

    call = place.started('--wait', '1')
    line = call.stdout.readline()
    assert re.match(r'0 of \d nodes measured; 3 queued: n1 \(idle, PENDING, job \d+\)', line), line
    assert len(place.slurm('squeue', '-h', '-o', '%j').split()) <= 1 + 3
    call.send_signal(signal.SIGTERM)
    assert call.wait(60) == 128 + signal.SIGTERM

    until = time.monotonic() + 240
    while True:  # goes on by calls, as cron does; n5 is busy, and its job waits
        status, lines, stderr = place.campaign()
        assert status == 2, stderr
        is_last = '; 1 queued: n5 (allocated, PENDING (Resources) since' in lines[0]
        if is_last or time.monotonic() > until:
            break
        time.sleep(2)
    since = r"n6 drained since 20\S+: 'DIMM A3'; not for this job: n7"
    text = r'3 of 6 nodes measured; no figure: n3; 1 queued: n5 \(.*\); (no node is free .*; )?'
    assert re.fullmatch(text + since, lines[0]), lines
    assert place.hosts() == ['n1', 'n2', 'n3', 'n4']

    place.slurm('scancel', number)
    status, lines, stderr = place.campaign('--wait', '1')
    assert status == 2, (lines, stderr)
    assert not [*place.root.rglob('planted'), *place.root.glob('Verifying')]
    assert re.fullmatch('4 of 6 nodes measured; no figure: n3; ' + since, lines[-5]), lines
    assert re.fullmatch(r'n3 DIED ended by SIGBUS \(signal 7\).* on n3', lines[-4]), lines
    assert lines[-3].startswith('n4 FAIL ') and 'again 3 times, compared with' in lines[-3]
    assert re.fullmatch("n6 MISSING drained since .*: 'DIMM A3'", lines[-2]), lines
    counts = 'Verdict: 6 nodes: 3 PASS, 1 MISSING, 1 FAIL, 1 DIED'
    assert lines[-1] == counts
    assert [place.hosts().count(f'n{i}') for i in range(1, 8)] == [4, 4, 1, 4, 4, 0, 0]
    (home,) = (place.results / 'campaign').iterdir()
    check = (home / 'nodecheck.txt').read_text()
    assert [line.split()[:2] for line in check.splitlines()][2:4] == [
        ['n3', 'DIED'],
        ['n4', 'FAIL'],
    ]
    page = (home / 'report.html').read_text()
    assert 'n4' in page and 'DIED' in page

    place.slurm('scontrol', 'update', 'nodename=n6', 'state=resume')
    before = place.hosts()
    status, lines, _ = place.campaign('--wait', '1')
    assert status == 1 and place.hosts() == sorted([*before, 'n6'])
    assert 'n6' not in '\n'.join(lines[-3:])


def test_a_campaign_knows_no_more_than_the_records_and_the_queue(place):
    """Records gone: all are measured again, and are well; a folder without a job is nothing."""
    shutil.rmtree(place.results / 'records')
    for name in ('n3', 'n4'):
        place.plant(name, 1.0)
    (job,) = place.results.glob('campaign/*/job-*')
    (job / 'nodes/n2').mkdir(parents=True)  # stopped before sbatch
    status, lines, stderr = place.campaign('--wait', '1')
    assert (status, lines[-1][:22]) == (0, 'Verdict: 6 nodes: 6 PASS'[:22]), (lines, stderr)
    assert place.hosts() == ['n1', 'n2', 'n3', 'n4', 'n5', 'n6']
    assert list((job / 'nodes').iterdir()) == []
    assert place.campaign() == (0, lines[-2:], '')  # covered: nothing is submitted


def test_what_slurm_refuses_is_said_in_its_words(place):
    """A partition that is closed is not waited for in silence."""
    shutil.rmtree(place.results / 'records')
    place.slurm('scontrol', 'update', 'partition=regular1', 'State=INACTIVE')
    try:
        status, lines, stderr = place.campaign()
    finally:
        place.slurm('scontrol', 'update', 'partition=regular1', 'State=UP')
    assert status == 2 and "membw: Slurm: 'sbatch':" in stderr, (lines, stderr)
    assert place.slurm('squeue', '-h') == '' and os.listdir(place.results / 'campaign')


def test_on_a_full_cluster_the_first_call_is_back_at_once_and_its_job_waits(place):
    """It waited a quarter of an hour for a build at the users' priority, and left nothing."""
    shutil.rmtree(place.results)
    words = ['sbatch', '--exclusive', '-N6', '-C', 'good', '-D', place.folder]
    place.slurm(*words, '--wrap=sleep 600')
    begun = time.monotonic()
    status, (line,), stderr = place.campaign()
    assert time.monotonic() - begun < 300, 'a build, and no wait'
    first = r'0 of 6 nodes measured; 1 queued: n1 \(allocated, PENDING, job \d+\); '
    assert re.match(f'{first}no node is free before 20', line), (line, stderr)
    assert status == 2 and place.slurm('squeue', '-h', '-t', 'PD', '-o', '%j %y').split()[1] != '0'
    status, (line,), _ = place.campaign()
    assert status == 2 and 'n1 (allocated, PENDING (' in line


@pytest.mark.night
def test_a_partition_that_is_always_full_is_measured_when_its_users_leave_a_gap(place):
    """Jobs of 8 s, more each 10 s, for two minutes: while some of them wait, none of ours runs."""
    shutil.rmtree(place.results, ignore_errors=True)
    for number in range(1, 7):
        place.plant(f'n{number}')
    words = ['sbatch', '--exclusive', '-N1', '-C', 'good', '-D', place.folder, '-o', '/dev/null']
    until, took = time.monotonic() + 120, []
    while time.monotonic() < until:
        for _ in range(15):
            place.slurm(*words, '--wrap=sleep 8')
        begun = time.monotonic()
        status, lines, stderr = place.campaign()
        took.append(time.monotonic() - begun)
        assert status == 2 and lines[0].startswith('0 of '), (lines, stderr)
        running = place.slurm('squeue', '-h', '-t', 'R', '-o', '%j').split()
        assert {*running} == {'wrap'}, running
        time.sleep(max(0, 10 - took[-1]))
    print('seconds of each call:', took)
    place.slurm('scancel', '-n', 'wrap', '-t', 'PENDING')
    status, lines, stderr = place.campaign('--wait', '1')
    assert (status, lines[-1][:24]) == (0, 'Verdict: 6 nodes: 6 PASS'), (lines, stderr)


def test_a_node_on_which_no_job_starts_gets_two_and_one_that_leaves_is_named(place):
    """A lost file system made a black hole: 29 jobs in a minute, and 'MISSING idle'."""
    shutil.rmtree(place.results, ignore_errors=True)
    for number in range(1, 7):
        place.plant(f'n{number}')
    place.hole.touch()
    status, lines, stderr = place.campaign('--wait', '1', '--minutes', '2')
    said = [line for line in lines if line.startswith('n3 ')]
    assert status == 2 and len(said) == 1, (lines, stderr)
    assert re.match(r'n3 MISSING Slurm: FAILED .* \(job \d+\), twice', said[0]), said
    assert place.campaign()[0] == 2 and place.hole.read_text() == '\n\n'
    place.hole.unlink()
    status, lines, _ = place.campaign('--again', 'n3', '--wait', '1')
    assert (status, lines[-1][:24]) == (0, 'Verdict: 6 nodes: 6 PASS'), lines

    rest = 'nodes=n[1-2,4-7]'
    place.slurm('scontrol', 'create', 'partition=other', 'nodes=n3')
    place.slurm('scontrol', 'update', 'partition=regular1', rest)
    try:
        for _ in range(2):
            status, lines, _ = place.campaign()
            assert status == 2 and lines[0].startswith('5 of 6 nodes measured; n3 Slurm has it')
            assert 'n3 MISSING Slurm has it no more, or not for this job' in lines[1]
            assert lines[-1].startswith('Verdict: 6 nodes: 5 PASS')
        own = (place.root / 'systems/emu.yaml').read_text().replace('name: emu', 'name: two')
        own = own.replace("'-p regular1'", "'-p other'")
        (place.root / 'systems/two.yaml').write_text(own)  # another system, the same checkout
        words = shlex.split('membw campaign --system two -p gcc-o2 --wait 1')
        done = place.call(*words, cwd=place.root, **place.variables)
        first, node, verdict = done.stdout.splitlines()[-3:]  # without a peer: it clears nobody
        assert (done.returncode, first) == (0, '1 of 1 node measured'), done.stdout
        assert node.startswith('n3 VALID ') and verdict.startswith('Verdict: 1 node: 1 VALID')
        assert place.campaign()[1][0].startswith('5 of 6 nodes measured; n3 Slurm has it')
        assert place.campaign('--again', 'n3')[1][-1].startswith('Verdict: 5 nodes: 5 PASS')
    finally:
        place.slurm('scontrol', 'update', 'partition=regular1', 'nodes=n[1-7]')
        (place.root / 'systems/two.yaml').unlink(missing_ok=True)
    status, lines, _ = place.campaign('--wait', '1')
    assert (status, lines[-1][:24]) == (0, 'Verdict: 6 nodes: 6 PASS'), lines  # it is back


def test_a_preset_for_the_cpu_at_hand_is_built_on_each_node(place):
    """By the job itself: -march=native is of the node."""
    shutil.rmtree(place.results, ignore_errors=True)
    for number in range(1, 7):
        place.plant(f'n{number}')
    gcc, built = place.folder / 'gcc', place.folder / 'built'
    usual = gcc.read_text()
    note = f'case " $* " in *native*) echo "$SLURMD_NODENAME" >>{built} ;; esac'
    gcc.write_text(usual.replace('#!/bin/sh\n', f'#!/bin/sh\n{note}\n'))
    words = shlex.split('membw campaign --system emu -p gcc-native --at-most 6 --wait 1')
    try:
        done = place.call(*words, cwd=place.root, **place.variables)
    finally:
        gcc.write_text(usual)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith('Verdict: 6 nodes: 6 PASS')
    assert {*built.read_text().split()} >= {f'n{number}' for number in range(1, 7)}
    for file in (place.results / 'records').glob('*.json'):
        for line in file.read_text().splitlines():
            assert json.loads(line)['case']['environ'] == 'gcc-native'


@pytest.fixture(scope='module')
def nights(place):
    """The same checkout with ci/nightly, and one row beside the campaign: it measures nothing."""
    root = copy_checkout(place.root, ['ci', 'pyproject.toml'])
    (root / '.spack').mkdir()
    pins = re.findall(r'_COMMIT=(\w+)', (root / 'ci/versions.env').read_text())
    (root / '.spack/ready').write_text(f'{pins[0]} {pins[1]}\n')
    kept = [root / f'systems/{name}.yaml' for name in ('emu', 'local')]
    kept.append(root / 'reframe-checks/cluster_stream.py')
    for file in [*root.glob('reframe-checks/*.py'), *root.glob('systems/*.yaml')]:
        if file not in kept:
            file.unlink()
    more = "tags = {'nightly'}\n    max_seconds = variable(float, value=1.0)"  # of `run --full`
    row = tiny_check.text(more).replace('class tiny(', 'class stream(')
    (root / 'reframe-checks/stream.py').write_text(row)
    (place.folder / 'scontrol').unlink()  # ReFrame would take its banner for names of nodes
    return place


def night(place, *words):
    """(exit status, mail, what JUnit has as an error or a failure, lines of nodecheck.txt)."""
    call = ['bash', 'ci/nightly', '--system', 'emu', *words]
    done = place.call(*call, cwd=place.root, **place.variables)
    folder = max((place.results / 'nights/emu').glob('2*'), key=os.path.getmtime)
    cases = ElementTree.parse(folder / 'junit.xml').getroot()
    bad = [case.get('name') for case in cases if case.findall('error') + case.findall('failure')]
    check = folder / 'nodecheck.txt'
    lines = check.read_text().splitlines() if check.exists() else []
    mail = (folder / 'summary.txt').read_text()
    print(mail, bad, lines, done.stderr)
    return done.returncode, mail, bad, lines


def test_a_night_measures_what_is_idle_at_once_and_waits_for_what_is_overdue(nights):
    """n3 dies, n4 is slow, n5 is busy and becomes free, n6 is drained, n7 is of another kind."""
    place = nights
    shutil.rmtree(place.results, ignore_errors=True)
    for name, share in {'n1': 1.0, 'n2': 1.0, 'n4': 0.85, 'n5': 1.0}.items():
        place.plant(name, share)
    place.plant('n3', None)
    place.slurm('scontrol', 'update', 'nodename=n6', 'state=drain', 'reason=DIMM A3')
    busy = ['sbatch', '--parsable', '--exclusive', '-w', 'n5', '-D', place.folder]
    place.slurm(*busy, '--wrap=sleep 25')
    status, mail, bad, check = night(place)
    assert status == 2 and bad == ['campaign-regular', 'n3', 'n4', 'n6']
    words = [line.split()[1] for line in check]
    assert words == ['PASS', 'PASS', 'DIED', 'FAIL', 'PASS', 'MISSING']  # n1 to n6
    page = (ROOT / 'docs/nightly.md').read_text()
    for line in mail.splitlines():  # with the name of a system that the page knows
        if re.match(r'Subject|campaign|n\d ', line):
            known = re.sub(r'\d{4}-\d\d-\d\d', '2026-05-28', re.sub('emu|regular', 'thin', line))
            pattern = re.sub(r'\d+\\\.\d\\ s|\d\d:\d\d:\d\d', '.*', re.escape(known))
            assert re.search(pattern.replace('\\ ', ' +'), page), line
    (folder,) = place.results.glob('nights/emu/2*')
    assert 'n4' in (folder / 'campaign-regular/report.html').read_text()
    assert 'n5' in (folder / 'figures.csv').read_text()

    for name in ('n3', 'n4'):
        place.plant(name)
    place.slurm('scontrol', 'update', 'nodename=n6', 'state=resume')
    place.plant('n6')
    place.slurm(*busy, '--wrap=sleep 600')  # it was measured last night
    outer = {'SLURM_JOB_ID': 77, 'SLURM_RESTART_COUNT': 1, 'SLURM_MEM_PER_CPU': 1}
    place.variables |= outer  # of Slurm's cron, which requeues its job
    try:
        status, mail, bad, check = night(place)
    finally:
        place.variables = {k: v for k, v in place.variables.items() if k not in outer}
    assert (status, bad) == (0, []) and ': all is well' in mail
    assert [line.split()[0] for line in check] == ['n1', 'n2', 'n3', 'n4', 'n6']


@pytest.mark.night
def test_a_night_of_banners_and_a_sinfo_that_hangs_once_has_the_right_words(nights):
    """All of Slurm's commands print a site's banners; n4 is low."""
    place = nights
    shutil.rmtree(place.results, ignore_errors=True)
    place.slurm('scancel', '-p', 'regular1')
    for number in range(1, 7):
        place.plant(f'n{number}', 0.85 if number == 4 else 1.0)
    hang = place.folder / 'hole.hang'
    hang.touch()
    status, mail, bad, check = night(place)
    assert not hang.exists(), 'sinfo was never asked'
    assert (status, bad) == (1, ['campaign-regular', 'n4']), mail
    assert [line.split()[:2] for line in check] == [
        [f'n{number}', 'FAIL' if number == 4 else 'PASS'] for number in range(1, 7)
    ]
    assert ': look at campaign-regular\n' in mail and 'again 3 times, compared with' in check[3]
    assert 'Welcome' not in mail and 'Verifying' not in mail
    assert not [*place.root.rglob('planted'), *place.root.glob('Verifying')]


def test_a_night_of_a_full_cluster_lacks_nobody_who_was_measured_this_week(nights):
    """It uses the job of last night, and says when a node is free."""
    place = nights
    busy = ['sbatch', '--exclusive', '-N6', '-C', 'good', '-D', place.folder]
    place.slurm(*busy, '--wrap=sleep 600')
    words = shlex.split('membw campaign --system emu:regular --wait 1 --minutes 1 --idle')
    done = place.call(
        *words, time.strftime('%Y-%m-%dT%H:%M:%S'), cwd=place.root, **place.variables
    )
    assert done.returncode == 0, done.stdout
    first, *_, last = done.stdout.splitlines()
    assert re.match('0 of 6 nodes measured; 6 others since 20.*; no node is free before 20', first)
    assert last.startswith('Verdict: 0 of 6 nodes measured; 6 others since 20')
