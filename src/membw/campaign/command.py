"""`membw campaign`: measure each node of a cluster once, as it becomes idle, and judge all."""

import argparse
import math
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

from membw.arguments import begin, count
from membw.campaign import job
from membw.campaign.nodes import Nodes
from membw.campaign.slurm_queue import Queue
from membw.checkout import root
from membw.errors import MembwError
from membw.files import one_at_a_time, write_whole
from membw.moments import night_of
from membw.printable import at_most, plural
from membw.rank.judge import AGAIN, CONTROLS, NodeVerdict
from membw.rank.ranking import Ranking, rank_table
from membw.report.page import page_of, render
from membw.report.run import run_of_records
from membw.results.case import Case, parameters_of
from membw.results.figure import Figure, Lost
from membw.results.findings import reported
from membw.results.hostlist import expected_nodes, fold, write_node_check
from membw.results.node_names import match_expected
from membw.results.table import Table, read_table
from membw.run.session import environs_of, partitions_of
from membw.site.programs import chosen
from membw.site.slurm import SCHEDULERS, NoAnswer
from membw.words import GOOD, KNOWN, MISSING, PASS

TEST, USUAL = 'cluster_stream', 'gcc-o3'
GONE = 'Slurm has it no more, or not for this job'
NAMED, LISTED = 5, 100  # nodes in the line; verdicts that are not PASS
EPILOG = """\
Each node gets a job: exclusive, of low priority, built here, submitted at once. Any call goes on
with it. Low nodes are measured three times more, and three healthy ones. A node on which two jobs
left nothing, or that is in Slurm no more, is MISSING until --again names it. Other options, as
-S VARIABLE=VALUE, go to 'membw run'.

exit status: 0 all nodes are measured and PASS; 1 one is anything else; 2 one is not measured
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, parser.allow_abbrev = parser.add_argument, False
    add('--system', required=True, metavar='NAME[:PARTITION]', help='a file of systems/')
    add('--within', type=begin, default='7d', metavar='WHEN', help='7d, or since 2026-11-21 (7d)')
    text = 'each idle node, too, if not measured since WHEN; judged is what is measured since'
    add('--idle', type=begin, metavar='WHEN', help=text)
    text = "forget what is known of nodes, n3 or 'n[3-5]': repaired, or gone for good"
    add('--again', type=expected_nodes, default=[], metavar='NODES', help=text)
    add('-p', '--preset', help=f'({USUAL}, or what the partition has)')
    add('--at-most', type=count, default=10, metavar='N', help='jobs in the queue (10)')
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
    refuse_without_slurm(args.system, partitions)
    if 'SLURM_JOB_ID' in os.environ:  # Slurm's cron is a job: of ours, nothing is set by it
        for name in [n for n in os.environ if n.startswith('SLURM_') and 'CONF' not in n]:
            del os.environ[name]
    preset = args.preset or usual(partitions)
    # of this checkout and these options
    number = crc32(repr([root(), args.system, preset, args.rest]).encode())
    name = re.sub(r'\W+', '-', f'membw-{args.system}-{preset}-{number:08x}')
    home = Path(root(), 'results', 'campaign', name)
    home.mkdir(parents=True, exist_ok=True)
    args.output, pause = args.output or home, 1.0
    if args.again:
        with one_at_a_time(home):
            Nodes(home).again(args.again)
    begun = args.idle or args.within
    words = ['run', '--system', args.system, '-n', TEST, '-p', f'^{preset}$', *args.rest]
    while True:
        is_over = time.monotonic() > until
        try:
            with one_at_a_time(home):
                folder = job.newest(home, begun) or job.made(home, words)
                is_done, status = advance(folder, args, 0 if is_over else args.at_most)
            if is_done or not args.wait:
                return status
        except NoAnswer as err:
            if is_over or not args.wait:
                hint = 'a later call goes on where this one was'
                raise MembwError(f'Slurm: {err}', hint) from err
            print(f'Slurm: {err}', flush=True)
        time.sleep(pause)
        pause = min(1.3 * pause, args.wait)  # a third of what was waited for so far


def refuse_without_slurm(system: str, partitions: list[dict]) -> None:
    for part in partitions:
        if part['scheduler'] not in SCHEDULERS:
            fact = f"'{part['name']}' of '{system}' has the scheduler '{part['scheduler']}'"
            raise MembwError(f'{fact}: a campaign needs Slurm', 'name another: --system NAME:PART')
    if not shutil.which('sbatch'):  # else it is waited for
        hint = 'call it where jobs are submitted'
        raise MembwError(f"'{system}' needs Slurm: no 'sbatch' on this host", hint)


def usual(partitions: list[dict]) -> str:
    """The preset of a campaign that names none."""
    names = [name for part in partitions for name in environs_of(part)]
    return USUAL if USUAL in names else next(iter(chosen(names)), USUAL)


def advance(folder: Path, args: argparse.Namespace, most: int) -> tuple[bool, int]:
    """Gathers what has ended, submits what is missing, says what is there: (done, status)."""
    known, nodes = job.known(folder.parent)[folder], Nodes(folder.parent)
    queue = Queue(folder / known['script'], folder.parent.name, most, known.get('in_submit', ()))
    job.gather(folder.parent, queue.jobs, queue.cluster, nodes)
    table = measured(known['case'], args.within)
    look = Look(queue, nodes, table, args)
    look.submit()
    look.name_absent()
    bad = sorted((n for n in look.ranking.nodes if n.verdict != PASS), key=lambda n: n.name)
    lines = [f'{node.name} {node.verdict} {node.reason}'.rstrip() for node in bad]
    lines = at_most(lines, LISTED) + [f'membw: {text}' for text in look.ranking.problems]
    first = '; '.join(look.parts())
    lines.append(f'Verdict: {look.ranking.counts() if look.ranking.nodes else first}')
    print(first, *([] if queue.jobs else lines), sep='\n', flush=True)
    nodes.write()
    write(args.output, look.ranking, table, look.expected)
    wrong = [node for node in bad if node.verdict not in GOOD]
    # nobody is missing who was measured within --within and is busy now
    is_lacking = any(node.verdict == MISSING for node in wrong) or not (look.have or look.others)
    return not queue.jobs, 2 if is_lacking else 1 if wrong or look.ranking.problems else 0


class Look:
    """What is known at one moment.

    host: {node of Slurm: its name in the records}
    last: {name: when it was measured within --within}; have: {name: measurements that are judged}
    spent: {node: why it gets no further job}
    expected: names; others: busy nodes that were measured before --idle
    refused, asleep: nodes that are not for this job, or powered down
    why: {absent node: why}; gone: of those who left Slurm or the partition
    """

    def __init__(self, queue: Queue, nodes: Nodes, table: Table, args: argparse.Namespace) -> None:
        self.queue, self.nodes, self.table, self.args = queue, nodes, table, args
        names = {**nodes, **queue.nodes}  # also those that are in Slurm no more
        self.host = dict(zip(names, match_expected(table.seen, names), strict=True))
        self.node_of = {name: node for node, name in self.host.items()}
        self.host = {node: self.host[node] for node in queue.nodes}
        keep(table, lambda x: x.time >= nodes.since(self.node_of.get(x.node, x.node)))
        for name, when in table.seen.items():
            nodes.note_measured(self.node_of.get(name, name), when)
        self.last, since = table.seen, args.idle or args.within
        keep(table, lambda x: x.time >= since)
        table.together_s = time.time() - since
        self.ranking = rank_table(table)
        every: list[Figure | Lost] = [*table.figures, *table.lost]
        self.have = Counter(node for node, _ in {(x.node, id(x.of)) for x in every})
        self.spent = {n: how for n in self.host if (how := nodes.lost(n, since))}

    def submit(self) -> None:
        """Jobs for who was not measured, then for low nodes and healthy ones."""
        queue, old = self.queue, {n for n in self.host if self.host[n] in self.last}
        idle = {n for n in self.host if queue.nodes[n].is_idle and self.args.idle}
        if self.args.idle:  # who became busy again has an older record
            queue.give_up(old - idle)
        due = [n for n in self.host if not self.have[self.host[n]] and (n not in old or n in idle)]
        queue.submit(n for n in due if n not in self.spent)
        again = to_measure_again(self.ranking, self.have, bool(queue.jobs))
        few = [self.node_of[x] for x in again if x in self.node_of and self.have[x] <= AGAIN]
        queue.submit(n for n in few if n not in self.spent)

    def name_absent(self) -> None:
        queue = self.queue
        self.why, self.others, self.refused, self.asleep = {}, [], [], []
        for node, of in queue.nodes.items():
            if self.have[self.host[node]]:
                continue
            if of.kind in queue.refused:
                self.refused.append(node)
            elif node in queue.asleep:
                self.asleep.append(node)
            elif node in self.spent or of.why or self.host[node] not in self.last:
                self.why[node] = self.spent.get(node) or queue.why(node)
            else:
                self.others.append(node)
        self.expected = [self.host[n] for n in self.host if n not in self.refused + self.asleep]
        self.gone = {n for n, own in self.nodes.items() if own.measured and n not in self.host}
        self.why |= dict.fromkeys(sorted(self.gone), GONE)
        for node in self.why:
            if node in self.nodes and (when := self.nodes[node].measured):
                self.why[node] += f'; last measured in the night {night_of(when)}'
        drained = {node for node, of in queue.nodes.items() if of.is_old}  # no alarm
        words = ((node, KNOWN if node in drained else MISSING) for node in self.why)
        kept = [node for node in self.ranking.nodes if node.name not in self.why]
        lost = [NodeVerdict(n, word, reported(self.why[n], 'absent')) for n, word in words]
        self.ranking.nodes = kept + lost

    def parts(self) -> Iterator[str]:
        """Of the first line."""
        queue, others = self.queue, len(self.others)
        lost = {x.node for x in self.table.lost} - {f.node for f in self.table.figures}
        lost -= self.gone
        measured = len(self.ranking.nodes) - len(self.why) - len(lost)
        yield f'{measured} of {plural(len(self.ranking.nodes) + others, "node")} measured'
        if not queue.nodes:
            yield 'sinfo lists no node of its partition'
        if others:
            yield f'{plural(others, "other")} since {night_of(self.args.within)}'
        if lost:
            yield f'no figure: {fold(lost)}'
        known = [(n, job.how) for n, job in queue.jobs.items() if n in self.host]
        jobs = [f'{n} ({queue.nodes[n].state}, {how})' for n, how in known]
        if jobs:
            yield f'{len(jobs)} queued: {", ".join(at_most(jobs, NAMED))}'
        every = {self.node_of.get(x, x) for of in self.ranking.low.values() for x in of}
        if low := every & queue.jobs.keys():
            yield f'low, so again beside healthy nodes: {fold(low)}'
        if (jobs or not self.have) and (when := queue.free_from()):
            yield when
        if queue.limit:
            yield queue.limit
        named = {*self.gone, *self.spent, *(n for n, of in queue.nodes.items() if of.why)}
        yield from at_most([f'{n} {how}' for n, how in self.why.items() if n in named], NAMED)
        if self.refused:
            yield f'not for this job: {fold(self.refused)}'
        if self.asleep:
            yield f'{len(self.asleep)} powered down: {fold(self.asleep)}'


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


def measured(case: dict, since: float) -> Table:
    """Of the records of the job's test case since then."""
    own = {name: case[name] for name in ('system', 'partition', 'test', 'pinning')}
    key = Case(**own, parameters=parameters_of(case['parameters']), preset=case['environ'])
    files = Path(root(), 'results', 'records').glob(f'{case["test"]}-*.json*')
    table = read_table(sorted(str(file) for file in files if file.stat().st_mtime >= since))
    keep(table, lambda x: x.setting.row == key and x.time >= since)
    return table


def keep(table: Table, is_wanted: Callable[[Figure | Lost], bool]) -> None:
    """What is left is one measurement of the fleet."""
    table.figures = [figure for figure in table.figures if is_wanted(figure)]
    table.lost = [lost for lost in table.lost if is_wanted(lost)]
    every: list[Figure | Lost] = [*table.figures, *table.lost]
    table.seen = {node: when for when, node in sorted((x.time, x.node) for x in every)}
