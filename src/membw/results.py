"""Finds and reads what RESULTS hold: records, ReFrame's reports, its database."""

import sys
from pathlib import Path

from membw.errors import MembwError
from membw.records import SCHEMA, read_lines
from membw.reframe_report import is_report, read_database, read_report

ENDINGS = ('.json', '.jsonl')
# FILE.rank-7: what a rank of an MPI job saved by itself when rank 0 did not come for it
RESCUED = '.rank-'


def read_results(paths):
    """Records and problems of files, folders and - (stdin)."""
    records, problems = [], []
    for found, bad in each_result(paths):
        records += found
        problems += bad
    return once(records), problems


def each_result(paths):
    """Records and problems of one file or session at a time: more need not be in memory."""
    for path in paths:
        yield from _read_path(path)


def _read_path(path):
    try:
        if path == '-':
            yield _read_text(sys.stdin.read(), 'stdin')
        elif Path(path).is_dir():
            yield from _read_folder(Path(path))
        else:
            yield from _read_file(Path(path))
    except OSError as err:
        fact = f"cannot read '{err.filename or path}': {err.strerror}"
        raise MembwError(fact, 'give files or folders that are there') from err


def is_result(file):
    return file.suffix in ENDINGS or file.suffix.startswith(RESCUED)


def _read_folder(folder):
    """A folder of results holds other JSON too (builds, topologies): that is passed over."""
    files = (f for f in folder.rglob('[!.]*') if is_result(f) and f.is_file())
    for file in sorted(files, key=_reports_first):
        text = file.read_text(encoding='utf-8', errors='replace')
        if is_report(text) or f'"schema": "{SCHEMA}"' in text:
            yield _read_text(text, str(file))


def _reports_first(file):
    """A report knows more about a record than the record itself."""
    with open(file, encoding='utf-8', errors='replace') as stream:
        return not is_report(stream.read(200)), file


def _read_file(file):
    with open(file, 'rb') as stream:
        data = stream.read(16)
        if not data.startswith(b'SQLite format 3'):
            data += stream.read()
    if data.startswith(b'SQLite format 3'):
        yield from read_database(file)
    else:
        yield _read_text(data.decode('utf-8', errors='replace'), str(file))


def _read_text(text, name):
    if is_report(text):
        return read_report(text, name)
    records, problems = read_lines(text.splitlines(), name)
    return records, problems or ([] if records else [f'{name}: is empty: no record'])


def once(records):
    """A record met twice counts once; the one with more known about it (from a report) stays."""
    kept = {}
    for record in records:
        key = record.host, record.rank, record.time, tuple(record.rates.items())
        known = kept.setdefault(key, record)
        if _known(record) > _known(known):
            kept[key] = record
    return list(kept.values())


def _known(record):
    """Of two copies without a report: beside the one in records/ lies what was kept of its job."""
    return len(record.traits), Path(record.file).parent.name == 'records'
