"""`membw campaign`: measure each node of a cluster once, as it becomes idle, and judge all."""

import argparse
import json
import os
import re
import shlex
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
from membw.printable import at_most, plural
from membw.rank.judge import AGAIN, CONTROLS
from membw.rank.ranking import Node, Ranking, rank_table
from membw.report.page import page_of
from membw.report.run import run_of_records
from membw.report.template import render
from membw.results.hostlist import fold, match_expected, write_node_check
from membw.results.table import Figure, Lost, Table, read_table
from membw.results.verdict import MISSING, PASS
from membw.run.session import partitions_of
from membw.site.slurm import NoAnswer

PRESETS = {'cluster_stream': 'gcc-o3', 'cluster_node': ''}  # {test: usual preset; '': its own}
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
    add('--test', choices=PRESETS, default='cluster_stream', help='(cluster_stream)')
    add('-p', '--preset', help='of cluster_stream (gcc-o3)')
    add('--at-most', type=count, default=10, metavar='N', help='jobs in the queue (10)')
    add('--dry-run', action='store_true', help='print what would be submitted')
    text = 'until all is done; look every SECONDS (60)'
    add('--wait', nargs='?', type=count, const=60, metavar='SECONDS', help=text)
    parser.set_defaults(takes_rest=True)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    partitions_of(args.system)  # refuses one that is not there
    if 'SLURM_JOB_ID' in os.environ:  # Slurm's cron is a job: of ours, nothing is set by it
        for name in [n for n in os.environ if n.startswith('SLURM_') and 'CONF' not in n]:
            del os.environ[name]
    preset = args.preset or PRESETS[args.test]
    first = ['run', '--system', args.system, '-n', args.test, '-S', 'max_nodes=1', *args.rest]
    first += ['-p', f'^{preset}$'] * bool(preset)
    # of this checkout and these options
    number = crc32(repr([root(), first]).encode())
    name = re.sub(r'\W+', '-', f'membw-{args.system}-{args.test}-{preset}-{number:08x}')
    home = Path(root(), 'results', 'campaign', name)
    made = [f.parent for f in home.glob(f'job-*/{job.FILE}') if f.stat().st_mtime >= args.within]
    if args.dry_run and not made:
        print(shlex.join(['membw', *first]))
        return 2
    home.mkdir(parents=True, exist_ok=True)
    folder = made[0] if made else job.first(home, first)
    try:
        while True:
            with one_at_a_time(home):
                is_done, status = advance(folder, home, args)
            if is_done or args.dry_run or not args.wait:
                return status
            time.sleep(args.wait)
    except NoAnswer as err:
        raise MembwError(f'Slurm: {err}', 'a later call goes on where this one was') from err


def advance(folder: Path, home: Path, args: argparse.Namespace) -> tuple[bool, int]:
    """Gathers what has ended, submits what is missing, says what is there: (done, status)."""
    queue = Queue(next(folder.glob('*.sh')), home.name, args.at_most)
    if not args.dry_run:
        job.gather(home, queue.jobs, queue.states('-t', 'all'))
    table = measured(folder, args.within)
    ranking = rank_table(table)
    every: list[Figure | Lost] = [*table.figures, *table.lost]
    have = Counter(node for node, _ in {(x.node, id(x.of)) for x in every})
    host = dict(zip(queue.nodes, match_expected(have, queue.nodes), strict=True))
    queue.submit((node for node in host if not have[host[node]]), args.dry_run)
    again = to_measure_again(ranking, have, bool(queue.jobs))
    node_of = {name: node for node, name in host.items()}
    few = [node_of[name] for name in again if name in node_of and have[name] <= AGAIN]
    queue.submit(few, args.dry_run)
    missing = {node: one for node, one in queue.nodes.items() if not have[host[node]]}
    refused = {node for node, one in missing.items() if one.kind in queue.refused}
    why = {n: one.why or queue.jobs.get(n, '') for n, one in missing.items() if n not in refused}
    ranking.nodes += [Node(node, MISSING, why[node]) for node in why]
    bad = sorted(node for node in ranking.nodes if node.verdict != PASS)
    lost = {x.node for x in table.lost} - {f.node for f in table.figures}
    number = len(host) - len(refused)
    parts = [f'{number - len(why) - len(lost)} of {plural(number, "node")} measured']
    parts += [f'no figure: {fold(lost)}'] * bool(lost)
    known = [(node, how) for node, how in queue.jobs.items() if node in queue.nodes]
    jobs = [f'{node} ({queue.nodes[node].state}, {how})' for node, how in known]
    parts += [f'{len(jobs)} queued: {", ".join(at_most(jobs, NAMED))}'] * bool(jobs)
    parts += at_most([f'{node} {why[node]}' for node in why if missing[node].why], NAMED)
    parts += [f'not for this job: {fold(refused)}'] * bool(refused)
    lines = [f'{node.name} {node.verdict} {node.reason}'.rstrip() for node in bad]
    lines = [] if queue.jobs else [*at_most(lines, LISTED), f'Verdict: {ranking.counts()}']
    print('\n'.join(['; '.join(parts), *lines]), flush=True)
    if table.figures and not args.dry_run:
        write_node_check(home / 'nodecheck.txt', ranking.nodes)
        page = page_of(run_of_records(table), [host[n] for n in host if n not in refused])
        write_whole(home / 'report.html', render(page))
    is_lacking = any(node.verdict == MISSING for node in bad)
    return not queue.jobs, 2 if is_lacking else 1 if bad or table.problems else 0


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
    key = (
        *(case[x] for x in ('system', 'partition', 'test', 'parameters', 'environ', 'pinning')),
    )
    files = Path(root(), 'results', 'records').glob(f'{case["test"]}-*.json*')
    table = read_table(sorted(str(file) for file in files if file.stat().st_mtime >= since))
    table.figures = [f for f in table.figures if f.time >= since and f.setting[:6] == key]
    table.lost = [x for x in table.lost if x.time >= since and x.setting[:6] == key]
    table.seen, table.together_s = {f.node: f.time for f in table.figures}, time.time() - since
    return table
