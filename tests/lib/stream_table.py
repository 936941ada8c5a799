"""Reader of the table that every STREAM prints, whichever version and whatever its kernels."""

import re

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
