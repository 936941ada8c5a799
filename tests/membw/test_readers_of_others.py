"""What reads the texts of other programs and of the kernel gets mutated ones: it reads them, or
refuses them by its own error; tests/harness/test_fuzz.py is the same for the programs."""

import io
import json
import os
import pathlib
import random
import re
import subprocess
import types

import pytest
from lib import imb_table, slurm_nodes
from places import ROOT

from membw import presets
from membw.campaign.slurm_queue import Queue
from membw.errors import MembwError
from membw.node import counters
from membw.rank import units
from membw.results import ledger, site_tests
from membw.results.hostlist import expected_nodes
from membw.site import machine, slurm, topology
from membw.system import compiler_modules, node
from membw.system import slurm as of_system

CASES, MORE = 150, 1000  # of each reader, of each of Slurm's
PIECES = [
    '9223372036854775807', '-1', '0-99999', ',', '{', '|', '=', '-', ':', '\0', '\n', "'", '²',
    'Nodes=(null)', 'n[1-', '1e308', 'nan',
]  # fmt: skip
CPUINFO = 'flags\t: fpu sse2 avx2\nFeatures : fp asimd\nisa : rv64imafdcv_zicsr_zba\n'
TOPOLOGY = (
    'SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-3]\nBlockName=b1 BlockIndex=1 Nodes=n4 B=8\n'
)
CGROUPS = '9:cpu,cpuacct:/job_1/step\n0::/system.slice/job\n180000 100000\nnr_throttled 5\n'
IMB = '# Benchmarking PingPong\n       #bytes #repetitions      t[usec]   Mbytes/sec\n'
IMB += ' 0 1000 1.2 0.0\n 1 9 1 1\n'
PRINTED = (
    'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026 DUE TO TIME LIMIT ***\nx: line 3:  9 K\n'
)


@pytest.fixture
def answer(monkeypatch, tmp_path):
    """answer(TEXT): every command and every file says it from then on."""

    def of(text):
        done = types.SimpleNamespace(stdout=text, stderr=text, returncode=0)
        drained = types.SimpleNamespace(stdout='', stderr='', returncode=0)
        monkeypatch.setattr('subprocess.run', lambda w, **more: drained if '-R' in w else done)
        monkeypatch.setattr(pathlib.Path, 'read_text', lambda path, *_, **more: text)

    monkeypatch.setattr('shutil.which', lambda name, **more: f'/usr/bin/{name}')
    monkeypatch.setattr(counters.Path, 'glob', lambda path, pattern: [path])
    return of


def queue():
    one = object.__new__(Queue)
    one.options, one.name = ['-p x', '--reservation=r', '-x n3'], 'x'
    return one


def job():
    names = {'emit_preamble': lambda job: [], 'get_option': lambda n: None}
    scheduler = types.SimpleNamespace(registered_name='slurm', **names)
    return types.SimpleNamespace(
        sched_access=[], options=[], cli_options=[], num_tasks_per_node=1, num_cpus_per_task=2,
        scheduler=scheduler,
    )  # fmt: skip


def results(text):
    stream, problems = io.BytesIO(text.encode()), []
    return [*site_tests.records('x', stream, site_tests.Wanted(), problems, {})], problems


REPORT = json.dumps({
    'session_info': {'time_end_unix': 1764230400.5},
    'runs': [{'testcases': [{
        'name': 'hpl %n=2', 'system': 'x', 'partition': 'y', 'environ': 'gnu', 'result': 'pass',
        'fixture': False, 'job_nodelist': ['n1'],
        'perfvalues': {'x:y:rate': [9, 9, -1, None, 'GB/s']},
    }]}],
})  # fmt: skip
PERFLOG = (
    'result|job_completion_time|name|system|partition|environ|job_nodelist|rate_value|rate_unit|'
    'rate_ref|rate_lower_thres|rate_upper_thres\n'
    'pass|2026-11-27T10:00:00+00:00|hpl|x|y|gnu|n1|9.5|GB/s|9|-1|null\n'
)
OF_SLURM = (
    'sinfo', 'sinfo of a campaign', 'squeue', 'squeue of a session', 'sbatch', 'scontrol show job',
    'sacct', 'srun', 'a plan', 'a federation', 'topology', 'modules',
)  # fmt: skip
# what is read, by what, a text that is right
READERS = [
    ('lists of CPUs', topology.expand, '0-3,8-11,16'),
    ('cgroups', lambda text: topology.quota(), CGROUPS),
    ('cpu.stat', lambda text: counters.read(), CGROUPS),
    ('/proc/cpuinfo', lambda text: machine.cpu_flags.__wrapped__(), CPUINFO),
    ('lscpu', lambda text: node.model(), 'Model name:   EPYC\n'),
    ('NUMA domains', lambda text: topology.numa(), '0-1'),
    ('modules', lambda text: compiler_modules.available(), 'gcc/12.2(default)\n/opt/modules:\n'),
    ('options', lambda text: slurm.option([text], '-M', '--clusters'), '-p x -M=c "-A"'),
    ('time limits', of_system.minutes, '1-02:00:00'),
    ('sinfo', lambda text: of_system.partition('cpu', []), 'membw|cpu|1/2/0/3|1:00:00\n'),
    ('sinfo of a campaign', lambda text: queue().find_nodes(),
     'ReservationName=r Nodes=n1 \nmembw|cpu*|n1|idle|f 2 64|2026-11-27T10:00:00|DIMM\n'),
    ('squeue', lambda text: queue().find_jobs(),
     'CLUSTER: c1\nmembw|n1|7|PENDING|2026-11-27T10:00:00|(Resources)\n'),
    ('squeue of a session', lambda text: slurm_nodes.under_way(job(), ['7']),
     'membw|7|RUNNING\nmembw|8|PENDING\n'),
    ('sbatch', lambda text: slurm.submit('x'), '812;emu\n'),
    ('scontrol show job', lambda text: slurm.job('7'),
     'JobId=7 JobState=FAILED Reason=JobLaunchFailure Dependency=(null) ExitCode=0:53\n'),
    ('sacct', lambda text: slurm.job('7'), 'CANCELLED by 0|0:15\n'),
    ('srun', lambda text: of_system.node_facts('cpu', []), '{"toolchains": {}, "host": "n1"}\n'),
    ('scontrol', lambda text: slurm_nodes.state(text), 'n CPUTot=2 State=IDLE+DRAIN '),
    ('sbatch --test-only', lambda text: slurm_nodes.starts(job(), 2),
     'sbatch: Job 7 to start at 2026-11-27T10:00:00 using 2 processors'),
    ('a plan', lambda text: slurm.plan('x'),
     'sbatch: Job 7 to start at 2026-11-27T10:00:00 using 2 processors in partition cpu\n'),
    ('a federation', lambda text: slurm.of_federation.__wrapped__(), 'Self:  a:127.0.0.1 ID:1\n'),
    ('topology', lambda text: units.units(['n1', 'n2', 'n4']), TOPOLOGY),
    ('job states', lambda text: ledger.how_job(text, text), 'NODE_FAIL,TIMEOUT+' + PRINTED),
    ('stderr', ledger.last_words, PRINTED),
    ('a ledger', lambda text: ledger.read('.'), 'begun n1\nended r.json 137 1 2\n'),
    ("ReFrame's report", results, REPORT), ("ReFrame's perflog", results, PERFLOG),
    ('IMB', lambda text: [*imb_table.problems(text)], IMB),
]  # fmt: skip


def mutated(chance, text):
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(text) + 1)
        text = chance.choice([
            text[:at], text[:at] + chance.choice(PIECES) + text[at:], (2 * text)[:9999],
            text[:at] + chr(chance.randrange(256)) + text[at + 1 :],
        ])  # fmt: skip
    return text


@pytest.mark.parametrize('text', [REPORT, PERFLOG], ids=['report', 'perflog'])
def test_what_is_right_is_one_record(text):
    (record,), problems = results(text)
    assert (record.host, record.case.test, problems) == ('n1', 'hpl', [])


def hangs_at_nothing(answer, name, read, right, cases):
    chance, text = random.Random(1), right
    for number in range(cases):
        answer(text)
        try:
            read(text)
        except (MembwError, slurm.NoAnswer) as err:
            assert number and str(err)
        except Exception as err:
            raise AssertionError(f'{name}: {text!r}') from err
        text = mutated(chance, right)


@pytest.mark.parametrize('name, read, right', READERS, ids=[name for name, *_ in READERS])
def test_a_reader_of_others_hangs_at_nothing_and_invents_no_error(answer, name, read, right):
    hangs_at_nothing(answer, name, read, right, CASES if name == 'topology' else MORE)


# what a site's wrapper, a login node or a module prints; none of it is a name, a number or a time
BANNER = """Welcome to the Example3 Supercomputer
No reservation for this job
--> Verifying valid submit host (login4)...OK; touch planted
*** n1|idle|down: next maintenance 2026-12-01, ticket 4711 ***
"""
KNOWN = [(name, read, right) for name, read, right in READERS if name in OF_SLURM]


@pytest.mark.night
@pytest.mark.parametrize('name, read, right', KNOWN, ids=[name for name, *_ in KNOWN])
def test_a_reader_of_slurm_hangs_at_none_of_a_hundred_thousand(answer, name, read, right):
    lists = 'topology', 'sinfo of a campaign'  # of nodes, which take as long as ten others
    hangs_at_nothing(answer, name, read, right, 10_000 if name in lists else 100_000)


@pytest.mark.parametrize('name, read, right', KNOWN, ids=[name for name, *_ in KNOWN])
def test_a_banner_before_or_behind_changes_nothing_and_alone_is_no_answer(
    answer, name, read, right
):
    """Its words were run by `sh -c 'scancel ...'`."""
    answer(right)
    plain = read(right)
    for text in BANNER + right, right + BANNER, BANNER + right + BANNER:
        answer(text)
        assert read(text) == plain, text
    answer(BANNER)
    try:
        assert not read(BANNER)
    except (MembwError, slurm.NoAnswer) as err:
        what = BANNER.splitlines()[0]
        assert what in str(err) or 'sinfo lists none' in str(err.hint), err


def test_a_list_of_cpus_is_read_as_a_whole_or_refused():
    assert topology.expand(' 0-1, 3\n') == [0, 1, 3] and topology.expand('\n') == []
    for text in ('3-1', '0-', '-1', '0--1', '0-1-2', '0 x', '0-99999', '٣'):
        with pytest.raises(MembwError, match='no range of CPUs'):
            topology.expand(text)


def test_a_list_of_more_nodes_than_any_machine_has_is_refused_and_a_long_one_is_no_file(tmp_path):
    for text in ('n[1-99999999]', 'n[1-9]m[1-99999]', f'n[1-{"9" * 9999}]'):
        with pytest.raises(MembwError, match='more than 300000 nodes'):
            expected_nodes(text)
    (tmp_path / 'nodes').write_text('9' * 5000)
    for text in (str(tmp_path / 'nodes'), 'a&' * 40):
        with pytest.raises(MembwError, match='^no node list in .{,200}$'):
            expected_nodes(text)
    assert len(expected_nodes(','.join(f'n{i}' for i in range(1, 999, 2)))) == 499
    assert len(expected_nodes('n-1-99999999,n[1-3,7],r[1-2]n[01-10]')) == 25


# of `cc -E`: the names of a family's macros, or their values
PREPROCESSED = [
    '# 1 "macros.c"\nmembw pointer 8\nmembw gcc 12 2 0\nmembw clang __clang_major__\n',
    'membw pointer 8\nmembw gcc 4 2 1\nmembw clang 19 1 7\n',
    "icc: remark #10441: deprecated\n$(touch x)`touch x`'\n%s*\nmembw gcc 9 1 0\n",
]


def test_compilers_may_print_what_they_like(tmp_path):
    """Many at once, as gcc-1, gcc-2: what they print is never run, and no version but digits."""
    chance, said = random.Random(1), {}
    for number in range(1, 21):
        name = f'gcc-{number}'
        said[name] = text = mutated(chance, chance.choice(PREPROCESSED)).replace('\0', '')
        (tmp_path / f'{name}.txt').write_text(text)
        (tmp_path / name).write_text(f'#!/bin/sh\ncat {tmp_path}/{name}.txt\n')
        (tmp_path / name).chmod(0o755)
    path = f'{tmp_path}:{os.environ["PATH"]}'
    words = ['sh', ROOT / 'src/build.sh', 'compilers']
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, 'PATH': path}, capture_output=True, timeout=60
    )
    rows = [line.split('\t') for line in done.stdout.decode(errors='replace').splitlines()]
    of = {row[1]: (row[0], row[2]) for row in rows if row[1] in said}
    assert done.returncode == 0 and not done.stderr and not (tmp_path / 'x').exists()
    for family, version in of.values():
        assert family in presets.load()['families']
        assert re.fullmatch(r'[\d.]*', version, re.ASCII), of
    assert of
