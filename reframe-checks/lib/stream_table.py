"""Reader of the table that every STREAM prints, whichever version, and of MPI_STREAM's nodes."""

import re

NUMBER = r'(\d+(?:\.\d+)?)'
ROW = re.compile(
    rf'^\s*(Copy|Scale|Add|Triad):\s+{NUMBER}(?:\s+{NUMBER}\s+{NUMBER}\s+{NUMBER})?\s*$', re.M
)
NODE = re.compile(rf'^\s*(?!Copy|Scale|Add|Triad)([A-Za-z][\w.-]*)\s*:?\s+{NUMBER}\s*$', re.M)
COLUMNS = ('best_mbs', 'avg_s', 'min_s', 'max_s')


def rows(text):
    """{'copy': {'best_mbs': .., 'avg_s': .., 'min_s': .., 'max_s': ..}, ...}; times if printed."""
    found = {}
    for name, *values in ROW.findall(text):
        pairs = zip(COLUMNS, values)
        found[name.lower()] = {column: float(value) for column, value in pairs if value}
    return found


def nodes(text):
    """{'node6201': MB/s, ...} of MPI_STREAM's list of nodes."""
    return {name: float(value) for name, value in NODE.findall(text)}


def contradictions(text, record):
    """Where the table that people read is not what the record says (printed to 0.1 MB/s)."""
    table = rows(text)
    for name, kernel in record['kernels'].items():
        if name not in table:
            yield f'no row of {name} in the table'
        elif abs(table[name]['best_mbs'] - kernel['best_mbs']) > 0.051:
            yield f'{name}: {table[name]["best_mbs"]} in the table, {kernel["best_mbs"]} recorded'
