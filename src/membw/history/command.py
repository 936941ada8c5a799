"""`membw history`: what changed from night to night: a node, the fleet, or the software.

`--json` prints one object:

    {"from": "2026-01-01", "to": "2026-11-21", "nights": 320, "nodes": 128, "figures": 163840,
     "worse": 1,                       # changes that make the exit status 1
     "left_out": {"invalid": 3, "incomplete": 0, "undated": 0, "future": 0, "nothing": 0},  # runs
     "too_short": 0,                   # series with too few nights to be judged
     "not_judged": {"n003": "its runs are dated 2031-01-01: look at its clock"},  # node: why
     "problems": ["file:line: what could not be read"],   # ... and who was not judged
     "verdict": "nothing got worse",   # as the last line of the text says
     "changes": [{
        "scope": "node|fleet|software",
        "node": "n042",                # null: the fleet
        "nodes": 1,                    # how many it concerns
        "group": "thin:thin stream gcc-o2 likwid",
        "kernel": "triad",
        "night": "2026-08-01",         # the first that differs; UTC
        "until": "2026-08-01",         # the end of a drift, the last bad night
        "sure": "2026-08-03",          # the night in which it became sure
        "shape": "step|drift|intermittent|scatter",
        "direction": "slower|faster|noisier",
        "percent": -3.1, "before": 166.6, "after": 161.4, "unit": "GB/s",
        "confidence": 0.99999,         # 1 - chance that anything healthy shows as much
        "recovered": false,            # later back within the margin, or beyond
        "back": "",                    # the first night in which it was back, where that is sure
        "back_sure": "",               # ... and the night in which that became sure
        "season": false,               # a slow drift of a fleet, and no year before to tell
        "share": [0.01, 0.35],         # intermittent: bad nights before and since, else null
        "scatter": [0.5, 2.1],         # of one night, percent, before and since, else null
        "last": "2026-11-21",          # the node was last measured,
        "gone": false,                 # ... more than 90 days before the others
        "now": 161.2,                  # of its last nights
        "acknowledged": "",            # why somebody lives with it: no alarm then
        "field": "compiler",           # the first that differs in the provenance, or null
        "fields": {"compiler": ["gcc 12.2.0", "gcc 13.1.0"]}}],
     "series": [{                      # with --series
        "group": "...", "kernel": "triad", "unit": "GB/s", "better": "higher",
        "nights": ["2026-01-01"],
        "median": [166.6], "low": [165.0], "high": [168.0],     # 5 and 95 % of the nodes
        "nodes": {"n042": [166.5]}}]}  # those that changed; null: no value
"""

import json
import sys
import time
from functools import partial
from importlib import import_module

from membw import processes, tables
from membw.arguments import percent, whole
from membw.errors import MembwError
from membw.results.read import default_results
from membw.statistics.margin import MARGIN

SINCE = 'say --since 2026-11-21 or --since 14d'
EPILOG = """\
A change is named when it is both larger than the margin and sure (against everything that was
looked at), and has lasted three nights at least; single bad nights are passed over. 'node': one
node changed, its peers did not; 'fleet': the median of all did; 'software': what was run changed
in the same night, and the field that did is named. A fall that was taken back is one line with
the night of its return ('back since'). A node of which some nights are bad is
reported as intermittent, one that became noisier as that. INVALID runs do not enter.

examples:
  membw history                                    # results/results.db
  membw history --since 14d results/results.db     # what a nightly run asks
  membw history cluster/*.jsonl --node 'n[040-049]' --kernel triad

exit status: 0 nothing got worse; 1 something is slower and has not recovered, a node was not
judged, or a line could not be read; 2 usage error or nothing to judge
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'history',
        help='say what changed since when: a node, the fleet, the software',
        description='Finds where the rates of nodes and fleets changed from night to night.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS',
        help="ReFrame's results.db or reports, or records, one JSON object per line; files, "
        'folders, - for stdin (results/results.db)')  # fmt: skip
    add('--since', metavar='NIGHT', help='report changes that became sure from this night on: '
        '2026-11-21, or 14d: the last 14; and nodes and fleets that are still slower')  # fmt: skip
    add('--node', metavar='LIST', help='report changes of these nodes only: n1,n7 or n[001-128]')
    add('--kernel', metavar='KERNEL', help='report changes of this kernel only')
    add('--margin', type=percent, default=100 * MARGIN, metavar='PERCENT',
        help='what matters in a node (2)')  # fmt: skip
    add('--fleet-margin', type=percent, default=1.0, metavar='PERCENT',
        help='what matters in a fleet, whose median is steadier (1)')  # fmt: skip
    add('--alpha', type=percent, default=0.1, metavar='PERCENT',
        help='chance of any false alarm in everything that is judged (0.1)')  # fmt: skip
    add('--cache', metavar='FILE.npz', help='keep here what was read: the next call then reads '
        'only what is new')  # fmt: skip
    add('--acknowledge', nargs=3, metavar=('NODE', 'NIGHT', 'REASON'),
        help='somebody knows that NODE (or "fleet") got worse in NIGHT: shown from now on, and no '
        'alarm until it gets worse still')  # fmt: skip
    add('--acknowledged', metavar='FILE', help='where that is kept (results/acknowledged.jsonl)')
    add('--limit', type=whole, default=40, metavar='N', help='rows to print, 0: all (40)')
    tables.add_argument(parser)
    add('--series', action='store_true', help='with --json: the series behind it too')
    parser.set_defaults(func=run)


def run(args):
    """Exit status as in EPILOG."""
    # scipy takes a quarter of a second to load: while others read, if anybody does
    processes.aside.append(partial(import_module, 'membw.history.changes'))
    every, left = read(args.results or [default_results()], args.cache)
    from membw.history.changes import judge
    from membw.history.text import as_blocks, as_json, is_red

    refuse_unknown(args, every)
    changes = judge(every, args.margin / 100, args.fleet_margin / 100, args.alpha / 100)
    changes = select(known(changes, args, left), every, args)
    if args.format == 'json':
        print(json.dumps(as_json(every, changes, left, args.series), indent=1))
    else:
        print(tables.as_text(as_blocks(every, changes, left, args.limit), args.format))
    return int(is_red(changes, left))


def known(changes, args, left):
    """The changes with what somebody acknowledged of them, now or before."""
    from membw.history import acknowledged

    file = args.acknowledged or acknowledged.own_file()
    if args.acknowledge:
        before = acknowledged.apply(changes, acknowledged.read(file)[0], args.margin / 100)
        acknowledged.acknowledge(file, before, *args.acknowledge)
    entries, problems = acknowledged.read(file)
    for problem in problems:
        print(f'membw: {problem}', file=sys.stderr)
    left.problems += problems
    return acknowledged.apply(changes, entries, args.margin / 100)


def read(paths, cache=None):
    """Series, and what was left out; refuses to judge nothing."""
    from membw.history.cache import collect, load
    from membw.results.read import each_source

    collector = load(cache)
    every, left = collect(each_source(paths, collector.files), cache, collector)
    for gap in left.gaps():
        print(f'membw: {gap}', file=sys.stderr)
    if not every:
        raise _nothing(paths, left)
    return every, left


def _nothing(paths, left):
    from membw.history.text import left_counts

    why = '; '.join(left_counts(left))
    hint = 'look at the clocks' if left.misdated else "'membw run' measures this node"
    fact = f"nothing to judge in '{' '.join(paths)}'"
    return MembwError(f'{fact}: left out: {why}' if why else fact, hint)


def refuse_unknown(args, every):
    """A misspelt kernel, node or night would tell that all is well."""
    from membw.history.series import DAY_S
    from membw.results.hostlist import expected_nodes

    kernels = {k for s in every for k in s.kernels}
    if args.kernel and args.kernel not in kernels:
        raise MembwError(f"no kernel '{args.kernel}' in the results", ', '.join(sorted(kernels)))
    args.node = expected_nodes(args.node) if args.node else []
    unknown = [n for n in args.node if n not in {n for s in every for n in s.nodes}]
    if unknown:
        raise MembwError(f"no node '{unknown[0]}' in the results", 'names as in the records')
    newest = max(int(s.nights[-1]) for s in every)
    today = int(time.time() // DAY_S)
    args.since = '' if args.since is None else since(args.since, newest, today)


def _nights(text):
    if (nights := int(text[:-1])) < 1:
        raise ValueError('no nights')
    return nights


def since(text, newest, today):
    """'2026-11-21' of itself, or of '14d': so many nights up to the newest (days since 1970)."""
    from membw.history.series import as_date, as_day

    try:
        if text.endswith('d'):
            return as_date(min(newest, today) - _nights(text) + 1)
        day = as_day(text)
    except (ValueError, OverflowError) as err:
        raise MembwError(f"'{text}' is no night", SINCE) from err
    if day > max(newest, today):
        raise MembwError(f"'--since {text}' is later than any night: all would seem well", SINCE)
    return as_date(day)


def select(changes, every, args):
    return [
        c
        for c in changes
        if _is_told(c, args.since)
        and (not args.node or c.node in args.node)
        and (not args.kernel or c.kernel == args.kernel)
    ]


def _is_told(change, since):
    """A node or fleet that is slower stays told; other software is told while it is new."""
    from membw.history.text import is_worse

    stays = (is_worse(change) or change.acknowledged) and change.scope != 'software'
    return stays or max(change.sure, change.until, change.back_sure) >= since
