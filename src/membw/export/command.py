"""`membw export`: a run, a ranking or a night for Prometheus, InfluxDB or a spreadsheet."""

import sys
from pathlib import Path

from membw.errors import MembwError
from membw.files import write_whole
from membw.printable import printable
from membw.results.read import STDIN, report_of

STATE = 'state.json'  # of a night

EPILOG = """\
What is exported: a report of `membw run` (the newest, when nothing is named), a night's folder,
the newest night of results/nights, or records, which are ranked first. Each figure has its metric,
unit, direction, interval, reference and the verdict; of what is INVALID or MISSING the verdict is
told, and no figure.

examples:
  membw export --format openmetrics --output /var/lib/node_exporter/membw.prom
  membw export --format influx results/nights
  membw export --format influx results/nights/2026-11-21
  membw export --format csv results/records >nodes.csv
  zcat records.jsonl.gz | membw export --format csv -

exit status: 0 exported, whatever the verdicts; 1 exported, but for a line that could not be read;
2 usage error, or nothing to export
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
        help='reports, nights, records, - for stdin (the newest report)')  # fmt: skip
    add('--format', choices=('openmetrics', 'influx', 'csv', 'json', 'md', 'plain'),
        default='openmetrics', help='(openmetrics)')  # fmt: skip
    add('--output', metavar='FILE', help='written as a whole or not at all, in place of stdout')
    parser.set_defaults(func=run)


def run(args):
    """Exit status as in EPILOG."""
    rows, problems = rows_of(args.what)
    for problem in problems:
        print(f'membw: {printable(problem)}', file=sys.stderr)
    text = as_text(rows, args.format)
    if args.output:
        write_whole(args.output, f'{text}\n')
    else:
        print(text)
    return 1 if problems else 0


def as_text(rows, form):
    from membw import tables
    from membw.export import influx, openmetrics
    from membw.export.table import table

    if form in ('openmetrics', 'influx'):
        return {'openmetrics': openmetrics, 'influx': influx}[form].as_text(rows)
    return tables.as_text([table(rows)], form)


def rows_of(names):
    """(rows, problems) of all that is named, in that order."""
    rows, problems = [], []
    for name in names or [_newest()]:
        more, bad = _rows(name)
        rows += more
        problems += bad
    if not rows:
        where = f" in '{names[0]}'" if names else ''
        raise MembwError(f'nothing was measured{where}', 'name a report, a night or records')
    return rows, problems


def _newest():
    from membw.run.newest import reports

    return _that_measured(reports())


def _that_measured(reports):
    """A run that skipped all of its cases hides none before it."""
    from membw.run import newest

    report, empty = newest.that_measured(reports)
    for file in empty:
        print(f"membw: '{file}' measured nothing: exported is '{report}'", file=sys.stderr)
    return report


def _rows(name):
    if name == STDIN:
        return _of_stdin()
    path = Path(name)
    if not path.exists():
        raise MembwError(f"cannot read '{name}': no such file or folder",
                         "'membw run' makes a report, 'membw nightly' a night")  # fmt: skip
    if (path / STATE).exists():
        return _of_night(path)
    if any(path.glob(f'*/{STATE}')):
        return _of_night(_newest_night(path))
    if _is_report(path):
        return _of_report(path), []
    return _of_records(path)


def _of_stdin():
    from membw.export.figures import of_report
    from membw.run.summary import parse

    text = report_of(sys.stdin.buffer)
    return _of_records(STDIN) if text is None else (of_report(parse(text, 'stdin')), [])


def _is_report(path):
    from membw.results.reframe import is_report
    from membw.run.newest import head

    return path.is_file() and is_report(head(path))


def _of_report(path):
    from membw.export.figures import of_report
    from membw.run.summary import load

    return of_report(load(path))


def _newest_night(nights):
    """By when its reports say that it began: a folder can have any date for a name."""
    reports = [path for path in nights.glob('*/*.json') if _is_report(path)]
    if not reports:
        raise MembwError(f"nothing was measured in any night of '{nights}'",
                         "the log of each step is in the night's folder")  # fmt: skip
    return _that_measured(reports).parent


def _of_night(folder):
    """Its runs, and the ranking of its whole-cluster job."""
    rows = [row for path in sorted(folder.glob('*.json')) if _is_report(path)
            for row in _of_report(path)]  # fmt: skip
    records = folder / 'cluster.records'
    ranked, problems = _of_records(records) if records.is_dir() else ([], [])
    return [*rows, *ranked], problems


def _of_records(path):
    from membw.export.figures import of_fleet
    from membw.rank.rank_results import rank_results

    fleet, problems = rank_results([str(path)])
    return of_fleet(fleet), problems
