"""`membw export`: a run, a ranking or a night for Prometheus, InfluxDB or a spreadsheet."""

import sys
from pathlib import Path

from membw.errors import MembwError
from membw.files import write_whole
from membw.printable import printable

EPILOG = """\
What is exported: a report of `membw run` (the newest, when nothing is named), a night's folder, or
records, which are ranked first. Each figure has its metric, unit, direction, interval, reference
and the verdict; of what is INVALID or MISSING the verdict is told, and no figure.

examples:
  membw export --format openmetrics --output /var/lib/node_exporter/membw.prom
  membw export --format influx results/nights/2026-11-21
  membw export --format csv results/records >nodes.csv

exit status: 0 exported, whatever the verdicts; 2 usage error, or nothing to export
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'export',
        help='figures for Prometheus, InfluxDB, a spreadsheet',
        description='Prints the figures and verdicts of a run, a ranking or a night.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('what', nargs='*', metavar='WHAT',
        help='reports, nights, records (the newest report that measured something)')  # fmt: skip
    add('--format', choices=('openmetrics', 'influx', 'csv', 'json', 'md', 'plain'),
        default='openmetrics', help='(openmetrics)')  # fmt: skip
    add('--output', metavar='FILE', help='written as a whole or not at all, in place of stdout')
    parser.set_defaults(func=run)


def run(args):
    """Exit status as in EPILOG."""
    text = as_text(rows_of(args.what), args.format)
    if args.output:
        write_whole(args.output, f'{text}\n')
    else:
        print(text)
    return 0


def as_text(rows, form):
    from membw import tables
    from membw.export import influx, openmetrics
    from membw.export.table import table

    if form in ('openmetrics', 'influx'):
        return {'openmetrics': openmetrics, 'influx': influx}[form].as_text(rows)
    return tables.as_text([table(rows)], form)


def rows_of(names):
    """Rows of all that is named, in that order."""
    rows = [row for name in names or [_newest()] for row in _rows(name)]
    if not rows:
        where = f" in '{names[0]}'" if names else ''
        raise MembwError(f'nothing was measured{where}', 'name a report, a night or records')
    return rows


def _newest():
    """A run that skipped all of its cases hides none before it."""
    from membw.run import newest

    report, empty = newest.that_measured(newest.reports())
    for file in empty:
        print(f"membw: '{file}' measured nothing: exported is '{report}'", file=sys.stderr)
    return report


def _rows(name):
    path = Path(name)
    if not path.exists():
        raise MembwError(f"cannot read '{name}': no such file or folder",
                         "'membw run' makes a report, 'membw nightly' a night")  # fmt: skip
    if (path / 'state.json').exists():
        return _of_night(path)
    if _is_report(path):
        return _of_report(path)
    return _of_records(path)


def _is_report(path):
    from membw.results.reframe import is_report
    from membw.run.newest import head

    return path.is_file() and is_report(head(path))


def _of_report(path):
    from membw.export.figures import of_report
    from membw.run.summary import load

    return of_report(load(path))


def _of_night(folder):
    """Its runs, and the ranking of its whole-cluster job."""
    rows = [row for path in sorted(folder.glob('*.json')) if _is_report(path)
            for row in _of_report(path)]  # fmt: skip
    records = folder / 'cluster.records'
    return [*rows, *(_of_records(records) if records.is_dir() else ())]


def _of_records(path):
    from membw.export.figures import of_fleet
    from membw.rank.rank_results import rank_results

    fleet, problems = rank_results([str(path)])
    for problem in problems:
        print(f'membw: {printable(problem)}', file=sys.stderr)
    return of_fleet(fleet)
