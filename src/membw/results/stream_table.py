"""Reader of the table that every STREAM prints, whichever version and whatever its kernels."""

import re
from collections.abc import Iterator

NUMBER = r'(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)'
ROW = re.compile(rf'^\s*([A-Z]\w*):\s+{NUMBER}(?:\s+{NUMBER}\s+{NUMBER}\s+{NUMBER})?\s*$', re.M)
COLUMNS = ('best_mbs', 'avg_s', 'min_s', 'max_s')


def rows(text: str) -> dict[str, dict[str, float]]:
    """{'copy': {'best_mbs': .., 'avg_s': .., 'min_s': .., 'max_s': ..}, ...}; times if printed."""
    table = {}
    for name, *values in ROW.findall(text):
        pairs = zip(COLUMNS, values, strict=True)
        table[name.lower()] = {column: float(value) for column, value in pairs if value}
    return table


def contradictions(text: str, record: dict) -> Iterator[str]:
    """Where the table that people read is not what the record says (printed to 0.1 MB/s)."""
    table = rows(text)
    for name, kernel in record['kernels'].items():
        if name not in table:
            yield f'no row of {name} in the table'
        elif abs(table[name]['best_mbs'] - kernel['best_mbs']) > 0.051:
            yield f'{name}: {table[name]["best_mbs"]} in the table, {kernel["best_mbs"]} recorded'
