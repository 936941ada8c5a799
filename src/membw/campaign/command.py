"""`membw campaign`: measure each node of a cluster once, as it becomes idle, and judge all."""

import argparse
import json
import math
import os
import re
import shlex
import shutil
import time
from collections import Counter
from pathlib import Path
from zlib import crc32

from membw.arguments import begin, count
from membw.campaign import job
from membw.campaign.slurm_queue import Queue
from membw.checkout import root
from membw.errors import MembwError
from membw.files import one_at_a_time, write_whole
from membw.moments import night_of
from membw.printable import at_most, plural
from membw.rank.judge import AGAIN, CONTROLS
from membw.rank.ranking import Node, Ranking, rank_table
from membw.report.page import page_of, render
from membw.report.run import run_of_records
from membw.results.case import Case, parameters_of
from membw.results.figure import Figure, Lost
from membw.results.findings import reported
from membw.results.hostlist import fold, write_node_check
from membw.results.node_names import match_expected
from membw.results.table import Table, read_table
from membw.results.verdict import GOOD, KNOWN, MISSING, PASS
from membw.run.quick import chosen
from membw.run.session import environs_of, partitions_of
from membw.site.slurm import NoAnswer, cluster_of, query

TESTS, USUAL = ('cluster_stream', 'cluster_node'), 'gcc-o3'  # preset of the former
NAMED, LISTED = 5, 100  # nodes in the line; verdicts that are not PASS
EPILOG = """\
ReFrame measures the first idle node; each other node gets the same job: exclusive, of low
priority. Who has a record since --within, and who has a job in Slurm's queue, is all that a
campaign knows: any call goes on with it. Low nodes are measured three times more, and three
healthy ones. Other options, as -S VARIABLE=VALUE, go to 'membw run'.

exit status: 0 all nodes are measured and PASS; 1 one is anything else; 2 one is not measured
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, parser.allow_abbrev = parser.add_argument, False
    add('--system', required=True, metavar='NAME[:PARTITION]', help='a file of systems/')
    add('--within', type=begin, default='7d', metavar='WHEN', help='7d, or since 2026-11-21 (7d)')
    text = 'first all idle nodes at once, if not done since WHEN; judged is what is measured since'
    add('--idle', type=begin, metavar='WHEN', help=text)
    add('--test', choices=TESTS, default=TESTS[0], help=f'({TESTS[0]})')
    add('-p', '--preset', help=f'of cluster_stream ({USUAL}, or what the partition has)')
    add('--at-most', type=count, default=10, metavar='N', help='jobs in the queue (10)')
    add('--dry-run', action='store_true', help='print what would be submitted')
    text = 'until all is done; look every SECONDS (60), at first more often'
    add('--wait', nargs='?', type=count, const=60, metavar='SECONDS', help=text)
    text = 'with --wait: what then waits in the queue is cancelled'
    add('--minutes', type=count, default=math.inf, metavar='N', help=text)
    text = 'of nodecheck.txt and report.html (results/campaign/NAME)'
    add('--output', type=Path, metavar='FOLDER', help=text)
    parser.set_defaults(takes_rest=True)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    until = time.monotonic() + 60 * args.minutes
    partitions = partitions_of(args.system)  # refuses one that is not there
    if 'SLURM_JOB_ID' in os.environ:  # Slurm's cron is a job: of ours, nothing is set by it
        for name in [n for n in os.environ if n.startswith('SLURM_') and 'CONF' not in n]:
            del os.environ[name]
    preset = args.preset or (usual(partitions) if args.test == TESTS[0] else '')
    most = ['-S', f'max_nodes={0 if args.idle else 1}']
    first = ['run', '--system', args.system, '-n', args.test, *most, *args.rest]
    first += ['-p', f'^{preset}$'] * bool(preset)
    # of this checkout and these options
    number = crc32(repr([root(), args.system, args.test, preset, args.rest]).encode())
    name = re.sub(r'\W+', '-', f'membw-{args.system}-{args.test}-{preset}-{number:08x}')
    home = Path(root(), 'results', 'campaign', name)
    args.output = args.output or home
    made = sorted(home.glob(f'job-*/{job.FILE}'), key=lambda f: f.stat().st_mtime)
    is_new = not made or made[-1].stat().st_mtime < (args.idle or args.within)
    if args.dry_run and is_new:
        print(shlex.join(['membw', *first]))
        return 2
    if not shutil.which('sbatch'):  # else it is waited for
        hint = 'call it where jobs are submitted'
        raise MembwError(f"'{args.system}' needs Slurm: no 'sbatch' on this host", hint)
    home.mkdir(parents=True, exist_ok=True)
    folder, least, pause = None if is_new else made[-1].parent, 0, 1
    while True:
        is_over = time.monotonic() > until
        try:
            if not folder:
                for part in partitions:  # their controllers answer
                    cluster = cluster_of(part.get('access', []))
                    query('squeue', '-h', '-n', name, cluster=cluster)
                folder, least = newest_job(home, first, made, args)
            with one_at_a_time(home):
                is_done, status = advance(folder, args, Queue(
                    next(folder.glob('*.sh')), name, 0 if is_over else args.at_most))  # fmt: skip
            if is_done or args.dry_run or not args.wait:
                return max(status, least)
        except NoAnswer as err:
            if is_over or not args.wait:
                hint = 'a later call goes on where this one was'
                raise MembwError(f'Slurm: {err}', hint) from err
            print(f'Slurm: {err}', flush=True)
        time.sleep(pause)
        pause = min(2 * pause, args.wait)


def newest_job(
    home: Path, words: list[str], made: list[Path], args: argparse.Namespace
) -> tuple[Path, int]:
    """(folder of the job, exit status: 2 where it is an older one, as no node is idle)."""
    if not made or not args.idle:
        return job.first(home, words), 0
    script = next(made[-1].parent.glob('*.sh'))
    now, said = Queue(script, home.name, args.at_most).starts_now()  # else its build would wait
    if now:
        try:
            return job.first(home, words), 0
        except MembwError as err:
            said = str(err)
    print(f'idle nodes are not measured: {said}', flush=True)
    return made[-1].parent, 2


def usual(partitions: list[dict]) -> str:
    """The preset of a campaign that names none."""
    names = [name for part in partitions for name in environs_of(part)]
    return USUAL if USUAL in names else next(iter(chosen(names)), USUAL)


def advance(folder: Path, args: argparse.Namespace, queue: Queue) -> tuple[bool, int]:
    """Gathers what has ended, submits what is missing, says what is there: (done, status)."""
    if not args.dry_run:
        job.gather(folder.parent, queue.jobs, queue.states('-t', 'all'))
    table = measured(folder, args.within)
    last = table.seen
    host = dict(zip(queue.nodes, match_expected(last, queue.nodes), strict=True))
    if args.idle:
        judge_since(table, args.idle)
    ranking = rank_table(table)
    every: list[Figure | Lost] = [*table.figures, *table.lost]
    have = Counter(node for node, _ in {(x.node, id(x.of)) for x in every})
    queue.submit((node for node in host if host[node] not in last), args.dry_run)
    again = to_measure_again(ranking, have, bool(queue.jobs))
    node_of = {name: node for node, name in host.items()}
    few = [node_of[name] for name in again if name in node_of and have[name] <= AGAIN]
    queue.submit(few, args.dry_run)

    without = [node for node in host if not have[host[node]]]
    refused = {node for node in without if queue.nodes[node].kind in queue.refused}
    # they take jobs, and have an older record: of --idle
    others = {n for n in without if host[n] in last and not queue.nodes[n].why}
    why = {n: queue.why(n) for n in without if n not in refused | others}
    why |= queue.unknown(last.keys() - host.values() - have.keys())
    for node in why:
        when = last.get(host.get(node, node))
        why[node] += f'; last measured in the night {night_of(when)}' if when else ''
    drained = {node for node, of in queue.nodes.items() if of.is_old}  # no alarm
    words = ((node, KNOWN if node in drained else MISSING) for node in why)
    ranking.nodes += [Node(node, word, reported(why[node], 'absent')) for node, word in words]
    bad = sorted(node for node in ranking.nodes if node.verdict != PASS)
    lost = {x.node for x in table.lost} - {f.node for f in table.figures}
    number = len(host) - len(refused) + len(why.keys() - host)
    done = number - len(why) - len(lost) - len(others)
    parts = [f'{done} of {plural(number, "node")} measured']
    parts += [f'{plural(len(others), "other")} since {night_of(args.within)}'] * bool(others)
    parts += [f'no figure: {fold(lost)}'] * bool(lost)
    known = [(node, how) for node, how in queue.jobs.items() if node in queue.nodes]
    jobs = [f'{node} ({queue.nodes[node].state}, {how})' for node, how in known]
    parts += [f'{len(jobs)} queued: {", ".join(at_most(jobs, NAMED))}'] * bool(jobs)
    out = [f'{n} {how}' for n, how in why.items() if n not in queue.nodes or queue.nodes[n].why]
    parts += [*at_most(out, NAMED), *[f'not for this job: {fold(refused)}'] * bool(refused)]
    lines = [f'{node.name} {node.verdict} {node.reason}'.rstrip() for node in bad]
    lines = at_most(lines, LISTED) + [f'membw: {text}' for text in ranking.problems]
    lines.append(f'Verdict: {ranking.counts()}')
    print('\n'.join(['; '.join(parts), *([] if queue.jobs else lines)]), flush=True)
    if not args.dry_run:
        write(args.output, ranking, table, [host[n] for n in host if n not in refused])
    wrong = [node for node in bad if node.verdict not in GOOD]
    is_lacking = any(node.verdict == MISSING for node in wrong)
    return not queue.jobs, 2 if is_lacking else 1 if wrong or ranking.problems else 0


def write(folder: Path, ranking: Ranking, table: Table, expected: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_node_check(folder / 'nodecheck.txt', ranking.nodes)
    if table.figures:
        page = page_of(run_of_records(table), expected)
        write_whole(folder / 'report.html', render(page))


def to_measure_again(ranking: Ranking, have: Counter[str], more_come: bool) -> list[str]:
    """Low nodes and three healthy ones, those with the fewest records first, low ones last."""
    low, controls = (sum(of.values(), []) for of in (ranking.low, ranking.controls))
    healthy = {v.node for v in ranking.verdicts if v.verdict == PASS and not v.metric}
    begun = sorted((n for n in healthy if have[n] > 1), key=lambda n: (-have[n], n))
    beside = [*dict.fromkeys([*begun, *controls])][:CONTROLS]  # who comes later changes nothing
    is_time = low and (beside or not more_come)
    return sorted(beside + low, key=lambda n: have[n]) if is_time else []


def measured(folder: Path, since: float) -> Table:
    """Of the records of the job's test case since then: one measurement of the fleet."""
    case = json.loads((folder / job.FILE).read_text())['case']
    own = {name: case[name] for name in ('system', 'partition', 'test', 'pinning')}
    key = Case(**own, parameters=parameters_of(case['parameters']), preset=case['environ'])
    files = Path(root(), 'results', 'records').glob(f'{case["test"]}-*.json*')
    table = read_table(sorted(str(file) for file in files if file.stat().st_mtime >= since))
    table.figures = [f for f in table.figures if f.setting.row == key]
    table.lost = [x for x in table.lost if x.setting.row == key]
    judge_since(table, since)
    return table


def judge_since(table: Table, since: float) -> None:
    """What was measured since then is one measurement of the fleet, all else goes."""
    table.figures = [f for f in table.figures if f.time >= since]
    table.lost = [x for x in table.lost if x.time >= since]
    every: list[Figure | Lost] = [*table.figures, *table.lost]
    table.seen = {node: when for when, node in sorted((x.time, x.node) for x in every)}
    table.together_s = time.time() - since
