"""Where the seconds of a run on this machine went, by its report and its records."""

from membw.results import reframe
from membw.results.rows import Row
from membw.tables import Cell, Column, Table

COLUMNS = Column('part', 'part'), Column('seconds', 'seconds', True)


def seconds_by_part(path: str, rows: list[Row]) -> Table:
    """Cases one after the other: of several jobs at a time the parts add up to more."""
    report = reframe.load(path)
    session, cases = report['session_info'], reframe.cases_of(report)
    start, end = session['time_start_unix'], session['time_end_unix']
    records = [a.record for row in rows for a in row.attempts if a.record]

    def took(part: str, is_build: bool) -> float:
        own = (case for case in cases if bool(case.get('fixture')) is is_build)
        return sum(case.get(f'time_{part}') or 0.0 for case in own)

    residency = sum((r.get('residency') or {}).get('seconds') or 0 for r in records)
    kernels = [k for r in records for k in (r.get('kernels') or {}).values()]
    figures = sum(k.get('total_s') or 0 for k in kernels)
    builds, runs = took('compile', True) + took('setup', True), took('run', False)
    parts = {
        'membw and ReFrame begin': start - float(session.get('membw_begun') or start),
        'programs are built, or found to be': builds,
        'a launch finds out where memory begins': residency,
        'repetitions that become figures': figures,
        'start, first touch, looks, validation': runs - residency - figures,
        'judged, kept': took('sanity', False) + took('performance', False),
    }
    parts['all else'] = end - start + parts['membw and ReFrame begin'] - sum(parts.values())
    return Table('', COLUMNS, [(name, Cell(s, f'{s:.1f}')) for name, s in parts.items()])
