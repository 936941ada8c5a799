"""Finds and reads what RESULTS hold: records, ReFrame's reports, its database."""

import os
import sys
from functools import partial
from pathlib import Path
from sqlite3 import DatabaseError

from membw.checkout import root
from membw.errors import MembwError
from membw.files import naming, open_to_read, unreadable_folders
from membw.results import pieces
from membw.results.latest import Latest
from membw.results.record import names_record
from membw.results.reframe import is_report, read_report, read_stored_session, session_uuids
from membw.results.runs import once
from membw.results.shares import read_text

ENDINGS = ('.json', '.jsonl')
STDIN = '-'
HEAD = 600  # bytes that tell a report from records
# FILE.rank-7: what a rank of an MPI job saved by itself when rank 0 did not come for it
RESCUED = '.rank-'


def read_results(paths):
    """Records and problems of files, folders and - (stdin)."""
    records, problems = [], []
    for rows, bad in each_result(paths):
        records += rows
        problems += bad
    return once(records), problems


def read_latest(paths):
    """The same, without what newer runs of a node replace: however long the files are."""
    latest, problems = Latest(), []
    for rows, bad in each_result(paths):
        latest.add(rows)
        problems += bad
    return once(latest.records()), problems


def each_result(paths):
    """Records and problems of one file or session at a time: more need not be in memory."""
    for _, load in each_source(paths):
        yield load()


def each_source(paths, known=None):
    """(identity, load) of each file and each session of a database.

    `load()` gives records and problems. The identity is another one as soon as the content is;
    None: the source has none. `known`: of long files, as pieces() takes and fills it.
    """
    for path in paths:
        try:
            for identity, load in _sources(path, {} if known is None else known):
                yield identity, partial(_readable, path, load)
        except OSError as err:
            raise _unreadable(path, err) from err


def _readable(path, load):
    try:
        return load()
    except OSError as err:
        raise _unreadable(path, err) from err


def _unreadable(path, err):
    fact = f"cannot read '{err.filename or path}': {err.strerror}"
    return MembwError(fact, 'give files or folders that are there')


def _sources(path, known):
    if path == STDIN:
        yield from each_of_stream(sys.stdin.buffer, 'stdin')
    elif Path(path).is_dir():
        if refused := unreadable_folders(path):
            yield None, lambda: ([], refused)
        files = (f for f in Path(path).rglob('[!.]*') if is_result(f) and f.is_file())
        for file in sorted(files, key=_reports_first):
            yield from _file(file, _read_file_of_folder, known)
    elif not Path(path).is_file():  # <(zcat records.jsonl.gz): what is read of it is gone from it
        with open_to_read(path, 'give files, folders, or - for stdin') as stream:
            yield from each_of_stream(stream, path)
    elif is_database(path):
        yield from _sessions(Path(path))
    else:
        yield from _file(Path(path), _read_file, known)


def _file(file, load, known):
    """A large file of lines comes in pieces; a report is one whole."""
    is_long = file.stat().st_size > pieces.PIECE
    if not is_long or not (pieces.is_known(file, known) or _has_lines(file)):
        yield _identity(file), partial(_named, load, file)
        return
    for identity, begin, end, number in pieces.pieces(file, known):
        yield identity, partial(_named, _read_piece, file, begin, end, number)


def _named(load, file, *more):
    with naming(file):
        return load(file, *more)


def _has_lines(file):
    with open(file, encoding='utf-8', errors='replace') as stream:
        return _begins_with_records(stream.read(pieces.PIECE // 64))


def _begins_with_records(text):
    return names_record(text) and '\n' in text and not is_report(text)


def report_of(stream):
    """The text of a report of ReFrame that a stream has; None: it has none, and is as it was."""
    is_one = is_report(stream.peek(HEAD)[:HEAD].decode(errors='replace'))
    return stream.read().decode(errors='replace') if is_one else None


def each_of_stream(stream, name):
    """(None, load) as each_source: lines of records are read piece by piece, and each piece is
    forgotten before the next one."""
    start = stream.read(pieces.PIECE // 64)
    if not _begins_with_records(start.decode(errors='replace')):
        text = (start + stream.read()).decode('utf-8', errors='replace')
        yield None, partial(_read_text, text, name)
        return
    number = 1
    for text in pieces.texts(stream, start):
        yield None, partial(read_text, text.decode('utf-8', errors='replace'), name, number)
        number += text.count(b'\n')


def _read_piece(file, begin, end, number):
    return read_text(pieces.read(file, begin, end), str(file), number)


def _identity(file):
    stat = file.stat()
    return f'{file.resolve()}:{stat.st_size}:{stat.st_mtime_ns}'


def is_database(path):
    with open(path, 'rb') as stream:
        return stream.read(16).startswith(b'SQLite format 3')


def _sessions(file):
    try:
        for uuid in session_uuids(file):
            yield f'{file.resolve()}#{uuid}', partial(read_stored_session, file, uuid)
    except DatabaseError as err:
        problem = f'{file}: no results database of ReFrame: {err}'
        yield None, lambda: ([], [problem])


def is_result(file):
    return file.suffix in ENDINGS or file.suffix.startswith(RESCUED)


def _reports_first(file):
    """A report knows more about a record than the record itself."""
    with naming(file), open(file, encoding='utf-8', errors='replace') as stream:
        return not is_report(stream.read(200)), file


def _read_file_of_folder(file):
    """A folder of results holds other JSON too (builds, topologies): that is passed over."""
    text = file.read_text(encoding='utf-8', errors='replace')
    known = is_report(text) or names_record(text)
    return _read_text(text, str(file)) if known else ([], [])


def _read_file(file):
    return _read_text(file.read_text(encoding='utf-8', errors='replace'), str(file))


def _read_text(text, name):
    if is_report(text):
        return read_report(text, name)
    records, problems = read_text(text, name)
    return records, problems or ([] if records else [f'{name}: is empty: no record'])


def default_results():
    path = os.path.join(root(), 'results', 'results.db')
    if not os.path.exists(path):
        raise MembwError("no 'results/results.db' yet", "'membw run' makes it, or name RESULTS")
    return path
