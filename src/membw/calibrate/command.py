"""`membw calibrate`: references of a system from its own runs, into its reference file."""

import sys
import time

from membw import tables
from membw.arguments import begin, count, days, percent
from membw.errors import MembwError
from membw.files import one_at_a_time, write_whole
from membw.plural import plural
from membw.results.read import default_results
from membw.statistics.margin import MARGIN
from membw.tables import Cell, Column, Table

HOPELESS = 5  # rounds in turn without any figure
EPILOG = """\
For each partition, environment and pinning it takes the median of each kernel, and tolerances that
95 % of healthy runs keep with 95 % confidence, however they are distributed. That takes 59
independent runs (299 for --coverage 99). Runs of one node or of one night are not independent: it
says how many they are worth, and what share of healthy runs would miss a tolerance all the same.

A node that `membw rank` would FAIL or call SUSPECT by the medians of its runs is left out and
named, however few these are. No reference is made, and it says why, where runs are INVALID (more
than a tenth), too few, of two populations, or of two systems (CPU, element size, unit): --since
DAY takes the runs after an upgrade.

A figure that was published or written by hand stays in force until --replace, with the measured
one noted beside it. A median that falls below what the calibrated figure in force, the first or
the best one allows is refused until --replace: no reference is walked down in small steps.

The cases of a check with parameters of its own (the wait policies of overheads, the affinities of
nbody) have references of their own.

examples:
  membw calibrate --system thin --dry-run               # from results/results.db
  membw calibrate --system local --environ gcc-o2 --pinning likwid --rounds 59
  membw calibrate --system thin --environ gcc-o2 --pinning omp --floors /etc/membw/floors

exit status: 0 references proposed for all; 1 some were refused, or a line could not be read;
2 usage error
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'calibrate',
        help="take references from a system's own runs",
        description='Proposes references from results and writes systems/references/SYSTEM.yaml.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS',
        help="ReFrame's results.db or reports, or records, one JSON object per line; files, "
        'folders, - for stdin (results/results.db)')  # fmt: skip
    add('--system', required=True, help='the name of a file of systems/, without .yaml')
    add('--test', default='stream', help='the check (stream)')
    add('--partition', help='this partition only')
    add('--environ', help='this environment only')
    add('--pinning', help='this pinning only; records of the program alone, which name none of '
        'the three, count where all three are given')  # fmt: skip
    add('--since', type=begin, metavar='DAY', default=0.0,
        help='take runs from this day on: 2026-11-21, or 14d: the last 14')  # fmt: skip
    add(
        '--rounds',
        type=count,
        metavar='K',
        help='first run the check K times, and take these runs alone',
    )
    add('--coverage', type=percent, default=95.0, metavar='PERCENT',
        help='share of healthy runs that is to lie within the tolerance (95)')  # fmt: skip
    add('--confidence', type=percent, default=95.0, metavar='PERCENT',
        help='how sure it is to be that they do (95)')  # fmt: skip
    add('--margin', type=percent, default=100 * MARGIN, metavar='PERCENT',
        help='the lower tolerance is never closer to the median (2)')  # fmt: skip
    add('--upper', type=percent, default=5.0, metavar='PERCENT',
        help='the upper tolerance is never closer to the median (5)')  # fmt: skip
    add('--widest', type=percent, default=10.0, metavar='PERCENT',
        help='a lower tolerance wider than this is refused (10)')  # fmt: skip
    add(
        '--all-nodes',
        action='store_true',
        help='the partition has no other nodes than those measured: few may do',
    )
    add('--expires', type=days, default=180, metavar='DAYS',
        help='after so many days each run warns that the reference is old (180)')  # fmt: skip
    add(
        '--replace',
        action='store_true',
        help='put the measured figures in force, also where published, '
        'hand-written or better ones are',
    )
    add('--floors', metavar='FILE',
        help="also write a file of floors for 'stream --at-least': --widest below the "
        'medians')  # fmt: skip
    add('--dry-run', action='store_true', help='show what would be written, as a diff')
    tables.add_argument(parser)
    parser.set_defaults(func=run)


def run(args):
    """Exit status as in EPILOG."""
    from membw.calibrate.reference_file import ReferenceFile

    folder = ReferenceFile(args.system, args.test).facts.parent  # refuses before it measures
    every, problems = gather(args)
    with one_at_a_time(folder):  # what was written meanwhile is kept
        file = ReferenceFile(args.system, args.test)
        proposals, blocks = enter(args, file, every)
        try:
            floors = floors_text(args, proposals)  # refuses before anything is written
            blocks += finish(file, args.dry_run)
            blocks += floor_lines(args, floors)
        finally:
            print(tables.as_text(blocks, args.format))
    return 1 if len(proposals) < len(every) or problems else 0


def enter(args, file, every):
    """(proposals that are in the file now, what is said of all)."""
    from membw.calibrate.reference_file import as_figures
    from membw.statistics.tolerance import Refusal, Rule, propose

    rule = Rule(args.coverage / 100, args.confidence / 100, args.margin / 100, args.upper / 100,
                args.all_nodes, args.widest / 100)  # fmt: skip
    proposals, blocks = [], []
    for samples in every:
        file.hold_to_index(samples.parameters)
        try:
            proposal = as_figures(propose(samples, rule))
            refuse_decline(file, proposal, args.replace)
        except Refusal as err:
            blocks += refusal_lines(samples, err)
        else:
            proposals.append(proposal)
            existing = file.in_force(samples.key)
            kept = file.put(proposal, rule, args.replace, args.expires)
            blocks += proposal_blocks(proposal, existing, kept)
    return proposals, blocks


def gather(args):
    """(Samples of what was asked for, problems); measures first where --rounds says so."""
    from membw.calibrate.samples import select
    from membw.results.find_one import LISTED_BY
    from membw.results.read import each_result

    begun = measure(args) if args.rounds else args.since
    chosen = args.partition, args.environ, args.pinning
    paths = args.results or [default_results()]
    samples, problems = select(
        each_result(paths), args.system, chosen, begun, args.test, args.widest / 100
    )
    for problem in problems:
        print(f'membw: {problem}', file=sys.stderr)
    if not samples:
        asked = ' '.join(filter(None, (args.system, *chosen)))
        raise MembwError(
            f"no run of '{args.test}' on '{asked}' in '{' '.join(paths)}'",
            f"'{LISTED_BY}' lists what there is; --rounds K measures first; records of the "
            'program alone want --partition, --environ and --pinning',
        )
    return samples, problems


def measure(args):
    """K rounds of the check; when they began."""
    from membw.run import newest, reframe_run, summary

    if args.results:
        raise MembwError('--rounds and RESULTS exclude each other', 'leave one of them out')
    begun, lost = float(int(time.time())), 0
    name = f'{args.test}%pinning={args.pinning}$' if args.pinning else f'{args.test} '
    rest = ['-n', f'^{name}']
    rest += ['-p', f'^{args.environ}$'] if args.environ else []
    for i in range(args.rounds):
        print(f'round {i + 1} of {args.rounds}, {time.time() - begun:.0f} s', flush=True)
        where = f'{args.system}:{args.partition}' if args.partition else args.system
        reframe_run.measure(where, rest)
        lost = 0 if summary.believed(newest.reports()[0]) else lost + 1
        if lost == HOPELESS:
            raise MembwError(
                f'{lost} rounds in turn gave no figure to be believed',
                'the table above says why; an idle machine takes fewer rounds',
            )
    return begun


def refuse_decline(file, proposal, replace):
    """A calibration that follows the decline of a node would never find it."""
    from membw.statistics.tolerance import Refusal

    for metric in () if replace else proposal.samples.metrics:
        median = proposal.kernels[metric.name].median
        for which, value, worst in file.anchors(proposal.samples.key, metric):
            if metric.rate(median) < worst:
                raise Refusal(
                    f'{metric.name} is {median:.1f} {metric.unit}, {median / value - 1:+.1%} to '
                    f'{which}: find out why, or say --replace'
                )


def refusal_lines(samples, err):
    yield f'{" ".join(samples.key)}: refused: {err}'
    yield from left_lines(samples)


def left_lines(samples):
    for why, n in samples.left.most_common():
        yield f'  left out: {plural(n, "run")}: {why}'


COLUMNS = (
    Column('kernel', 'kernel'), Column('median', 'median', True),
    Column('unit', 'unit'), Column('interval_low', '95 % interval'), Column('interval_high', ''),
    Column('lower', 'tolerance', True), Column('upper', '', True), Column('existing', 'existing'),
)  # fmt: skip


def proposal_blocks(proposal, existing, kept):
    """The table of a proposal, and what is said of it."""
    samples = proposal.samples
    nodes = len(set(samples.nodes))
    title = (
        f'{" ".join(samples.key)}: {plural(len(samples.nodes), "run")} of '
        f'{plural(nodes, "node")}, worth {proposal.effective} independent ones'
    )
    units = {metric.name: metric.unit for metric in samples.metrics}
    rows = [
        [
            name,
            Cell(kernel.median, f'{kernel.median:.1f}'),
            units[name],
            Cell(kernel.interval[0], f'{kernel.interval[0]:.1f} ..'),
            Cell(kernel.interval[1], f'{kernel.interval[1]:.1f}'),
            Cell(kernel.low, f'{kernel.low:+.1%}'),
            Cell(kernel.high, f'{kernel.high:+.1%}'),
            _existing(existing, name, kept),
        ]
        for name, kernel in proposal.kernels.items()
    ]
    yield Table(title, COLUMNS, rows)
    yield f'  false alarms: {alarms_text(proposal.alarms)}'
    if kept:
        yield f'  {plural(len(kept), "existing figure")} in force as before: --replace takes these'
    yield from (f'  {note}' for note in proposal.notes)
    yield from left_lines(samples)


def alarms_text(alarms):
    mean, low, high = alarms
    most = 'not known' if high is None else f'{100 * high:.2f}'
    return (
        f'{100 * mean:.2f} % of healthy runs would miss a tolerance ({100 * low:.2f} .. {most}), '
        'by resampling'
    )


def _existing(existing, name, kept):
    if name not in existing:
        return 'none'
    value, low, high = existing[name][:3]
    bounds = ' .. '.join('open' if b is None else f'{b:+.0%}' for b in (low, high))
    stays = 'stays in force' if name in kept else 'replaced'
    return f'{value:.1f} {bounds}, {stays}'


def floors_text(args, proposals):
    from membw.calibrate import floors

    return (
        floors.of_one(proposals, args.widest / 100, args.confidence / 100) if args.floors else ''
    )


def floor_lines(args, text):
    """Last: floors never are of a reference that could not be written."""
    if args.dry_run or not args.floors:
        return text.splitlines()
    write_whole(args.floors, text, 'the references are written: is its folder there, and yours?')
    return [f'written: {args.floors}']


def finish(file, dry_run):
    if dry_run:
        return file.diff() or ['nothing to write']
    return [f'written: {path}' for path in (file.write() if file.changes() else ())]
